"""Intervals and tests that a verdict rests on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]


def bootstrap_sums(
    units: Floats, statistic: Callable[[Floats], Floats], rng: np.random.Generator, n_resamples: int = 2000
) -> Floats:
    """Bootstrap replicates of statistics that are functions of column sums.

    Parameters
    ----------
    units : (n, c) array
        One row per resampling unit, its additive columns.
    statistic : callable
        Sums ``(r, c)`` → values ``(r, f)``.

    Returns
    -------
    (n_resamples, f) array
    """
    n = len(units)
    out = []
    step = max(1, int(4e6 // max(1, n)))
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        counts = np.zeros((size, n))
        drawn = rng.integers(n, size=(size, n))
        np.add.at(counts, (np.arange(size)[:, None], drawn), 1.0)
        out.append(statistic(counts @ units))
    return np.concatenate(out)


def percentile_interval(replicates: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """The percentile interval of each column of replicates, NaN replicates left out."""
    with np.errstate(all="ignore"):
        tail = (1 - level) / 2
        low, high = np.nanquantile(replicates, [tail, 1 - tail], axis=0)
    return low, high


def wilson(successes: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson's score interval of a proportion (Wilson 1927)."""
    k, m = np.asarray(successes, float), np.asarray(n, float)
    z = stats.norm.ppf(0.5 + level / 2)
    with np.errstate(all="ignore"):
        p = k / m
        centre = (p + z**2 / (2 * m)) / (1 + z**2 / m)
        half = z / (1 + z**2 / m) * np.sqrt(p * (1 - p) / m + z**2 / (4 * m**2))
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
