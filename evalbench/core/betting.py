"""Evidence that may be looked at after every item: betting e-values, and the confidence sequence that belongs to them.

A fixed-n test that is looked at again and again until it rejects finds a difference where there is none: a z test looked at
from the 30th item on in two of five sequences.  A capital that is bet against the null value, fairly where the null value is
true, ever reaches 1/α with probability α at most, however often it is looked at (Ville's inequality).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Bools, Floats, Ints

ALPHA = 0.05
BOUND = 0.5
STEP = 1e-4
"""Between two means that the confidence sequence tries."""
SEQUENCE = "confidence sequence"
"""What an interval's method is called."""
_CELLS = 1 << 18


class ConfidenceSequence(NamedTuple):
    """Means and intervals after some items each; all the intervals hold at once with probability 1 − α.

    - ``n`` ((k,) array of int): After how many items.
    - ``value`` ((k,) array of float): The mean of those with an outcome; NaN before the first.
    - ``low``, ``high`` ((k,) array of float): 0–1; an interval lies within all earlier ones.
    """

    n: Ints
    value: Floats
    low: Floats
    high: Floats


def looks(n: int, batch: int) -> Ints:
    """After how many of n items the evidence is looked at: after each batch, and after the last item.

    Examples
    --------
    >>> looks(40, 16).tolist(), looks(32, 16).tolist(), looks(0, 16).tolist()
    ([16, 32, 40], [16, 32], [])
    """
    if batch < 1:
        raise ValueError(f"batch is {batch}; at least 1")
    full = np.arange(batch, n + 1, batch, dtype=np.int64)
    return full if n % batch == 0 else np.append(full, np.int64(n))


def log_evalues(outcomes: npt.ArrayLike, null: float = 0.5, *, alpha: float = ALPHA, bound: float = BOUND) -> Floats:
    """The logarithm of the hedged capital after each item, an e-value of "the mean is the null value m".

    E_t = max(½ Π (1 + λ_i⁺ (x_i − m)), ½ Π (1 − λ_i⁻ (x_i − m))), i = 1 … t, with λ⁺ = min(λ, c/m), λ⁻ = min(λ, c/(1 − m)),
    λ_t = √(2 ln(2/α) / (σ̂²_{t−1} t ln(1 + t))), σ̂²_t = (¼ + Σ (x_i − μ̂_i)²)/(t + 1), μ̂_t = (½ + Σ x_i)/(t + 1), σ̂²_0 = ¼.
    Where m is the mean of each item given those before, P(E_t ≥ 1/α for any t) ≤ α.

    Parameters
    ----------
    outcomes : (…, n) array
        In [0, 1], in an order that was fixed before they were known; NaN where there is none, which bets nothing.
    null : float
        m, in [0, 1].
    alpha : float
        The bets are sized for a stop at 1/α; the bound holds for any threshold.
    bound : float
        c, above 0 and below 1: the share of the capital that one item can take.

    Returns
    -------
    (…, n) array
        Natural logarithms, which do not overflow.

    Raises
    ------
    ValueError
        For an outcome or a parameter out of its range.

    References
    ----------
    Waudby-Smith & Ramdas (2024), Estimating means of bounded random variables by betting, Journal of the Royal Statistical
    Society B 86, 1–27 (read 2023), section 4.2: hedged capital with predictable plug-in bets.

    Examples
    --------
    >>> path = log_evalues([1.0] * 12)
    >>> [round(float(np.exp(e)), 2) for e in path[[0, 5, 11]]]
    [0.75, 5.7, 64.87]
    """
    x, there = _checked(outcomes, alpha, bound, null)
    bets = _bets(x, there, alpha)
    up, down = _log_steps(x, there, bets, null, bound)
    steps = np.maximum(np.cumsum(up, axis=-1), np.cumsum(down, axis=-1))
    return np.asarray(steps - math.log(2))


def decided_after(evalues: npt.ArrayLike, *, alpha: float = ALPHA, batch: int = 1) -> Floats:
    """After how many items each sequence is decided: the first look at which its e-value is at least 1/α.

    Parameters
    ----------
    evalues : (…, n) array
        Of :func:`log_evalues`.
    batch : int
        The evidence is looked at after each batch, and after the last item.

    Returns
    -------
    (…) array
        NaN where it is not decided.

    Examples
    --------
    >>> path = log_evalues([[1.0] * 40, [0.0, 1.0] * 20])
    >>> decided_after(path).tolist(), decided_after(path, batch=16).tolist()
    ([10.0, nan], [16.0, nan])
    """
    e = np.asarray(evalues, dtype=float)
    at = looks(e.shape[-1], batch)
    if not len(at):
        return np.full(e.shape[:-1], np.nan)
    crossed = e[..., at - 1] >= math.log(1 / alpha)
    return np.where(crossed.any(axis=-1), at[crossed.argmax(axis=-1)], np.nan)


def confidence_sequence(
    outcomes: npt.ArrayLike,
    at: npt.ArrayLike | None = None,
    *,
    alpha: float = ALPHA,
    bound: float = BOUND,
    also: Sequence[float] = (),
    step: float = STEP,
) -> ConfidenceSequence:
    """The mean with an interval that holds whenever one stops: the means whose capital did not reach 1/α at any look.

    C_t = {m : E_s(m) < 1/α for all looks s ≤ t}, E as in :func:`log_evalues`.  The capital bet on a higher mean falls with m
    and the other rises, so C_t is an interval; its ends are rounded outwards to the means tried.

    Parameters
    ----------
    outcomes : (n,) array
        In [0, 1]; NaN where there is none.
    at : (k,) array of int, optional
        After how many items it is looked at, ascending, 1 to n; by default after every item.
    alpha, bound
        As in :func:`log_evalues`.
    also : sequence of float
        Further means to try, such as the null value: then it lies outside exactly where its e-value reached 1/α.
    step : float
        Between two means that are tried.

    Raises
    ------
    ValueError
        As in :func:`log_evalues`, and for looks out of order.

    Notes
    -----
    Where an interval would be empty (with probability α at most where the mean stays the same) the one before is kept.  A
    million outcomes take about a second: a mean is tried until its capital reaches 1/α.

    Examples
    --------
    >>> found = confidence_sequence([1.0] * 30 + [0.0] * 10, [20, 40])
    >>> found.low.round(3).tolist(), found.high.round(3).tolist()
    ([0.712, 0.712], [1.0, 0.974])
    """
    x, there = _checked(outcomes, alpha, bound, *also)
    if x.ndim != 1:
        raise ValueError(f"one sequence of outcomes is needed, got shape {x.shape}")
    n = len(x)
    seen = np.arange(1, n + 1, dtype=np.int64) if at is None else np.asarray(at, dtype=np.int64)
    if len(seen) and (seen[0] < 1 or seen[-1] > n or (np.diff(seen) <= 0).any()):
        raise ValueError(f"looks must ascend from 1 at least to {n} at most")
    tries = round(1 / step)
    grid = np.unique(np.append(np.arange(tries + 1) / tries, also))
    is_look = np.zeros(n, dtype=bool)
    is_look[seen - 1] = True
    up, down = _crossings(x, there, _bets(x, there, alpha), grid, is_look, bound, math.log(2 / alpha))
    below = np.searchsorted(np.minimum.accumulate(up[::-1])[::-1], seen, side="right")
    above = np.searchsorted(np.minimum.accumulate(down)[::-1], seen, side="right")
    low = np.where(below > 0, grid[below - 1], 0.0)
    high = np.where(above > 0, grid[::-1][above - 1], 1.0)
    return ConfidenceSequence(seen, _means(x, there)[seen - 1], *_never_empty(low, high))


def _checked(outcomes: npt.ArrayLike, alpha: float, bound: float, *means: float) -> tuple[Floats, Bools]:
    """Outcomes with 0 where there is none, and where there is one."""
    x = np.asarray(outcomes, dtype=float)
    if x.ndim < 1:
        raise ValueError("a sequence of outcomes is needed, got a number")
    there = ~np.isnan(x)
    out = there & ~((x >= 0) & (x <= 1))
    if out.any():
        raise ValueError(f"outcomes must lie in [0, 1], or be NaN: there is {x[out][0]:g}")
    for name, value in (("alpha", alpha), ("bound", bound)):
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}; above 0 and below 1")
    for mean in means:
        if not 0 <= mean <= 1:
            raise ValueError(f"a mean of outcomes in [0, 1] is not {mean}")
    return np.where(there, x, 0.0), there


def _means(x: Floats, there: Bools) -> Floats:
    """The mean of the outcomes so far, after each item."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.cumsum(x, axis=-1) / np.cumsum(there, axis=-1))


def _bets(x: Floats, there: Bools, alpha: float) -> Floats:
    """λ of each item, out of those before it."""
    t = np.cumsum(there, axis=-1)
    mean = (0.5 + np.cumsum(x, axis=-1)) / (t + 1)
    spread = (0.25 + np.cumsum(np.where(there, (x - mean) ** 2, 0.0), axis=-1)) / (t + 1)
    before = np.concatenate([np.full((*x.shape[:-1], 1), 0.25), spread[..., :-1]], axis=-1)[..., : x.shape[-1]]
    times = np.maximum(t, 1)
    return np.asarray(np.sqrt(2 * math.log(2 / alpha) / (before * times * np.log1p(times))))


def _log_steps(x: Floats, there: Bools, bets: Floats, mean: float | Floats, bound: float) -> tuple[Floats, Floats]:
    """By what the logarithms of both capitals grow with each item; 0 where there is no outcome."""
    with np.errstate(divide="ignore"):
        most_up, most_down = np.divide(bound, mean), np.divide(bound, np.subtract(1, mean))
    gap = np.where(there, x - mean, 0.0)
    return np.log1p(np.minimum(bets, most_up) * gap), np.log1p(-np.minimum(bets, most_down) * gap)


def _crossings(
    x: Floats, there: Bools, bets: Floats, grid: Floats, is_look: Bools, bound: float, threshold: float
) -> tuple[Floats, Floats]:
    """At which look the capital on a higher and on a lower mean reaches the threshold, for each mean; inf where never.

    A mean is followed until one capital has reached it: the means below the interval do by the first, those above by the other.
    """
    up, down = np.full(len(grid), np.inf), np.full(len(grid), np.inf)
    capital_up, capital_down = np.zeros(len(grid)), np.zeros(len(grid))
    begin = 0
    while begin < len(x):
        left = np.flatnonzero(np.isinf(up) & np.isinf(down))
        if not len(left):
            break
        part = slice(begin, min(len(x), begin + max(16, _CELLS // len(left))))
        begin = part.stop
        steps = _log_steps(x[part], there[part], bets[part], grid[left, None], bound)
        at = np.flatnonzero(is_look[part])
        for step, capital, reached in zip(steps, (capital_up, capital_down), (up, down), strict=True):
            path = np.cumsum(step, axis=1) + capital[left, None]
            capital[left] = path[:, -1]
            crossed = path[:, at] >= threshold
            hit = crossed.any(axis=1)
            if hit.any():
                reached[left[hit]] = part.start + at[crossed[hit].argmax(axis=1)] + 1
    return up, down


def _never_empty(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The interval before the first empty one from there on."""
    empty = np.flatnonzero(low >= high)
    if len(empty):
        k = int(empty[0])
        low[k:], high[k:] = (low[k - 1], high[k - 1]) if k else (0.0, 1.0)
    return low, high
