"""The quality of a new sample, predicted from how far it lies from the labelled one as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Ints
from evalbench.core.seeds import rng
from evalbench.core.significance import holm

LARGEST = (5, 10, 15)
FEATURES = ("mean_d", "std_d", "max_d", "std_ad", "max_ad", *(f"sum_largest_{n}_ad" for n in LARGEST))
LEAST_SAMPLES = 30
LEAST_SIZE = max(LARGEST)
ALPHA = 0.05
LEAST_R = 0.5
_CELLS = 1 << 22


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

    - ``n_samples``, ``size``: Disjoint sub-samples, and rows in each.
    - ``rows_needed``: Labelled rows that :data:`LEAST_SAMPLES` sub-samples of that size would need.
    - ``correlated``: Empty without enough sub-samples.
    - ``observed``: Mean quality over the sub-samples.
    - ``predicted``, ``low``, ``high``: Of the new sample, clipped to 0–1, with the 95 % interval of a prediction; NaN
      where there is none.
    - ``outside``: Chosen features of the new sample beyond the range that was seen.
    - ``why``: Why there is no prediction; empty where there is one.
    - ``lacks_rows``: Whether that is for want of rows.
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
    lacks_rows: bool = False


def of_rows(vectors: npt.ArrayLike, base: npt.ArrayLike) -> Floats:
    """Of each row's distances to the base (1 − cosine) their mean, the mean of their squares, and the largest.

    Parameters
    ----------
    vectors : (n, d) array
    base : (m, d) array
        Both of unit length.

    Returns
    -------
    (n, 3) array

    Examples
    --------
    >>> of_rows([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).tolist()
    [[0.5, 0.5, 1.0]]
    """
    new, known = np.asarray(vectors, dtype=np.float32), np.asarray(base, dtype=np.float32)
    out = np.empty((len(new), 3))
    step = max(1, _CELLS // max(1, len(known)))
    for start in range(0, len(new), step):
        d = 1 - (new[start : start + step] @ known.T).astype(float)
        out[start : start + step] = np.stack([d.mean(axis=1), (d**2).mean(axis=1), d.max(axis=1)], axis=1)
    return out


def features(rows: npt.ArrayLike) -> Floats:
    """What the distances of a sub-sample to the base say, in the order of :data:`FEATURES`.

    Parameters
    ----------
    rows : (size, 3) array
        Of :func:`of_rows`; the mean of a row's distances D is its AD.  The mean of D is that of AD and kept once.

    Examples
    --------
    >>> dict(zip(FEATURES, features(of_rows(np.eye(3)[:1].repeat(15, 0), np.eye(3))).round(3).tolist()))["sum_largest_10_ad"]
    6.667
    """
    mean, squares, largest = np.asarray(rows, dtype=float).T
    ad = np.sort(mean)[::-1]
    std = math.sqrt(max(0.0, float(squares.mean() - mean.mean() ** 2)))
    return np.array([mean.mean(), std, largest.max(), ad.std(), ad[0], *(ad[:n].sum() for n in LARGEST)])


def dealt(n: int, size: int, seed: int) -> tuple[Ints, Ints]:
    """The halves of n labelled rows: the places of the base, and those of the disjoint sub-samples of the other, a row each."""
    order = rng(seed, "global/halves").permutation(n)
    add = order[n // 2 :]
    return order[: n // 2], add[: len(add) // size * size].reshape(-1, size)


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
    base, parts = dealt(len(known), size, seed)
    rows, new = of_rows(known, known[base]), of_rows(new_vectors, known[base])
    order = rng(seed, "global/new").permutation(len(new))[: len(new) // size * size].reshape(-1, size)
    return predicted(
        [rows[part] for part in parts],
        [float(labels[part].mean()) for part in parts],
        [new[part] for part in order],
        size=size,
        alpha=alpha,
        least_r=least_r,
    )


def predicted(
    parts: Sequence[npt.ArrayLike],
    quality: Sequence[float],
    new: Sequence[npt.ArrayLike],
    *,
    size: int = LEAST_SIZE,
    alpha: float = ALPHA,
    least_r: float = LEAST_R,
) -> GlobalDrift:
    """The quality of a new sample from that of sub-samples; see :func:`global_drift`.

    Parameters
    ----------
    parts : sequence of (size, 3) arrays
        The rows of each labelled sub-sample, of :func:`of_rows`.
    quality : sequence of float
        Of each.
    new : sequence of (size, 3) arrays
        The new sample's, cut into samples of the same size.
    """
    n = len(parts)
    needed = 2 * size * LEAST_SAMPLES
    if n < LEAST_SAMPLES or not len(new):
        why = (
            f"{n} disjoint sub-samples of {size} rows; at least {LEAST_SAMPLES} are needed, that is {needed} labelled rows"
            if n < LEAST_SAMPLES
            else f"fewer than {size} new rows"
        )
        return GlobalDrift(n, size, needed, why=why, lacks_rows=True)
    x = np.stack([features(part) for part in parts])
    y = np.asarray(quality, dtype=float)
    at = np.stack([features(part) for part in new]).mean(axis=0)
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
    value, half = _predicted(x[:, chosen], y, at[chosen])
    ends = np.clip([value, value - half, value + half], 0, 1).tolist()
    return GlobalDrift(n, size, needed, correlated, observed, *ends)


def _correlated(x: Floats, y: Floats, alpha: float, least_r: float) -> tuple[Correlated, ...]:
    from scipy import stats

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
    from scipy import stats

    scale = x.std(axis=0)
    design = np.column_stack([np.ones(len(x)), (x - x.mean(axis=0)) / scale])
    point = np.concatenate([[1.0], (at - x.mean(axis=0)) / scale])
    inverse = np.linalg.pinv(design.T @ design)
    beta = inverse @ design.T @ y
    freedom = max(1, len(y) - int(np.linalg.matrix_rank(design)))
    variance = float(((y - design @ beta) ** 2).sum()) / freedom
    half = stats.t.ppf(0.975, freedom) * math.sqrt(max(0.0, variance * (1 + point @ inverse @ point)))
    return float(point @ beta), float(half)
