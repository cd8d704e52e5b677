"""Kendall's τ-b of many resamples at once, from how often each row was drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evalbench.core.arrays import Floats, Indices

# Tables of this many cells stay in a processor's cache.
_CACHED_CELLS = 1 << 16


def kendall_kernel(x: Floats, y: Floats) -> Callable[[Floats], Floats]:
    """A function from weights ``(r, n)`` to Kendall's τ-b of each resample.

    Discordant pairs are inversions of y along x.  They are counted one bit of y's rank at a time: among the
    rows that agree in all higher bits, a row with the bit set that comes before a row without it is one inversion.
    O(n log n) a resample, several resamples at once.
    """
    order = np.lexsort((y, x))  # ties in x in ascending y: no inversion among them
    _, x_level = np.unique(x[order], return_inverse=True)
    _, y_level = np.unique(y[order], return_inverse=True)
    by_y = np.argsort(y_level, kind="stable")
    new_x, new_y = np.diff(x_level, prepend=-1) != 0, np.diff(y_level, prepend=-1) != 0
    starts_x, starts_both = np.flatnonzero(new_x), np.flatnonzero(new_x | new_y)
    starts_y = np.flatnonzero(np.diff(y_level[by_y], prepend=-1))
    bits = [_inversions(y_level, bit) for bit in range(int(y_level.max(initial=0)).bit_length())]

    def some(weights: Floats) -> Floats:
        w = np.ascontiguousarray(weights.T)[order]  # a row's weights side by side: whole rows are added
        discordant = np.sum([bit.weighted(w) for bit in bits], axis=0) if bits else np.zeros(w.shape[1])
        pairs = _pairs(w.sum(axis=0))
        tied_x, tied_both = _tied_pairs(w, starts_x), _tied_pairs(w, starts_both)
        tied_y = _tied_pairs(w[by_y], starts_y)
        concordant = pairs - discordant - tied_x - tied_y + tied_both
        with np.errstate(all="ignore"):
            t = (concordant - discordant) / (np.sqrt(pairs - tied_x) * np.sqrt(pairs - tied_y))
        return np.where((pairs > tied_x) & (pairs > tied_y), np.clip(t, -1, 1), np.nan)

    step = max(16, _CACHED_CELLS // max(len(x), 1))

    def tau(weights: Floats) -> Floats:
        parts = [some(weights[i : i + step]) for i in range(0, len(weights), step)]
        return np.concatenate([np.zeros(0), *parts])

    return tau


class _Inversions(NamedTuple):
    """Rows whose y has a bit set, rows whose y has not, both by the higher bits and then along x.

    - ``before`` ((zeros,) array of int): Ones that come before each zero, those of earlier groups included.
    - ``starts`` ((groups with a zero,) array of int): Where each group of equal higher bits begins in ``zeros``.
    - ``earlier`` ((groups with a zero,) array of int): Ones in earlier groups, which are no inversions.
    """

    ones: Indices
    zeros: Indices
    before: Indices
    starts: Indices
    earlier: Indices

    def weighted(self, weights: Floats) -> Floats:
        """Inversions under weights ``(n, r)``."""
        ones = np.zeros((len(self.ones) + 1, weights.shape[1]))
        np.cumsum(weights[self.ones], axis=0, out=ones[1:])
        zeros = weights[self.zeros]
        if not len(zeros):
            return np.zeros(weights.shape[1])
        by_group = np.add.reduceat(zeros, self.starts, axis=0)
        found: Floats = (ones[self.before] * zeros).sum(axis=0) - (by_group * ones[self.earlier]).sum(axis=0)
        return found


def _inversions(level: Indices, bit: int) -> _Inversions:
    group = level >> (bit + 1)
    rows = np.argsort(group, kind="stable")
    is_set = (level[rows] >> bit & 1).astype(bool)
    ones, zeros = rows[is_set], rows[~is_set]
    starts = np.flatnonzero(np.diff(group[zeros], prepend=-1))
    earlier = np.searchsorted(group[ones], group[zeros][starts])
    return _Inversions(ones, zeros, np.cumsum(is_set)[~is_set], starts, earlier)


def _pairs(count: Floats) -> Floats:
    return count * (count - 1) / 2


def _tied_pairs(weights: Floats, starts: Indices) -> Floats:
    """Pairs within each run of rows of ``(n, r)`` weights."""
    at_level = weights if len(starts) == len(weights) else np.add.reduceat(weights, starts, axis=0)
    return np.asarray(_pairs(at_level).sum(axis=0))
