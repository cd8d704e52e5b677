"""The texts that are scored, the table's own or a model's, and one row for each: its scores, the sums behind corpus measures, reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import errors, kit, readers
from evalbench.models.exchange import Reply
from evalbench.studies.text_metrics.inputs import SCHEMA
from evalbench.text.words import word_counts


def made_of(data: readers.Dataset, options: Mapping[str, Any]) -> kit.parts.Made:
    """Scores of the texts of a table, or of those that a model answers with."""
    data, trials = kit.trials.spread(data, SCHEMA)
    cards = kit.metric_options.metrics_of(options["asked"], options)
    frame, replies = frame_of(data["items"]), list[Reply]()
    if options["prompt"]:
        former = {old: column.name for column in SCHEMA["items"].columns for old in column.former if old not in frame}
        also = {**former, **data.read_as.get("items", {})}
        frame, replies = answered(frame, options["prompt"], options["model"], also)
    scored = kit.scoring.scores_of(frame, cards, options, replies)
    items, rows = trials.averaged(items_of(frame, scored), "id")
    keys = [key for key in ("id", "model") if key in frame]
    heard = scored.judge.heard() if scored.judge else None
    tables = {"reasons": scored.reasons(frame[keys]), **kit.scoring.calls_of(scored, replies=replies)}
    return kit.parts.Made(
        kit.grouping.carried(items, data),
        frame,
        tables=tables,
        notes=tuple(scored.notes),
        accounting=kit.scoring.accounting_of(scored, options, model=options["model"], replies=replies),
        n=len(frame),
        trials=trials,
        rows=rows,
        judge=heard.judge if heard else "",
        prompts=kit.parts.prompts_of(heard) if heard else (),
    )


def items_of(frame: pd.DataFrame, scored: kit.scoring.Scored) -> pd.DataFrame:
    """The items of scored texts.

    Returns: ``id``, ``model`` if there is one, ``answer_words``, a column per metric and part of one,
    ``METRIC_unscored`` and ``METRIC_undefined`` with a reason per text where the metric lacks values; ``unscored`` and
    ``undefined`` where no metric has a value.
    """
    keys = {key: frame[key].to_numpy() for key in ("id", "model") if key in frame}
    answers = frame["answer"]
    counts = word_counts(["" if text is None else text for text in answers])
    lengths = {"answer_words": np.where(answers.isna(), np.nan, counts)}
    reasons = {
        f"{name}_{kind}": why
        for kind, of in (("unscored", scored.unscored), ("undefined", scored.undefined))
        for name, why in of.items()
        if (why != "").any()
    }
    scoreless = np.isnan(np.stack([scored.columns[name] for name in scored.unscored])).all(axis=0)
    failed = np.where(scoreless, _distinct(scored.unscored), "")
    without = np.where(scoreless & (failed == ""), _distinct(scored.undefined), "")
    return pd.DataFrame({**keys, **lengths, **scored.columns, **reasons, "unscored": failed, "undefined": without})


def in_order(items: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Items of several parts as those of one table: reasons, of which a part may have none, behind the scores."""
    reasons = [f"{name}_{kind}" for kind in ("unscored", "undefined") for name in names if f"{name}_{kind}" in items]
    places = [name for name in items if name not in reasons]
    places[places.index("unscored") : places.index("unscored")] = reasons
    return items[places].fillna(dict.fromkeys(reasons, ""))


def _distinct(reasons: Mapping[str, Any]) -> list[str]:
    """The reasons of each text, each once, in the order of the metrics."""
    return ["; ".join(filter(None, dict.fromkeys(row))) for row in zip(*reasons.values(), strict=True)]


def with_reasons(items: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The items with the reasons of one metric as ``unscored`` and ``undefined``; without these where every item has a value."""
    kinds = ("unscored", "undefined")
    own = {kind: items[f"{metric}_{kind}"] for kind in kinds if f"{metric}_{kind}" in items}
    return items.drop(columns=[*kinds]).assign(**own)


def frame_of(items: pd.DataFrame) -> pd.DataFrame:
    """The table in the order of its ids and models."""
    keys = [key for key in ("id", "model") if key in items]
    return items.sort_values(keys, kind="stable", ignore_index=True)


def answered(
    frame: pd.DataFrame, prompt: str, model: str, read_as: Mapping[str, str] = {}
) -> tuple[pd.DataFrame, list[Reply]]:
    """The table with the answers of a model that was asked with a template, each question once, and its replies.

    - ``read_as``: Other names of columns, by which the template may name them too.

    Raises ``BadInput`` if the template is faulty or names a column that the table lacks.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    from evalbench.models.chat.collect import collect
    from evalbench.models.exchange import Request, text_hash

    try:
        environment = SandboxedEnvironment(
            undefined=StrictUndefined, autoescape=False, finalize=lambda value: "" if value is None else value
        )
        template = environment.from_string(prompt)
        named = frame.assign(**{source: frame[own] for source, own in read_as.items() if own in frame})
        asked = pd.Series([template.render(row) for row in named.to_dict("records")], index=frame.index, dtype=object)
    except TemplateError as error:
        raise errors.BadInput(f"prompt: {error}; the table has {', '.join(map(str, frame.columns))}") from error
    # Where the table has the answers of several models, what is asked is the same for all of them.
    first = ~pd.DataFrame({"id": frame["id"], "asked": asked}).duplicated()
    frame, asked = frame[first].reset_index(drop=True), asked[first].reset_index(drop=True)
    requests = [
        Request(({"role": "user", "content": text},), item_id=i, purpose="answer", prompt_hash=text_hash(prompt))
        for i, text in zip(frame["id"], asked, strict=True)
    ]
    replies = collect(requests, model)
    answers = pd.Series([kit.answers.answer_of(reply) for reply in replies], index=frame.index, dtype=object)
    columns: dict[str, Any] = {
        "answer": answers,
        "model": model,
        **({} if "question" in frame else {"question": asked}),
    }
    return frame.drop(columns=["model"], errors="ignore").assign(**columns), replies
