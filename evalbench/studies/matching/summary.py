"""Items to headline figures with intervals and a light."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.measures import Measure, f1_of, mean_of, precision_of, ratio, recall_of
from evalbench.core.result import Summary
from evalbench.core.wording import counted
from evalbench.kit.verdicts import worst_group
from evalbench.metrics.matching import COMPONENTS

if TYPE_CHECKING:
    import pandas as pd

LIGHT_ON = "f1"
LIT = {"f1": "F1", "match_score": "match score", "ha_f1": "human-aligned F1"}
"""The measures that can have a light, in words."""


def measures() -> tuple[Measure, ...]:
    """The study's headline figures."""
    macro = {"worst": None, "undefined": "no sample has a value"}
    return (
        f1_of("tp", "fp", "fn"),
        Measure("match_score", ("ha_score_sum", "n_truth"), ratio, undefined="there is no true violation"),
        precision_of("tp", "fp"),
        recall_of("tp", "fn"),
        f1_of("ha_tp", "ha_fp", "ha_fn", "ha_f1"),
        precision_of("ha_tp", "ha_fp", "ha_precision"),
        recall_of("ha_tp", "ha_fn", "ha_recall"),
        Measure("match_quality", ("ha_score_sum", "ha_tp"), ratio, undefined="nothing was matched"),
        *(
            Measure(
                f"matched_{c}",
                (f"sum_{c}", f"n_{c}"),
                ratio,
                undefined="no matched pair has this part",
                interval="counts" if c == "category_match" else "bootstrap",
            )
            for c in COMPONENTS
        ),
        Measure(
            "low_overlap_share",
            ("low_overlap", "tp"),
            ratio,
            higher_is_better=False,
            undefined="nothing was matched",
            interval="counts",
        ),
        mean_of("sample_f1", "macro_f1", **macro),
        mean_of("sample_precision", "macro_precision", **macro),
        mean_of("sample_recall", "macro_recall", **macro),
        Measure("tp", ("tp",), np.asarray, unit="violations"),
        Measure("fp", ("fp",), np.asarray, unit="violations", higher_is_better=False),
        Measure("fn", ("fn",), np.asarray, unit="violations", higher_is_better=False),
    )


def summarise(
    items: pd.DataFrame,
    *,
    light_on: str = LIGHT_ON,
    yellow_from: float | None = None,
    green_from: float | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Summary:
    """Headline figures per checker and over all, with the verdict: the worst checker decides.

    Parameters
    ----------
    items : DataFrame
        One row per sample and checker, see :func:`evalbench.studies.matching.items.items_of`.
    light_on : {"f1", "match_score", "ha_f1"}
    yellow_from, green_from : float or None
        The light is red up to and including the first, green above the second; without them unlit.
    seed, n_resamples : int

    Returns
    -------
    Summary
    """
    n_truth = int(items.drop_duplicates("sample_id")["n_truth"].sum())
    return worst_group(
        items,
        measures(),
        "checker",
        lights={light_on: () if yellow_from is None or green_from is None else (yellow_from, green_from)},
        what=LIT[light_on],
        over=f"{counted(n_truth, 'true violation')} in {counted(items['sample_id'].nunique(), 'text')}",
        units="sample_id",
        whole=True,
        seed=seed,
        n_resamples=n_resamples,
    )
