"""Human verdicts on pairs, joined with the pairs' components."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput
from evalbench.metrics.matching import COMPONENTS
from evalbench.studies.matching_calibration.search import Training

if TYPE_CHECKING:
    import pandas as pd

PAIR = ("sample_id", "checker", "truth_id", "prediction_id")
CONSENSUS = MAJORITY, MEAN = ("majority", "mean")
NO_VERDICTS = "[]"
UNIT = "sample_id"


def judged_pairs(pairs: pd.DataFrame, verdicts: pd.DataFrame, consensus: str = MAJORITY) -> pd.DataFrame:
    """One row per judged pair: ids, components, all verdicts, and what the humans say together.

    Parameters
    ----------
    pairs : DataFrame
        Every pair with its components, see :meth:`evalbench.studies.matching.Pairs.frame`.
    verdicts : DataFrame
        ``sample_id, checker, truth_id, prediction_id, is_match`` (0–1, NaN for none) and, optionally, ``annotator``.
    consensus : {"majority", "mean"}
        The verdict of most annotators (0 or 1; a tie is undefined), or the mean of their verdicts.

    Returns
    -------
    DataFrame
        Sorted by ids; ``human`` is NaN where the annotators are split or gave no verdict, ``verdicts`` a JSON list.

    Raises
    ------
    BadInput
        If a verdict names a pair that does not exist, or verdicts of one kind alone remain.
    """
    found = verdicts.groupby(list(PAIR), sort=True)["is_match"].agg(["mean", list]).reset_index()
    judged = found.merge(pairs, on=list(PAIR), how="left", indicator=True)
    strangers = judged[judged["_merge"] == "left_only"]
    if len(strangers):
        raise BadInput.listing(
            f"pair_verdicts: {len(strangers)} verdicts on pairs that do not exist (a true and a predicted violation of one sample):",
            [", ".join(f"{c} {row[c]}" for c in PAIR) for row in strangers.to_dict("records")],
        )
    human = judged["mean"].to_numpy(dtype=float)
    if consensus == MAJORITY:
        human = np.where((human == 0.5) | np.isnan(human), np.nan, (human > 0.5).astype(float))
    known = human[~np.isnan(human)]
    if not len(known) or known.min() == known.max():
        raise BadInput(
            f"pair_verdicts: nothing to learn from {len(judged)} judged pairs: the humans must call some of them a match and some not"
        )
    judged["human"] = human
    judged["verdicts"] = [json.dumps(sorted(v for v in values if v == v)) for values in judged["list"]]
    judged["pair_id"] = judged[list(PAIR)].agg("|".join, axis=1)
    return judged[["pair_id", *PAIR, *COMPONENTS, "human", "verdicts"]]


def training(judged: pd.DataFrame, components: Sequence[str], missing: Any) -> Training:
    """Judged pairs as arrays; a pair on which the annotators are split keeps its NaN."""
    return Training(
        judged[list(components)].to_numpy(dtype=float),
        judged["text_overlap"].to_numpy(dtype=float),
        np.nan_to_num(judged["rule_similarity"].to_numpy(dtype=float)),
        judged["human"].to_numpy(dtype=float),
        missing,
    )
