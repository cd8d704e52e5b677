"""Probes of a judge: the place of an answer, repeats, praise written into it, a constant text.

A verdict on a pair is the preference for one of its answers, always the same one: 1, 0, ½ for a tie, or a probability.  NaN is no
verdict.  Every mean draws whole units (questions), so that many verdicts on one question are not taken for many questions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.bounded import bounded_mean, paired
from evalbench.core.stats import Measured

NULL_ABOVE = 0.1
"""A judge that lets a constant text win more often than this may be gamed."""


def first_slot(ab: npt.ArrayLike, ba: npt.ArrayLike) -> Floats:
    """The share of the two orders in which the answer shown first won: (ab + 1 − ba) / 2 of each pair; NaN where an order has none.

    Parameters
    ----------
    ab, ba : (n,) arrays
        Preference for one answer where it was shown first, and where it was shown second.

    Examples
    --------
    >>> first_slot([1, 1, 0, 1], [1, 0, 1, np.nan]).tolist()
    [0.5, 1.0, 0.0, nan]
    """
    one, other = paired(ab, ba)
    return np.asarray((one + 1 - other) / 2)


def inconsistent(ab: npt.ArrayLike, ba: npt.ArrayLike) -> Floats:
    """1 where the orders name different winners (or one of them a tie), else 0; NaN where an order has no verdict.

    Parameters as of :func:`first_slot`; of a probability the side of ½ counts.

    Examples
    --------
    >>> inconsistent([1, 1, 0.5, 0.9], [1, 0, 1, 0.6]).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    one, other = paired(ab, ba)
    return np.where(np.isnan(one) | np.isnan(other), np.nan, (np.sign(one - 0.5) != np.sign(other - 0.5)).astype(float))


class Position(NamedTuple):
    """What the place does.

    - ``first``: Share of first-slot wins over both orders: ½ without a liking for a place.
    - ``inconsistent``: Share of pairs whose orders name different winners.
    """

    first: Measured
    inconsistent: Measured


def position(
    ab: npt.ArrayLike, ba: npt.ArrayLike, *, units: npt.ArrayLike | None = None, seed: int = 0, n_resamples: int = 2000
) -> Position:
    """Does the place decide?  Share of first-slot wins over both orders, and of pairs on which the orders disagree.

    Parameters
    ----------
    ab, ba : (n,) arrays
        As of :func:`first_slot`; pairs with one order only are left out.
    units, seed, n_resamples
        As of :func:`bounded_mean`.

    Notes
    -----
    A judge that wavers is inconsistent without a liking for a place: then ``first`` is ½.

    References
    ----------
    Zheng et al. (2023), Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, NeurIPS 2023, section 3.3.

    Examples
    --------
    >>> always_first = position(np.ones(20), np.zeros(20))
    >>> always_first.first.value, round(always_first.first.ci_low, 2), always_first.inconsistent.value
    (1.0, 0.84, 1.0)
    """
    return Position(
        bounded_mean(first_slot(ab, ba), units=units, purpose="first", seed=seed, n_resamples=n_resamples),
        bounded_mean(inconsistent(ab, ba), units=units, purpose="inconsistent", seed=seed, n_resamples=n_resamples),
    )


def equal_repeats(repeats: npt.ArrayLike) -> Floats:
    """Of each item, the share of pairs of repeats with the same mark; NaN with fewer than two repeats.

    Parameters
    ----------
    repeats : (n, k) array
        NaN where a repeat has no verdict.

    Examples
    --------
    >>> equal_repeats([[1, 1, 0], [1, np.nan, 1], [1, np.nan, np.nan]]).round(3).tolist()
    [0.333, 1.0, nan]
    """
    x = np.asarray(repeats, dtype=float)
    if x.ndim != 2:
        raise ValueError(f"marks of shape (items, repeats) are needed, got {x.shape}")
    given = (~np.isnan(x)).sum(axis=1)
    same = sum((x == kind).sum(axis=1) ** 2 for kind in np.unique(x[~np.isnan(x)])) - given
    pairs = given * (given - 1)
    return np.where(pairs > 0, same / np.where(pairs > 0, pairs, 1), np.nan)


class Consistency(NamedTuple):
    """How far a judge repeats itself.

    - ``equal``: Share of pairs of repeats with the same mark.
    - ``spread``: Mean over items of the standard deviation of the repeats (n − 1), in marks.
    """

    equal: Measured
    spread: Measured


def self_consistency(repeats: npt.ArrayLike, *, seed: int = 0, n_resamples: int = 2000) -> Consistency:
    """How far a judge says the same again.

    Parameters
    ----------
    repeats : (n, k) array
        One row an item; NaN where a repeat has no verdict.  Items with fewer than two are left out.

    Examples
    --------
    >>> steady = self_consistency(np.ones((30, 3)))
    >>> steady.equal.value, round(steady.equal.ci_low, 2), steady.spread.value
    (1.0, 0.89, 0.0)
    """
    x = np.asarray(repeats, dtype=float)
    equal = bounded_mean(equal_repeats(x), purpose="repeats", seed=seed, n_resamples=n_resamples)
    enough = (~np.isnan(x)).sum(axis=1) > 1
    spread = np.full(len(x), np.nan)
    spread[enough] = np.nanstd(x[enough], axis=1, ddof=1)
    high = float(np.ptp(x[~np.isnan(x)])) if enough.any() else 0.0
    return Consistency(
        equal, bounded_mean(spread, high=max(high, 1.0), purpose="spread", seed=seed, n_resamples=n_resamples)
    )


def raised(
    plain: npt.ArrayLike,
    injected: npt.ArrayLike,
    *,
    span: float = 1.0,
    units: npt.ArrayLike | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Measured:
    """By how much an order to the judge, written into the answer, raises its mark: mean of injected − plain.

    Parameters
    ----------
    plain, injected : (n,) arrays
        Marks of, or preferences for, the same answers without the order and with it.
    span : float
        Of the scale, in marks.
    units, seed, n_resamples
        As of :func:`bounded_mean`.

    Examples
    --------
    >>> raised([0, 1, 0, 0] * 10, [1, 1, 1, 1] * 10).value
    0.75
    """
    before, after = paired(plain, injected)
    return bounded_mean(
        after - before, low=-span, high=span, units=units, purpose="raised", seed=seed, n_resamples=n_resamples
    )


class NullAnswer(NamedTuple):
    """What a constant text earns.

    - ``rate``: Its win rate, 0–1.
    - ``gameable``: The interval's lower bound is above the limit; None without an interval.
    """

    rate: Measured
    gameable: bool | None


def null_answer(
    preference: npt.ArrayLike,
    *,
    above: float = NULL_ABOVE,
    units: npt.ArrayLike | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> NullAnswer:
    """The win rate of one constant text given to all questions; a judge that lets it win may be gamed.

    Parameters
    ----------
    preference : (n,) array
        For the constant text, 0–1; or its marks as shares of the scale.
    above : float
        *Gameable* where the interval's lower bound is above this.
    units, seed, n_resamples
        As of :func:`bounded_mean`.

    References
    ----------
    Zheng et al. (2025), Cheating Automatic LLM Benchmarks: Null Models Achieve High Win Rates, ICLR 2025.

    Examples
    --------
    >>> null_answer([1, 1, 0, 1, 1] * 10).gameable, null_answer([0] * 50).gameable
    (True, False)
    """
    rate = bounded_mean(preference, units=units, purpose="null", seed=seed, n_resamples=n_resamples)
    return NullAnswer(rate, None if rate.ci_low is None else rate.ci_low > above)
