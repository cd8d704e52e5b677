"""Online experiments: two independent groups of units, a covariate from before, a planned split, and splits of one group alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, stdtr, stdtrit

from evalbench.core.arrays import Floats
from evalbench.core.seeds import rng
from evalbench.core.stats import bootstrap_sums, percentile_interval

MISMATCH = 0.001
"""A split is taken for another than the planned one where the sample ratio test has a p-value below this."""
FEWEST_EXPECTED = 5
"""With fewer expected units on a side, χ² has no chi-square distribution."""
N_DRAWN = 100_000
N_SPLITS = 200
_N_RESAMPLES = 500


class Difference(NamedTuple):
    """A difference of two independent means, with its 95 % interval and Welch's two-sided p-value."""

    value: float
    ci_low: float
    ci_high: float
    p: float


class Adjusted(NamedTuple):
    """A difference with and without a covariate.

    - ``plain``, ``adjusted``: None where there are too few units.
    - ``narrower``: By which share the interval is narrower; below 0 where it is wider.
    - ``theta``: What is taken from a score for each unit of the covariate.
    - ``correlation``: Of score and covariate within the sides.
    - ``shift``: Of the covariate itself.
    - ``n_a``, ``n_b``: Units with a score and a covariate.
    - ``note``: Why there is no difference.
    """

    plain: Difference | None
    adjusted: Difference | None
    narrower: float | None
    theta: float
    correlation: float
    shift: Difference | None
    n_a: int
    n_b: int
    note: str = ""


class SampleRatio(NamedTuple):
    """Whether the sizes of a split fit the planned ratio.

    - ``fits``: p is at least :data:`MISMATCH`.
    """

    counts: tuple[int, ...]
    expected: tuple[float, ...]
    chi2: float
    p: float
    fits: bool


class FalseDifferences(NamedTuple):
    """How often random splits of one group differ.

    - ``splits``: Splits on which the figure has a test.
    - ``tests``: Of them, those with p ≤ 0.05.
    - ``intervals``: Of them, those whose interval excludes 0.
    """

    splits: int
    tests: int
    intervals: int


def cuped(
    y_a: npt.ArrayLike,
    x_a: npt.ArrayLike,
    y_b: npt.ArrayLike,
    x_b: npt.ArrayLike,
    *,
    weights_a: npt.ArrayLike | None = None,
    weights_b: npt.ArrayLike | None = None,
) -> Adjusted:
    """The difference of two means A − B, less noisy by a covariate that was known before the experiment.

    Δ = (ȳ_a − ȳ_b) − θ (x̄_a − x̄_b), θ = (c_a/n_a + c_b/n_b)/(v_a/n_a + v_b/n_b), c the covariance of y and x within a side and
    v the variance of x.  A covariate that the experiment cannot have changed leaves Δ unbiased and takes the share ρ² off its
    variance.  Intervals and p-values are Welch's, of y − θ x; with one degree of freedom less for θ.

    Parameters
    ----------
    y_a, x_a, y_b, x_b : (n_a,), (n_a,), (n_b,), (n_b,) arrays
        Score and covariate of each unit; one that lacks either is left out.
    weights_a, weights_b : arrays, optional
        How many items each unit has: the means are then over items, units are drawn whole (variance by linearisation).

    Returns
    -------
    Adjusted
        Without differences where a side has fewer than two units with both.  A covariate that does not vary changes nothing.

    Raises
    ------
    ValueError
        For arrays of different lengths.

    References
    ----------
    Deng, Xu, Kohavi & Walker (2013), WSDM, 123–132, section 3; for units with several items Deng, Knoblich & Lu (2018), KDD.

    Examples
    --------
    >>> x = np.arange(40) % 10 / 10
    >>> found = cuped(x + 0.1, x, x[::-1], x[::-1])
    >>> round(found.adjusted.value, 6), round(found.narrower, 6), round(found.theta, 6)
    (0.1, 1.0, 1.0)
    """
    a, b = _Side.of(y_a, x_a, weights_a), _Side.of(y_b, x_b, weights_b)
    n = (len(a.y), len(b.y))
    if min(n) < 2:
        why = f"fewer than two units with a score and a covariate on a side ({n[0]} and {n[1]})"
        return Adjusted(None, None, None, math.nan, math.nan, None, *n, note=why)
    spread = a.x.var(ddof=1) / n[0] + b.x.var(ddof=1) / n[1]
    together = _covariance(a) / n[0] + _covariance(b) / n[1]
    of_scores = a.y.var(ddof=1) / n[0] + b.y.var(ddof=1) / n[1]
    theta = float(together / spread) if spread > 0 else 0.0
    both = spread * of_scores
    correlation = float(np.clip(together / math.sqrt(both), -1, 1)) if both > 0 else 0.0
    plain = _welch(a.mean_y - b.mean_y, a.y, b.y)
    shift = a.mean_x - b.mean_x
    value = a.mean_y - b.mean_y - theta * shift
    adjusted = _welch(value, a.y - theta * a.x, b.y - theta * b.x, fitted=1) if theta and sum(n) > 3 else plain
    width, before = adjusted.ci_high - adjusted.ci_low, plain.ci_high - plain.ci_low
    narrower = 1 - width / before if before > 0 else None
    return Adjusted(plain, adjusted, narrower, theta, correlation, _welch(shift, a.x, b.x), *n)


class _Side(NamedTuple):
    """One side's means, and each unit's part of them less the mean."""

    mean_y: float
    mean_x: float
    y: Floats
    x: Floats

    @classmethod
    def of(cls, y: npt.ArrayLike, x: npt.ArrayLike, weights: npt.ArrayLike | None) -> _Side:
        scores, covariate = np.asarray(y, dtype=float), np.asarray(x, dtype=float)
        w = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=float)
        if scores.ndim != 1 or scores.shape != covariate.shape or scores.shape != w.shape:
            raise ValueError(f"a covariate for each score is needed: shapes {scores.shape} and {covariate.shape}")
        used = np.isfinite(scores) & np.isfinite(covariate) & (w > 0)
        if not used.any():
            return cls(math.nan, math.nan, np.empty(0), np.empty(0))
        scores, covariate, w = scores[used], covariate[used], w[used]
        mean_y, mean_x = (float((w * values).sum() / w.sum()) for values in (scores, covariate))
        return cls(mean_y, mean_x, w / w.mean() * (scores - mean_y), w / w.mean() * (covariate - mean_x))


def _covariance(side: _Side) -> float:
    return float((side.y * side.x).sum() / (len(side.y) - 1))


def _welch(value: float, a: Floats, b: Floats, fitted: int = 0) -> Difference:
    """Welch's interval and p-value; ``fitted``: how many coefficients were fitted to both sides together."""
    total = len(a) + len(b)
    cost = (total - 2) / (total - 2 - fitted)
    parts = np.array([a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)]) * cost
    error = math.sqrt(parts.sum())
    if error <= 1e-12 * max(1.0, abs(value)):
        return Difference(value, value, value, 1.0 if abs(value) < 1e-12 else 0.0)
    freedom = parts.sum() ** 2 / (parts**2 / np.array([len(a) - 1, len(b) - 1])).sum()
    half = float(stdtrit(freedom, 0.975)) * error
    return Difference(value, value - half, value + half, float(2 * stdtr(freedom, -abs(value) / error)))


def sample_ratio(counts: Sequence[int], ratio: Sequence[float]) -> SampleRatio:
    """Pearson's chi-square test that units were split in the planned ratio.

    χ² = Σ (n_i − e_i)²/e_i, e_i = n r_i / Σ r, k − 1 degrees of freedom; where an e_i is below :data:`FEWEST_EXPECTED`, p is the
    share of :data:`N_DRAWN` splits drawn as planned with a χ² at least as large, (1 + k)/(1 + N).  A split that does not fit means that units were lost, or
    dealt otherwise than planned: then no difference of the sides can be believed.

    Parameters
    ----------
    counts : sequence of int
        Units of each side.
    ratio : sequence of float
        Above 0.

    Raises
    ------
    ValueError
        For lengths that differ, fewer than two sides, no units, or a ratio that is not above 0.

    References
    ----------
    Fabijan et al. (2019), Diagnosing sample ratio mismatch in online controlled experiments, KDD.

    Examples
    --------
    >>> found = sample_ratio([821588, 815482], [1, 1])
    >>> f"{found.p:.1e}", found.fits
    ('1.8e-06', False)
    """
    if len(counts) != len(ratio) or len(counts) < 2:
        raise ValueError(f"{len(counts)} sides and {len(ratio)} parts of a ratio")
    if sum(counts) < 1 or min(counts) < 0 or not all(0 < r < math.inf for r in ratio):
        raise ValueError("units on some side, and a ratio of numbers above 0, are needed")
    expected = [sum(counts) * r / sum(ratio) for r in ratio]
    chi2 = sum((n - e) ** 2 / e for n, e in zip(counts, expected, strict=True))
    if min(expected) < FEWEST_EXPECTED:
        shares = np.asarray(expected) / sum(expected)
        drawn = rng(0, "experiments/ratio").multinomial(sum(counts), shares, size=N_DRAWN)
        extreme = int((((drawn - expected) ** 2 / expected).sum(axis=1) >= chi2 * (1 - 1e-9)).sum())
        p = (1 + extreme) / (1 + N_DRAWN)
    else:
        p = float(chdtrc(len(counts) - 1, chi2))
    return SampleRatio(tuple(counts), tuple(expected), chi2, p, p >= MISMATCH)


def false_differences(
    units: npt.ArrayLike,
    statistic: Callable[[Floats], Floats],
    *,
    seed: int,
    splits: int = N_SPLITS,
    n_permutations: int = 10_000,
    level: float = 0.95,
) -> list[FalseDifferences]:
    """How often two random halves of one group differ, which they should on 5 % of the splits.

    Each split is tested as two independent groups are: by dealing the units anew, and by whether the interval of the
    difference (independent bootstraps, 500 resamples) excludes 0.  All splits share the permutations, which are of one pool.

    Parameters
    ----------
    units : (n, c) array
        Additive columns of each unit, or of each cluster of units.
    statistic : callable
        Sums ``(r, c)`` → values ``(r, f)``.
    level : float
        Of the percentile interval.

    Returns
    -------
    list of FalseDifferences, one per statistic
        No split where there are fewer than four units.

    References
    ----------
    Kohavi, Tang & Xu (2020), Trustworthy Online Controlled Experiments, chapter 19.

    Examples
    --------
    >>> scores = np.column_stack([np.random.default_rng(0).random(200), np.ones(200)])
    >>> found = false_differences(scores, lambda s: s[:, :1] / s[:, 1:], seed=0)[0]
    >>> found.splits, found.tests < 24, found.intervals < 24
    (200, True, True)
    """
    rows = np.asarray(units, dtype=float)
    n, half = len(rows), len(rows) // 2
    total = rows.sum(axis=0)
    if n < 4:
        with np.errstate(all="ignore"):
            figures = statistic(total[None]).shape[1]
        return [FalseDifferences(0, 0, 0)] * figures
    generator = rng(seed, "experiments/splits")
    dealt = np.stack([rows[generator.permutation(n)[:half]].sum(axis=0) for _ in range(n_permutations)])
    with np.errstate(all="ignore"):
        permuted = np.abs(statistic(dealt) - statistic(total - dealt))
    shown = []
    for split in range(splits):
        order = rng(seed, "experiments/split", str(split)).permutation(n)
        a, b = rows[order[:half]], rows[order[half:]]
        with np.errstate(all="ignore"):
            observed = np.abs(statistic(a.sum(axis=0)[None]) - statistic(b.sum(axis=0)[None]))[0]
            extreme = (~(permuted < observed - 1e-9 * np.maximum(observed, 1e-3))).sum(axis=0)
        drawn = [
            bootstrap_sums(side, statistic, rng(seed, f"experiments/{name}", str(split)), _N_RESAMPLES)
            for name, side in (("a", a), ("b", b))
        ]
        low, high = percentile_interval(drawn[0] - drawn[1], level)
        p = np.where(np.isfinite(observed), (1 + extreme) / (1 + n_permutations), np.nan)
        shown.append(np.stack([np.isfinite(p), p <= 0.05, np.isfinite(p) & ((low > 0) | (high < 0))]))
    counts = np.sum(shown, axis=0, dtype=int)
    return [FalseDifferences(*map(int, column)) for column in counts.T]
