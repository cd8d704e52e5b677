"""Each value of a column against all others: units dealt anew to the values, as often as each has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats

N_PERMUTATIONS = 10_000
_MOST_SHUFFLED = 5_000
"""Of more units than so many, the sums of a value's share are drawn without shuffling all."""
_MANY = 500
"""The sums of so many units, dealt out of more, are as good as normal."""


def value_tests(
    sums: npt.ArrayLike,
    values: npt.ArrayLike,
    blocks: npt.ArrayLike,
    statistic: Callable[[Floats], Floats],
    generator: np.random.Generator,
    n_permutations: int = N_PERMUTATIONS,
    *,
    tested: npt.ArrayLike | None = None,
) -> list[float | None]:
    """Two-sided p-values: the statistic of the units of each value against that of all other units.

    Parameters
    ----------
    sums : (n, c) array
        The additive columns of each unit; finite.
    values : (n,) array of int
        Which value each unit has, 0 … k − 1.
    blocks : (n,) array of int
        What is drawn together: the cluster of each unit, or the unit itself.  Where each block has one value, blocks are
        dealt to the values; otherwise the values are dealt anew to the units within each block.
    statistic : callable
        Sums ``(r, c)`` → ``(r,)``; NaN where there is none.
    n_permutations : int
        At most.
    tested : (k,) array of bool, optional
        Which values are tested; all by default.

    Returns
    -------
    list of float or None
        One for each value; None where it is not tested, or it or the rest has no statistic.

    Notes
    -----
    p = (1 + permutations at least as far apart) / (1 + permutations).  Of more than 5 000 units a value's sums are drawn
    directly: of at least 500 units from the normal distribution that has the mean and the covariance of the
    permutations (Hoeffding 1951, Annals of Mathematical Statistics 22, 558–566), of fewer one permutation at a time.

    Examples
    --------
    >>> scores = np.array([[0.1]] * 10 + [[0.9]] * 30)
    >>> table = np.hstack([scores, np.ones((40, 1))])
    >>> of = np.repeat([0, 1, 2, 2], 10)
    >>> p = value_tests(table, of, np.arange(40), lambda s: s[:, 0] / s[:, 1], np.random.default_rng(0))
    >>> [round(x, 4) for x in p], p[0] < 0.001
    ([0.0001, 0.0862, 0.0006], True)
    """
    table, of, block = np.asarray(sums, dtype=float), np.asarray(values), np.asarray(blocks)
    k = int(of.max(initial=-1)) + 1
    first = np.zeros(int(block.max(initial=-1)) + 1, dtype=of.dtype)
    first[block] = of
    if (first[block] == of).all():
        there = np.bincount(block) > 0
        table = np.asarray([np.bincount(block, weights=c)[there] for c in table.T], dtype=float).T
        of, block = first[there], np.zeros(int(there.sum()), dtype=block.dtype)
    wanted = np.ones(k, dtype=bool) if tested is None else np.asarray(tested)
    n, total = len(table), table.sum(axis=0)
    own = np.asarray([np.bincount(of, weights=c, minlength=k) for c in table.T], dtype=float).T
    times = int(max(1000, min(n_permutations, 5e7 // max(1, table.size))))
    with np.errstate(all="ignore"):
        observed = statistic(own) - statistic(total - own)
    if n <= _MOST_SHUFFLED:
        dealt = _shuffled(table, of, block, k, generator, times)
        return [_p_value(observed[j], dealt[:, j], total, statistic) if wanted[j] else None for j in range(k)]
    found: list[float | None] = []
    for j in range(k):
        if not wanted[j]:
            found.append(None)
            continue
        mine = of == j
        fewer = min(int(mine.sum()), n - int(mine.sum()))
        if fewer >= _MANY or block.any():
            drawn = _normal(table, mine, block, generator, n_permutations)
        else:
            drawn = _chosen(table, mine, generator, min(n_permutations, 4000))
        found.append(_p_value(observed[j], drawn, total, statistic))
    return found


def _p_value(observed: float, dealt: Floats, total: Floats, statistic: Callable[[Floats], Floats]) -> float | None:
    if not np.isfinite(observed):
        return None
    with np.errstate(all="ignore"):
        apart = np.abs(statistic(dealt) - statistic(total - dealt))
        near = apart < abs(observed) - 1e-9 * max(1.0, abs(observed))
    return float((1 + (~near).sum()) / (1 + len(dealt)))


def _shuffled(
    table: Floats, of: npt.NDArray[Any], block: npt.NDArray[Any], k: int, generator: np.random.Generator, times: int
) -> Floats:
    """Sums by value of permutations within blocks, (times, k, c)."""
    order = np.argsort(block, kind="stable")
    table, of, block = table[order], of[order], block[order]
    out = np.empty((times, k, table.shape[1]))
    single = not block.any()
    onto = np.argsort(of, kind="stable")
    starts = np.searchsorted(of[onto], np.arange(k))
    for i in range(times):
        if single:
            moved = generator.permutation(len(table))
        else:  # sorted by block, then by chance: another order of the units within each block
            moved = np.lexsort((generator.random(len(table)), block))
        out[i] = np.add.reduceat(table[moved[onto]], starts, axis=0)
    return out


def _chosen(table: Floats, mine: npt.NDArray[np.bool_], generator: np.random.Generator, times: int) -> Floats:
    """Sums of as many units as a value has, drawn without replacement, (times, c)."""
    m, n = int(mine.sum()), len(table)
    few = min(m, n - m)
    drawn = np.stack([table[generator.choice(n, few, replace=False, shuffle=False)].sum(axis=0) for _ in range(times)])
    return drawn if few == m else table.sum(axis=0) - drawn


def _normal(
    table: Floats, mine: npt.NDArray[np.bool_], block: npt.NDArray[Any], generator: np.random.Generator, times: int
) -> Floats:
    """Sums of a value's share of every block, drawn from the normal distribution with the permutations' moments."""
    size = np.bincount(block).astype(float)
    share = np.bincount(block, weights=mine) / np.maximum(size, 1)
    means = np.stack([np.bincount(block, weights=c) for c in table.T], axis=1) / np.maximum(size, 1)[:, None]
    spread = share * (1 - share) * size / np.maximum(size - 1, 1)
    left = (table - means[block]) * np.sqrt(spread[block])[:, None]
    mean = (share * size) @ means
    return np.asarray(generator.multivariate_normal(mean, left.T @ left, size=times, method="eigh"))
