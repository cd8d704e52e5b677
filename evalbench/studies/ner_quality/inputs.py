"""True and predicted spans, checked, as arrays of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.metrics.entities import Entities

MOST_CLASSES = 100
"""So many classes are judged; more are an ``entity_class`` that holds something else."""
OTHER = "classes unknown to gold"
TRUE, PREDICTED = "True spans", "Predicted spans"


class Known(NamedTuple):
    """What is judged.

    - ``texts``: ``id`` ascending, ``text`` and ``lang`` where they are known.
    - ``classes``: Those of the gold first, each part ascending.
    - ``truth``, ``predicted``: By text, place and class.
    - ``model`` ((n,) array of int): Of each prediction.
    - ``numbers``: What notes rest on, to be added up over the parts of the texts: ``of, name, n``.
    """

    texts: pd.DataFrame
    models: tuple[str, ...]
    classes: tuple[str, ...]
    n_true_classes: int
    truth: Entities
    predicted: Entities
    model: core.arrays.Indices
    numbers: pd.DataFrame


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
    true, every = ([name for (name,) in of_all(rows, "entity_class")] for rows in (gold, predictions))
    if len(true) > MOST_CLASSES:
        raise errors.BadInput(
            f"gold: column entity_class has {len(true)} classes, at most {MOST_CLASSES} are judged; are they classes?"
        )
    strange = [name for name in every if name not in {*true}]
    counts = of_predictions[of_predictions.isin(strange)].value_counts()
    classes = (*true, *(strange if len(strange) <= 20 else [OTHER]))
    at = pd.Index(classes)
    kinds = [at.get_indexer(pd.Index(column)) for column in (of_gold, of_predictions)]
    kinds[1] = np.where(kinds[1] < 0, len(classes) - 1, kinds[1])
    systems = predictions.attrs.get(readers.schema.SYSTEMS, ())
    named = "model" in predictions
    models = (
        sorted({name for (name,) in of_all(predictions, "model")} | {*systems}) if named else [kit.collecting.UNNAMED]
    )
    model = pd.Index(models).get_indexer(pd.Index(predictions["model"])) if named else np.zeros(len(predictions), int)
    places = [[rows[side].to_numpy(dtype=np.int64) for side in ("start", "end")] for rows in (gold, predictions)]
    truth, predicted = (Entities(text, *p, k) for text, p, k in zip(codes, places, kinds, strict=True))  # type: ignore[call-arg]
    first, second = (np.lexsort(e[::-1]) for e in (truth, predicted))
    truth, predicted = _rows(truth, first), _rows(predicted, second)
    numbers = [
        ("texts", "", len(known)),
        *((TRUE, name, n) for name, n in _listed(truth).items()),
        *((PREDICTED, name, n) for name, n in _listed(predicted, model[second]).items()),
        *(("strange", name, int(n)) for name, n in counts.items()),
        *(("marked", name, n) for name, n in _marked(predicted, model[second], models)),
    ]
    of_parts = pd.DataFrame(numbers, columns=["of", "name", "n"])
    return Known(known, tuple(models), classes, len(true), truth, predicted, model[second], of_parts)


def notes_of(numbers: pd.DataFrame, true: Sequence[str]) -> list[str]:
    """What a reader must know of the spans.

    - ``numbers``: Those of all texts.
    - ``true``: The classes of the gold.
    """
    known = {
        of: dict(zip(own["name"], own["n"].tolist(), strict=True)) for of, own in numbers.groupby("of", sort=False)
    }
    return [
        *_remarks(known[TRUE], TRUE),
        *_remarks(known[PREDICTED], PREDICTED),
        *_strangers(known.get("strange", {}), true),
        *_without(known["marked"], known["texts"][""]),
    ]


def of_all(rows: pd.DataFrame, column: str) -> Sequence[tuple[str, ...]]:
    """What a column holds in all rows of its table, each once."""
    return readers.dealt.values_of(rows, (column,)) or ()


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


def _listed(e: Entities, model: core.arrays.Indices | None = None) -> dict[str, int]:
    """How many spans there are, how many repeat another, and how many overlap an earlier one of the same text."""
    if not len(e.text):
        return {"rows": 0, "doubled": 0, "overlapping": 0}
    columns = np.stack([*e, model if model is not None else np.zeros(len(e.text), np.int64)], axis=1)
    doubled = len(columns) - len(np.unique(columns, axis=0))
    group = e.text if model is None else model * (int(e.text.max()) + 1) + e.text
    order = np.lexsort((e.start, group))
    width = int(e.end.max()) + 1
    begins, ends = ((side + group * width)[order] for side in (e.start, e.end))
    overlapping = int((begins[1:] < np.maximum.accumulate(ends)[:-1]).sum())
    return {"rows": len(columns), "doubled": doubled, "overlapping": overlapping}


def _remarks(listed: Mapping[str, int], what: str) -> list[str]:
    """Spans that are listed twice, and that overlap."""
    doubled, n = listed["doubled"], listed["rows"]
    counts = {
        f"{what} that repeat another of the same place and class, each of which counts for itself": doubled,
        f"{what} that overlap or lie inside an earlier one of the same text": listed["overlapping"] - doubled,
    }
    said = [f"{words}: {number}." for words, number in counts.items() if number > 0]
    if doubled > kit.MAX_UNSCORED * n:
        short = f"{doubled} of {n} {what[0].lower()}{what[1:]} repeat another of the same place and class"
        said[0] = core.notes.Note("unmatched", short, said[0])
    return said


def _strangers(counts: Mapping[str, int], true: Sequence[str]) -> list[str]:
    if not counts:
        return []
    like = {name.casefold(): name for name in true}
    twins = [f"{like[name.casefold()]} and {name}" for name in sorted(counts) if name.casefold() in like]
    short = f"{'; '.join(twins[:3])} differ by case alone and are taken for different classes"
    alike = [core.notes.Note("unmatched", short)] if twins else []
    named = ", ".join(f"{name} ({n})" for name, n in sorted(counts.items(), key=lambda i: (-i[1], i[0]))[:5])
    return [
        *alike,
        f"Predicted classes that gold does not have, so that they are always wrong: {named}{', …' if len(counts) > 5 else ''}.",
    ]


def _marked(predicted: Entities, model: core.arrays.Indices, models: Sequence[str]) -> list[tuple[str, int]]:
    """In how many texts each model marked something."""
    marked = np.unique(np.stack([model, predicted.text], axis=1), axis=0)[:, 0] if len(model) else model
    return list(zip(models, np.bincount(marked, minlength=len(models)).tolist(), strict=True))


def _without(marked: Mapping[str, int], n_texts: int) -> list[str]:
    """In how many texts each model marked nothing, where that is a tenth of them or more."""
    named = [f"{name} {n_texts - n}" for name, n in marked.items() if n_texts - n >= n_texts / 10]
    out = f"Texts without a predicted span, which count as texts in which nothing was found: {', '.join(named)} of {n_texts}."
    return [out] if named else []
