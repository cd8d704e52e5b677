"""Does a correction of a judge, learnt on one population, hold on another?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.seeds import rng
from evalbench.core.stats import FEW_UNITS, Measured, resample_counts, with_interval


@dataclass(frozen=True)
class Correction:
    """The human mark expected at a judge's mark: a step function that never falls, linear between the marks it was fitted on.

    - ``marks``: The judge's marks, ascending.
    - ``expected``: The human mark expected at each.
    - ``n``: Labelled items that it was fitted on.
    """

    marks: tuple[float, ...]
    expected: tuple[float, ...]
    n: int

    def at(self, judged: npt.ArrayLike) -> Floats:
        """The human mark expected at each of the judge's marks; beyond the ends that of the end; NaN for NaN."""
        return np.asarray(np.interp(np.asarray(judged, dtype=float), self.marks, self.expected))


def fitted_correction(judged: npt.ArrayLike, human: npt.ArrayLike) -> Correction | None:
    """The isotonic regression of human marks on a judge's, by the items that have both; None without any.

    Parameters
    ----------
    judged, human : (n,) arrays of float
        NaN where there is none.

    References
    ----------
    Barlow et al. (1972), Statistical Inference under Order Restrictions, section 1.2, pool adjacent violators.

    Examples
    --------
    >>> fitted_correction([0.2, 0.5, 0.5, 0.9], [0.0, 0.6, 0.2, 0.3]).at([0.1, 0.5, 0.7]).round(3).tolist()
    [0.0, 0.367, 0.367]
    """
    f, y = _both(judged, human)
    if not len(f):
        return None
    marks, which = np.unique(f, return_inverse=True)
    weights = np.bincount(which).astype(float)
    sums = np.bincount(which, weights=y).astype(float)
    expected = _pooled(sums, weights)
    return Correction(tuple(marks.tolist()), tuple(expected.tolist()), len(f))


def transport_check(
    judged: npt.ArrayLike,
    human: npt.ArrayLike,
    new_judged: npt.ArrayLike,
    new_human: npt.ArrayLike,
    *,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Measured:
    """How far human marks of new data lie from what the correction of the first data expects at their judge's marks.

    The mean over the new labelled items of human − corrected, with corrected from :func:`fitted_correction` on the first data.
    0 means that the correction carries over; a mean shift alone would miss a judge whose errors depend on its mark.

    Parameters
    ----------
    judged, human : (n,) arrays of float
        Marks of the first data; NaN where there is none.
    new_judged, new_human : (m,) arrays of float
        Marks of the new data.
    seed, n_resamples : int
        Both samples are drawn anew in each resample, and the correction is fitted anew.

    Returns
    -------
    Measured
        ``n`` counts the new labelled items; without a value where either has none.

    Examples
    --------
    >>> first = np.linspace(0, 1, 200)
    >>> shifted = transport_check(first, first, first[::4], first[::4] - 0.3, n_resamples=200)
    >>> round(shifted.value, 2), shifted.ci_high < 0
    (-0.3, True)
    """
    f, y = _both(judged, human)
    g, z = _both(new_judged, new_human)
    if not len(f) or not len(g):
        return Measured(None, n=len(g), note="a correction and its check need labelled items of both data sets")
    marks, which = np.unique(f, return_inverse=True)

    def gap(first: Floats, new: Floats) -> float:
        weights = np.bincount(which, weights=first, minlength=len(marks)).astype(float)
        there = weights > 0
        sums = np.bincount(which, weights=first * y, minlength=len(marks)).astype(float)
        expected = np.interp(g, marks[there], _pooled(sums[there], weights[there]))
        return float((new * (z - expected)).sum() / new.sum())

    value = gap(np.ones(len(f)), np.ones(len(g)))
    draws = (
        (row for chunk in resample_counts(n, rng(seed, f"transport/{name}"), n_resamples) for row in chunk)
        for name, n in (("first", len(f)), ("new", len(g)))
    )
    replicates = [gap(first, new) for first, new in zip(*draws, strict=True)]
    found = with_interval(value, replicates, n=len(g), n_units=min(len(f), len(g)))
    few = f"fewer than {FEW_UNITS} labelled items" if len(g) < FEW_UNITS else ""
    return Measured(found.value, found.ci_low, found.ci_high, found.n, found.method, found.note or few)


def _both(judged: npt.ArrayLike, human: npt.ArrayLike) -> tuple[Floats, Floats]:
    f, y = np.asarray(judged, dtype=float), np.asarray(human, dtype=float)
    if f.shape != y.shape or f.ndim != 1:
        raise ValueError(f"one human mark (or NaN) for each judged item is needed: shapes {f.shape} and {y.shape}")
    used = ~np.isnan(f) & ~np.isnan(y)
    return f[used], y[used]


def _pooled(sums: Floats, weights: Floats) -> Floats:
    """The isotonic regression of means of groups in ascending order, none of them empty."""
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(sums / weights, weights=weights).x)
