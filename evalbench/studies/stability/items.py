"""One row per query, augmentation and model: the key metric before and after, and how far it fell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.metrics.registry import Card
from evalbench.studies.stability import inputs

NO_VALUE = "no-value"
SAME_QUERY = "the variant is the query itself"
SCORES = ("score", "correct", "is_correct", "accuracy")
"""Columns of numbers that ``metric="auto"`` takes, the first that both tables have."""
TEXT = "f1_score"
NAMED = ("id", "model", "augmentation", "question", "answer", "reference", "contexts", "level", "lang")
_TRUTH = {"true": 1.0, "false": 0.0}
_DUST = 1e-9


class Key(NamedTuple):
    """The key metric.

    - ``card``: None where it is a column of the tables.
    - ``worst``, ``best``: What is 0 and what is 100 percentage points.
    """

    name: str
    card: Card | None
    worst: float
    best: float
    notes: tuple[str, ...] = ()


class Tables(NamedTuple):
    """Both tables, and the column of both that is the score, as numbers; an empty name where a text metric is computed."""

    items: pd.DataFrame
    variants: pd.DataFrame
    column: str


def numbered(items: pd.DataFrame, variants: pd.DataFrame, metric: str) -> Tables:
    """The tables with the score of both as numbers, where ``metric`` names one or ``auto`` finds one.

    Raises ``BadInput`` if cells of the score are not numbers, only one table has the column, or there is neither a
    score nor what a text metric needs.
    """
    if metric == kit.choosing.AUTO:
        column = next((c for c in SCORES if c in items and c in variants), "")
    else:
        column = metric if metric not in NAMED and (metric in items or metric in variants) else ""
    if not column:
        _check_texts(items, variants, metric)
        return Tables(items, variants, "")
    lacking = [name for name, frame in (("items", items), ("variants", variants)) if column not in frame]
    faults = [f"table {name} has no column {column}; a score must be in both tables" for name in lacking]
    if not faults:
        items, wrong = numbers_of(items, column, "items")
        variants, more = numbers_of(variants, column, "variants")
        faults = [*wrong, *more]
    if faults:
        raise errors.BadInput.listing(f"metric {column}:", faults)
    return Tables(items, variants, column)


def _check_texts(items: pd.DataFrame, variants: pd.DataFrame, metric: str) -> None:
    """Refuse tables without what a text metric needs: answers in both, and for ``auto`` a reference."""
    faults = [
        f"table {name} has no column answer{readers.renames.usual('answer', frame.columns)}"
        for name, frame in (("items", items), ("variants", variants))
        if "answer" not in frame
    ]
    if faults:
        faults.append(
            "give the answers, or a model to ask (-p model=NAME), or a score in both tables (-p metric=COLUMN)"
        )
    elif metric == kit.choosing.AUTO and "reference" not in items and "reference" not in variants:
        faults.append(
            f"there is neither a column reference nor a score in both tables ({', '.join(SCORES)}); name the column of numbers that "
            f"is the score: -p metric=COLUMN{readers.renames.usual('reference', items.columns)}"
        )
    if faults:
        raise errors.BadInput.listing("the tables lack what a key metric needs:", faults)


def key_of(tables: Tables, metric: str, score_range: Sequence[float], options: kit.metric_options.Options) -> Key:
    """The key metric, and the ends of its scale.

    - ``metric``: A column of both tables, a text metric, or ``auto``.
    - ``score_range``: Worst and best; empty for those of the metric, and for 0 and 1 of a column whose values lie
      there.
    - ``options``: See :mod:`evalbench.kit.metric_options`.

    Raises ``BadInput`` if there is no such metric, it has no better and worse, or its scale is not known.
    """
    name = tables.column or (TEXT if metric == kit.choosing.AUTO else metric)
    notes: tuple[str, ...] = ()
    if metric == kit.choosing.AUTO:
        notes = (f"Key metric, by metric=auto: {name}{', a column of both tables' if tables.column else ''}.",)
    if tables.column:
        return Key(name, None, *_ends(name, [tables.items[name], tables.variants[name]], score_range), notes)
    (card,) = _one(kit.metric_options.metrics_of([name], options), name)
    if score_range:
        return Key(card.name, card, float(score_range[0]), float(score_range[1]), notes)
    low, high = card.range
    if card.higher_is_better is None or not math.isfinite(high):
        raise errors.BadInput(
            f"metric {card.name}: its best and worst value are not known; state them: -p 'score_range=[WORST, BEST]'"
        )
    low = max(low, 0.0)  # of a cosine: what is below 0 is as unlike
    return Key(card.name, card, *((low, high) if card.higher_is_better else (high, low)), notes)


def _one(cards: Sequence[Card], name: str) -> Sequence[Card]:
    if len(cards) != 1:
        raise errors.BadInput(
            f"metric {name}: it has {len(cards)} figures ({', '.join(c.name for c in cards)}); name one"
        )
    return cards


def _ends(name: str, columns: Sequence[pd.Series], score_range: Sequence[float]) -> tuple[float, float]:
    """The ends of a column's scale, between which its values lie: the stated ones, or 0 and 1."""
    worst, best = map(float, score_range or (0, 1))
    values = np.concatenate([c.to_numpy(dtype=float) for c in columns])
    known = values[np.isfinite(values)]
    if known.size and (known.min() < min(worst, best) or known.max() > max(worst, best)):
        raise errors.BadInput(
            f"metric {name}: its values lie between {known.min():g} and {known.max():g}, not between {min(worst, best):g} and "
            f"{max(worst, best):g}; state the worst and the best value that there can be, as in -p 'score_range=[0, 100]'"
        )
    return worst, best


def numbers_of(frame: pd.DataFrame, column: str, table: str) -> tuple[pd.DataFrame, list[str]]:
    """A table with a column as numbers, NaN where a cell is empty, and what is wrong with it."""
    text = frame[column].map(lambda cell: "" if cell is None else str(cell).strip())
    empty = text.str.lower().isin(["", "nan", "none", "null", "<na>"]).to_numpy(dtype=bool)
    truth = text.str.lower().map(_TRUTH)
    values = pd.to_numeric(text.where(~empty), errors="coerce").astype(float).fillna(truth).to_numpy(dtype=float)
    wrong = np.flatnonzero(~np.isfinite(values) & ~empty)
    faults = []
    if len(wrong):
        first = frame.iloc[wrong[0]]
        whose = f"id {first['id']}" + (f", {first['augmentation']}" if "augmentation" in frame else "")
        faults = [
            f"table {table}, column {column}: {len(wrong)} of {len(frame)} cells are not numbers, first "
            f"{text.iloc[wrong[0]][:60]!r} ({whose})"
        ]
        values = np.where(np.isfinite(values), values, np.nan)
    return frame.assign(**{column: values}), faults


def items_of(
    pair: inputs.Paired,
    key: Key,
    options: kit.metric_options.Options,
    replies: tuple[Mapping[Any, str], Mapping[Any, str]] = ({}, {}),
) -> tuple[pd.DataFrame, kit.scoring.Scored | None]:
    """Score both sides of every pair.

    - ``options``: See :mod:`evalbench.kit.metric_options`.
    - ``replies`` ((mapping, mapping)): Why a model gave no answer to a query (by id) and to a variant (by id and
      augmentation).
    - Returns ``items``: In the order of the pairs, and before :func:`settled`: ``id``, ``model`` if there is one, ``augmentation``, ``level``; ``drop`` (percentage points of
      the metric's scale, positive where the score got worse), ``before``, ``after`` (in the metric's unit),
      ``above_worst`` (how far before lies above the worst, percentage points), ``changed``, ``worse`` (0 or 1); none of
      them unless both sides have a score; ``unscored``, ``undefined``; ``same``, whether the variant is the query itself.
    - Returns ``Scored or None``: None where the metric is a column of the tables.
    """
    rows, scored = pair.rows, None
    if key.card is None:
        before, after = rows[key.name].to_numpy(dtype=float), rows[f"{key.name}_after"].to_numpy(dtype=float)
        why = [np.where(np.isnan(x), NO_VALUE, "").astype(object) for x in (before, after)]
        for side, column in enumerate(("answer", "answer_after")):
            if column in rows:
                why[side] = np.where(rows[column].isna().to_numpy(), kit.answers.NO_OUTPUT, why[side])
        without = [np.full(len(rows), "", dtype=object)] * 2
    else:
        frame, inverse = texts_of(rows, pair.by)
        scored = kit.scoring.scores_of(frame, [key.card], options)
        n = len(frame) - len(rows)
        values, unscored, undefined = (
            part[key.card.name] for part in (scored.columns, scored.unscored, scored.undefined)
        )
        before, after = values[:n][inverse], values[n:]
        why = [unscored[:n][inverse], unscored[n:]]
        without = [undefined[:n][inverse], undefined[n:]]
    keys = [c for c in ("id", "model", "augmentation") if c in rows]
    names = rows["id"].tolist()
    why[0] = _replied(why[0], [replies[0].get(i, "") for i in names])
    pairs = zip(names, rows["augmentation"], strict=True)
    why[1] = _replied(why[1], [replies[1].get(place, "") for place in pairs])
    reason = np.where(why[0] != "", why[0], why[1])
    lacking = np.where(without[0] != "", without[0], without[1])
    known = (reason == "") & (lacking == "") & ~np.isnan(before) & ~np.isnan(after)
    # A module that gives no number and no reason has no value.
    lacking = np.where((reason == "") & (lacking == "") & ~known, "no value exists", lacking)
    before, after = np.where(known, before, np.nan), np.where(known, after, np.nan)
    scale = 100 / (key.best - key.worst)
    drop = (before - after) * scale
    drop = np.where(np.abs(drop) < _DUST, 0.0 * drop, drop)
    columns = {
        "level": rows["level"].to_numpy(), "drop": drop, "before": before, "after": after, "above_worst": (before - key.worst) * scale,
        "changed": np.where(known, (drop != 0).astype(float), np.nan), "worse": np.where(known, (drop > 0).astype(float), np.nan),
        "unscored": reason, "undefined": np.where(reason == "", lacking, ""), "same": inputs.same_query(rows),
    }  # fmt: skip
    return rows[keys].assign(**columns), scored


def settled(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """All items in their order, without a value where an augmentation that changes queries left one as it was."""
    items = items.sort_values([*by, "id"], kind="stable", ignore_index=True)
    same = items["same"].to_numpy(dtype=bool) & ~inputs.controls(items)
    values = {name: items[name].mask(same) for name in ("drop", "before", "after", "above_worst", "changed", "worse")}
    lacking = items["undefined"].mask(same & (items["unscored"] == ""), SAME_QUERY)
    return items.assign(**values, undefined=lacking).drop(columns="same")


def _replied(why: Any, replies: Sequence[str]) -> Any:
    """The reply's own reason where it has one."""
    own = np.array(replies, dtype=object)
    return np.where((own != "") & np.isin(own, core.unscored.REASONS), own, why)


def texts_of(rows: pd.DataFrame, by: Sequence[str]) -> tuple[pd.DataFrame, Any]:
    """All texts that are scored: each query's answer once, then the answers to variants; and where a variant's query is."""
    keys = ["id", *by[:-1]]
    first = rows.drop_duplicates(keys)
    place = pd.Series(np.arange(len(first)), index=pd.MultiIndex.from_frame(first[keys]))
    inverse = place.reindex(pd.MultiIndex.from_frame(rows[keys])).to_numpy()
    parts = []
    own = "reference_after" if "reference_after" in rows else "reference"
    for part, answer, question, reference in (
        (first, "answer", "question", "reference"),
        (rows, "answer_after", "variant", own),
    ):
        texts = {"id": part["id"].to_numpy(), "answer": part[answer].to_numpy() if answer in part else None}
        texts |= {c: part[c].to_numpy() for c in ("contexts", "model") if c in part}
        texts |= {"reference": part[reference].to_numpy()} if reference in part else {}
        texts |= {"question": part[question].to_numpy()} if question in part else {}
        parts.append(pd.DataFrame(texts))
    return pd.concat(parts, ignore_index=True), inverse
