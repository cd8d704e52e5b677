"""What a judge leans to beyond what people see: length."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.bounded import bounded_mean, paired
from evalbench.core.clusters import codes
from evalbench.core.correlation import FEWEST_ROWS, correlate, correlation_difference, midranker, pearson_kernel
from evalbench.core.seeds import rng
from evalbench.core.stats import Measured, bootstrap_weights, with_interval


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
