"""The quality of a new sample, predicted from how far it lies from the labelled one as a whole."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from evalbench.core.arrays import Floats
from evalbench.core.seeds import rng
from evalbench.core.significance import holm

LARGEST = (5, 10, 15)
FEATURES = ("mean_d", "std_d", "max_d", "std_ad", "max_ad", *(f"sum_largest_{n}_ad" for n in LARGEST))
LEAST_SAMPLES = 30
LEAST_SIZE = max(LARGEST)
ALPHA = 0.05
LEAST_R = 0.5


@dataclass(frozen=True)
class Correlated:
    """One feature of sub-samples against the quality in them: Pearson's r, its p, and p adjusted over all features (Holm)."""

    feature: str
    r: float
    p: float
    p_holm: float
    chosen: bool


@dataclass(frozen=True)
class GlobalDrift:
    """The prediction, or why there is none.

    Attributes
    ----------
    n_samples, size : int
        Disjoint sub-samples, and rows in each.
    rows_needed : int
        Labelled rows that :data:`LEAST_SAMPLES` sub-samples of that size would need.
    correlated : tuple of Correlated
        Empty without enough sub-samples.
    observed : float
        Mean quality over the sub-samples.
    predicted, low, high : float
        Of the new sample, clipped to 0–1, with the 95 % interval of a prediction; NaN where there is none.
    outside : tuple of str
        Chosen features of the new sample beyond the range that was seen.
    why : str
        Why there is no prediction; empty where there is one.
    """

    n_samples: int
    size: int
    rows_needed: int
    correlated: tuple[Correlated, ...] = ()
    observed: float = math.nan
    predicted: float = math.nan
    low: float = math.nan
    high: float = math.nan
    outside: tuple[str, ...] = ()
    why: str = ""


def features(distances: npt.ArrayLike) -> Floats:
    """What the distances of a sub-sample to the base say, in the order of :data:`FEATURES`.

    Parameters
    ----------
    distances : (size, n) array
        D: of each of its rows to each of the base; AD is the mean over the base. The mean of D is that of AD and kept once.

    Examples
    --------
    >>> dict(zip(FEATURES, features(np.full((15, 3), 0.5)).tolist()))["sum_largest_10_ad"]
    5.0
    """
    d = np.asarray(distances, dtype=float)
    ad = np.sort(d.mean(axis=1))[::-1]
    return np.array([d.mean(), d.std(), d.max(), ad.std(), ad[0], *(ad[:n].sum() for n in LARGEST)])


def global_drift(
    vectors: npt.ArrayLike,
    right: npt.ArrayLike,
    new_vectors: npt.ArrayLike,
    *,
    size: int = LEAST_SIZE,
    alpha: float = ALPHA,
    least_r: float = LEAST_R,
    seed: int = 0,
) -> GlobalDrift:
    """Predict the quality of a new sample by linear regression on its distances to the labelled one.

    The labelled rows are halved into base and add; add is cut into disjoint sub-samples; of each the distances to the base
    (1 − cosine) give :func:`features`, its labels the quality. Features with p < ``alpha`` and |r| > ``least_r`` enter the
    regression; the new rows are cut into samples of the same size, whose mean features it is applied to.

    Parameters
    ----------
    vectors : (n, d) array
        Of the labelled requests; unit length.
    right : (n,) array of float
        Their labels, 0–1.
    new_vectors : (m, d) array
    size : int
        Rows of a sub-sample, at least :data:`LEAST_SIZE`.
    alpha, least_r : float
    seed : int
        Draws the halves and the sub-samples.

    Returns
    -------
    GlobalDrift
        Without a prediction, and with the reason, where there are fewer than :data:`LEAST_SAMPLES` sub-samples, new rows for
        none, no feature that correlates, or the new sample lies outside what was seen.

    References
    ----------
    Method document ``handbook``, the test of global drift (docs/methods.md); the interval of a prediction: Draper & Smith (1998),
    Applied Regression Analysis, section 5.1.
    """
    known, labels = np.asarray(vectors, dtype=np.float32), np.asarray(right, dtype=float)
    new = np.asarray(new_vectors, dtype=np.float32)
    order = rng(seed, "global/halves").permutation(len(known))
    base, add = known[order[: len(known) // 2]], order[len(known) // 2 :]
    n = len(add) // size
    needed = 2 * size * LEAST_SAMPLES
    if n < LEAST_SAMPLES or len(new) < size:
        why = (
            f"{n} disjoint sub-samples of {size} rows; at least {LEAST_SAMPLES} are needed, that is {needed} labelled rows"
            if n < LEAST_SAMPLES
            else f"{len(new)} new rows; at least {size} are needed"
        )
        return GlobalDrift(n, size, needed, why=why)
    parts = add[: n * size].reshape(n, size)
    x = np.stack([features(1 - known[part] @ base.T) for part in parts])
    y = labels[parts].mean(axis=1)
    drawn = rng(seed, "global/new").permutation(len(new))[: len(new) // size * size].reshape(-1, size)
    at = np.stack([features(1 - new[part] @ base.T) for part in drawn]).mean(axis=0)
    correlated = _correlated(x, y, alpha, least_r)
    observed = float(y.mean())
    chosen = [i for i, each in enumerate(correlated) if each.chosen]
    if not chosen:
        why = f"no feature correlates with the quality (p < {alpha:g} and |r| > {least_r:g})"
        return GlobalDrift(n, size, needed, correlated, observed, why=why)
    spread = np.ptp(x[:, chosen], axis=0)
    low, high = x[:, chosen].min(axis=0) - 1e-9 * spread, x[:, chosen].max(axis=0) + 1e-9 * spread
    outside = tuple(
        FEATURES[i] for i, a, lo, hi in zip(chosen, at[chosen], low, high, strict=True) if not lo <= a <= hi
    )
    if outside:
        why = f"the new sample lies outside what was seen: {', '.join(outside)}"
        return GlobalDrift(n, size, needed, correlated, observed, outside=outside, why=why)
    predicted, half = _predicted(x[:, chosen], y, at[chosen])
    ends = np.clip([predicted, predicted - half, predicted + half], 0, 1).tolist()
    return GlobalDrift(n, size, needed, correlated, observed, *ends)


def _correlated(x: Floats, y: Floats, alpha: float, least_r: float) -> tuple[Correlated, ...]:
    found = []
    for column in x.T:
        varies = np.ptp(column) > 0 and np.ptp(y) > 0
        found.append(tuple(stats.pearsonr(column, y)) if varies else (math.nan, math.nan))
    r, p = np.array(found, dtype=float).T
    known = np.isfinite(p)
    adjusted = np.full(len(p), np.nan)
    adjusted[known] = holm(p[known]) if known.any() else adjusted[known]
    return tuple(
        Correlated(name, float(a), float(b), float(c), bool(b < alpha and abs(a) > least_r))
        for name, a, b, c in zip(FEATURES, r, p, adjusted, strict=True)
    )


def _predicted(x: Floats, y: Floats, at: Floats) -> tuple[float, float]:
    """The regression's value at a point, and half of the 95 % interval of a new observation there."""
    scale = x.std(axis=0)
    design = np.column_stack([np.ones(len(x)), (x - x.mean(axis=0)) / scale])
    point = np.concatenate([[1.0], (at - x.mean(axis=0)) / scale])
    inverse = np.linalg.pinv(design.T @ design)
    beta = inverse @ design.T @ y
    freedom = max(1, len(y) - int(np.linalg.matrix_rank(design)))
    variance = float(((y - design @ beta) ** 2).sum()) / freedom
    half = stats.t.ppf(0.975, freedom) * math.sqrt(max(0.0, variance * (1 + point @ inverse @ point)))
    return float(point @ beta), float(half)
