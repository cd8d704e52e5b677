"""Figures that a study computes for many resamples at once, compared by how often each unit is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.compare.resampled import Tables, cells_of, comparison_of
from evalbench.core.arrays import Floats, Indices
from evalbench.core.clusters import CLUSTER
from evalbench.core.compared import Comparison
from evalbench.core.seeds import rng
from evalbench.core.stats import percentile_interval, resample_counts

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.compare.sides import Group, Side

Kernel = Callable[..., Mapping[Any, Floats]]
N_PERMUTATIONS = 10_000


def compare_weighted(
    side: Side,
    reference: Side,
    groups: Sequence[tuple[Group, tuple[Group, Group]]],
    metrics: Sequence[str],
    weighted: Callable[..., Kernel],
    *,
    unit: str,
    paired: bool,
    margins: Mapping[str, float],
    seed: int,
    n_resamples: int,
    n_permutations: int = N_PERMUTATIONS,
) -> dict[tuple[int, str], Comparison]:
    """Compare figures by bootstrap of units, and by swapping the sides' rows within units.

    A resample is how often each unit is drawn.  A permutation is one too: of both sides' units put together, as often
    drawn, 0 or 1, as the permutation leaves them to a side.

    - ``weighted``: The study's: items and options of a side → a function of items and counts ``(r, units)``, units in
      ascending order, to values ``(r,)`` by metric and group. Its third argument is a random generator where the counts
      are of a bootstrap, for what else the study resamples (systems beside documents): the same draws on both sides
      where paired. It is None for the values themselves and for permutations, which leave the rest as it is.
    - ``unit``: The items' column of the resampling unit.
    - ``paired``: Unpaired: independent bootstraps; units dealt anew.
    - ``margins``, ``seed``, ``n_resamples``, ``n_permutations``: See :func:`evalbench.compare.runs.compare`.

    Returns (mapping of (index of the group, metric) to Comparison): As
    :func:`evalbench.compare.resampled.compare_summaries` gives it.
    """
    cells = cells_of(side, reference, groups, metrics)
    if not cells:
        return {}
    tables = Tables.of(side, reference, groups, unit, paired=paired)
    kernels = [weighted(s.items, **s.options(weighted)) for s in (side, reference)]

    def values(
        items: Sequence[pd.DataFrame], counts: Sequence[Floats], further: Sequence[str] = ("", "")
    ) -> list[Floats]:
        """Of every cell on either side, (r, cells) each."""
        found = [
            kernel(t, c, rng(seed, purpose) if purpose else None)
            for kernel, t, c, purpose in zip(kernels, items, counts, further, strict=True)
        ]
        return [
            np.stack([f[c.metric, getattr(c, own)] for c in cells.values()], axis=1)
            for f, own in zip(found, ("side", "reference"), strict=True)
        ]

    own = (tables.side, tables.reference)
    sizes = tables.n_units
    clusters = [
        _cluster_of_units(t, unit) if tables.clusters else np.arange(n) for t, n in zip(own, sizes, strict=True)
    ]
    point = np.concatenate(values(own, [np.ones((1, n)) for n in sizes]))
    drawn = _drawn(clusters, seed, n_resamples, paired=paired)
    further = ["compare/further", "compare/further" if paired else "compare/further/reference"]
    replicates = _difference(*values(own, drawn, further))
    dealt = _dealt(clusters, rng(seed, "compare/swap"), n_permutations, paired=paired)
    permuted = _difference(*values(_together(tables, unit), dealt))
    low, high = percentile_interval(replicates, tables.level)
    return {
        key: comparison_of(
            side,
            key[1],
            point[:, j],
            (float(low[j]), float(high[j])),
            replicates[:, j],
            permuted[:, j],
            tables,
            margin=margins.get(key[1]),
        )
        for j, key in enumerate(cells)
    }


def _difference(side: Floats, reference: Floats) -> Floats:
    """Side − reference; 0 throughout where the two agree on every resample, with or without a value."""
    alike = ((side == reference) | (np.isnan(side) & np.isnan(reference))).all(axis=0)
    return np.where(alike, 0.0, side - reference)


def _cluster_of_units(items: pd.DataFrame, unit: str) -> Indices:
    """The number of each unit's cluster, units and clusters in ascending order."""
    _, first = np.unique(items[unit].to_numpy(dtype=str), return_index=True)
    return np.unique(items[CLUSTER].to_numpy(dtype=str)[first], return_inverse=True)[1]


def _drawn(clusters: Sequence[Indices], seed: int, times: int, *, paired: bool) -> list[Floats]:
    """How often each unit of either side is drawn, with its cluster, the same ones where paired."""
    purposes = ["compare/bootstrap"] * 2 if paired else ["compare/bootstrap/side", "compare/bootstrap"]
    return [
        np.concatenate(list(resample_counts(int(of.max()) + 1, rng(seed, purpose), times)))[:, of]
        for of, purpose in zip(clusters, purposes, strict=True)
    ]


def _dealt(clusters: Sequence[Indices], generator: np.random.Generator, times: int, *, paired: bool) -> list[Floats]:
    """Which of its own units and of the other's each side has in each permutation of clusters, 0 or 1."""
    n, sizes = len(clusters[0]), [int(of.max()) + 1 for of in clusters]
    if paired:
        swapped = generator.integers(2, size=(times, sizes[0])).astype(float)[:, clusters[0]]
        kept = np.hstack([1 - swapped, swapped])
        return [kept, kept]
    first = np.zeros((times, sum(sizes)))
    first[:, : sizes[0]] = 1.0
    first = generator.permuted(first, axis=1)[:, np.concatenate([clusters[0], sizes[0] + clusters[1]])]
    return [first, 1 - np.hstack([first[:, n:], first[:, :n]])]


def _together(tables: Tables, unit: str) -> list[pd.DataFrame]:
    """Either side's items with the other's below them under its labels, the other's units after its own."""
    import pandas as pd

    both = (tables.side, tables.reference)
    return [
        pd.concat(
            [
                both[own].assign(**{unit: "0" + both[own][unit].astype(str)}),
                both[1 - own].assign(**{unit: "1" + both[1 - own][unit].astype(str)}, **tables.labels[own]),
            ],
            ignore_index=True,
        )
        for own in (0, 1)
    ]
