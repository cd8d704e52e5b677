"""Texts compared pair by pair within groups, by their n-grams: the kernel of the metrics of diversity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Ints
from evalbench.metrics.character_ngrams import FACTOR, scrambled
from evalbench.text.words import TokenIds

ORDERS = 5
Codes = npt.NDArray[np.uint64]

# What is sorted at once fits a processor's cache; what is multiplied at once takes 32 MB.
_TOKENS_AT_ONCE, _CELLS_AT_ONCE = 1 << 17, 1 << 23


class NgramDiversity(NamedTuple):
    """Diversity by n-grams of each group of texts, ``(n_groups,)`` each; NaN with fewer than two texts.

    Attributes
    ----------
    dice : array
        1 − mean Dice overlap over pairs.
    distinct_pairs, distinct_set : array
        Distinct n-grams by all n-grams: mean over pairs; of the whole group.
    """

    dice: Floats
    distinct_pairs: Floats
    distinct_set: Floats


def ngram_diversity(tokens: TokenIds, sizes: Ints, *, orders: int = ORDERS) -> NgramDiversity:
    """Diversity by n-grams of groups of texts, all pairs within each group.

    Parameters
    ----------
    tokens : TokenIds
        The texts, group after group.
    sizes : (n_groups,) int array
        Texts of each group.
    orders : int
        n-grams of 1 … ``orders`` tokens.

    Notes
    -----
    For two texts with ``a`` and ``b`` n-grams, ``c`` of them in common (counted as often as both have them), Dice =
    2c / (a + b).  The mean runs over the orders of which at least one of the two texts has an n-gram; two texts without
    any token overlap wholly.  n-grams are compared by at least 40 bits of a hash within a group.

    A group of m texts takes m² numbers; time is that of matrix products of m × (shared n-grams) × m.
    """
    starts = np.concatenate([[0], np.cumsum(sizes)])
    parts = [_of_portion(tokens, starts[a:b], orders) for a, b in _portions(tokens, starts)]
    columns = [np.concatenate([np.zeros(0), *column]) for column in zip(*parts, strict=True)] or [np.zeros(0)] * 3
    return NgramDiversity(*columns)


def _portions(tokens: TokenIds, starts: Ints) -> Iterator[tuple[int, int]]:
    """Groups, first and one past the last start, with about as many tokens and pairs as memory should hold."""
    weight = tokens.offsets[starts] + np.concatenate([[0], np.cumsum(np.diff(starts) ** 2)])
    first = 0
    while first < len(starts) - 1:
        last = max(first + 1, int(np.searchsorted(weight, weight[first] + _TOKENS_AT_ONCE, "right")) - 1)
        yield first, last + 1
        first = last


def _of_portion(tokens: TokenIds, starts: Ints, orders: int) -> NgramDiversity:
    texts = slice(int(starts[0]), int(starts[-1]))
    lengths = tokens.lengths[texts]
    sizes = np.diff(starts)
    group = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(group)) - np.repeat(starts[:-1] - starts[0], sizes)
    squares = np.concatenate([[0], np.cumsum(sizes**2)])
    cells = np.arange(squares[-1])
    of = np.repeat(np.arange(len(sizes)), sizes**2)
    row, column = np.divmod(cells - squares[of], np.maximum(sizes, 1)[of])
    upper = row < column
    cells, of = cells[upper], of[upper]
    first = starts[:-1] - starts[0]
    left, right = first[of] + row[upper], first[of] + column[upper]

    ids = tokens.ids[tokens.offsets[texts.start] : tokens.offsets[texts.stop]]
    code, owner, rest = scrambled(ids.astype(np.uint64)), np.repeat(np.arange(len(lengths)), lengths), lengths
    grams = np.zeros_like(code)
    dice, distinct, n_orders = np.zeros(len(cells)), np.zeros(len(cells)), np.zeros(len(cells))
    of_set, set_orders = np.zeros(len(sizes)), np.zeros(len(sizes))
    for order in range(1, orders + 1):
        grams = grams[: len(code) - order + 1] * FACTOR + code[order - 1 :]
        whole = owner[: len(grams)] == owner[order - 1 :]  # not beyond the end of its text
        found = _Ngrams.of(scrambled(grams[whole]), owner[: len(grams)][whole], group, place, sizes)
        counts = np.maximum(rest - order + 1, 0)
        both = counts[left] + counts[right]
        total = np.where(both > 0, both, 1)
        common = found.in_common(squares, sizes, np.ones(len(found.text), bool))[cells]
        first_ones = found.rank == 0
        kinds = np.bincount(found.text[first_ones], minlength=len(lengths))
        shared = found.in_common(squares, sizes, first_ones)[cells]
        dice += np.where(both > 0, 2 * common / total, 0.0)
        distinct += np.where(both > 0, (kinds[left] + kinds[right] - shared) / total, 0.0)
        n_orders += both > 0
        all_of = np.bincount(group, weights=counts, minlength=len(sizes))
        of_set += np.divide(found.kinds(len(sizes)), all_of, out=np.zeros(len(sizes)), where=all_of > 0)
        set_orders += all_of > 0
    pairs = np.bincount(of, minlength=len(sizes))
    known = np.where(n_orders > 0, n_orders, 1)
    overlap = np.where(n_orders > 0, dice / known, 1.0)
    # 1 − overlap of each pair, so that the mean of identical texts is 0 to the last bit.
    apart = mean_of_groups(np.bincount(of, 1.0 - overlap, len(sizes)), pairs)
    in_pairs = np.bincount(of[n_orders > 0], (distinct / known)[n_orders > 0], len(sizes))
    with_orders = np.bincount(of[n_orders > 0], minlength=len(sizes))
    return NgramDiversity(
        apart, mean_of_groups(in_pairs, with_orders), np.where(pairs > 0, mean_of_groups(of_set, set_orders), np.nan)
    )


def mean_of_groups(total: npt.NDArray[Any], n: npt.NDArray[Any]) -> Floats:
    """``total / n``, NaN where ``n`` is 0."""
    out: Floats = np.divide(total, n, out=np.full(len(total), np.nan), where=n > 0)
    return out


class _Ngrams(NamedTuple):
    """Occurrences of n-grams: an n-gram's k-th occurrence in a text equals its k-th occurrence in another.

    - ``group``, ``text``, ``place`` ((n,) int array): Of each occurrence: its group, its text, and the text's place in
      the group.
    - ``column`` ((n,) int array): The n-gram within all groups.
    - ``rank`` ((n,) int array): The how-manieth occurrence in its text it is, from 0.
    """

    group: Ints
    text: Ints
    place: Ints
    column: Ints
    rank: Ints

    @classmethod
    def of(cls, grams: Codes, text: Ints, group: Ints, place: Ints, sizes: Ints) -> _Ngrams:
        # A key is the group, as much of the n-gram's hash as there is room for, and the text's place in the group.
        low = np.uint64(max(int(sizes.max(initial=1)) - 1, 1).bit_length())
        high = np.uint64(max(len(sizes) - 1, 1).bit_length())
        own = group[text].astype(np.uint64)
        keys = (own << (np.uint64(64) - high)) | ((grams >> (high + low)) << low) | place[text].astype(np.uint64)
        keys.sort()
        kinds = keys >> low
        column = np.cumsum(changes(kinds)) - 1
        new = changes(keys)
        first = np.flatnonzero(new)
        rank = np.arange(len(keys)) - np.repeat(first, np.diff(np.append(first, len(keys))))
        groups = (keys >> (np.uint64(64) - high)).astype(np.int64)
        places = (keys & ((np.uint64(1) << low) - np.uint64(1))).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return cls(groups, starts[groups] + places, places, column, rank)

    def kinds(self, n_groups: int) -> Ints:
        """Distinct n-grams of each group."""
        first = changes(self.column)
        counts: Ints = np.bincount(self.group[first], minlength=n_groups)
        return counts

    def in_common(self, squares: Ints, sizes: Ints, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        """How many n-grams each two texts of a group have in common: ``sizes[g]²`` numbers for each group."""
        out = np.zeros(int(squares[-1]), np.float32)
        group, place, column, rank = (a[kept] for a in (self.group, self.place, self.column, self.rank))
        column = column * (int(rank.max(initial=0)) + 1) + rank
        if rank.any():
            order = np.argsort(column, kind="stable")
            group, place, column = group[order], place[order], column[order]
        starts = changes(column)
        bounds = np.append(np.flatnonzero(starts), len(column))
        shared = np.repeat(np.diff(bounds) > 1, np.diff(bounds))  # what one text alone has is in common with none
        group, place, starts = group[shared], place[shared], starts[shared]
        at = np.cumsum(starts) - 1
        n_columns = np.bincount(group[starts], minlength=len(sizes))
        at -= np.concatenate([[0], np.cumsum(n_columns)])[group]
        ends = np.searchsorted(group, np.arange(len(sizes) + 1))
        for size in np.unique(sizes[n_columns > 0]).tolist():
            own = np.flatnonzero((sizes == size) & (n_columns > 0))
            own = own[np.argsort(n_columns[own], kind="stable")]
            for some in _blocks(own, n_columns, size):
                rows = _ranges(ends[some], ends[some + 1])
                index = np.repeat(np.arange(len(some)), ends[some + 1] - ends[some])
                inner = _products(index, place[rows], at[rows], len(some), size, int(n_columns[some[-1]]))
                out[squares[some][:, None] + np.arange(size * size)] = inner
        return out


def _blocks(groups: Ints, n_columns: Ints, size: int) -> Iterator[Ints]:
    """Groups in ascending order of their columns, as many at once as memory should hold."""
    first = 0
    while first < len(groups):
        last = first + 1
        cells = size * n_columns[groups] * (np.arange(len(groups)) - first + 1)
        last = max(last, int(np.searchsorted(cells, _CELLS_AT_ONCE, "right")))
        yield groups[first:last]
        first = last


def _ranges(starts: Ints, ends: Ints) -> Ints:
    """The whole numbers of several ranges, one after another."""
    lengths = ends - starts
    places: Ints = np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return places


def _products(group: Ints, place: Ints, column: Ints, n: int, size: int, width: int) -> npt.NDArray[np.float32]:
    """Inner products of 0/1 rows, ``(n, size²)``; very wide ones in portions of columns."""
    total = np.zeros((n, size, size), np.float32)
    step = max(1, _CELLS_AT_ONCE // (n * size))
    for start in range(0, width, step):
        table = np.zeros((n, size, min(step, width - start)), np.float32)
        here = slice(None) if step >= width else (column >= start) & (column < start + step)
        table[group[here], place[here], column[here] - start] = 1.0
        total += table @ table.transpose(0, 2, 1)
    return total.reshape(n, size * size)


def changes(sorted_values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where a value begins."""
    new = np.ones(len(sorted_values), bool)
    new[1:] = sorted_values[1:] != sorted_values[:-1]
    return new
