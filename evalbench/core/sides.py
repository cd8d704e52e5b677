"""Two systems' items laid side by side by unit, ready to be resampled and swapped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.clusters import by_unit, codes, in_arrow
from evalbench.core.measures import Columns, Measure, unit_sums


class Side(NamedTuple):
    """One system's items, summed by unit.

    - ``sums``: Columns in the order of :func:`_names`, each in one piece, a row for each of ``ids``, which ascend.
    - ``n``: How many items they are of.
    - ``cluster``: Of each unit; empty where there are none.
    """

    sums: Floats
    ids: Any
    n: int
    cluster: Mapping[str, str]

    @classmethod
    def of(cls, columns: Columns, measures: Sequence[Measure], units: Any) -> Side:
        sums, ids = unit_sums(columns, _names(measures), units)
        return cls(np.asfortranarray(sums), ids, len(units), by_unit(columns, units))


class Sides(NamedTuple):
    """Both systems' sums by unit, each figure's columns side by side, rows of units without the figure zeroed.

    Where the items have clusters, the rows are these, and ``clusters_a`` and ``clusters_b`` how many of them have each
    figure; the other numbers are of units.
    """

    table_a: Floats
    table_b: Floats
    n_a: tuple[int, ...]
    n_b: tuple[int, ...]
    n_shared: int
    only_a: int
    only_b: int
    columns: tuple[slice, ...]
    clustered: bool
    clusters_a: tuple[int, ...] | None = None
    clusters_b: tuple[int, ...] | None = None

    @classmethod
    def of(cls, a: Side, b: Side, measures: Sequence[Measure], *, paired: bool) -> Sides:
        sums_a, ids_a, sums_b, ids_b = a.sums, a.ids, b.sums, b.ids
        shared, at_a, at_b = _shared(ids_a, ids_b)
        clustered = len(ids_a) < a.n or len(ids_b) < b.n
        if paired:
            sums_a, sums_b = sums_a[at_a], sums_b[at_b]
        column = {name: j for j, name in enumerate(_names(measures))}
        has_a, has_b = (_has_measures(s, measures, column) for s in (sums_a, sums_b))
        if paired:
            has_a = has_b = has_a & has_b
        wide = [(j, column[name]) for j, f in enumerate(measures) for name in f.sums]
        table_a, table_b = (_with_all(s, has, wide) for s, has in ((sums_a, has_a), (sums_b, has_b)))
        n_a, n_b = (tuple(int(k) for k in has.sum(axis=0)) for has in (has_a, has_b))
        only_a, only_b = len(ids_a) - len(shared), len(ids_b) - len(shared)
        own = (a.cluster, b.cluster)
        if not any(own):
            return cls(table_a, table_b, n_a, n_b, len(shared), only_a, only_b, _slices(measures), clustered)
        if paired:
            own, ids_a, ids_b = (own[0] or own[1],) * 2, shared, shared
        table_a, clusters_a = _by_cluster(table_a, has_a, ids_a, own[0])
        table_b, clusters_b = _by_cluster(table_b, has_b, ids_b, own[1])
        return cls(
            table_a, table_b, n_a, n_b, len(shared), only_a, only_b, _slices(measures), True, clusters_a, clusters_b
        )


def _names(measures: Sequence[Measure]) -> list[str]:
    """All columns that figures sum, then those of how many items have each."""
    raw = sorted({name.removeprefix("#") for measure in measures for name in measure.sums})
    return raw + [f"#{name}" for name in raw]


def _with_all(sums: Floats, has: npt.NDArray[np.bool_], wide: Sequence[tuple[int, int]]) -> Floats:
    """The columns of each figure side by side, 0 in the rows of units without it; not copied where they are so.

    - ``wide``: The figure and the place among the sums of each column.
    """
    figures, places = zip(*wide, strict=True)
    table = sums if [*places] == [*range(sums.shape[1])] else sums[:, places]
    return np.asfortranarray(table if has.all() else table * has[:, figures])


def _shared(ids_a: Any, ids_b: Any) -> tuple[Any, Any, Any]:
    """The ids of both sides, ascending, and where they are on each."""
    if ids_a.equals(ids_b) if in_arrow(ids_a) and in_arrow(ids_b) else np.array_equal(ids_a, ids_b):
        return ids_a, slice(None), slice(None)
    return np.intersect1d(ids_a, ids_b, assume_unique=True, return_indices=True)


def _by_cluster(
    table: Floats, has: npt.NDArray[np.bool_], ids: npt.NDArray[Any], cluster: Mapping[str, str]
) -> tuple[Floats, tuple[int, ...]]:
    """The sums of units by cluster, and of each figure how many clusters have it; a unit without one is its own."""
    names, at = codes([f"c{cluster[id]}" if id in cluster else f"u{id}" for id in ids.tolist()])
    sums = np.zeros((len(names), table.shape[1]))
    for j, column in enumerate(table.T):
        order = np.lexsort((column, at))  # in the order of their values, whatever the order of units
        sums[:, j] = np.bincount(at[order], weights=column[order], minlength=len(names))
    counts = (np.bincount(at, weights=column, minlength=len(names)) > 0 for column in has.T)
    return sums, tuple(int(there.sum()) for there in counts)


def _has_measures(sums: Floats, measures: Sequence[Measure], column: Mapping[str, int]) -> npt.NDArray[np.bool_]:
    """Whether each unit has a finite value in every column of each figure: ``(units, figures)``."""
    needs = [[column[f"#{name.removeprefix('#')}"] for name in f.sums] for f in measures]
    return np.stack([(sums[:, counts] > 0).all(axis=1) for counts in needs], axis=1)


def _slices(measures: Sequence[Measure]) -> tuple[slice, ...]:
    ends = np.cumsum([0, *(len(f.sums) for f in measures)]).tolist()
    return tuple(slice(start, end) for start, end in pairwise(ends))


def values_of(measures: Sequence[Measure]) -> Callable[[Floats], Floats]:
    """A function from sums ``(r, c)``, each figure's columns side by side, to values ``(r, f)``."""
    columns = _slices(measures)
    return lambda sums: np.stack([f.value(*sums[:, c].T) for f, c in zip(measures, columns, strict=True)], axis=1)
