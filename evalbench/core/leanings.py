"""What a judge leans to beyond what people see: length, and models of its own family."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.bounded import bounded_mean, paired
from evalbench.core.clusters import codes
from evalbench.core.correlation import FEWEST_ROWS, correlate, correlation_difference, midranker, pearson_kernel
from evalbench.core.seeds import rng
from evalbench.core.stats import Measured, bootstrap_sums, bootstrap_weights, with_interval


class LengthBias(NamedTuple):
    """What length does.

    - ``partial``: Spearman of mark and length with the human label held fixed; without a value where there are no
      labels.
    - ``plain``: Spearman of mark and length: longer answers may well be better.
    - ``judge``, ``yardstick``: Agreement with the human labels of the judge, and of one that looks at length alone.
    - ``difference``: The judge's minus the yardstick's.
    """

    partial: Measured
    plain: Measured
    judge: Measured
    yardstick: Measured
    difference: Measured


def length_bias(
    mark: npt.ArrayLike,
    length: npt.ArrayLike,
    human: npt.ArrayLike | None = None,
    *,
    pairs: bool = False,
    units: npt.ArrayLike | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> LengthBias:
    """Does a judge mark the length, and would a ruler agree with people as well as it does?

    Agreement is Spearman's correlation with the human mark; of pairs the share with the humans' winner, where a tie of the judge,
    or of the lengths, counts half, and pairs that people call a tie are left out.

    Parameters
    ----------
    mark : (n,) array
        Marks, or preferences for one answer of each pair.
    length : (n,) array
        Of the answer; of pairs that of the preferred answer minus that of the other.
    human : (n,) array, optional
        Human marks or preferences; NaN where there is none.
    units, seed, n_resamples
        As of :func:`bounded_mean`.

    Examples
    --------
    >>> human = np.tile([0.0, 1.0], 30)
    >>> length = np.repeat(np.arange(30.0), 2)
    >>> biased = length_bias((length > 15).astype(float), length, human, n_resamples=200)
    >>> biased.partial.ci_low > 0.5, round(biased.judge.value, 2), round(biased.yardstick.value, 2)
    (True, 0.0, 0.0)
    """
    x, size = paired(mark, length)
    y = np.full(len(x), np.nan) if human is None else paired(mark, human)[1]
    labelled = np.isfinite(x) & np.isfinite(size) & np.isfinite(y)
    options: dict[str, Any] = {"units": units, "seed": seed, "n_resamples": n_resamples}
    plain = correlate(x, size, **options)
    if not labelled.any():
        none = Measured(None, note="no human labels")
        return LengthBias(none, plain, none, none, none)
    x, size, y = (np.where(labelled, each, np.nan) for each in (x, size, y))
    partial = correlate(x, size, given=y, **options)
    if not pairs:
        both = correlate(x, y, **options), correlate(size, y, **options)
        return LengthBias(partial, plain, *both, correlation_difference(x, size, y, **options))
    people = np.sign(y - 0.5)
    agreed = [np.where(people == 0, np.nan, (1 + np.sign(each) * people) / 2) for each in (x - 0.5, size)]
    judge, yardstick = (
        bounded_mean(each, units=units, purpose="length", seed=seed, n_resamples=n_resamples) for each in agreed
    )
    difference = bounded_mean(
        agreed[0] - agreed[1], low=-1, units=units, purpose="length", seed=seed, n_resamples=n_resamples
    )
    return LengthBias(partial, plain, judge, yardstick, difference)


class OwnFamily(NamedTuple):
    """What a judge adds to the humans' marks.

    - ``own``, ``foreign``: Mean of judge − human on answers of models of its own family, and of others.
    - ``difference``: own − foreign: positive where it favours its own.
    """

    own: Measured
    foreign: Measured
    difference: Measured


def own_family(
    mark: npt.ArrayLike,
    human: npt.ArrayLike,
    own: npt.ArrayLike,
    *,
    span: float = 1.0,
    units: npt.ArrayLike | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> OwnFamily:
    """Is a judge kinder to models of its own family, measured by the humans' marks on the same answers?

    Parameters
    ----------
    mark, human : (n,) arrays
        NaN where there is none; such answers are left out.
    own : (n,) array of bool
        Whether the answer is by a model of the judge's family.
    span : float
        Of the scale, in marks.
    units, seed, n_resamples
        As of :func:`bounded_mean`.

    References
    ----------
    Panickssery et al. (2024), LLM Evaluators Recognize and Favor Their Own Generations, NeurIPS 2024.

    Examples
    --------
    >>> own = np.arange(60) % 2 == 0
    >>> found = own_family(np.where(own, 1.0, 0.5), np.full(60, 0.5), own)
    >>> found.own.value, found.foreign.value, found.difference.value
    (0.5, 0.0, 0.5)
    """
    judged, people = paired(mark, human)
    gap = judged - people
    mine = np.asarray(own, dtype=bool)
    if mine.shape != gap.shape:
        raise ValueError(f"own or foreign is needed for each mark: shapes {mine.shape} and {gap.shape}")
    drawn = np.arange(len(gap)) if units is None else np.asarray(units)
    options: dict[str, Any] = {"low": -span, "high": span, "seed": seed, "n_resamples": n_resamples}
    of_own, of_others = (
        bounded_mean(gap[side], units=drawn[side], purpose=name, **options)
        for side, name in ((mine, "own"), (~mine, "foreign"))
    )
    n = of_own.n + of_others.n
    if of_own.value is None or of_others.value is None:
        which = "its own" if of_own.value is None else "another"
        none = Measured(None, n=n, note=f"no labelled answer by a model of {which} family")
        return OwnFamily(of_own, of_others, none)
    kept = ~np.isnan(gap)
    names, which_unit = codes(drawn[kept])
    order = np.lexsort((gap[kept], which_unit))
    rows = np.where(mine[kept], 1.0, 0.0)[order], gap[kept][order]
    weights = (rows[0] * rows[1], rows[0], (1 - rows[0]) * rows[1], 1 - rows[0])
    columns = np.stack([np.bincount(which_unit[order], weights=w) for w in weights], axis=1)

    def difference(sums: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(sums[:, :1] / sums[:, 1:2] - sums[:, 2:3] / sums[:, 3:])

    replicates = bootstrap_sums(columns, difference, rng(seed, "leanings/family"), n_resamples)[:, 0]
    fewest = min(len(np.unique(which_unit[side])) for side in (mine[kept], ~mine[kept]))
    clustered = len(names) < n
    measured = with_interval(of_own.value - of_others.value, replicates, n=n, n_units=fewest, clustered=clustered)
    return OwnFamily(of_own, of_others, measured)


class WithinGroups(NamedTuple):
    """The correlation of mark and length within each of several groups.

    - ``mean``: The mean over the groups that have one; ``n`` counts these groups.
    - ``low``, ``high``: The least and the largest of them.
    """

    mean: Measured
    low: float | None = None
    high: float | None = None


def length_within(
    mark: npt.ArrayLike,
    length: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    units: npt.ArrayLike | None = None,
    seed: int = 0,
    n_resamples: int = 500,
) -> WithinGroups:
    """Spearman of mark and length within each model, averaged: over all models together, better ones that write more would count as bias.

    Without human labels it cannot tell a liking for length from longer answers that are better.

    Parameters
    ----------
    mark, length : (n,) arrays
        As of :func:`length_bias`.
    groups : (n,) array
        Whose answer each is.  A group of fewer than three, or with a constant column, has no correlation and is left out.
    units : (n,) array, optional
        What is drawn: the question; the same draw in all groups.

    Examples
    --------
    >>> models = np.repeat(["a", "b"], 20)
    >>> found = length_within(np.tile(np.arange(20), 2) + 100 * (models == "b"), np.tile(np.arange(20), 2), models)
    >>> found.mean.value, found.mean.n
    (1.0, 2)
    """
    x, size = paired(mark, length)
    names, drawn = np.asarray(groups, dtype=str), np.arange(len(x)) if units is None else np.asarray(units)
    if names.shape != x.shape or drawn.shape != x.shape:
        raise ValueError(
            f"a group and a unit for each mark are needed: shapes {names.shape}, {drawn.shape} and {x.shape}"
        )
    ids, which = codes(drawn)
    kept = ~np.isnan(x) & ~np.isnan(size)
    parts = []
    for name in np.unique(names[kept]):
        rows = np.flatnonzero(kept & (names == name))
        rows = rows[np.lexsort((size[rows], x[rows], which[rows]))]
        if len(rows) >= FEWEST_ROWS and np.ptp(x[rows]) > 0 and np.ptp(size[rows]) > 0:
            parts.append((which[rows], midranker(x[rows]), midranker(size[rows])))
    if not parts:
        return WithinGroups(Measured(None, note="no model has marks and lengths that differ"))

    def correlations(weights: Floats) -> Floats:
        return np.stack([pearson_kernel(w := weights[:, rows], a(w), b(w)) for rows, a, b in parts], axis=1)

    each = correlations(np.ones((1, len(ids))))[0]
    with np.errstate(all="ignore"):
        replicates = bootstrap_weights(
            np.arange(len(ids)),
            lambda w: np.nanmean(correlations(w), axis=1),
            rng(seed, "leanings/within"),
            n_resamples,
        )
    mean = with_interval(float(each.mean()), replicates, n=len(each), n_units=len(ids))
    return WithinGroups(mean, float(each.min()), float(each.max()))
