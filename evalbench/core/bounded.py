"""Means between two bounds, with an interval that has a width even where all agree, and what it says of a bias."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.clusters import codes
from evalbench.core.ends import unlike_at_most
from evalbench.core.seeds import rng
from evalbench.core.stats import Measured, bootstrap_sums, no_width, wilson, wilson_name, with_interval

Found = Literal["found", "not found", "unclear", ""]


def finding(measured: Measured, low: float, high: float) -> Found:
    """What an interval says of a bias that is harmless from ``low`` to ``high``.

    Returns
    -------
    {"found", "not found", "unclear", ""}
        Its interval lies wholly outside, wholly inside, on both sides; empty without an interval.

    Examples
    --------
    >>> finding(Measured(0.7, 0.62, 0.78), 0.45, 0.55), finding(Measured(0.5, 0.48, 0.52), 0.45, 0.55)
    ('found', 'not found')
    >>> finding(Measured(0.6, 0.4, 0.8), 0.45, 0.55), finding(Measured(None), 0.45, 0.55)
    ('unclear', '')
    """
    if measured.ci_low is None or measured.ci_high is None:
        return ""
    if measured.ci_low > high or measured.ci_high < low:
        return "found"
    return "not found" if low <= measured.ci_low and measured.ci_high <= high else "unclear"


def bounded_mean(
    values: npt.ArrayLike,
    *,
    low: float = 0.0,
    high: float = 1.0,
    units: npt.ArrayLike | None = None,
    purpose: str = "mean",
    seed: int = 0,
    n_resamples: int = 2000,
) -> Measured:
    """The mean of values between two bounds, with an interval that has a width even where all values agree.

    Of 0 and 1, each a unit of its own: :func:`evalbench.core.stats.wilson`.  Else the percentile bootstrap over units; where all resamples agree,
    :func:`evalbench.core.ends.unlike_at_most`.

    Parameters
    ----------
    values : (n,) array
        NaN is left out.
    low, high : float
        The bounds.
    units : (n,) array, optional
        What is drawn: the question of each value; each value by itself by default.
    purpose : str
        Names the random numbers.

    Returns
    -------
    Measured
        ``n`` counts the values.  Without an interval where there are fewer than two units.

    References
    ----------
    Wilson (1927).

    Examples
    --------
    >>> bounded_mean([0.5] * 98).ci_low.__round__(3), bounded_mean([1, 1, 0, np.nan]).method
    (0.481, 'modified Wilson')
    """
    x = np.asarray(values, dtype=float)
    kept = ~np.isnan(x)
    drawn = np.arange(len(x)) if units is None else np.asarray(units)
    if x.ndim != 1 or drawn.shape != x.shape:
        raise ValueError(f"one unit for each value is needed: shapes {x.shape} and {drawn.shape}")
    x = x[kept]
    n = len(x)
    if not n:
        return Measured(None, note="no verdict")
    if ((x < low) | (x > high)).any():
        raise ValueError(f"a value is not between {low:g} and {high:g}")
    names, which = codes(drawn[kept])
    counts = np.bincount(which).astype(float)
    # Values of one unit are added in order of their value: the order of rows changes no bit of the sum.
    order = np.lexsort((x, which))
    sums = np.bincount(which[order], weights=x[order])
    value = float(sums.sum() / n)
    if len(names) == n and (low, high) == (0.0, 1.0) and np.isin(x, (0.0, 1.0)).all() and n > 1:
        ends = wilson(sums.sum(), n)
        return Measured(value, float(ends[0]), float(ends[1]), n, wilson_name(sums.sum(), n))
    if len(names) < 2:
        return Measured(value, n=n, note="no interval: fewer than two units")
    columns = np.stack([sums, counts], axis=1)
    replicates = bootstrap_sums(columns, lambda s: s[:, :1] / s[:, 1:], rng(seed, f"bounded/{purpose}"), n_resamples)
    measured = with_interval(value, replicates[:, 0], n=n, n_units=len(names), clustered=len(names) < n)
    if measured.ci_low is None or measured.ci_high is None or not no_width(measured.ci_low, measured.ci_high):
        return measured
    return Measured(value, *unlike_at_most(value, len(names), (low, high)), n, "Wilson over units, all agree")


def paired(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Two columns of numbers of one length.

    Raises
    ------
    ValueError
        If they are not.

    Examples
    --------
    >>> [column.tolist() for column in paired([1, 0], [True, False])]
    [[1.0, 0.0], [1.0, 0.0]]
    """
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"two verdicts (or NaN) for each item are needed: shapes {x.shape} and {y.shape}")
    return x, y
