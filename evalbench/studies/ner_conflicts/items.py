"""Conflicts of every text and model, and the items that the figures sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.metrics.mentions import CLASS, TEXT, nested
from evalbench.studies.ner_conflicts import inputs
from evalbench.text.occurrences import comparable, places

ONCE, NOTHING = "every predicted string occurs once", "nothing was predicted"


def items_of(
    known: inputs.Predictions, *, whole_words: bool, case_sensitive: bool, count_nested: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row per text and model with what the figures sum, and one row per conflict."""
    n_texts, n_models = len(known.texts), len(known.models)
    whole = [comparable(text, case_sensitive=case_sensitive) for text in known.texts["text"]]
    to_folded, folded = pd.factorize(
        np.array([comparable(entity, case_sensitive=case_sensitive) for entity in known.entities], dtype=object)
    )
    item = known.text * n_models + known.model
    spelled = item * len(folded) + to_folded[known.entity]
    place = known.text * len(folded) + to_folded[known.entity]
    distinct = np.unique(place)
    where = _placed(distinct, whole, folded, whole_words)
    occurring = np.array([len(starts) for starts in where.values()], dtype=np.int64)

    strings, first, total = np.unique(spelled, return_index=True, return_counts=True)
    occurs = occurring[np.searchsorted(distinct, place[first])]
    of_item = item[first]
    lost = occurs == 0
    lost[lost] = [
        _by_case(whole[t], folded[s], whole_words)
        for t, s in zip(*np.divmod(place[first][lost], len(folded)), strict=True)
    ]

    _, first_of, n = np.unique(spelled * len(known.classes) + known.kind, return_index=True, return_counts=True)
    fewer = np.flatnonzero(n < occurring[np.searchsorted(distinct, place[first_of])])
    rows = first_of[fewer]
    inside = _nested(rows, spelled, item, place, strings, where, folded, n_models)
    has = occurring[np.searchsorted(distinct, place[rows])]
    explained = n[fewer] >= has - inside
    counts = explained & (not count_nested)
    own = ~counts

    size = n_texts * n_models
    over = total > occurs
    conflicting = np.unique(np.concatenate([spelled[rows[own]], strings[over]]))
    at = np.searchsorted(strings, conflicting)

    def summed(of: core.Indices, weights: core.Ints | None = None) -> core.Ints:
        return np.bincount(of, weights=weights, minlength=size).astype(np.int64)

    out: dict[str, Any] = {
        "id": np.repeat(known.texts["id"].to_numpy(), n_models),
        "model": np.tile(np.array(known.models, dtype=object), n_texts),
        "n_predicted": summed(item),
        "only_class": _only_class(item, known, size),
        "strings": summed(of_item),
        "absent": summed(of_item[occurs == 0]),
        "absent_by_case": summed(of_item[lost]),
        "class_string": summed(item[rows[own]]),
        "gap": summed(item[rows[own]], has[own] - n[fewer][own]),
        "text_string": summed(of_item[over]),
        "nested": summed(item[rows[explained]]),
        "class_string_all": summed(item[rows]),
        "conflicting": summed(of_item[at]),
        "occurrences": summed(of_item[at], occurs[at]),
    }
    found = (out["conflicting"] > 0).astype(float)
    once = (out["strings"] > 0) & (summed(of_item[occurs != 1]) == 0)
    nothing = out["strings"] == 0
    # A text that a ratio does not rest on has no value of it, and is not in its n.
    for column, of in (
        ("gap", "class_string"),
        ("occurrences", "conflicting"),
        ("nested", "class_string_all"),
        ("absent", "strings"),
    ):
        out[column] = np.where(out[of] > 0, out[column].astype(float), np.nan)
    frame = pd.DataFrame(out).assign(
        any_conflict=found,
        conflict=np.where(once | nothing, np.nan, found),
        over_share=np.where(
            found > 0, core.ratio(out["text_string"].astype(float), out["strings"].astype(float)), np.nan
        ),
        unscored="",
        undefined=np.select([nothing, once], [NOTHING, ONCE], default=""),
    )
    return frame, _table(known, rows, n[fewer], has, explained, first[over], total[over], occurs[over])


def _only_class(item: core.Indices, known: inputs.Predictions, size: int) -> np.ndarray[Any, Any]:
    """The class of all predictions of each item; empty where they are of several, or none."""
    first, last = np.full(size, len(known.classes)), np.full(size, -1)
    np.minimum.at(first, item, known.kind)
    np.maximum.at(last, item, known.kind)
    return np.array(["", *known.classes], dtype=object)[np.where(first == last, first + 1, 0)]


def _by_case(text: str, string: str, whole_words: bool) -> bool:
    """Whether a string that does not occur does so in upper or lower case."""
    return bool(places(*(comparable(one, case_sensitive=False) for one in (text, string)), whole_words=whole_words))


def _placed(distinct: core.Indices, whole: list[str], folded: Any, whole_words: bool) -> dict[int, list[int]]:
    """Where each string of each text begins, by the code of both."""
    texts, strings = np.divmod(distinct, len(folded))
    names = folded.tolist()
    return {
        code: places(whole[t], names[s], whole_words=whole_words)
        for code, t, s in zip(distinct.tolist(), texts.tolist(), strings.tolist(), strict=True)
    }


def _nested(
    rows: core.Indices,
    spelled: core.Indices,
    item: core.Indices,
    place: core.Indices,
    strings: core.Indices,
    where: dict[int, list[int]],
    folded: Any,
    n_models: int,
) -> core.Ints:
    """How many occurrences of the string of each row lie inside another string that was predicted for the same item."""
    ends = np.searchsorted(strings, np.stack([item[rows], item[rows] + 1]) * len(folded))
    out = np.zeros(len(rows), dtype=np.int64)
    several = np.flatnonzero(np.diff(ends, axis=0)[0] > 1)
    codes = (strings % len(folded)).tolist()
    texts = (item // n_models).tolist()
    for i in several.tolist():
        row = rows[i]
        others = codes[ends[0, i] : ends[1, i]]
        text = texts[row] * len(folded)
        here: dict[str, list[int]] = {folded[code]: where[text + code] for code in others}
        out[i] = nested(folded[spelled[row] % len(folded)], here)
    return out


def _table(
    known: inputs.Predictions,
    rows: core.Indices,
    n: core.Ints,
    has: core.Ints,
    explained: core.Bools,
    over: core.Indices,
    total: core.Ints,
    occurs: core.Ints,
) -> pd.DataFrame:
    """One row per conflict, by text, model, string and class."""
    every = np.concatenate([rows, over])
    classes, entities, models = (
        np.array(names, dtype=object) for names in (known.classes, known.entities, known.models)
    )
    table = pd.DataFrame(
        {
            "id": known.texts["id"].to_numpy()[known.text[every]],
            "model": models[known.model[every]],
            "kind": np.repeat([CLASS, TEXT], [len(rows), len(over)]),
            "entity": entities[known.entity[every]],
            "entity_class": np.concatenate([classes[known.kind[rows]], np.full(len(over), "", dtype=object)]),
            "predicted": np.concatenate([n, total]),
            "occurrences": np.concatenate([has, occurs]),
            "nested": np.concatenate([explained, np.zeros(len(over), dtype=bool)]),
        }
    )
    return table.sort_values(["id", "model", "kind", "entity", "entity_class"], ignore_index=True)
