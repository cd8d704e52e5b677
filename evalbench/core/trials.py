"""The same question asked several times: pass@k and pass^k, items that flicker.

A *trial* is one answer to an item.  Everything here is a function of counts of trials, vectorised over items.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Ints
from evalbench.core.seeds import rng
from evalbench.core.stats import bootstrap_sums, percentile_interval, wilson

ENOUGH = 0.95
"""The share of the items that must have k trials for a figure at k."""


def pass_at_k(n: npt.ArrayLike, c: npt.ArrayLike, k: int) -> Floats:
    """The chance that at least one of k trials is right, unbiased: ``1 − C(n−c, k) / C(n, k)``.

    Parameters
    ----------
    n, c : (items,) array of int
        Trials of each item, and how many of them are right.
    k : int
        At least 1.

    Returns
    -------
    (items,) array
        0–1; NaN where an item has fewer than k trials.

    References
    ----------
    Chen et al. (2021), Evaluating Large Language Models Trained on Code, section 2.1.

    Examples
    --------
    >>> pass_at_k([5, 5, 2], [1, 5, 1], 3).round(6).tolist()
    [0.6, 1.0, nan]
    """
    trials, right = _counts(n, c)
    return 1 - _all_of(trials, trials - right, k)


def pass_hat_k(n: npt.ArrayLike, c: npt.ArrayLike, k: int) -> Floats:
    """The chance that all of k trials are right, pass^k, unbiased: ``C(c, k) / C(n, k)``.

    Parameters and edge cases as of :func:`pass_at_k`.

    References
    ----------
    Yao et al. (2024), τ-bench, section 3.

    Examples
    --------
    >>> pass_hat_k([5, 5, 2], [4, 5, 1], 3).round(6).tolist()
    [0.4, 1.0, nan]
    """
    trials, right = _counts(n, c)
    return _all_of(trials, right, k)


def _counts(n: npt.ArrayLike, c: npt.ArrayLike) -> tuple[Ints, Ints]:
    trials, right = np.asarray(n, dtype=np.int64), np.asarray(c, dtype=np.int64)
    if ((right < 0) | (right > trials)).any():
        raise ValueError("right trials must be between 0 and all of them")
    return trials, right


def _all_of(n: Ints, c: Ints, k: int) -> Floats:
    """``C(c, k) / C(n, k)`` as a product of k factors from 0 to 1, none of which overflows; NaN where n < k."""
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    out = np.where(n >= k, 1.0, np.nan)
    for j in range(k):
        out = out * np.maximum(c - j, 0) / np.maximum(n - j, 1)
    return out


def largest_k(n: npt.ArrayLike, share: float = ENOUGH) -> int:
    """The largest k that at least this share of the items have trials for; 0 where none has one.

    Items without a trial at hand do not count.

    Examples
    --------
    >>> largest_k([3] * 19 + [2]), largest_k([3] * 18 + [2] * 2), largest_k([0, 4]), largest_k([])
    (3, 2, 4, 0)
    """
    trials = np.asarray(n, dtype=np.int64)
    trials = np.sort(trials[trials > 0])[::-1]
    return int(trials[math.ceil(share * len(trials) - 1e-9) - 1]) if len(trials) else 0


class Passed(NamedTuple):
    """pass@k and pass^k over items, with 95 % intervals.

    - ``k`` ((K,) array of int): 1, 2, …, :func:`largest_k`.
    - ``at``, ``at_low``, ``at_high`` ((K,) array): pass@k: at least one of k trials is right.
    - ``hat``, ``hat_low``, ``hat_high`` ((K,) array): pass^k: all k are right.
    - ``n_items``: Items with K trials or more, over which all figures go.
    - ``left_out``: Items with fewer trials.
    """

    k: Ints
    at: Floats
    at_low: Floats
    at_high: Floats
    hat: Floats
    hat_low: Floats
    hat_high: Floats
    n_items: int
    left_out: int


def passed(
    n: npt.ArrayLike, c: npt.ArrayLike, *, share: float = ENOUGH, seed: int = 0, n_resamples: int = 2000
) -> Passed:
    """pass@k and pass^k for every k that this share of the items have trials for.

    Parameters
    ----------
    n, c : (items,) array of int
        Scored trials of each item, and how many of them are right; items without any do not count.
    share : float
    seed, n_resamples : int
        Of the bootstrap over items; where all items agree, or each is 0 or 1, Wilson's interval; NaN with fewer than two items.

    Examples
    --------
    >>> found = passed([3] * 4, [0, 1, 2, 3])
    >>> found.k.tolist(), found.at.round(3).tolist(), found.hat.round(3).tolist()
    ([1, 2, 3], [0.5, 0.667, 0.75], [0.5, 0.333, 0.25])
    """
    trials, right = _counts(n, c)
    some = trials > 0
    top = largest_k(trials, share)
    used = some & (trials >= top)
    ks = np.arange(1, top + 1)
    m = int(used.sum())
    # Items with the same counts are alike: one row for each, with how many there are.
    cells, times = np.unique(np.stack([trials[used], right[used]], axis=1), axis=0, return_counts=True)
    curves = (
        np.stack([f(cells[:, 0], cells[:, 1], int(k)) for f in (pass_at_k, pass_hat_k) for k in ks], axis=1)
        if m
        else None
    )
    if curves is None:
        nothing = np.empty(0)
        return Passed(ks, *(nothing,) * 6, 0, int(some.sum()))
    value = times @ curves / m
    low = high = np.full(2 * top, np.nan)
    if m > 1:
        drawn = bootstrap_sums(curves, lambda sums: sums / m, rng(seed, "pass"), n_resamples, multiplicity=times)
        shares = (curves == curves[0]).all(axis=0) | np.isin(curves, (0.0, 1.0)).all(axis=0)
        ends = wilson(np.clip(value, 0, 1) * m, m)
        low, high = (np.where(shares, w, e) for w, e in zip(ends, percentile_interval(drawn), strict=True))
    parts = [half for each in (value, low, high) for half in (each[:top], each[top:])]
    return Passed(ks, parts[0], parts[2], parts[4], parts[1], parts[3], parts[5], m, int(some.sum()) - m)


def flickers(n: npt.ArrayLike, c: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether each item is neither always right nor always wrong.

    Examples
    --------
    >>> flickers([3, 3, 3, 1], [0, 2, 3, 1]).tolist()
    [False, True, False, False]
    """
    trials, right = _counts(n, c)
    return np.asarray((right > 0) & (right < trials))
