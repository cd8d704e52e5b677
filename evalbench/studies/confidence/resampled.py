"""Resamples of answers as counts of right and wrong ones by score: any area under a curve, many times over, a million answers too.

Answers that are alike in every column that is looked at are drawn together: how often such a pattern is drawn is multinomial, so
that confidence of N samples, which has N + 1 values, costs the same for a hundred answers as for a million.  A score with more
than :data:`MOST_LEVELS` distinct values is cut into :data:`RUNS` runs of neighbouring ranks for the resamples (never for the value).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalbench import core

MOST_LEVELS, RUNS = 1000, 250
_CELLS_AT_ONCE = 1 << 21
_MOST_CELLS = 1 << 28
"""Resamples times patterns: of more, fewer resamples are drawn for lights and comparisons, never under 200."""
_FEWEST = 200


class Column(NamedTuple):
    """One score of every row.

    - ``level`` ((n,) array of int): The place of its score among the distinct ones, ascending; −1 where the row has
      none.
    - ``wrong`` ((n,) array of bool)
    """

    level: core.Indices
    wrong: core.Bools
    n_levels: int

    @property
    def there(self) -> core.Bools:
        return self.level >= 0


class Counts(NamedTuple):
    """Right and wrong answers of each level, (r, levels) each."""

    right: core.Floats
    wrong: core.Floats


def column(scores: npt.ArrayLike, wrong: npt.ArrayLike) -> Column:
    """A column out of scores and correctness; a row that lacks either has none.

    Examples
    --------
    >>> column([0.5, np.nan, 0.1], [1, 0, 0]).level.tolist()
    [1, -1, 0]
    """
    return column_and_values(scores, wrong)[0]


def column_and_values(scores: npt.ArrayLike, wrong: npt.ArrayLike) -> tuple[Column, core.Floats]:
    """:func:`column`, and its distinct scores."""
    x, y = np.asarray(scores, dtype=float), np.asarray(wrong, dtype=float)
    there = np.isfinite(x) & np.isfinite(y)
    values, which = np.unique(x[there].round(12), return_inverse=True)
    level = np.full(len(x), -1, dtype=np.intp)
    level[there] = which
    return Column(level, (y == 1) & there, len(values)), values


def units_of(names: pd.Series) -> core.Indices:
    """A number for each resampling unit; where each row is one, their order does not matter.

    Examples
    --------
    >>> import pandas as pd
    >>> units_of(pd.Series(["b", "a", "b"])).tolist()
    [1, 0, 1]
    """
    if names.is_unique:
        return np.arange(len(names))
    return np.unique(names.to_numpy(dtype=str), return_inverse=True)[1]


def coarse(of: Column) -> tuple[Column, core.Indices]:
    """A column of few levels, runs of neighbouring ranks where there are too many, and the run of each level."""
    if of.n_levels <= MOST_LEVELS:
        return of, np.arange(of.n_levels)
    sizes = np.bincount(of.level[of.there], minlength=of.n_levels)
    middle = np.cumsum(sizes) - sizes / 2
    run = np.unique((middle / sizes.sum() * RUNS).astype(np.intp), return_inverse=True)[1]
    return Column(np.where(of.there, run[of.level], -1), of.wrong, int(run[-1]) + 1), run


def counts_of(weights: core.Floats, of: Column) -> Counts:
    """How many right and wrong answers have each level, where row i is drawn ``weights[:, i]`` times.

    Examples
    --------
    >>> found = counts_of(np.ones((1, 3)), column([0.5, 0.1, 0.5], [1, 0, 0]))
    >>> found.right.tolist(), found.wrong.tolist()
    ([[1.0, 1.0]], [[0.0, 1.0]])
    """
    rows = np.flatnonzero(of.there)
    rows = rows[np.argsort(of.level[rows], kind="stable")]
    own, starts = np.unique(of.level[rows], return_index=True)
    found = Counts(*(np.zeros((len(weights), of.n_levels)) for _ in range(2)))
    if len(own):
        drawn = weights[:, rows]
        wrong = np.add.reduceat(drawn * of.wrong[rows], starts, axis=1)
        found.wrong[:, own], found.right[:, own] = wrong, np.add.reduceat(drawn, starts, axis=1) - wrong
    return found


class Patterns(NamedTuple):
    """Rows that differ, and how often each is there.

    - ``times`` ((p,) array of int)
    - ``unit`` ((p,) array of int or None): The resampling unit of each where units hold several rows; else None.
    """

    columns: tuple[Column, ...]
    times: core.Ints
    unit: core.Indices | None
    n_units: int

    @classmethod
    def of(cls, columns: Sequence[Column], unit: core.Indices) -> Patterns:
        """Patterns of rows; ``unit`` is the number of each one's resampling unit, from 0."""
        n_units = int(unit.max(initial=-1)) + 1
        several = n_units < len(unit)
        key = unit.astype(np.int64) if several else np.zeros(len(unit), dtype=np.int64)
        for each in columns:
            joined = key * (2 * each.n_levels + 2) + 2 * (each.level + 1) + each.wrong
            key = np.unique(joined, return_inverse=True)[1]
        _, first, times = np.unique(key, return_index=True, return_counts=True)
        kept = tuple(Column(each.level[first], each.wrong[first], each.n_levels) for each in columns)
        return cls(kept, times, unit[first] if several else None, n_units)

    def drawn(self, rng: np.random.Generator, n_resamples: int) -> Iterator[core.Floats]:
        """How often each pattern is drawn, in chunks ``(r, p)`` of bounded size."""
        step = max(1, _CELLS_AT_ONCE // max(len(self.times), self.n_units if self.unit is not None else 1))
        chance = self.times / self.times.sum() if self.unit is None else np.full(self.n_units, 1 / self.n_units)
        for begin in range(0, n_resamples, step):
            size = min(step, n_resamples - begin)
            found = rng.multinomial(self.n_units, chance, size=size).astype(float)
            yield found if self.unit is None else found[:, self.unit] * self.times

    def fewer(self, n_resamples: int) -> int:
        """As many resamples as can be drawn of so many patterns in bounded time."""
        return min(n_resamples, max(_FEWEST, _MOST_CELLS // max(1, len(self.times))))
