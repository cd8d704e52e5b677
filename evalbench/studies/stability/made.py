"""What is made of queries and their variants before anything is averaged: of all of them, or of a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import kit, readers
from evalbench.models.exchange import Reply
from evalbench.readers import Column, Table
from evalbench.studies.stability import asking, inputs, method
from evalbench.studies.stability.items import SCORES, Key, items_of, key_of, numbered, texts_of
from evalbench.studies.stability.summary import DROP

PART_ROWS = 50_000
NO_TRIALS = "an answer is paired with the answer to the variant; of repeated ones give the mean score of each, in a column that metric names"
SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("id", "id"),
            Column("question", "text", required=False, empty_ok=True, help="as it was written; needed for asking a model", former=('query',)),
            Column("answer", "text", required=False, empty_ok=True, keep_null=True, help="needed unless a model is asked; null: unscored", former=('output',)),
            Column("reference", "texts", required=False, empty_ok=True, help="a text, or a JSON list: the best counts", perhaps=("answer",)),
            Column("contexts", "texts", required=False, empty_ok=True, help="for metrics that need one", former=('context',)),
            Column("lang", "id", required=False, empty_ok=True, help="ISO 639-1, of the prompt and of transliterate"),
            Column("model", "id", groups=True, required=False, help="whose answer it is"),
        ),
        unique=("id", "model"),
        no_trials=NO_TRIALS,
        sampled=5_000,
        dealt=True,
        part_rows=PART_ROWS,
        of_all=(("model",),),
        help="one row per query; several models may answer one id",
    ),
    "variants": Table(
        (
            Column("id", "id", help="of the item whose query was changed"),
            Column("augmentation", "id", help="how it was changed, such as butter_finger"),
            Column("question", "text", required=False, empty_ok=True, help="as it was changed", former=('query',)),
            Column("answer", "text", required=False, empty_ok=True, keep_null=True, help="null: unscored", former=('output',)),
            Column("reference", "texts", required=False, empty_ok=True, help="where it is another one, as after a translation", perhaps=("answer",)),
            Column("level", "id", required=False, empty_ok=True, choices=inputs.LEVELS, help="to which test the augmentation belongs"),
            Column("model", "id", groups=True, required=False, help="whose answer it is"),
        ),
        unique=("id", "augmentation", "model"),
        no_trials=NO_TRIALS,
        sampled=5_000,
        dealt=True,
        part_rows=PART_ROWS,
        of_all=(("model",), ("augmentation", "level")),
        required=False,
        help="one row per changed query",
    ),
}  # fmt: skip


def key_in(data: readers.Dataset, options: Mapping[str, Any]) -> Key:
    """The key metric of the tables; of those that are dealt by their samples.

    Raises ``BadInput`` for tables without what is asked, or what is scored.
    """
    items, variants = _given(data, options)
    if options["model"]:
        inputs.check_queries(data)
        changed = items[["id"]] if variants is None else variants
        items, variants = (frame.drop(columns=_scores(frame)).assign(answer="") for frame in (items, changed))
    return _key(items, variants, options)


def made_of(data: readers.Dataset, options: Mapping[str, Any]) -> kit.parts.Made:
    """Queries beside their variants, scored on both sides: with what has no counterpart, and the counts of notes."""
    items, variants = _given(data, options)
    reasons: asking.Reasons = ({}, {})
    replies: list[Reply] = []
    sums: dict[str, Any] = {}
    if options["model"]:
        if variants is None:
            variants, replies, sums = asking.made(items, **kit.taken(asking.made, options))
        settings = {name: value for name, value in kit.taken(kit.collecting.asked, options).items() if name != "model"}
        items, variants, heard, reasons = asking.answered(items, variants, options["model"], **settings)
        replies = [*replies, *heard]
        items, variants = (frame.drop(columns=_scores(frame)) for frame in (items, variants))
    key, tables = _key(items, variants, options), numbered(items, variants, options["metric"])
    pair = inputs.paired(tables.items, tables.variants, [tables.column] if tables.column else [], options["levels"])
    found, scored = items_of(pair, key, options, reasons)
    texts = inputs.texts_of(pair, tables.column)
    own = dict(pair.tables)
    if scored is not None:
        why = scored.reasons(texts_of(pair.rows, pair.by)[0][[]])[["metric", "reason"]]
        own[method.REASONS] = why[why["reason"].str.startswith("no-")]
        sums = {**sums, "texts": len(scored.failed)}
    scored = scored or kit.scoring.Scored()
    return kit.parts.Made(
        found,
        texts,
        tables={**own, **kit.scoring.calls_of(scored, replies=replies)},
        notes=tuple(scored.notes),
        accounting=kit.scoring.accounting_of(scored, options, model=options["model"], replies=replies),
        n=len(found),
        orders={"changed": found[DROP].where(found["changed"] == 1).tolist()},
        sums={**sums, **pair.sums, **method.counted(pair.rows)},
    )


def _given(data: readers.Dataset, options: Mapping[str, Any]) -> tuple[pd.DataFrame, Any]:
    """The sampled queries, and their variants; None where these are still to be made."""
    items = kit.sampling.sampled(data["items"], **kit.taken(kit.sampling.sampled, options))
    variants: Any = data.get("variants") if options["model"] else inputs.variants_of(data)
    return items, variants if options["model"] else inputs.sampled_variants(variants, items, data["items"])


def _key(items: pd.DataFrame, variants: pd.DataFrame, options: Mapping[str, Any]) -> Key:
    metric = options["metric"]
    return key_of(numbered(items, variants, metric), metric, options["score_range"], options)


def _scores(frame: pd.DataFrame) -> list[str]:
    """The scores of the table's own outputs, which are not those of a model's new ones."""
    return [name for name in SCORES if name in frame]
