"""Sums over bootstrap resamples, exactly and fast; of very many units by the normal limit of their sums.

How often a set of units is drawn is multinomial, so equal units need one count together; the others are cut into
runs of a power of two of units, within which a draw is a few random bits.  More than :data:`CROWD` others, none of which
weighs much, are drawn as a crowd: the sum of k draws of them has the normal distribution with k times their mean and
covariance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Ints

# One binomial draw costs about as much as this many single draws.
_DRAWS_PER_BINOMIAL = 50
# Single draws handled at once: small enough for a processor's cache.
_DRAWS_AT_ONCE = 1 << 17
# Resamples whose counts are held at once.
_COUNTED_AT_ONCE = 64
_PAIRED_BLOCK = 256
_LARGEST_BLOCK = 1 << 16
CROWD = 100_000
_ROUNDING = 1e-12
_LARGEST_WEIGHT = 0.01
"""Of Σ|x − m|³ / (Σ(x − m)²)^1.5 in a crowd: the error of the normal distribution is below half of it (Shevtsova 2011)."""


def resampled_sums(rows: Floats, times: Ints | None, rng: np.random.Generator, n_resamples: int) -> Floats:
    """Column sums of ordinary bootstrap resamples of rows, each of which stands for ``times`` equal units, or for one."""
    total = len(rows) if times is None else int(times.sum())
    first, which = _distinct_rows(rows)
    count = np.bincount(which) if times is None else np.bincount(which, weights=times).astype(np.int64)
    often = count >= _DRAWS_PER_BINOMIAL
    frequent, seldom = rows[first[often]], ~often[which]
    del first, which  # as large as what is made next
    single = rows if seldom.all() else rows[seldom]
    if times is not None:
        single = np.repeat(single, times[seldom], axis=0)
    if len(single) > CROWD and (root := spread_of(single, mean := single.mean(axis=0))) is not None:
        return _with_crowd(frequent, count[often], len(single), mean, root, rng, n_resamples)
    blocks = _powers_of_two(len(single), _PAIRED_BLOCK if rows.shape[1] == 1 else _LARGEST_BLOCK)
    starts = np.cumsum(blocks) - blocks
    chance = np.concatenate([count[often], blocks]) / total
    out = np.empty((n_resamples, rows.shape[1]))
    step = max(1, (1 << 22) // len(chance))
    for begin in range(0, n_resamples, step):
        chunk = slice(begin, min(begin + step, n_resamples))
        drawn = rng.multinomial(total, chance, size=chunk.stop - chunk.start)
        out[chunk] = drawn[:, : len(frequent)] @ frequent
        for size, start, counts in zip(blocks, starts, drawn[:, len(frequent) :].T, strict=True):
            add = _add_paired_draws if rows.shape[1] == 1 and size == _PAIRED_BLOCK else _add_draws
            add(out[chunk], single[start : start + size], counts, rng)
    return out


def drawn_in_words(n_resamples: int, n_units: int) -> str:
    """How many resamples of so many units there were, and how sums of a crowd were drawn.

    Examples
    --------
    >>> drawn_in_words(2000, 50)
    '2000 resamples'
    >>> drawn_in_words(2000, 200_000)
    '2000 resamples, sums of unlike units by their normal limit where no unit weighs much'
    """
    limit = ", sums of unlike units by their normal limit where no unit weighs much" if n_units > CROWD else ""
    return f"{n_resamples} resamples{limit}"


def _with_crowd(
    frequent: Floats, count: Ints, n: int, mean: Floats, root: Floats, rng: np.random.Generator, n_resamples: int
) -> Floats:
    """Sums of resamples of units of which n are a crowd with this mean and spread."""
    total, chance = n + int(count.sum()), np.append(count, n) / (n + count.sum())
    out, of_crowd = np.empty((n_resamples, len(mean))), np.empty((n_resamples, 1), dtype=np.int64)
    for begin in range(0, n_resamples, _COUNTED_AT_ONCE):
        chunk = slice(begin, begin + _COUNTED_AT_ONCE)
        counts = rng.multinomial(total, chance, size=len(out[chunk]))
        out[chunk], of_crowd[chunk] = counts[:, :-1] @ frequent, counts[:, -1:]
    spread = rng.standard_normal((n_resamples, len(mean))) @ root.T
    return np.asarray(out + of_crowd * mean + np.sqrt(of_crowd / n) * spread)


def spread_of(rows: Floats, centre: Floats | float = 0.0, count: npt.NDArray[np.int64] | None = None) -> Floats | None:
    """A root of the rows' summed squares and products around a centre; None where a single row weighs much in a column.

    - ``count``: How many equal rows each stands for.
    """
    squares, cubes = np.zeros((rows.shape[1], rows.shape[1])), np.zeros(rows.shape[1])
    times = np.ones(len(rows)) if count is None else count.astype(float)
    for begin in range(0, len(rows), _LARGEST_BLOCK):
        block = slice(begin, begin + _LARGEST_BLOCK)
        off = rows[block] - centre
        squares += (off.T * times[block]) @ off
        cubes += times[block] @ np.abs(off) ** 3
    return None if (cubes > _LARGEST_WEIGHT * np.diag(squares) ** 1.5).any() else root_of(squares)


def root_of(covariance: Floats) -> Floats:
    """The lower triangle whose product with its transpose is a covariance, which may be singular.

    Examples
    --------
    >>> root_of(np.array([[4.0, 2, 4], [2, 1, 2], [4, 2, 5]]))
    array([[2., 0., 0.],
           [1., 0., 0.],
           [2., 0., 1.]])
    """
    root = np.zeros_like(covariance)
    for j in range(len(covariance)):
        left = covariance[:, j] - root @ root[j]
        if left[j] > _ROUNDING * covariance[j, j]:
            root[j:, j] = left[j:] / np.sqrt(left[j])
    return root


def _add_paired_draws(out: Floats, block: Floats, counts: npt.NDArray[np.int64], rng: np.random.Generator) -> None:
    """As :func:`_add_draws` for 256 rows of one column: 16 random bits look up the sum of two draws at once."""
    from scipy.sparse import csr_array

    values = block[:, 0]
    pairs, odd = counts >> 1, np.flatnonzero(counts & 1)
    sums_of_two = (values[:, None] + values).ravel()
    ends = np.concatenate([[0], np.cumsum(pairs)]).astype(np.int32)
    n = int(ends[-1])
    bits = rng.bit_generator.random_raw(-(-(n + len(odd)) // 4)).view(np.uint16)
    draws = csr_array((np.ones(n), bits[:n].astype(np.int32), ends), shape=(len(counts), len(sums_of_two)))
    out[:, 0] += draws @ sums_of_two
    out[odd, 0] += values[bits[n : n + len(odd)] & np.uint16(len(values) - 1)]


def _add_draws(out: Floats, block: Floats, counts: npt.NDArray[np.int64], rng: np.random.Generator) -> None:
    """Add to each row of ``out`` the sum of so many draws from a block of 2**k ≤ 65 536 rows."""
    from scipy.sparse import csr_array

    if len(block) == 1:
        out += counts[:, None] * block
        return
    step = max(1, _DRAWS_AT_ONCE // max(1, int(counts.mean())))
    ones, table = (np.ones(int(counts.max()) * min(step, len(counts))), np.empty((min(step, len(counts)), len(block))))
    for begin in range(0, len(counts), step):
        ends = np.concatenate([[0], np.cumsum(counts[begin : begin + step])]).astype(np.int32)
        bits = rng.bit_generator.random_raw(-(-int(ends[-1]) // 4)).view(np.uint16)[: ends[-1]]
        index = (bits & np.uint16(len(block) - 1)).astype(np.int32)
        draws = csr_array((ones[: ends[-1]], index, ends), shape=(len(ends) - 1, len(block)))
        if block.shape[1] == 1:
            out[begin : begin + step, 0] += draws @ block[:, 0]
        else:  # one dense table of counts and one matrix product beat one gather a column
            out[begin : begin + step] += draws.toarray(out=table[: len(ends) - 1]) @ block


def _powers_of_two(n: int, largest: int) -> npt.NDArray[np.int64]:
    """Sizes of runs that make up n units, each a power of two up to ``largest``, the largest first."""
    full, left = divmod(n, largest)
    sizes = [largest] * full + [1 << k for k in range(15, -1, -1) if left >> k & 1]
    return np.array(sizes, dtype=np.int64)


def _distinct_rows(rows: Floats) -> tuple[Ints, Ints]:
    """The first of each set of equal rows, and which set each row is in."""
    # Hashing the rows sorts one integer a row instead of c floats; a collision is seen and undone.
    blocks = [slice(begin, begin + _LARGEST_BLOCK) for begin in range(0, len(rows), _LARGEST_BLOCK)]
    first, which = _distinct_hashes(rows, blocks)
    if any((rows[first[which[block]]] != rows[block]).any() for block in blocks):
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, which.ravel()


def _distinct_hashes(rows: Floats, blocks: Sequence[slice]) -> tuple[Ints, Ints]:
    """The first row of each hash, hashes ascending, and which hash each row has: as ``np.unique`` has them, with fewer copies."""
    key = np.empty(len(rows), dtype=np.uint64)
    for block in blocks:
        key[block] = _hashes(rows[block])
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.append(True, key[1:] != key[:-1])
    del key
    number = np.cumsum(new)
    number -= 1
    which = np.empty(len(rows), dtype=np.int64)
    which[order] = number
    del number
    return order[new], which


def _hashes(rows: Floats) -> npt.NDArray[np.uint64]:
    key = np.zeros(len(rows), dtype=np.uint64)
    for column in (rows + 0.0).view(np.uint64).T:
        key = (key ^ (key >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15) + column * np.uint64(0xBF58476D1CE4E5B9)
    return key
