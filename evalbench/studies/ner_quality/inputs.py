"""True and predicted spans, checked, as arrays of codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.metrics.entities import Entities

MOST_CLASSES = 100
"""So many classes are judged; more are an ``entity_class`` that holds something else."""
OTHER = "classes unknown to gold"


class Known(NamedTuple):
    """What is judged.

    - ``texts``: ``id`` ascending, ``text`` and ``lang`` where they are known.
    - ``classes``: Those of the gold first, each part ascending.
    - ``truth``, ``predicted``: By text, place and class.
    - ``model`` ((n,) array of int): Of each prediction.
    """

    texts: pd.DataFrame
    models: tuple[str, ...]
    classes: tuple[str, ...]
    n_true_classes: int
    truth: Entities
    predicted: Entities
    model: core.arrays.Indices
    notes: tuple[str, ...]


def prepare(data: readers.Dataset) -> Known:
    """The checked spans of a data set.

    Raises ``BadInput`` for spans that are empty or leave their text, texts that are not there, too many classes: all
    at once.
    """
    gold, predictions, texts = data["gold"], data["predictions"], data.get("texts")
    known = texts if texts is not None else _named(gold, predictions)
    known = known.sort_values("id", ignore_index=True)
    index = pd.Index(known["id"])
    lengths = known["text"].str.len().to_numpy(dtype=np.int64) if "text" in known else None
    faults: list[str] = []
    codes = []
    for name, rows in (("gold", gold), ("predictions", predictions)):
        text = index.get_indexer(rows["id"])
        strangers = rows["id"][text < 0].unique()
        faults += [f"{name}: {why}" for why in [readers.strangers.written_otherwise(strangers, index)] if why]
        faults += [f"{name}: no text has the id {i}" for i in strangers]
        faults += _misplaced(name, rows, text, lengths)
        codes.append(text)
    if faults:
        raise errors.BadInput.listing("spans and texts:", faults)
    of_gold, of_predictions = (rows["entity_class"].str.strip() for rows in (gold, predictions))
    true = sorted(of_gold.unique())
    if len(true) > MOST_CLASSES:
        raise errors.BadInput(
            f"gold: column entity_class has {len(true)} classes, at most {MOST_CLASSES} are judged; are they classes?"
        )
    counts = of_predictions[~of_predictions.isin(true)].value_counts()
    strange = sorted(counts.index) if len(counts) <= 20 else [OTHER]
    classes = (*true, *strange)
    at = pd.Index(classes)
    kinds = [at.get_indexer(pd.Index(column)) for column in (of_gold, of_predictions)]
    kinds[1] = np.where(kinds[1] < 0, len(classes) - 1, kinds[1])
    systems = predictions.attrs.get(readers.schema.SYSTEMS, ())
    models = sorted({*predictions["model"], *systems}) if "model" in predictions else [kit.collecting.UNNAMED]
    model = (
        pd.Index(models).get_indexer(pd.Index(predictions["model"]))
        if "model" in predictions
        else np.zeros(len(predictions), int)
    )
    places = [[rows[side].to_numpy(dtype=np.int64) for side in ("start", "end")] for rows in (gold, predictions)]
    truth, predicted = (Entities(text, *p, k) for text, p, k in zip(codes, places, kinds, strict=True))  # type: ignore[call-arg]
    first, second = (np.lexsort(e[::-1]) for e in (truth, predicted))
    truth, predicted = _rows(truth, first), _rows(predicted, second)
    notes = [
        *_remarks(truth, "True spans"),
        *_remarks(predicted, "Predicted spans", model[second]),
        *_strangers(counts, true),
    ]
    notes += _without(predicted, model[second], models, len(known))
    return Known(known, tuple(models), classes, len(true), truth, predicted, model[second], tuple(notes))


def _rows(e: Entities, which: core.arrays.Indices) -> Entities:
    return Entities(e.text[which], e.start[which], e.end[which], e.kind[which])


def _named(gold: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"id": pd.unique(pd.concat([gold["id"], predictions["id"]]))})


def _misplaced(name: str, rows: pd.DataFrame, text: core.arrays.Indices, lengths: Any) -> list[str]:
    start, end = (rows[side].to_numpy(dtype=np.int64) for side in ("start", "end"))
    wrong = {"end is not behind start": end <= start}
    if lengths is not None:
        wrong["the span leaves its text"] = (text >= 0) & (end > lengths[text])
    out = []
    for what, bad in wrong.items():
        if bad.any():
            shown = [f"{i} [{a}, {b})" for i, a, b in zip(rows["id"][bad][:5], start[bad], end[bad], strict=False)]
            more = f" and {int(bad.sum()) - 5} more" if bad.sum() > 5 else ""
            out.append(f"{name}: {what}: {', '.join(shown)}{more}")
    blank = rows["entity_class"].str.strip() == ""
    if blank.any():
        out.append(f"{name}: column entity_class: {core.counted(int(blank.sum()), 'blank cell')}")
    return out


def _remarks(e: Entities, what: str, model: core.arrays.Indices | None = None) -> list[str]:
    """Spans that are listed twice, and that overlap."""
    if not len(e.text):
        return []
    columns = np.stack([*e, model if model is not None else np.zeros(len(e.text), np.int64)], axis=1)
    doubled = len(columns) - len(np.unique(columns, axis=0))
    group = e.text if model is None else model * (int(e.text.max()) + 1) + e.text
    order = np.lexsort((e.start, group))
    width = int(e.end.max()) + 1
    begins, ends = ((side + group * width)[order] for side in (e.start, e.end))
    overlapping = int((begins[1:] < np.maximum.accumulate(ends)[:-1]).sum())
    counts = {
        f"{what} that repeat another of the same place and class, each of which counts for itself": doubled,
        f"{what} that overlap or lie inside an earlier one of the same text": overlapping - doubled,
    }
    said = [f"{words}: {n}." for words, n in counts.items() if n > 0]
    if doubled > kit.MAX_UNSCORED * len(columns):
        short = f"{doubled} of {len(columns)} {what[0].lower()}{what[1:]} repeat another of the same place and class"
        said[0] = core.notes.Note("unmatched", short, said[0])
    return said


def _strangers(counts: pd.Series, true: Sequence[str]) -> list[str]:
    if not len(counts):
        return []
    like = {name.casefold(): name for name in true}
    twins = [f"{like[name.casefold()]} and {name}" for name in sorted(counts.index) if name.casefold() in like]
    short = f"{'; '.join(twins[:3])} differ by case alone and are taken for different classes"
    alike = [core.notes.Note("unmatched", short)] if twins else []
    named = ", ".join(f"{name} ({n})" for name, n in sorted(counts.items(), key=lambda i: (-i[1], i[0]))[:5])
    return [
        *alike,
        f"Predicted classes that gold does not have, so that they are always wrong: {named}{', …' if len(counts) > 5 else ''}.",
    ]


def _without(predicted: Entities, model: core.arrays.Indices, models: list[str], n_texts: int) -> list[str]:
    """In how many texts each model marked nothing, where that is a tenth of them or more."""
    marked = np.unique(np.stack([model, predicted.text], axis=1), axis=0)[:, 0] if len(model) else model
    left = n_texts - np.bincount(marked, minlength=len(models))
    named = [f"{name} {n}" for name, n in zip(models, left.tolist(), strict=True) if n >= n_texts / 10]
    out = f"Texts without a predicted span, which count as texts in which nothing was found: {', '.join(named)} of {n_texts}."
    return [out] if named else []
