"""How often each key occurs on two sides, as sorted arrays: tallies of parts add up to that of the whole, in any order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Bools, Floats, Ints
from evalbench.core.psi import EPSILON, N_BINS, Psi, distinct, psi

MOST_VALUES = 500_000
_DECIMALS = 4


@dataclass(frozen=True)
class Histogram:
    """How often each number occurs on both sides.

    - ``values`` ((k,) array of float): Ascending, distinct.
    - ``counts`` ((k, 2) array of int): Of the reference and the current side.
    - ``rounded``: There were more than :data:`MOST_VALUES` distinct numbers: all are rounded to four decimals.
    """

    values: Floats
    counts: Ints
    rounded: bool = False


NOTHING = Histogram(np.empty(0), np.empty((0, 2), dtype=np.int64))


def histogram(values: npt.ArrayLike, current: npt.ArrayLike) -> Histogram:
    """The histogram of a number of each row, NaN left out.

    Examples
    --------
    >>> found = histogram([2, 1, 2, float("nan")], [False, True, True, True])
    >>> found.values.tolist(), found.counts.tolist()
    ([1.0, 2.0], [[0, 1], [1, 1]])
    """
    number, side = np.asarray(values, dtype=float), np.asarray(current, dtype=bool)
    known = np.isfinite(number)
    distinct, place = np.unique(number[known], return_inverse=True)
    counts = np.bincount(2 * place + side[known], minlength=2 * len(distinct)).reshape(-1, 2)
    return _at_most(Histogram(distinct, counts), MOST_VALUES)


def together(parts: Sequence[Histogram], most: int = MOST_VALUES) -> Histogram:
    """The histogram of all rows from those of parts; the same whatever the parts.

    Examples
    --------
    >>> together([histogram([1], [False]), histogram([1, 3], [True, True])]).counts.tolist()
    [[1, 1], [0, 1]]
    """
    rounded = any(part.rounded for part in parts)
    values = np.concatenate([NOTHING.values, *(part.values for part in parts)])
    counts = np.concatenate([NOTHING.counts, *(part.counts for part in parts)])
    return _at_most(_summed(np.round(values, _DECIMALS) if rounded else values, counts, rounded), most)


def _summed(values: Floats, counts: Ints, rounded: bool) -> Histogram:
    if not len(values):
        return Histogram(values, counts, rounded)
    order = np.argsort(values, kind="stable")
    values = values[order]
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return Histogram(values[first], np.add.reduceat(counts[order], first, axis=0), rounded)


def _at_most(found: Histogram, most: int) -> Histogram:
    if found.rounded or len(found.values) <= most:
        return found
    return _summed(np.round(found.values, _DECIMALS), found.counts, True)


def quantiles(found: Histogram, shares: npt.ArrayLike) -> Floats:
    """Quantiles of the reference, interpolated linearly: those that ``numpy.quantile`` gives for the rows.

    Examples
    --------
    >>> quantiles(histogram([1, 2, 2, 9], [False] * 4), [0, 0.5, 1]).tolist()
    [1.0, 2.0, 9.0]
    """
    upto = np.cumsum(found.counts[:, 0])
    n = int(upto[-1]) if len(upto) else 0
    wanted = np.asarray(shares, dtype=float)
    if not n:
        return np.full(wanted.shape, np.nan)
    place = wanted * (n - 1)
    below = np.floor(place)
    low, high = (
        found.values[np.searchsorted(upto, np.minimum(at, n - 1), side="right")]
        for at in (below.astype(np.int64), below.astype(np.int64) + 1)
    )
    part = place - below
    # From the nearer end, as numpy does it, so that equal ends give that value.
    return np.asarray(np.where(part >= 0.5, high - (high - low) * (1 - part), low + (high - low) * part))


def psi_of_histogram(found: Histogram, *, n_bins: int = N_BINS, epsilon: float = EPSILON) -> Psi:
    """The index of a number of each row from its histogram, as :func:`evalbench.core.psi.psi_of_numbers` gives it, without a null.

    Examples
    --------
    >>> rows = histogram([*range(50), *range(25, 75)], [False] * 50 + [True] * 50)
    >>> psi_of_histogram(rows).edges[:2]
    (4.9, 9.8)
    """
    if not found.counts.sum(axis=0).all():
        return Psi(math.nan, epsilon=epsilon)
    edges = distinct(quantiles(found, np.linspace(0, 1, n_bins + 1)[1:]))
    where = np.searchsorted(edges, found.values, side="right")
    before, now = (np.bincount(where, weights=side, minlength=len(edges) + 1) for side in found.counts.T)
    return Psi(
        float(psi(before, now, epsilon)),
        reference=tuple(before.tolist()),
        current=tuple(now.tolist()),
        edges=tuple(edges.tolist()),
        epsilon=epsilon,
    )


class Tally:
    """How often each hashed key occurs on both sides, at most ``most`` keys beside those that are always kept.

    When there are more, keys whose hash does not end in a zero bit are dropped, then those that do not end in two, and so on: which
    keys are kept depends on the keys alone, never on the order in which they came. Each kept one then stands for 2^level keys.

    - ``always`` ((a,) array of uint64): Keys that are never dropped.
    - ``keys`` ((k,) array of uint64): Ascending.
    - ``counts`` ((k, 2) array of int): Of the reference and the current side.
    - ``marks`` ((k,) array of uint16): Bits, joined by or.
    - ``sure`` ((k,) array of bool): Which are always kept.
    - ``level``: 0: nothing was dropped.

    Examples
    --------
    >>> tally = Tally(np.empty(0, dtype=np.uint64), most=2)
    >>> for key in (4, 7, 8, 4):
    ...     tally.add(np.array([key], dtype=np.uint64), np.array([[1, 0]]), np.array([1], dtype=np.uint16))
    >>> tally.keys.tolist(), tally.counts.tolist(), tally.level
    ([4, 8], [[2, 0], [1, 0]], 1)
    """

    def __init__(self, always: npt.NDArray[np.uint64], most: int) -> None:
        self.always, self.most, self.level = np.unique(always), most, 0
        self.keys = np.empty(0, dtype=np.uint64)
        self.counts = np.empty((0, 2), dtype=np.int64)
        self.marks = np.empty(0, dtype=np.uint16)
        self.sure = np.empty(0, dtype=bool)

    def add(self, keys: npt.NDArray[np.uint64], counts: Ints, marks: npt.NDArray[np.uint16]) -> None:
        """Add keys that are ascending and distinct."""
        if self.level:
            kept = self._ends_in_zeros(keys) | _among(keys, self.always)
            keys, counts, marks = keys[kept], counts[kept], marks[kept]
        where = np.searchsorted(self.keys, keys)
        known = _among(keys, self.keys)
        old = where[known]
        self.counts[old] += counts[known]
        self.marks[old] |= marks[known]
        if not known.all():
            new, at = ~known, where[~known]
            self.keys = np.insert(self.keys, at, keys[new])
            self.counts = np.insert(self.counts, at, counts[new], axis=0)
            self.marks = np.insert(self.marks, at, marks[new])
            self.sure = np.insert(self.sure, at, _among(keys[new], self.always))
        while len(self.keys) - int(self.sure.sum()) > self.most:
            self._thin(self.level + 1)

    def join(self, other: Tally) -> None:
        """Add the tally of another part, made with the same ``always`` and ``most``."""
        if other.level > self.level:
            self._thin(other.level)
        self.add(other.keys, other.counts, other.marks)

    @property
    def weights(self) -> Floats:
        """How many keys each stands for."""
        return np.where(self.sure, 1.0, 2.0**self.level)

    def total(self, values: npt.ArrayLike) -> tuple[float, float]:
        """The sum of a value over all keys, those that were dropped too, estimated from the kept ones; and its standard error.

        References
        ----------
        Horvitz & Thompson (1952), A generalization of sampling without replacement from a finite universe, equation 5.
        """
        value = np.asarray(values, dtype=float)
        spread = 2.0**self.level * (2.0**self.level - 1) * float((value[~self.sure] ** 2).sum())
        return float((value * self.weights).sum()), math.sqrt(spread)

    def _ends_in_zeros(self, keys: npt.NDArray[np.uint64]) -> Bools:
        return np.asarray(keys & np.uint64((1 << self.level) - 1) == 0)

    def _thin(self, level: int) -> None:
        self.level = level
        kept = self.sure | self._ends_in_zeros(self.keys)
        self.keys, self.counts = self.keys[kept], self.counts[kept]
        self.marks, self.sure = self.marks[kept], self.sure[kept]


def _among(keys: npt.NDArray[Any], ascending: npt.NDArray[Any]) -> Bools:
    if not len(ascending):
        return np.zeros(len(keys), dtype=bool)
    at = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.asarray(ascending[at] == keys)
