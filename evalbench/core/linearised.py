"""Bootstrap replicates of correlations of many rows by their influence functions.

A coefficient is a smooth function of a few means (the product of two columns of ranks, their spreads, concordance).  Each
of these is expanded to first order in how often every row was drawn: a row's own part, and what it does to the ranks of the
others.  The parts are summed per document, and one matrix product gives all resamples.  What is left out shrinks with the
number of documents as 1/n, as the interval shrinks with 1/√n.

References
----------
Hampel (1974), The influence curve and its role in robust estimation, JASA 69, 383–393; Efron & Tibshirani (1993),
An Introduction to the Bootstrap, chapter 22; Croux & Dehon (2010), Influence functions of the Spearman and Kendall
correlation measures, Statistical Methods and Applications 19, 497–515.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial import polynomial

from evalbench.core.arrays import Floats, Indices

_ROUNDING = 1e-12
_FEWEST_TO_BEND = 100


class Levels(NamedTuple):
    """A column's order: rows ascending, where each distinct value begins among them, and each row's distinct value."""

    order: Indices
    starts: Indices
    which: Indices

    @property
    def sizes(self) -> Indices:
        """How many rows have each row's value."""
        return np.diff(self.starts, append=len(self.order))[self.which]


def levels_of(column: Floats) -> Levels:
    """
    Examples
    --------
    >>> levels_of(np.array([2.0, 1, 2])).which.tolist()
    [1, 0, 1]
    """
    order = np.argsort(column, kind="stable")
    values, which = np.unique(column, return_inverse=True)
    return Levels(order, np.searchsorted(column[order], values), which)


def ranked_replicates(
    x: Floats, y: Floats, group: Indices, document: Indices, counts: Floats, *, ranks: bool
) -> Floats:
    """Replicates of Pearson's r of columns, or of their midranks, with the means of groups of rows taken off.

    Parameters
    ----------
    x, y : (n, p), (n, q) arrays
        Finite, of a size near 1.
    group : (n,) array of int
        One group for a plain correlation.
    document : (n,) array of int
        Ascending codes, which are columns of ``counts``.
    counts : (r, documents) array
        How often each was drawn.

    Returns
    -------
    (r, p, q) array
        NaN where a column does not vary within groups.
    """
    p, n = x.shape[1], len(x)
    columns = np.concatenate([x, y], axis=1)
    levels = [levels_of(c) for c in columns.T] if ranks else []
    if ranks:
        columns = np.stack([(at.starts[at.which] + at.sizes / 2) / n for at in levels], axis=1)
    left = _without_means(columns, group)
    a, b = left[:, :p], left[:, p:]
    # The means of groups are where the scatter is least: to first order it does not change with them.
    spread = left**2
    if ranks:
        spread += 2 * np.stack([_above(at, c[:, None])[:, 0] for at, c in zip(levels, left.T, strict=True)], axis=1)
    sums = _Sums(document, counts, degree=3 if ranks else 1)
    spreads = sums.replicates(spread)
    out = np.empty((len(counts), p, y.shape[1]))
    for i in range(p):
        product = a[:, [i]] * b
        if ranks:
            product += _above(levels[i], b)
            product += np.concatenate([_above(at, a[:, [i]]) for at in levels[p:]], axis=1)
        out[:, i] = _ratio(sums.replicates(product), spreads[:, [i]], spreads[:, p:])
    return out


def kendall_replicates(x: Floats, y: Floats, document: Indices, counts: Floats) -> Floats:
    """Replicates of Kendall's τ-b of every pair of columns, (r, p, q); arguments as above."""
    n = len(x)
    shape = x.shape[1], y.shape[1]
    left, right = ([levels_of(c) for c in columns.T] for columns in (x, y))
    sums = _Sums(document, counts, degree=2)
    untied = [np.stack([n - at.sizes for at in side], axis=1) for side in (left, right)]
    spreads = [sums.replicates(2 * side / n) for side in untied]
    out = np.empty((len(counts), *shape))
    for i, one in enumerate(left):
        net = np.stack([_net_concordance(one, other) for other in right], axis=1)
        out[:, i] = _ratio(sums.replicates(2 * net / n), spreads[0][:, [i]], spreads[1])
    return out


def bent_to(found: Floats, exact: Floats) -> Floats:
    """Replicates as the parabola has them that fits the first of them to those in full, pair by pair.

    Parameters
    ----------
    found : (r, p, q) array
    exact : (s, p, q) array
        The first ``s`` of them, computed in full.

    Examples
    --------
    >>> found = np.linspace(0.1, 0.9, 200).reshape(-1, 1, 1)
    >>> bool(np.allclose(bent_to(found, (found + 0.1 * found**2)[:150]), found + 0.1 * found**2))
    True
    """
    out = np.full_like(found, np.nan)
    for i, j in np.ndindex(found.shape[1:]):
        some, known = found[: len(exact), i, j], exact[:, i, j]
        both = np.isfinite(some) & np.isfinite(known)
        if not both.any():
            continue
        centre, spread = some[both].mean(), float(np.ptp(some[both]))
        degree = 2 if both.sum() >= _FEWEST_TO_BEND and spread > _ROUNDING else 0
        scale = spread if spread > _ROUNDING else 1.0
        curve = polynomial.polyfit((some[both] - centre) / scale, known[both] - some[both], degree)
        out[:, i, j] = found[:, i, j] + polynomial.polyval((found[:, i, j] - centre) / scale, curve)
    return out


class _Sums:
    """Replicates of means of which each row's first-order part is known, those of the parts included that it has in others.

    ``degree``: over how many rows drawn independently the mean goes (its parts' mean is that many times its value).
    """

    def __init__(self, document: Indices, counts: Floats, degree: int) -> None:
        self._starts = np.flatnonzero(np.diff(document, prepend=-1))
        present = document[self._starts]
        self._counts = counts[:, present] if len(present) < counts.shape[1] else counts
        self._total = self._counts @ np.diff(self._starts, append=len(document))
        self._degree = degree

    def replicates(self, parts: Floats) -> Floats:
        with np.errstate(all="ignore"):
            means = self._counts @ np.add.reduceat(parts, self._starts, axis=0) / self._total[:, None]
        return np.asarray(means - (self._degree - 1) / self._degree * parts.mean(axis=0))


def _ratio(xy: Floats, xx: Floats, yy: Floats) -> Floats:
    with np.errstate(all="ignore"):
        value = np.clip(xy / (np.sqrt(xx) * np.sqrt(yy)), -1, 1)
    return np.where((xx > _ROUNDING) & (yy > _ROUNDING), value, np.nan)


def _without_means(columns: Floats, group: Indices) -> Floats:
    sizes = np.maximum(np.bincount(group), 1)
    means = np.stack([np.bincount(group, weights=c) for c in columns.T], axis=1) / sizes[:, None]
    return np.asarray(columns - means[group])


def _above(at: Levels, values: Floats) -> Floats:
    """For each row the mean over all rows of ``(n, c)`` values, of those above it in the column; half of those level with it."""
    sums = np.add.reduceat(values[at.order], at.starts, axis=0)
    above = np.cumsum(sums[::-1], axis=0)[::-1] - sums / 2
    return np.asarray(above[at.which] / len(values))


def _net_concordance(x: Levels, y: Levels) -> Indices:
    """For each row, with how many others it is concordant less with how many it is discordant.

    Discordant pairs are inversions of y along x, found one bit of y's rank at a time as in
    :func:`evalbench.core.kendall.kendall_kernel`.
    """
    if len(y.starts) > len(x.starts):
        x, y = y, x
    n = len(x.which)
    order = np.lexsort((y.which, x.which))  # ties in x in ascending y: no inversion among them
    level = y.which[order]
    discordant = np.zeros(n, np.int64)
    for bit in range(int(level.max(initial=0)).bit_length()):
        high = level >> (bit + 1)
        rows = np.argsort(high, kind="stable")
        is_set = (level[rows] >> bit & 1).astype(bool)
        begins = np.flatnonzero(np.diff(high[rows], prepend=-1))
        sizes = np.diff(begins, append=n)
        ones = np.cumsum(is_set)
        before = np.repeat(ones[begins] - is_set[begins], sizes)
        zeros, zeros_before = np.arange(1, n + 1) - ones, np.repeat(begins, sizes) - before
        in_group = np.repeat(np.append(zeros[begins[1:] - 1], zeros[-1:]), sizes) - zeros_before
        discordant[rows] += np.where(is_set, in_group - (zeros - zeros_before), ones - before)
    new = (np.diff(x.which[order], prepend=-1) != 0) | (np.diff(level, prepend=-1) != 0)
    both = np.diff(np.flatnonzero(new), append=n)
    net = np.empty(n, np.int64)
    net[order] = np.repeat(both, both) - 2 * discordant
    return net + n - x.sizes - y.sizes
