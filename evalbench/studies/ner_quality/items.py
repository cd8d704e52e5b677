"""Spans that were found, taken for others, missed or invented, as the items that the figures sum."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.metrics.entities import COUNTS, MODES, Entities, Matched, counts_of, matched
from evalbench.studies.ner_quality import inputs

OWN = ("true", "missed", "predicted", "strict", "partial", "type")
MISSED, SPURIOUS = "(missed)", "(spurious)"


def own_column(what: str, name: str) -> str:
    """The items' column of one class: how many are true, missed, predicted, or hit in a mode."""
    return f"{what} {json.dumps(name, ensure_ascii=False)}"


def confused_column(true: str, predicted: str) -> str:
    """The items' column of entities of one class that were taken for another."""
    return f"confused {json.dumps([true, predicted], ensure_ascii=False)}"


def classes_of(items: pd.DataFrame) -> list[str]:
    """The classes of the gold that the items count."""
    return [json.loads(c.removeprefix("true ")) for c in items.columns if str(c).startswith('true "')]


def confusions_of(items: pd.DataFrame) -> list[tuple[str, str]]:
    """The pairs of classes of which the items count confusions."""
    pairs = [json.loads(c.removeprefix("confused ")) for c in items.columns if str(c).startswith('confused ["')]
    return [(true, predicted) for true, predicted in pairs]


class Found(NamedTuple):
    """Items and finer tables.

    - ``items``: One row per text and model.
    - ``tables``: ``spans``: one row per true or predicted entity and model; ``confusions``; ``counts``.
    """

    items: pd.DataFrame
    tables: dict[str, pd.DataFrame]


def items_of(known: inputs.Known) -> Found:
    """Match every model's spans to the true ones and count."""
    per_model, spans, confusions, counts = [], [], [], []
    pairs = np.zeros((len(known.classes),) * 2, dtype=bool)
    done = []
    for code in range(len(known.models)):
        own = known.model == code
        predicted = Entities(*(column[own] for column in known.predicted))
        found = matched(known.truth, predicted)
        taken = found.taken["overlap"] & ~found.pairs.same
        pairs[known.truth.kind[found.pairs.truth[taken]], predicted.kind[found.pairs.predicted[taken]]] = True
        done.append((predicted, found))
    for model, (predicted, found) in zip(known.models, done, strict=True):
        per_model.append(pd.DataFrame(_columns(known, predicted, found, pairs)).assign(model=model))
        spans.append(_spans(known, predicted, found).assign(model=model))
        confusions.append(_confusions(known, predicted, found).assign(model=model))
        counts.append(_counts(known, predicted, found).assign(model=model))
    items = pd.concat(per_model, ignore_index=True).assign(unscored="", undefined="")
    first = ["id", "model", "n_true", "n_predicted", *MODES]
    items = items[[*first, *(c for c in items if c not in first)]]
    if len(known.models) > 1:
        items = items.sort_values(["id", "model"], kind="stable", ignore_index=True)
    tables = {"spans": spans, "confusions": confusions, "counts": counts}
    return Found(items, {name: _with_model(pd.concat(parts, ignore_index=True)) for name, parts in tables.items()})


def joined(items: pd.DataFrame, classes: Sequence[str]) -> pd.DataFrame:
    """Items of several parts of the texts as those of all: confusions, of which a part may have none, in the order of their classes.

    - ``classes``: All, also those unknown to gold.
    """
    place = {name: i for i, name in enumerate(classes)}
    pairs = sorted(confusions_of(items), key=lambda pair: (place[pair[0]], place[pair[1]]))
    names = [confused_column(*pair) for pair in pairs]
    rest = [name for name in items if name not in {*names}]
    at = rest.index("unscored")
    out = items[[*rest[:at], *names, *rest[at:]]]
    return out.fillna(dict.fromkeys(names, 0))


def of_all_parts(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The finer tables of all texts out of those of parts of them: ``spans`` model by model, ``confusions`` with shares, ``counts``, ``numbers``."""
    spans = tables["spans"]
    models = pd.Index(tables["counts"]["model"].unique())
    order = np.lexsort((spans["outcome"] == "spurious", models.get_indexer(pd.Index(spans["model"]))))
    sums = {
        name: tables[name].groupby(keys, sort=False, as_index=False).sum()
        for name, keys in (
            ("confusions", ["model", "true_class", "predicted_class"]),
            ("counts", ["model", "mode"]),
            ("numbers", ["of", "name"]),
        )
    }
    found = sums["confusions"]
    total = found.groupby(["model", "true_class"])["n"].transform("sum")
    sums["confusions"] = found.assign(share=(found["n"] / total).where(found["true_class"] != SPURIOUS))
    return {"spans": spans.iloc[order].reset_index(drop=True), **sums}


def shifted(spans: pd.DataFrame) -> list[core.notes.Note]:
    """Of each model whose spans are mostly beside the true ones of their class by one and the same distance, that distance."""
    out = []
    for model, own in spans[spans["predicted_class"] == spans["entity_class"]].groupby("model", sort=True):
        by = pd.DataFrame({side: own[f"predicted_{side}"] - own[side] for side in ("start", "end")}).astype(int)
        counts = by.value_counts()
        (start, end), n = (counts.index[0], int(counts.iloc[0])) if len(counts) else ((0, 0), 0)
        if (start or end) and n > 1 and n > len(own) / 2:
            moved = " and ".join(f"{side}s by {by:+d}" for side, by in (("start", start), ("end", end)) if by)
            base = {
                (1, 1): ": do they count from 1?",
                (1, 0): ": do they count from 1, the end included?",
                (0, -1): ": is the end included?",
            }
            short = (
                f"{n} of {len(own)} spans of {model} are off by the same distance, {moved}{base.get((start, end), '')}"
            )
            out.append(core.notes.Note("shifted", short.rstrip("?")))
    return out


def _with_model(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[["model", *(c for c in frame if c != "model")]]


def _columns(known: inputs.Known, predicted: Entities, found: Matched, pairs: Any) -> dict[str, Any]:
    n, size = len(known.texts), len(known.classes)
    truth, rows = known.truth, found.pairs
    text, kind = truth.text[rows.truth], truth.kind[rows.truth]

    def by_text(of: core.Ints) -> core.Ints:
        return np.bincount(of, minlength=n)

    out: dict[str, Any] = {
        "id": known.texts["id"].to_numpy(),
        "n_true": by_text(truth.text),
        "n_predicted": by_text(predicted.text),
    }
    for mode in MODES:
        hits = by_text(text[found.correct[mode]])
        half = by_text(text[found.taken[mode]]) - hits
        out[mode] = hits + 0.5 * half if mode == "partial" else hits

    def by_class(texts: core.Ints, kinds: core.Ints) -> core.Ints:
        return np.bincount(texts * size + kinds, minlength=n * size).reshape(n, size).astype(np.int32)

    paired = rows.truth[found.taken["overlap"]]
    exact, own = (by_class(text[t], kind[t]) for t in (found.correct["own"], found.taken["own"]))
    tables = {
        "true": by_class(truth.text, truth.kind),
        "missed": by_class(truth.text, truth.kind) - by_class(truth.text[paired], truth.kind[paired]),
        "predicted": by_class(predicted.text, predicted.kind),
        "strict": by_class(text[found.correct["strict"]], kind[found.correct["strict"]]),
        "partial": (exact + own) / 2,
        "type": by_class(text[found.correct["type"]], kind[found.correct["type"]]),
    }
    for code, name in enumerate(known.classes[: known.n_true_classes]):
        out |= {own_column(what, name): tables[what][:, code] for what in OWN}
    taken = np.flatnonzero(found.taken["overlap"] & ~rows.same)
    both = kind[taken] * size + predicted.kind[rows.predicted[taken]]
    order = np.argsort(both, kind="stable")
    ends = np.searchsorted(both[order], np.arange(size * size + 1))
    for a, b in np.argwhere(pairs).tolist():
        at = order[ends[a * size + b] : ends[a * size + b + 1]]
        out[confused_column(known.classes[a], known.classes[b])] = by_text(text[taken[at]]).astype(np.int32)
    return out


def _spans(known: inputs.Known, predicted: Entities, found: Matched) -> pd.DataFrame:
    """Every true entity with what was predicted in its place, then what was predicted where nothing is."""
    truth, rows = known.truth, found.pairs
    taken = np.flatnonzero(found.taken["overlap"])
    partner = np.full(len(truth.text), -1)
    partner[rows.truth[taken]] = rows.predicted[taken]
    alone = np.ones(len(predicted.text), dtype=bool)
    alone[rows.predicted[taken]] = False
    free = np.flatnonzero(alone)
    has = partner >= 0
    both = np.where(has, partner, 0)
    names = np.array([*known.classes, ""], dtype=object)
    pad = len(predicted.text) > 0
    start, end, kind = (column[both] if pad else np.zeros(len(both), np.int64) for column in predicted[1:])
    boundary = (start == truth.start) & (end == truth.end)
    same = kind == truth.kind
    outcome = np.select(
        [~has, boundary & same, boundary, same], ["missed", "right", "other class", "other boundaries"], "both other"
    )
    n = len(free)
    ids = known.texts["id"].to_numpy()
    missing = np.zeros(n, dtype=np.int64)
    frame = pd.DataFrame(
        {
            "id": ids[np.concatenate([truth.text, predicted.text[free]])],
            "outcome": np.concatenate([outcome, np.full(n, "spurious")]),
            "start": np.concatenate([truth.start, missing]),
            "end": np.concatenate([truth.end, missing]),
            "entity_class": names[np.concatenate([truth.kind, missing - 1])],
            "predicted_start": np.concatenate([np.where(has, start, 0), predicted.start[free]]),
            "predicted_end": np.concatenate([np.where(has, end, 0), predicted.end[free]]),
            "predicted_class": names[np.concatenate([np.where(has, kind, -1), predicted.kind[free]])],
        }
    )
    spurious, missed = frame["outcome"] == "spurious", frame["outcome"] == "missed"
    for side, gone in (("start", spurious), ("end", spurious), ("predicted_start", missed), ("predicted_end", missed)):
        frame[side] = frame[side].astype("Int64").mask(gone)
    return frame


def _confusions(known: inputs.Known, predicted: Entities, found: Matched) -> pd.DataFrame:
    """How often each class was predicted in the place of each true one; how many were missed, and spurious."""
    taken = np.flatnonzero(found.taken["overlap"])
    size, n = len(known.classes), known.n_true_classes
    true, other = known.truth.kind[found.pairs.truth[taken]], predicted.kind[found.pairs.predicted[taken]]
    table = np.bincount(true * size + other, minlength=size * size).reshape(size, size)[:n]
    totals = np.bincount(known.truth.kind, minlength=size)[:n]
    every = np.bincount(predicted.kind, minlength=size)
    rows = [
        (known.classes[a], [*known.classes, MISSED][b], int(count))
        for a, line in enumerate(np.column_stack([table, totals - table.sum(axis=1)]))
        for b, count in enumerate(line)
    ]
    rows += [(SPURIOUS, name, int(count)) for name, count in zip(known.classes, every - table.sum(axis=0), strict=True)]
    return pd.DataFrame(rows, columns=["true_class", "predicted_class", "n"])


def _counts(known: inputs.Known, predicted: Entities, found: Matched) -> pd.DataFrame:
    """The five counts of each mode."""
    n_true, n_predicted = (np.array([len(e.text)]) for e in (known.truth, predicted))
    nowhere = np.zeros(len(found.pairs.truth), dtype=np.int64)
    rows = [counts_of(found, mode, nowhere, n_true, n_predicted) for mode in MODES]
    return pd.DataFrame({"mode": MODES, **{key: [int(row[key][0]) for row in rows] for key in COUNTS}})
