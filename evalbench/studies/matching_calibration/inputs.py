"""Human verdicts on pairs, joined with the pairs' components."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.metrics.matching import COMPONENTS
from evalbench.studies import matching
from evalbench.studies.matching_calibration import search

PAIR = ("id", "model", "truth_id", "prediction_id")
CONSENSUS = MAJORITY, MEAN = ("majority", "mean")
NO_VERDICTS = "[]"
FORMER = {"id": ("sample_id",), "model": ("checker",), "mark": ("is_match",)}
"""Columns of verdicts under other names, as merged labels have them, beside an id of the page and a mark on its scale."""
UNIT = "id"


def adapted(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Violations as ``matching`` reads them, and verdicts in words (yes, no, да, 👍) as 1 and 0."""
    out = dict(matching.adapt(frames))
    verdicts = out.get("pair_verdicts")
    if verdicts is None or "mark" not in verdicts:
        return out
    words = verdicts["mark"].map(readers.verdicts.truth_of)
    if words.notna().any() and readers.verdicts.are_verdicts(verdicts["mark"]):
        note = "pair_verdicts: words in mark are read as 1 (right) and 0 (wrong)"
        out["pair_verdicts"] = own = verdicts.assign(mark=words.fillna(verdicts["mark"]))
        own.attrs["notes"] = [*verdicts.attrs.get("notes", ()), note]
    return out


def judged_pairs(pairs: pd.DataFrame, verdicts: pd.DataFrame, consensus: str = MAJORITY) -> pd.DataFrame:
    """One row per judged pair: ids, components, all verdicts, and what the humans say together.

    - ``pairs``: Every pair with its components, see :meth:`evalbench.studies.matching.Pairs.frame`.
    - ``verdicts``: ``id, model, truth_id, prediction_id, mark`` (0–1, NaN for none) and, optionally,
      ``annotator``.
    - ``consensus`` ({"majority", "mean"}): The verdict of most annotators (0 or 1; a tie is undefined), or the mean of
      their verdicts.

    Returns: Sorted by ids; ``human`` is NaN where the annotators are split or gave no verdict, ``verdicts`` a JSON
    list.

    Raises ``BadInput`` if a verdict names a pair that does not exist, or verdicts of one kind alone remain.
    """
    found = verdicts.groupby(list(PAIR), sort=True)["mark"].agg(["mean", list]).reset_index()
    judged = found.merge(pairs, on=list(PAIR), how="left", indicator=True)
    known = {name: set(pairs[name].unique()) for name in PAIR}
    _refuse_strangers(judged[judged["_merge"] == "left_only"], known)
    judged["human"] = _together(judged["mean"].to_numpy(dtype=float), consensus)
    judged["verdicts"] = [json.dumps(sorted(v for v in values if v == v)) for values in judged["list"]]
    judged["pair_id"] = judged[list(PAIR)].agg("|".join, axis=1)
    return judged[["pair_id", *PAIR, *COMPONENTS, "human", "verdicts"]]


def needs(data: readers.Dataset, *, consensus: str, n_folds: int) -> None:
    """Refuse verdicts on pairs that do not exist, verdicts of one kind alone, and more folds than texts.

    Raises ``BadInput``: As :func:`judged_pairs` and ``evaluate`` say it.
    """
    found = data["pair_verdicts"].groupby(list(PAIR), sort=True)["mark"].mean().reset_index()
    known = np.ones(len(found), dtype=bool)
    for table, columns in (("truth", ("id", "truth_id")), ("predictions", ("id", "model", "prediction_id"))):
        own = data[table].rename(columns={"violation_id": columns[-1]})[list(columns)].drop_duplicates()
        there = found[list(columns)].merge(own, on=list(columns), how="left", indicator=True)["_merge"] == "both"
        known &= there.to_numpy()
    ids = {"truth_id": set(data["truth"]["violation_id"]), "prediction_id": set(data["predictions"]["violation_id"])}
    samples, checkers = set(data["truth"]["id"]), set(data["predictions"]["model"])
    _refuse_strangers(found[~known], {"id": samples, "model": checkers, **ids})
    _together(found["mark"].to_numpy(dtype=float), consensus)
    checks = kit.Checks()
    checks.that(*enough_texts(n_folds, found[UNIT].nunique()))
    checks.refuse("matching_calibration")


def enough_texts(n_folds: int, n_texts: int) -> tuple[bool, str]:
    """Whether there is a text for each fold, and what is said where there is not."""
    return n_folds <= n_texts, f"n_folds must be at most {n_texts}, the number of texts with verdicts; got {n_folds}"


def _refuse_strangers(strangers: pd.DataFrame, known: Mapping[str, set[str]]) -> None:
    if len(strangers):
        pairs = (", ".join(f"{c} {row[c]}" for c in PAIR) for row in strangers.to_dict("records"))
        raise errors.BadInput.listing(
            f"pair_verdicts: {len(strangers)} verdicts on pairs that do not exist (a true and a predicted violation of one sample):",
            [*_why_strange(strangers, known), *pairs],
        )


def _why_strange(strangers: pd.DataFrame, known: Mapping[str, set[str]]) -> list[str]:
    """Which columns of pairs that do not exist have unknown ids, and whether they are written otherwise or swapped."""
    true, found = PAIR[2:]
    if (
        {*strangers[true]} <= known[found]
        and {*strangers[found]} <= known[true]
        and not {*strangers[true]} <= known[true]
    ):
        return [f"{true} and {found} are swapped: each has the ids of the other"]
    said = []
    for name in PAIR:
        unknown = sorted({*strangers[name]} - known[name])
        if unknown:
            near = readers.strangers.written_otherwise(unknown, known[name])
            said.append(f"{name}: {near or f'{len(unknown)} unknown, such as {unknown[0]}'}")
    return said


def _together(mean: core.arrays.Floats, consensus: str) -> core.arrays.Floats:
    """What the humans say together of each pair; there must be something to learn from."""
    human = mean
    if consensus == MAJORITY:
        human = np.where((human == 0.5) | np.isnan(human), np.nan, (human > 0.5).astype(float))
    known = human[~np.isnan(human)]
    if not len(known) or known.min() == known.max():
        ties = int((np.asarray(mean) == 0.5).sum()) if consensus == MAJORITY else 0
        split = (
            f" the annotators disagree on {ties}, which are ties without a verdict (consensus=mean counts half);"
            if ties
            else ""
        )
        raise errors.BadInput(
            f"pair_verdicts: nothing to learn from {len(human)} judged pairs:{split} the humans must call some of them a match and some not"
        )
    return human


def training(judged: pd.DataFrame, components: Sequence[str], missing: Any) -> search.Training:
    """Judged pairs as arrays; a pair on which the annotators are split keeps its NaN."""
    return search.Training(
        judged[list(components)].to_numpy(dtype=float),
        judged["text_overlap"].to_numpy(dtype=float),
        np.nan_to_num(judged["rule_similarity"].to_numpy(dtype=float)),
        judged["human"].to_numpy(dtype=float),
        missing,
    )
