"""Figures that are no functions of sums, compared by calling a study's ``summarise`` on resampled items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.compare import N_SUMMARIES
from evalbench.core.arrays import Floats, Indices
from evalbench.core.clusters import CLUSTER, said, widened
from evalbench.core.compared import ALPHA, Comparison
from evalbench.core.planning import equivalent, least_p, smallest_difference
from evalbench.core.result import Summary
from evalbench.core.seeds import rng
from evalbench.core.stats import bootstrap_cautions, holding, left_out, percentile_interval
from evalbench.core.wording import title_of
from evalbench.errors import BadInput
from evalbench.kit.options import taken

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.compare.sides import Group, Side


class Cell(NamedTuple):
    """One figure of one group, under the name of its group on either side."""

    metric: str
    side: tuple[tuple[str, str], ...]
    reference: tuple[tuple[str, str], ...]


def compare_summaries(
    side: Side,
    reference: Side,
    groups: Sequence[tuple[Group, tuple[Group, Group]]],
    metrics: Sequence[str],
    summarise: Callable[..., Summary],
    *,
    unit: str,
    paired: bool,
    margins: Mapping[str, float],
    seed: int,
    n_resamples: int = N_SUMMARIES,
) -> dict[tuple[int, str], Comparison]:
    """Compare figures of a summary by paired bootstrap of units, and by swapping the sides' rows within units.

    - ``summarise``: The study's, called with the options of each side.
    - ``unit``: The items' column of the resampling unit.
    - ``paired``: Unpaired: independent bootstraps; units dealt anew.
    - ``margins``, ``seed``: See :func:`evalbench.compare.runs.compare`.
    - ``n_resamples``: Also the number of permutations; 0: no figure is compared.

    Returns (mapping of (index of the group, metric) to Comparison): Figures that both runs state for the group.
    ``outcome`` and ``words`` are those before Holm's adjustment.
    """
    cells = cells_of(side, reference, groups, metrics)
    if not cells or not n_resamples:
        return {}
    tables = Tables.of(side, reference, groups, unit, paired=paired)
    measured = _Measured(list(cells.values()), side, reference, summarise, unit)
    try:
        point = measured(tables.side, tables.reference)
    except KeyError as error:
        raise BadInput(
            f"{side.run_id} or {reference.run_id}: the items lack {error}, which today's code reads; run them anew"
        ) from error
    if tables.identical():
        replicates = permuted = np.zeros((n_resamples, len(cells)))
    else:
        drawn = tables.drawn(rng(seed, "compare/bootstrap"), n_resamples)
        dealt = tables.dealt(rng(seed, "compare/swap"), n_resamples)
        replicates = np.array([_differ(measured(*pair)) for pair in _shown(drawn, n_resamples, "resamples")])
        permuted = np.array([_differ(measured(*pair)) for pair in _shown(dealt, n_resamples, "permutations")])
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


def cells_of(
    side: Side, reference: Side, groups: Sequence[tuple[Group, tuple[Group, Group]]], metrics: Sequence[str]
) -> dict[tuple[int, str], Cell]:
    """The figures that both runs state, by index of the group and metric."""
    return {
        (i, metric): Cell(metric, _key({**side.selected, **own[1]}), _key({**reference.selected, **own[0]}))
        for i, (_, own) in enumerate(groups)
        for metric in metrics
        if side.states(metric, own[1]) and reference.states(metric, own[0])
    }


def _shown(pairs: Iterator[Any], total: int, what: str) -> Iterator[Any]:
    """A bar on a terminal: each step calls the study."""
    from tqdm import tqdm

    yield from tqdm(pairs, total=total, desc=what, leave=False, disable=None)


def _key(group: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(group.items()))


def _differ(values: Floats) -> Floats:
    out: Floats = values[0] - values[1]
    return out


class _Measured:
    """The figures of both sides' items: a ``(2, cells)`` array, NaN where undefined."""

    def __init__(
        self, cells: Sequence[Cell], side: Side, reference: Side, summarise: Callable[..., Summary], unit: str
    ) -> None:
        self.cells, self.summarise = cells, summarise
        self.options = [{**s.options(summarise), **taken(summarise, {"n_resamples": 1})} for s in (side, reference)]

    def __call__(self, side: pd.DataFrame, reference: pd.DataFrame) -> Floats:
        both = []
        for items, options, own in zip((side, reference), self.options, ("side", "reference"), strict=True):
            summary = self.summarise(items, **options)
            values = {(e.metric, _key(e.group)): e.value for e in summary.estimates}
            found = [values.get((c.metric, getattr(c, own))) for c in self.cells]
            both.append([np.nan if v is None else v for v in found])
        return np.array(both, dtype=float)


class Tables(NamedTuple):
    """Both sides' items of the units compared, and where the rows of each unit are."""

    side: pd.DataFrame
    reference: pd.DataFrame
    rows_side: list[Indices]
    rows_reference: list[Indices]
    labels: tuple[Mapping[str, str], Mapping[str, str]]
    names: tuple[str, ...]
    paired: bool
    n_units: tuple[int, int]
    clusters: bool

    @classmethod
    def of(
        cls,
        side: Side,
        reference: Side,
        groups: Sequence[tuple[Group, tuple[Group, Group]]],
        unit: str,
        *,
        paired: bool,
    ) -> Tables:
        a, b = side.items, reference.items
        if paired:
            shared = set(a[unit].astype(str)) & set(b[unit].astype(str))
            a, b = (t[t[unit].astype(str).isin(shared)] for t in (a, b))
        clusters = CLUSTER in a and CLUSTER in b
        names = tuple(dict.fromkeys([unit, str(side.results["id"]), *([CLUSTER] if clusters else [])]))
        a, b = (t.sort_values([*names, *side.results["by"]], kind="stable", ignore_index=True) for t in (a, b))
        own = groups[0][1] if len(groups) == 1 else ({}, {})
        labels = ({**side.selected, **own[1]}, {**reference.selected, **own[0]})
        rows = [_rows_of_units(t[CLUSTER if clusters else unit]) for t in (a, b)]
        n_units = (int(a[unit].nunique()), int(b[unit].nunique()))
        return cls(a, b, rows[0], rows[1], labels, names, paired, n_units, clusters)

    @property
    def level(self) -> float:
        """Of the percentile interval: that of clusters is widened for their number."""
        return widened(min(self.sizes)) if self.clusters else 0.95

    @property
    def sizes(self) -> tuple[int, int]:
        """How many units, or clusters of them, are drawn on either side."""
        return len(self.rows_side), len(self.rows_reference)

    def identical(self) -> bool:
        """Whether both sides hold the same rows but for their labels, so that nothing can differ."""
        labels = [*self.labels[0]]
        plain = [t.drop(columns=labels) for t in (self.side, self.reference)]
        return self.paired and bool(plain[0].equals(plain[1]))

    def drawn(self, generator: np.random.Generator, times: int) -> Iterator[Any]:
        """Pairs of tables of units drawn with replacement, the same ones on both sides where paired."""
        n_a, n_b = self.sizes
        for _ in range(times):
            units = generator.integers(n_a, size=n_a)
            others = units if self.paired else generator.integers(n_b, size=n_b)
            yield (
                _taken(self.side, self.rows_side, units, self.names),
                _taken(self.reference, self.rows_reference, others, self.names),
            )

    def dealt(self, generator: np.random.Generator, times: int) -> Iterator[Any]:
        """Pairs of tables with the sides' rows swapped within units, or units dealt anew where unpaired."""
        import pandas as pd

        n_a, n_b = self.sizes
        for _ in range(times):
            if self.paired:
                swapped = generator.integers(2, size=n_a).astype(bool)
                kept_a, moved_b = np.flatnonzero(~swapped), np.flatnonzero(swapped)
                kept_b, moved_a = kept_a, moved_b
            else:
                order = generator.permutation(n_a + n_b)
                first, second = order[:n_a], order[n_a:]
                kept_a, moved_b = first[first < n_a], first[first >= n_a] - n_a
                kept_b, moved_a = second[second >= n_a] - n_a, second[second < n_a]
            yield (
                pd.concat([self._of(0, kept_a), self._of(1, moved_b, self.labels[0])], ignore_index=True),
                pd.concat([self._of(1, kept_b), self._of(0, moved_a, self.labels[1])], ignore_index=True),
            )

    def _of(self, which: int, units: Indices, labels: Mapping[str, str] | None = None) -> pd.DataFrame:
        """Rows of some units of the side (0) or the reference (1), under the labels of the other."""
        table, rows = (self.side, self.rows_side) if which == 0 else (self.reference, self.rows_reference)
        at = np.concatenate([rows[u] for u in units]) if len(units) else np.array([], dtype=np.intp)
        out = table.iloc[at].assign(**(labels or {}))
        if not self.paired and labels is not None:
            out = out.assign(**{c: out[c].astype(str) + "~" for c in self.names})
        return out


def _rows_of_units(units: pd.Series) -> list[Indices]:
    _, index = np.unique(units.to_numpy(dtype=str), return_inverse=True)
    order = np.argsort(index, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(index[order])) + 1)


def _taken(table: pd.DataFrame, rows: list[Indices], units: Indices, names: Sequence[str]) -> pd.DataFrame:
    """The rows of drawn units; each draw under ids of its own."""
    at = np.concatenate([rows[u] for u in units])
    draw = np.repeat(np.arange(len(units)), [len(rows[u]) for u in units]).astype(str)
    out = table.iloc[at].reset_index(drop=True)
    suffix = np.char.add("~", draw)
    return out.assign(**{c: np.char.add(out[c].to_numpy(dtype=str), suffix).astype(object) for c in names})


def comparison_of(
    side: Side,
    metric: str,
    point: Floats,
    interval: tuple[float, float],
    replicates: Floats,
    permuted: Floats,
    tables: Tables,
    *,
    margin: float | None,
) -> Comparison:
    sizes, paired = tables.sizes, tables.paired
    stated = next(row for row in side.results["summary"] if row["metric"] == metric)
    value_a, value_b = (float(v) if np.isfinite(v) else None for v in point)
    difference = value_a - value_b if value_a is not None and value_b is not None else None
    usable = replicates[np.isfinite(replicates)]
    own = interval
    if difference is not None:
        low, high = holding(difference, *own)
        interval = float(low), float(high)
    bounded = difference is not None and min(sizes) >= 2 and bool(len(usable)) and np.isfinite(interval).all()
    p = None
    if bounded and difference is not None:
        with np.errstate(all="ignore"):
            extreme = int((~(np.abs(permuted) < abs(difference) - 1e-12)).sum())
        p = (1 + extreme) / (1 + len(permuted))
    same = paired and bounded and not replicates.any() and not permuted.any()
    settled = margin is not None and bounded and equivalent(*interval, margin)
    spread = float(np.std(usable, ddof=1)) if bounded and len(usable) > 1 else 0.0
    few = said(min(sizes)) if tables.clusters else None
    cautions = bootstrap_cautions(*interval, float(np.isnan(replicates).mean()), min(sizes), few) if bounded else []
    cautions += (
        [left_out(difference, *own)] if bounded and difference is not None and left_out(difference, *own) else []
    )
    least = least_p(*sizes, paired=paired)
    of = "clusters" if tables.clusters else "units"
    kind = ("paired", f"swaps within {of}") if paired else ("independent", f"{of} dealt anew")
    drawn = "percentile bootstrap of clusters, widened by t" if tables.clusters else "percentile bootstrap"
    return Comparison(
        metric=metric,
        title=title_of(stated),
        unit=str(stated["unit"]),
        higher_is_better=stated["higher_is_better"],
        value_a=value_a,
        value_b=value_b,
        difference=difference,
        ci_low=interval[0] if bounded else None,
        ci_high=interval[1] if bounded else None,
        p=p,
        p_holm=p,
        p_mcnemar=None,
        smallest=smallest_difference(spread) if spread > 0 and least <= ALPHA else None,
        least_p=least if bounded else None,
        margin=margin,
        n_a=tables.n_units[0],
        n_b=tables.n_units[1],
        n_clusters=min(sizes) if tables.clusters else None,
        n_left_out=0,
        method=f"{kind[0]} {drawn}, {len(replicates)} resamples; {len(permuted)} {kind[1]}" if bounded else "",
        outcome="same" if same else "equivalent" if settled else "no difference shown" if bounded else "undefined",
        words="",
        note="; ".join(cautions) if bounded else "a side has no value" if difference is None else "no interval",
    )
