"""What keeps verdicts of people from showing which settings are better: nothing found, nothing beyond one call for all, annotators at odds."""

from __future__ import annotations

import pandas as pd

from evalbench import core
from evalbench.studies.matching_calibration.items import DEFAULTS, HELD_OUT

TURNED = "turned round"
LEAST_AGREEMENT = 0.4
"""Annotators whose alpha is shown to be below are at odds, as in the studies of annotators."""


def why_grey(alpha: core.Estimate, known: pd.DataFrame) -> str:
    """Why the gain shows nothing, a clause; empty where it does."""
    return of_annotators(alpha) or _of_calls(known)


def of_annotators(alpha: core.Estimate) -> str:
    """That annotators of enough pairs do not agree beyond chance, a clause; empty where they do, or too few pairs show it.

    Examples
    --------
    >>> of_annotators(core.Estimate(metric="alpha", value=0.0, ci_low=-0.3, ci_high=0.3, n=40))
    'the annotators agree no better than chance (alpha 0.00 on 40 pairs)'
    >>> of_annotators(core.Estimate(metric="alpha", value=0.8, ci_low=0.6, ci_high=0.9, n=40))
    ''
    """
    if alpha.value is None or alpha.ci_low is None or alpha.ci_high is None or alpha.n < core.stats.FEW_UNITS:
        return ""
    if alpha.ci_low > 0 or alpha.value >= LEAST_AGREEMENT:
        return ""
    return f"the annotators agree no better than chance (alpha {core.wording.value_text(alpha)} on {core.counted(alpha.n, 'pair')})"


def _of_calls(known: pd.DataFrame) -> str:
    """That neither setting finds a match, or none is better than one call for all pairs, a clause; else empty."""
    own = {name: rows for name, rows in known.groupby("settings") if name in (DEFAULTS, HELD_OUT)}
    if len(own) < 2:
        return ""
    if not any(rows["tp"].sum() for rows in own.values()):
        return f"no setting calls a pair a match that people call one, as if verdicts or ids were {TURNED}"
    held = own[HELD_OUT]
    matches = float(held["human"].sum())
    constant = 2 * matches / (matches + len(held))
    if max(map(_f1, own.values())) > constant + 1e-9:
        return ""
    return f"calling every pair a match has as high an F1, {constant:.2f}, as the better of defaults and calibrated settings"


def _f1(rows: pd.DataFrame) -> float:
    tp, wrong = rows["tp"].sum(), rows[["fp", "fn"]].to_numpy().sum()
    return float(2 * tp / (2 * tp + wrong)) if tp + wrong else 0.0
