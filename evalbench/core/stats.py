"""Bootstrap, and the intervals that a verdict rests on.

Two bootstraps share one set of conventions.  :func:`bootstrap_sums` serves every figure that is a
function of column sums (means, precision, F1, macro means) and is fast; :func:`bootstrap_weights`
serves the rest (rank correlations, areas under a curve), which are computed from how often each unit
was drawn.  Clusters are units: rows that come in groups are summed, or weighted, by group.

Coverage, simulated in ``tests/core/test_stats.py`` at 50 units: the 95 % intervals hold the true value
in 93–97 % of samples.  Under 20 units they are too narrow, and :mod:`evalbench.core.measures` says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri, ndtr, ndtri, stdtrit

from evalbench.core.arrays import Floats
from evalbench.core.clusters import said, widened
from evalbench.core.resample import resampled_sums

# Below this many units a percentile interval covers clearly less than it says.
FEW_UNITS = 20


def of_few(counts: Iterable[int]) -> str:
    """What a sentence adds where its figures rest on so few units; empty where all have enough, or none has any.

    Examples
    --------
    >>> of_few([3, 40]), of_few([1]), of_few([20])
    (' Fewer than 20 have a score: the interval is too narrow.', ' Only one has a score.', '')
    """
    fewest = min(filter(None, counts), default=FEW_UNITS)
    if fewest >= FEW_UNITS:
        return ""
    if fewest == 1:
        return " Only one has a score."
    return f" Fewer than {FEW_UNITS} have a score: the interval is too narrow."


class Measured(NamedTuple):
    """A value with its 95 % interval, or the reason why there is none.

    - ``n``: Items that the value rests on.
    - ``method``: Name of the interval's method; empty without an interval.
    - ``note``: Why the value, or its interval, is missing or to be read with care.
    """

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    method: str = ""
    note: str = ""


def bootstrap_sums(
    units: npt.ArrayLike | list[Floats],
    statistic: Callable[[Floats], Floats],
    rng: np.random.Generator,
    n_resamples: int = 2000,
    *,
    multiplicity: npt.ArrayLike | None = None,
) -> Floats:
    """Bootstrap replicates of statistics that are functions of column sums.

    All statistics share one set of resamples, so their replicates may be compared or combined.

    Parameters
    ----------
    units : (n, c) array, or a list of such
        One row per resampling unit: its additive columns, those of several arrays side by side.  Finite.
    statistic : callable
        Sums ``(r, c)`` → values ``(r, f)``; NaN where a resample has no value.
    multiplicity : (n,) array of int, optional
        How many equal units each row stands for; one each by default.

    Returns
    -------
    (n_resamples, f) array

    Raises
    ------
    ValueError
        Without units, or if a column is not finite.

    Notes
    -----
    Exactly the ordinary bootstrap, n draws with replacement from n units, up to 100 000 units that differ
    (:data:`evalbench.core.resample.CROWD`); the sums of more are drawn from their normal limit where no unit weighs much.
    There is no step per unit where possible: how often a set of units was drawn is multinomial, so equal units need one
    count together, and the others are cut into runs of 2, 4, 8, … units within which a draw is a few
    random bits.  Memory grows with ``n``, never with ``n × n_resamples``.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapters 6 and 13.

    Examples
    --------
    >>> scores = np.array([[0.0], [1.0], [1.0], [0.5]])
    >>> means = bootstrap_sums(scores, lambda sums: sums / 4, np.random.default_rng(0), 1000)
    >>> means.shape, abs(float(means.mean()) - 0.625) < 0.02
    ((1000, 1), True)
    """
    several = units if isinstance(units, list) and units and all(np.ndim(one) == 2 for one in units) else [units]
    tables = [np.asarray(one, dtype=float) for one in several]
    times = None if multiplicity is None else np.asarray(multiplicity, dtype=np.int64)
    if tables[0].ndim != 2 or not len(tables[0]) or (times is not None and times.sum() < 1):
        raise ValueError(f"nothing to resample: units of shape {tables[0].shape}; expected one row per unit")
    total = len(tables[0]) if times is None else times.sum()
    columns = [column for table in tables for column in table.T]
    if not all(np.isfinite(column).all() for column in columns):
        raise ValueError("a unit's column is not finite: leave unscored units out, or count them as 0")
    varies = np.array([(column != column[0]).any() for column in columns])
    sums = np.empty((n_resamples, len(columns)))
    sums[:, ~varies] = [column[0] * total for column, own in zip(columns, varies, strict=True) if not own]
    if varies.any():
        rows = np.stack([column for column, own in zip(columns, varies, strict=True) if own], axis=1)
        sums[:, varies] = resampled_sums(rows, times, rng, n_resamples)
    return statistic(sums)


def resample_counts(n: int, rng: np.random.Generator, n_resamples: int) -> Iterator[Floats]:
    """How often each of n units is drawn, in chunks ``(r, n)`` of bounded size."""
    step = max(1, (1 << 19) // n)
    for begin in range(0, n_resamples, step):
        size = min(step, n_resamples - begin)
        drawn = rng.integers(n, size=(size, n)) + np.arange(0, size * n, n)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(float)


def cluster_counts(clusters: npt.ArrayLike, rng: np.random.Generator, n_resamples: int) -> Iterator[Floats]:
    """How often each of n units is drawn where whole clusters are, in chunks ``(r, n)`` of bounded size.

    ``clusters``: the (n,) names of the units' clusters.

    Examples
    --------
    >>> (drawn,) = cluster_counts(["p", "p", "q"], np.random.default_rng(0), 4)
    >>> drawn.shape, bool((drawn[:, 0] == drawn[:, 1]).all())
    ((4, 3), True)
    """
    names, which = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    step = max(1, (1 << 21) // len(which))
    for counts in resample_counts(len(names), rng, n_resamples):
        yield from (counts[i : i + step][:, which] for i in range(0, len(counts), step))


def bootstrap_weights(
    units: npt.ArrayLike, statistic: Callable[[Floats], Floats], rng: np.random.Generator, n_resamples: int = 2000
) -> Floats:
    """Bootstrap replicates of any statistic that is computed from how often each row was drawn.

    Parameters
    ----------
    units : (n,) array
        Each row's resampling unit; rows of one unit are drawn together.
    statistic : callable
        Weights ``(r, n)``, whole numbers ≥ 0 → values ``(r,)`` or ``(r, f)``.

    Returns
    -------
    (n_resamples,) or (n_resamples, f) array

    Examples
    --------
    >>> x = np.arange(5.0)
    >>> means = bootstrap_weights(np.arange(5), lambda w: w @ x / w.sum(axis=1), np.random.default_rng(0), 500)
    >>> means.shape
    (500,)
    """
    ids, which = np.unique(np.asarray(units), return_inverse=True)
    if not len(ids):
        raise ValueError("nothing to resample: there are no units")
    return np.concatenate([statistic(counts[:, which]) for counts in resample_counts(len(ids), rng, n_resamples)])


def percentile_interval(replicates: npt.ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """The percentile interval of each column of replicates.

    Undefined replicates (NaN) are left out; a column without any other gives NaN.

    Parameters
    ----------
    replicates : (r,) or (r, f) array
    level : float
        0–1.

    Returns
    -------
    low, high : () or (f,) arrays

    References
    ----------
    Efron & Tibshirani (1993), section 13.3.
    """
    values = np.asarray(replicates, dtype=float)
    tails = [(1 - level) / 2, (1 + level) / 2]
    gaps = np.isnan(values)
    if not gaps.any() and len(values):
        low, high = np.quantile(values, tails, axis=0)
        return low, high
    columns = values.reshape(len(values), int(np.prod(values.shape[1:]))).T
    ends = [np.quantile(c[~np.isnan(c)], tails) if (~np.isnan(c)).any() else [np.nan, np.nan] for c in columns]
    low, high = np.reshape(np.transpose(ends), (2, *values.shape[1:]))
    return low, high


def with_interval(
    value: float, replicates: npt.ArrayLike, *, n: int, n_units: int, clustered: bool = False, clusters: bool = False
) -> Measured:
    """A value with the percentile interval of its replicates ``(r,)``, and what to beware of.

    ``clusters``: the units are clusters (:mod:`evalbench.core.clusters`), and the interval is widened for their number.

    Without an interval: fewer than two units, or no replicate with a value.  Under 20 units, where some resamples
    have no value, or where all agree, the note says so.
    """
    values = np.asarray(replicates, dtype=float)
    undefined = float(np.isnan(values).mean()) if len(values) else 1.0
    if n_units < 2 or undefined == 1:
        kind = "clusters" if clusters else "units"
        reason = f"fewer than two {kind}" if n_units < 2 else "no resample has a value"
        return Measured(value, n=n, note=f"no interval: {reason}")
    own = percentile_interval(values, widened(n_units) if clusters else 0.95)
    low, high = (float(end) for end in holding(value, *own))
    method = f"{'clustered ' if clustered else ''}percentile bootstrap, {len(values)} resamples"
    if clusters:
        method = f"percentile bootstrap of {n_units} clusters, widened by t, {len(values)} resamples"
    few = said(n_units) if clusters else None
    cautions = [*bootstrap_cautions(low, high, undefined, n_units, few), left_out(value, *own)]
    return Measured(value, low, high, n, method, "; ".join(filter(None, cautions)))


def bootstrap_cautions(low: float, high: float, undefined: float, n_units: int, few: str | None = None) -> list[str]:
    """What to beware of in a bootstrap interval: undefined resamples, few units, no width.

    ``few``: what is said of the number of units, or the empty text, where they are clusters.
    """
    if few is None:
        few = f"fewer than {FEW_UNITS} units: the interval is too narrow" if n_units < FEW_UNITS else ""
    cautions = (
        (undefined > 0, f"{undefined:.1%} of the resamples have no value and are left out"),
        (bool(few), few),
        (no_width(low, high), "all resamples agree: the interval has no width"),
    )
    return [text for holds, text in cautions if holds]


def holding(value: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The ends of an interval, widened where they leave out the value by more than rounding errors, as ranks with ties may."""
    at, least, most = (np.asarray(x, dtype=float) for x in (value, low, high))
    dust = 1e-12 * np.maximum(1.0, np.abs(at))
    return np.where(at < least - dust, at, least), np.where(at > most + dust, at, most)


def left_out(value: float, low: npt.ArrayLike, high: npt.ArrayLike) -> str:
    """What is said of an interval that was widened to hold its value; else empty."""
    ends = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    widened_by = [float(np.abs(a - b)) for a, b in zip(holding(value, *ends), ends, strict=True)]
    return "the resamples leave the value out: the interval is widened to hold it" if any(widened_by) else ""


def no_width(low: float, high: float) -> bool:
    """Whether the ends of an interval differ by rounding at most.

    Examples
    --------
    >>> no_width(1 - 2**-53, 1.0), no_width(0.9999, 1.0)
    (True, False)
    """
    return math.isclose(low, high, rel_tol=1e-12, abs_tol=1e-15)


def wilson(successes: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """The modified Wilson interval of a proportion; NaN where ``n`` is 0.

    Wilson's score interval: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n), with p = successes / n.  It covers too
    little where p is near an end (0.90 at p = 0.99 and n = 10), so with x = 1 or 2 successes, or 3 where n > 50, the
    lower end is that of a Poisson count, χ²(1 − level; 2x) / 2n, and with as few failures the upper end is its mirror.
    Of no success, or no failure, it is Wilson's.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22, 209–212; the modification: Brown, Cai & DasGupta
    (2001), Interval Estimation for a Binomial Proportion, Statistical Science 16, 101–133, section 4.1.1.

    Examples
    --------
    >>> low, high = wilson([20, 19, 15], 20)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.839, 0.764, 0.531], [1.0, 0.997, 0.888])
    """
    k, m = np.asarray(successes, float), np.asarray(n, float)
    if ((k < 0) | (k > m)).any():
        raise ValueError("successes must be between 0 and n")
    return _score_interval(k, m, ndtri(0.5 + level / 2))


def wilson_name(successes: float, n: float) -> str:
    """What the interval of :func:`wilson` is called: "modified Wilson" where it is not Wilson's own.

    Examples
    --------
    >>> wilson_name(19, 20), wilson_name(20, 20)
    ('modified Wilson', 'Wilson')
    """
    return "modified Wilson" if _few(successes, n) or _few(n - successes, n) else "Wilson"


def clustered_wilson(
    successes: npt.ArrayLike, n: npt.ArrayLike, group: npt.ArrayLike, n_groups: int, level: float = 0.95
) -> tuple[Floats, Floats]:
    """The interval of :func:`wilson` of proportions whose trials come in units, such as several replies about one fact.

    With the effective number of trials n* = p(1 − p) / v in place of N, 1 ≤ n* ≤ N, and Student's quantile with
    G − 1 degrees of freedom in place of the normal one; p = Σk / Σn, v = G/(G − 1) Σ(k − pn)² / N² over the G units.  Where
    every unit has one trial, that of :func:`wilson` itself; where all units agree on 0 or 1, Wilson's over the G units.

    Parameters
    ----------
    successes, n : (u,) array
        Of every unit: k, the sum of its trials' shares (0–1), and how many trials it has; units of a group differ.
    group : (u,) array of int
        The group of each unit.
    level : float
        0–1.

    Returns
    -------
    low, high : (n_groups,) arrays
        NaN for a group without trials, and for one with several trials of a single unit.

    References
    ----------
    Dean & Pagano (2015), Evaluating Confidence Interval Methods for Binomial Proportions in Clustered Surveys, Journal of
    Survey Statistics and Methodology 3, 484–503; the degrees of freedom: Korn & Graubard (1998), Confidence Intervals for
    Proportions With Small Expected Number of Positive Counts, Survey Methodology 24, 193–201.

    Examples
    --------
    >>> low, high = clustered_wilson([5, 0, 5, 0, 5, 0], [5] * 6, [0] * 6, 1)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.12], [0.88])
    >>> [round(float(end), 2) for end in wilson(15, 30)]
    [0.33, 0.67]
    """
    k, m, at = np.asarray(successes, float), np.asarray(n, float), np.asarray(group, dtype=np.intp)
    total, units = np.bincount(at, m, n_groups), np.bincount(at, m > 0, n_groups)
    found = np.bincount(at, k, n_groups)
    with np.errstate(all="ignore"):
        p = found / total
        variance = units / (units - 1) * np.bincount(at, (k - p[at] * m) ** 2, n_groups) / total**2
        effective = np.clip(p * (1 - p) / variance, 1, total)
        agree, single = (found == 0) | (found == total), units == total
        normal = agree | single
        effective = np.where(single, total, np.where(agree, units, effective))
        z = np.where(normal, ndtri(0.5 + level / 2), stdtrit(np.maximum(units - 1, 1), 0.5 + level / 2))
        low, high = _score_interval(p * effective, effective, z)
    known = (total > 0) & (single | (units > 1))
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _score_interval(k: Floats, m: Floats, z: Any) -> tuple[Floats, Floats]:
    with np.errstate(all="ignore"):
        p = k / m
        centre = (p + z**2 / (2 * m)) / (1 + z**2 / m)
        half = z / (1 + z**2 / m) * np.sqrt(p * (1 - p) / m + z**2 / (4 * m**2))
        lower, upper = (np.where(_few(x, m), chdtri(2 * x, ndtr(z) * 2 - 1) / (2 * m), np.inf) for x in (k, m - k))
    low, high = np.minimum(centre - half, lower), np.maximum(centre + half, 1 - upper)
    # At 0 and n the ends are 0 and 1; centre ∓ half misses them by rounding errors.
    low = np.where(k == 0, np.where(m > 0, 0.0, np.nan), np.clip(low, 0, 1))
    high = np.where(k == m, np.where(m > 0, 1.0, np.nan), np.clip(high, 0, 1))
    return low, high


def _few(x: Any, n: Any) -> Any:
    """Whether so few of n are successes (or failures) that the end of the interval is a Poisson count's; 0 and n are not."""
    return (x > 0) & (x < n) & (x <= np.where(n > 50, 3, 2) + 1e-9)
