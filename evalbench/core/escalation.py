"""Which judge decides which item, so that judges agree with people as often as promised; what none is sure of goes to people.

The cheapest judge is asked first; an item that it is not sure enough of goes to the next one, at last to a person.  How sure
is enough is set on items that people labelled: from strict to lenient, as long as a test shows that agreement keeps the promise.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, betaincinv, expit

from evalbench.core.arrays import Floats, Ints

LEVELS: Floats = np.append(np.round(expit(np.linspace(9, 0, 46)), 4), 0.0)
"""The confidences that are tried, the strictest first: even steps of log odds from 0.9999 to 0.5, then none asked for."""
FIRST_ERRORS = 2


class Escalation(NamedTuple):
    """The thresholds that keep the promise, and the tests that led to them.

    - ``thresholds``: The confidence that each judge needs; None where no threshold keeps the promise.
    - ``level`` ((s, judges) array): The thresholds tried, in order.
    - ``n``, ``errors`` ((s,) arrays of int): Labelled items that judges would decide there, and those of them on which
      they disagree with people.
    - ``upper`` ((s,) array): Clopper–Pearson's upper bound of the share of disagreement, with confidence 1 − δ; NaN
      where it was not tested.
    - ``chosen``: The step whose thresholds these are.
    - ``note``: Why there are none.
    """

    thresholds: tuple[float, ...] | None
    level: Floats
    n: Ints
    errors: Ints
    upper: Floats
    chosen: int | None
    note: str = ""


def labels_needed(errors: int, alpha: float = 0.1, delta: float = 0.1) -> int:
    """The least number of labelled items with so many errors that show a share of errors of at most α, with confidence 1 − δ.

    The least n with P(X ≤ errors) ≤ δ, X ~ Binomial(n, α).

    Examples
    --------
    >>> [labels_needed(k) for k in (0, 1, 2, 3)]
    [22, 38, 52, 65]
    """
    _check(alpha, delta)
    if errors < 0:
        raise ValueError("errors must not be negative")
    n = errors + 1
    step = 1
    while bdtr(errors, n + step, alpha) > delta:
        step *= 2
    low, high = n, n + step
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if bdtr(errors, middle, alpha) <= delta else (middle + 1, high)
    return low


def upper_bound(errors: npt.ArrayLike, n: npt.ArrayLike, delta: float = 0.1) -> Floats:
    """Clopper and Pearson's one-sided upper bound of a share: the (1 − δ) quantile of Beta(errors + 1, n − errors).

    Parameters
    ----------
    errors, n : arrays of int

    Returns
    -------
    array
        1 where all are errors, or there are none.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404–413.

    Examples
    --------
    >>> upper_bound([2, 2], [51, 52]).round(4).tolist()
    [0.101, 0.0991]
    """
    k, m = np.asarray(errors, dtype=float), np.asarray(n, dtype=float)
    if ((k < 0) | (k > m)).any():
        raise ValueError("errors must be between 0 and n")
    return np.asarray(np.where(k < m, betaincinv(k + 1, np.maximum(m - k, 1), 1 - delta), 1.0))


def routes(confidences: npt.ArrayLike, thresholds: npt.ArrayLike) -> Ints:
    """Who decides each item: the first judge that is sure enough, as its column; the number of judges for a person.

    Parameters
    ----------
    confidences : (n, judges) array
        0–1, the cheapest judge first; NaN where a judge has no verdict: it never decides.
    thresholds : (judges,) array

    Examples
    --------
    >>> routes([[0.9, 0.2], [0.5, 0.8], [0.5, np.nan]], [0.8, 0.7]).tolist()
    [0, 1, 2]
    """
    c = np.asarray(confidences, dtype=float)
    sure = c >= np.asarray(thresholds, dtype=float)
    return np.asarray(np.where(sure.any(axis=1), sure.argmax(axis=1), c.shape[1]), dtype=np.int64)


def asked_of(by: npt.ArrayLike, judges: int) -> Ints:
    """How many items each judge is asked about, and last people: those that nobody before was sure enough of.

    Parameters
    ----------
    by : (n,) array of int
        Of :func:`routes`.

    Examples
    --------
    >>> asked_of([0, 1, 2, 0], 2).tolist()
    [4, 2, 1]
    """
    return np.array([(np.asarray(by) >= j).sum() for j in range(judges + 1)], dtype=np.int64)


def thresholds_with_promise(
    confidences: npt.ArrayLike,
    agrees: npt.ArrayLike,
    *,
    alpha: float = 0.1,
    delta: float = 0.1,
    path: npt.ArrayLike | None = None,
) -> Escalation:
    """The most lenient thresholds at which judges agree with people on at least 1 − α of what they decide.

    With probability at least 1 − δ over the labelled items, a random part of all, whatever the confidences are worth: the
    thresholds of a path that no label shaped are tested from strict to lenient, each with H₀ "the share of disagreement among
    the decided is above α", p = P(X ≤ errors), X ~ Binomial(n, α); the first that is not rejected at δ ends it, so that no
    adjustment for their number is needed.

    Parameters
    ----------
    confidences : (n, judges) array
        0–1, of the labelled items, the cheapest judge first; NaN where it has no verdict.  Calibrated confidences send fewer
        items to people; the promise does not rest on them.
    agrees : (n, judges) array of 0 and 1
        Whether the judge's verdict is that of people; not looked at where it has none.
    path : (s, judges) array, optional
        Thresholds from strict to lenient; by default one confidence for all judges, :data:`LEVELS`.

    Returns
    -------
    Escalation
        The first step tested is the first that decides as many labelled items as two errors need (:func:`labels_needed`), as
        one or none need where that is more than two thirds of them, or the last; all known without looking at agreement.

    Raises
    ------
    ValueError
        For arrays that do not match, or a path that is not from strict to lenient.

    References
    ----------
    Jung, Brahman & Choi (2025), Trust or Escalate, ICLR, for the idea; Angelopoulos et al. (2021), Learn then Test, section 4,
    for fixed-sequence testing.

    Examples
    --------
    >>> sure = np.repeat([0.95, 0.6], [60, 40])[:, None]
    >>> right = np.repeat([1, 0, 1], [60, 20, 20])[:, None]
    >>> found = thresholds_with_promise(sure, right)
    >>> found.thresholds, int(found.n[found.chosen]), round(float(found.upper[found.chosen]), 3)
    ((0.6457,), 60, 0.038)
    """
    _check(alpha, delta)
    c, right = np.asarray(confidences, dtype=float), np.asarray(agrees, dtype=float)
    if c.ndim != 2 or c.shape != right.shape or not c.shape[1]:
        raise ValueError(f"confidences and agreement of shape (items, judges) are needed: {c.shape} and {right.shape}")
    if ((c < 0) | (c > 1)).any() or not np.isin(right[~np.isnan(c)], (0.0, 1.0)).all():
        raise ValueError("confidences must lie in [0, 1], and agreement be 0 or 1")
    steps = np.repeat(LEVELS[:, None], c.shape[1], axis=1) if path is None else np.asarray(path, dtype=float)
    if steps.ndim != 2 or steps.shape[1] != c.shape[1] or not len(steps) or (np.diff(steps, axis=0) > 0).any():
        raise ValueError("a path needs a column a judge, and thresholds that never rise")
    n, errors = _decided(c, right, steps)
    enough = [k for k in range(1, FIRST_ERRORS + 1) if labels_needed(k, alpha, delta) <= 2 * len(c) / 3]
    needed = labels_needed(max(enough, default=0), alpha, delta)
    first = int(np.argmax(n >= needed)) if (n >= needed).any() else len(steps) - 1
    passed = bdtr(errors, np.maximum(n, 1), alpha) <= delta
    passed &= n > 0
    failed = np.flatnonzero(~passed[first:])
    last = first + int(failed[0]) if len(failed) else len(steps)
    upper = np.full(len(steps), math.nan)
    tested = slice(first, min(last + 1, len(steps)))
    upper[tested] = upper_bound(errors[tested], n[tested], delta)
    if last == first:
        least = labels_needed(0, alpha, delta)
        why = (
            f"{n[first]} labelled items that judges decide; without any error {least} are needed"
            if n[first] < least
            else f"of {n[first]} labelled items of which judges are most sure, they disagree with people on {errors[first]}"
        )
        return Escalation(None, steps, n, errors, upper, None, why)
    return Escalation(tuple(steps[last - 1].tolist()), steps, n, errors, upper, last - 1)


def _decided(c: Floats, right: Floats, steps: Floats) -> tuple[Ints, Ints]:
    n, errors = np.zeros(len(steps), dtype=np.int64), np.zeros(len(steps), dtype=np.int64)
    people = np.ones(len(c))
    wrong = np.column_stack([np.where(np.isnan(c), 0, 1 - right), 0 * people])
    for j, thresholds in enumerate(steps):
        by = routes(c, thresholds)
        n[j] = (by < c.shape[1]).sum()
        errors[j] = wrong[np.arange(len(c)), by].sum()
    return n, errors


def _check(alpha: float, delta: float) -> None:
    for name, value in (("alpha", alpha), ("delta", delta)):
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}; above 0 and below 1")
