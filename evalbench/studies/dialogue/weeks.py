"""Mean lengths by the week in which a session began, each against all other weeks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.dialogue import summary

ALPHA = 0.05
FEWEST = 10
"""Weeks of fewer sessions are not tested."""


def weeks_of(items: pd.DataFrame, orientation: str, lights: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """One row per model and week.

    Parameters
    ----------
    items : DataFrame
        ``model``, ``week`` and ``answers``; sessions without a date or an answer are left out.
    orientation, lights
        Of the light of each week.

    Returns
    -------
    DataFrame
        ``model, week, n, mean, low, high, light``, ``difference`` from the mean of the model's other weeks, and ``p_holm``:
        as large a difference under a random deal of the model's sessions to its weeks (normal approximation), Holm over all
        rows.  Intervals are Student's, of two sessions and more; weeks of fewer than ten sessions are not tested.
    """
    from scipy import stats

    known = items[(items["week"] != "") & items["answers"].notna()]
    if known.empty:
        return pd.DataFrame()
    # Whole numbers: the sums are exact in any order.
    squared = known.assign(squared=known["answers"] ** 2)
    table = squared.groupby(["model", "week"], sort=True).agg(
        n=("answers", "size"), total=("answers", "sum"), squares=("squared", "sum")
    ).reset_index()  # fmt: skip
    whole = table.groupby("model")[["n", "total", "squares"]].transform("sum")
    n, mean, variance = _moments(table)
    others, others_mean, _ = _moments(whole - table[["n", "total", "squares"]])
    _, _, all_variance = _moments(whole)
    with np.errstate(all="ignore"):
        half = stats.t.ppf(0.975, n - 1) * np.sqrt(variance / n)
        spread = np.sqrt(all_variance * (1 / n + 1 / others))
        p = np.where(n >= FEWEST, 2 * stats.norm.sf(np.abs(mean - others_mean) / spread), np.nan)
    adjusted = np.full(len(p), np.nan)
    adjusted[np.isfinite(p)] = core.significance.holm(p[np.isfinite(p)])
    bands = summary.measures(orientation, lights)[0].bands
    return pd.DataFrame(
        {
            "model": table["model"],
            "week": table["week"],
            "n": table["n"],
            "mean": mean,
            "low": np.maximum(mean - half, 0),
            "high": mean + half,
            "light": bands.lights(mean) if bands else "unlit",
            "difference": mean - others_mean,
            "p_holm": adjusted,
        }
    )


def _moments(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number, mean and variance out of sums; NaN where there are too few."""
    n, total, squares = (table[name].to_numpy(float) for name in ("n", "total", "squares"))
    with np.errstate(all="ignore"):
        mean = np.where(n > 0, total / n, np.nan)
        variance = np.where(n > 1, np.maximum(squares - n * mean**2, 0) / (n - 1), np.nan)
    return n, mean, variance
