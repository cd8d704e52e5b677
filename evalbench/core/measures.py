"""Headline figures as functions of sums over items, all estimated from one set of resamples.

A mean, a proportion, precision, F1, a macro mean: each is a function of column sums over items.
A study lists them as :class:`Measure` values; :func:`estimate` computes values, intervals and the
replicates that light stability and comparisons use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Indices
from evalbench.core.clusters import codes, drawn_together, in_arrow, is_clustered, said, widened
from evalbench.core.ends import at_an_end, scale_of, unlike_at_most
from evalbench.core.resample import CROWD, drawn_in_words
from evalbench.core.result import Estimate
from evalbench.core.seeds import rng
from evalbench.core.stats import (
    FEW_UNITS,
    bootstrap_cautions,
    bootstrap_sums,
    holding,
    no_width,
    percentile_interval,
    wilson,
    wilson_name,
)
from evalbench.core.unscored import counted
from evalbench.core.verdict import Bands, Light

_FEW = 16
"""The items of so many units are sorted unit by unit, which is faster and takes less memory."""


class Columns(Protocol):
    """A table by the names of its columns: a mapping to arrays, or a DataFrame."""

    def __getitem__(self, name: str, /) -> Any: ...

    def get(self, name: str, default: Any = None, /) -> Any: ...


@dataclass(frozen=True)
class Measure:
    """One headline figure: a function of sums over items.

    - ``metric``: An identifier; of a registered metric its card's name.
    - ``sums``: Columns of ``items`` whose sums the figure is computed from. ``"#score"`` is the number of items with a
      finite ``score``.
    - ``value``: Takes the sums as arrays, in this order, and returns values; NaN where undefined.
    - ``interval`` ({"bootstrap", "bounded", "wilson", "counts"}): of all, Wilson's over units where all of them touch an
      end of the unit's scale, so that 20 of 20 is [0.84, 1] and not [1, 1], and :func:`unlike_at_most` where the score is the
      same on every unit; else ``bootstrap``. ``bounded``: the score is between 0 and 1, whatever its unit. ``wilson`` only for a
      proportion of items: its two sums are successes and trials; bootstrap where items have shares between 0 and 1, as the
      average of their trials. ``counts`` for a proportion of things that come several to an item, such as precision.
    - ``undefined``: Why there is no value where ``value`` is NaN.
    - ``worst``: An unscored item's worst possible score, for the note beside a mean.
    - ``bands``: The figure's own light.
    - ``title``: The words for people; by default the identifier.
    - ``least_units``: On fewer units there is no light.
    - ``certain``: A light that one case is enough for, so that nothing that is missing takes it back.
    - ``scale``: The lowest and highest value; by default those that ``unit`` says, such as ``0–1``; None: not known.
    """

    metric: str
    sums: tuple[str, ...]
    value: Callable[..., Floats]
    unit: str = "0–1"
    higher_is_better: bool | None = True
    interval: Literal["bootstrap", "bounded", "wilson", "counts"] = "bootstrap"
    undefined: str = "no item has a value"
    worst: float | None = None
    bands: Bands | None = None
    title: str = ""
    least_units: int = FEW_UNITS
    certain: Light | Literal[""] = ""
    scale: tuple[float, float] | Literal["unit"] | None = "unit"

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.metric)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The lowest and highest value, where they are known."""
        if self.scale == "unit":
            return scale_of(self.unit) if self.interval == "bootstrap" else (0.0, 1.0)
        return self.scale


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """``numerator / denominator``, NaN where the denominator is 0."""
    with np.errstate(all="ignore"):
        return np.where(denominator > 0, numerator / np.where(denominator > 0, denominator, 1), np.nan)


def mean_of(column: str, metric: str = "", **options: Any) -> Measure:
    """The mean of an item score over the items that have one."""
    options = {"worst": 0.0 if options.get("higher_is_better", True) else None, **options}
    return Measure(metric or column, (column, f"#{column}"), ratio, **options)


def share_of(column: str, metric: str = "", **options: Any) -> Measure:
    """The share of items whose 0/1 score is 1, with Wilson's interval."""
    if options.get("higher_is_better", True) is False:
        options = {"worst": 1.0, **options}
    return mean_of(column, metric, interval="wilson", **options)


def f1_of(tp: str, fp: str, fn: str, metric: str = "f1", **options: Any) -> Measure:
    """F1 = 2tp / (2tp + fp + fn) of summed counts; with neither truth nor prediction undefined."""
    options = {"undefined": "neither a true nor a predicted one", "interval": "counts", **options}
    return Measure(metric, (tp, fp, fn), lambda t, p, n: ratio(2 * t, 2 * t + p + n), **options)


def precision_of(tp: str, fp: str, metric: str = "precision", **options: Any) -> Measure:
    """tp / (tp + fp); undefined without predictions."""
    options = {"undefined": "nothing was predicted", "interval": "counts", **options}
    return Measure(metric, (tp, fp), lambda t, p: ratio(t, t + p), **options)


def recall_of(tp: str, fn: str, metric: str = "recall", **options: Any) -> Measure:
    """tp / (tp + fn); undefined without truth."""
    options = {"undefined": "there is no truth", "interval": "counts", **options}
    return Measure(metric, (tp, fn), lambda t, n: ratio(t, t + n), **options)


class Drawn(NamedTuple):
    """A figure and its bootstrap.

    - ``value``, ``low``, ``high``: NaN where there is none.
    - ``replicates`` ((r,) array): Empty where there are fewer than two units.
    - ``n_units``: Resampling units that have a value.
    - ``clustered``: Whether a unit holds several items.
    - ``clusters``: Whether the units are clusters, see :mod:`evalbench.core.clusters`.
    """

    value: float
    low: float
    high: float
    replicates: Floats
    n_units: int
    clustered: bool
    clusters: bool = False


class Estimated(NamedTuple):
    """Estimates of one group and the bootstrap replicates behind them."""

    estimates: tuple[Estimate, ...]
    replicates: Mapping[str, Floats]


def unit_sums(columns: Columns, names: Sequence[str], units: Any) -> tuple[Floats, npt.NDArray[Any]]:
    """Column sums per resampling unit, units in ascending order of their id.

    Returns
    -------
    sums : (n_units, len(names)) array
    ids : (n_units,) array
    """
    ids, index = codes(units)
    out = np.zeros((len(ids), len(names)))
    for j, name in enumerate(names):
        raw = np.asarray(columns[name.removeprefix("#")], dtype=float)
        finite = np.isfinite(raw)
        column = finite.astype(float) if name.startswith("#") else np.where(finite, raw, 0.0)
        out[:, j] = _added(column, index, len(ids))
    return out, ids


def _added(column: Floats, index: Indices, n: int) -> Floats:
    """The sum of each of n units; its items are added in order of their value: the order of rows changes no bit of it."""
    if 0 < n <= _FEW and n < len(column):
        return np.array([np.cumsum(np.sort(column[index == unit]))[-1] for unit in range(n)])
    order = np.lexsort((column, index)) if n < len(column) else slice(None)
    return np.asarray(np.bincount(index[order], weights=column[order], minlength=n), dtype=float)


def drawn_in_turn(measures: Sequence[Measure], n_rows: int) -> list[Sequence[Measure]]:
    """The figures in the lots that are drawn together: all at once, or of a crowd one by one, which takes less memory."""
    return [[one] for one in measures] if n_rows > CROWD else [measures]


def estimate(
    columns: Columns,
    measures: Sequence[Measure],
    *,
    units: Any,
    seed: int,
    group: Mapping[str, str] | None = None,
    n_resamples: int = 2000,
) -> Estimated:
    """Estimate figures over items with 95 % intervals, from one set of resamples.

    Parameters
    ----------
    columns : mapping of str to (n,) arrays
        The items' columns; ``unscored`` and ``undefined`` (str, empty or a reason) are counted if there.
    units : (n,) array
        The resampling unit of each item; items of one unit are drawn together.  Where the columns hold clusters
        (:mod:`evalbench.core.clusters`), these are drawn instead, and the interval is widened for their number.
    group : mapping, optional
        Names the compared group in every estimate.

    Returns
    -------
    Estimated
        Estimates in the order of ``measures``; replicates by metric, each ``(n_resamples,)``.
        Fewer than two units: no interval, and a note; fewer than 20, or 30 clusters: a note that a bootstrap interval is
        too narrow, or uncertain.
    """
    names = sorted({name for measure in measures for name in measure.sums})
    clusters = is_clustered(columns)
    sums, ids = unit_sums(columns, names, drawn_together(columns, units))
    at = {name: j for j, name in enumerate(names)}

    def values(s: Floats) -> Floats:
        return np.stack([f.value(*(s[:, at[n]] for n in f.sums)) for f in measures], axis=1)

    point = values(sums.sum(axis=0, keepdims=True))[0]
    n_items = len(units)
    unscored = _reasons(columns.get("unscored"), n_items)
    enough = len(ids) >= 2
    replicates = (
        bootstrap_sums(sums, values, rng(seed, "bootstrap"), n_resamples) if enough else np.empty((0, len(measures)))
    )
    n_units = [_units_with_value(f, sums, at, columns, drawn_together(columns, units)) for f in measures]
    interval = (
        intervals(point, replicates, n_units if clusters else None) if enough else [np.full(len(measures), np.nan)] * 2
    )
    ends = np.stack([point, *interval], axis=1)
    totals = sums.sum(axis=0)
    drawn = [
        Drawn(value, low, high, replicates[:, j], n_units[j], clusters or len(ids) < n_items, clusters)
        for j, (value, low, high) in enumerate(ends.tolist())
    ]
    estimates = tuple(
        _estimate_one(f, one, totals[[at[n] for n in f.sums]], columns, unscored, dict(group or {}))
        for f, one in zip(measures, drawn, strict=True)
    )
    return Estimated(estimates, {f.metric: replicates[:, j] for j, f in enumerate(measures)})


def intervals(values: Floats, replicates: Floats, n_clusters: Sequence[int] | None) -> list[Floats]:
    """Both ends of the percentile interval of each column of replicates, widened where these many clusters were drawn.

    They hold the values.
    """
    if n_clusters is None:
        return list(holding(values, *percentile_interval(replicates)))
    each = [percentile_interval(replicates[:, j], widened(n)) for j, n in enumerate(n_clusters)]
    return list(holding(values, *np.array(each, dtype=float).T))


def _units_with_value(measure: Measure, sums: Floats, at: Mapping[str, int], columns: Columns, units: Any) -> int:
    if measure.interval == "counts":
        return int(np.isfinite(measure.value(*(sums[:, at[name]] for name in measure.sums))).sum())
    counts = [at[name] for name in measure.sums if name.startswith("#")]
    if counts:
        return int((sums[:, counts] > 0).all(axis=1).sum())
    known = np.stack([np.isfinite(np.asarray(columns[name], dtype=float)) for name in measure.sums]).all(axis=0)
    return len(sums) if known.all() else len(np.unique(np.asarray(units, dtype=str)[known]))


def _between(columns: Columns, measure: Measure) -> bool:
    """Whether items have shares between 0 and 1, as those of several trials have: they are no single draws."""
    values = np.asarray(columns[measure.sums[0]], dtype=float)
    return bool(((values > 0) & (values < 1)).any())


def _reasons(column: Any, n: int) -> npt.NDArray[np.bool_]:
    """Whether each item carries a reason."""
    if column is None:
        return np.zeros(n, dtype=bool)
    if in_arrow(column):
        given: npt.NDArray[np.bool_] = (column != "").to_numpy(dtype=bool, na_value=False)
        return given
    return np.array([bool(r) and r == r for r in np.asarray(column, dtype=object)], dtype=bool)


def _estimate_one(
    measure: Measure,
    drawn: Drawn,
    totals: Floats,
    columns: Columns,
    unscored: npt.NDArray[np.bool_],
    group: Mapping[str, str],
) -> Estimate:
    per_item = next((name[1:] for name in measure.sums if name.startswith("#")), None)
    of = measure.sums if per_item is None else (per_item,)
    has_value = np.stack([np.isfinite(np.asarray(columns[name], dtype=float)) for name in of]).all(axis=0)
    # An item that failed in one part may still have a value of another: it is counted once, where it belongs.
    n, n_unscored = int(has_value.sum()), int((unscored & ~has_value).sum())
    value, low, high, replicates, n_units, clustered, clusters = drawn
    kind = "clusters" if clusters else "units"
    if not n:
        value = np.nan
    why = counted(np.asarray(columns.get("unscored", ()), dtype=object)[unscored]) if n_unscored else ""
    notes, method = [], f"percentile bootstrap, {drawn_in_words(len(replicates), n_units)}"
    if clusters:
        method = f"percentile bootstrap of {n_units} clusters, widened by t, {drawn_in_words(len(replicates), n_units)}"
    elif clustered:
        method = f"clustered {method}"
    if not np.isfinite(value):
        notes.append(
            f"every item is unscored: {why}" if n_unscored and n_unscored == len(unscored) else measure.undefined
        )
    elif (ends := at_an_end(value, n_units, measure.ends)) is not None:
        low, high = ends
        method = "Wilson" if measure.interval == "wilson" and not clustered else f"Wilson over {kind}, all agree"
    elif n_units < 2:
        low = high = np.nan
        notes.append(f"no interval: fewer than two {kind}")
    elif measure.interval == "wilson" and not (clustered or _between(columns, measure)):
        low, high = map(float, wilson(totals[0], totals[1]))
        method = wilson_name(totals[0], totals[1])
    elif measure.ends is not None and measure.ends[0] <= value <= measure.ends[1] and no_width(low, high):
        low, high = unlike_at_most(value, n_units, measure.ends)
        unsure = said(n_units) if clusters else ""
        notes += bootstrap_cautions(low, high, float(np.isnan(replicates).mean()), n_units, unsure)
        method = f"Wilson over {kind}, all agree"
    elif not np.isfinite(low):
        notes.append("no interval: no resample has a value")
    else:
        few = said(n_units) if clusters else None
        notes += bootstrap_cautions(low, high, float(np.isnan(replicates).mean()), n_units, few)
    if measure.worst is not None and n_unscored and per_item is not None and np.isfinite(value):
        floor = (value * n + measure.worst * n_unscored) / (n + n_unscored)
        notes.append(f"{floor:.3g} if every unscored item were the worst")
    known = np.isfinite(value)
    bounded = known and np.isfinite(low) and np.isfinite(high)
    return Estimate(
        metric=measure.metric,
        title=measure.title,
        value=value if known else None,
        ci_low=low if bounded else None,
        ci_high=high if bounded else None,
        method=method if bounded else "",
        n=n,
        n_unscored=n_unscored,
        n_undefined=len(unscored) - n - n_unscored,
        unit=measure.unit,
        higher_is_better=measure.higher_is_better,
        light=measure.bands.light(value if known else None) if measure.bands else "unlit",
        cuts=measure.bands.cuts if measure.bands else (),
        note="; ".join(notes),
        group=group,
    )
