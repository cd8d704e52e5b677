"""How many more items would settle a light."""

from __future__ import annotations

import math

from evalbench.core.result import Estimate, Summary


def more_items(e: Estimate) -> int:
    """How many more items would bring the interval clear of the nearest threshold, if nothing else changed; 0: none.

    Examples
    --------
    >>> more_items(Estimate(metric="f1", value=0.9, ci_low=0.7, ci_high=1.0, n=40, cuts=(0.8,)))
    120
    """
    if e.value is None or e.ci_low is None or e.ci_high is None or not e.cuts or not e.n:
        return 0
    value = e.value
    nearest = min(e.cuts, key=lambda cut: abs(cut - value))
    wide = (e.value - e.ci_low) if nearest < e.value else (e.ci_high - e.value)
    away = abs(e.value - nearest)
    if wide <= away:
        return 0
    return math.ceil(e.n * ((wide / away) ** 2 - 1) - 1e-6) if away > 1e-9 else 1000 * e.n


def rounded_up(number: int) -> int:
    """To two digits.

    Examples
    --------
    >>> rounded_up(3471)
    3500
    """
    step = int(10 ** max(len(str(number)) - 2, 0))
    return -(-number // step) * step


def least_settled(summary: Summary, e: Estimate) -> Estimate:
    """The figure that takes the most items to be clear of its thresholds: of a green light, which every lit figure must keep, any."""
    lit = [o for o in summary.estimates if o.light == "green"] if summary.verdict.light == "green" else [e]
    return max(lit, key=more_items, default=e)
