"""Agreement of annotators beyond chance: Krippendorff's alpha and Cohen's kappa."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Indices
from evalbench.core.ends import perfect_agreement
from evalbench.core.seeds import rng
from evalbench.core.stats import Measured, bootstrap_sums, cluster_counts, resample_counts, with_interval

Level = Literal["nominal", "ordinal", "interval"]

# Up to this many ordered levels a table of coincidences per unit is smaller than the ranks of all ratings.
_FEW_LEVELS = 12


def krippendorff_alpha(
    units: npt.ArrayLike, ratings: npt.ArrayLike, level: Level = "nominal", *, seed: int = 0, n_resamples: int = 2000
) -> Measured:
    """Krippendorff's alpha over any number of annotators, with missing ratings, and its interval.

    α = 1 − Dₒ / Dₑ, the disagreement within units over that of all pairable ratings put together:
    Dₒ = Σᵤ Σ_{i≠j} δ²(vᵢ, vⱼ) / (mᵤ − 1) / n, Dₑ = Σ_{i≠j} δ²(vᵢ, vⱼ) / (n (n − 1)), where a unit
    has mᵤ ≥ 2 ratings and n = Σ mᵤ.

    Parameters
    ----------
    units : (r,) array
        The unit (text, answer) of each rating, in long form: one entry per rating.
    ratings : (r,) array
        Labels (nominal) or numbers; NaN, None and empty text are missing.
    level : {"nominal", "ordinal", "interval"}
        δ² is 0 or 1; the squared distance of midranks; the squared difference.
    seed, n_resamples : int
        ``n_resamples=0`` leaves the interval out.

    Returns
    -------
    Measured
        1 is perfect, 0 is chance, negative below chance; ``n`` counts the pairable units.  Without a value: fewer
        than two units with two ratings; all ratings equal (no chance disagreement to measure against).

    Notes
    -----
    O(r log r) time, O(r) memory: with δ² a squared difference of values or of midranks, the sum over pairs of a
    unit is 2 (m Σv² − (Σv)²).  The interval resamples units with all their ratings; where all agree it is that of
    :func:`evalbench.core.ends.perfect_agreement`.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; Hayes & Krippendorff (2007), Communication
    Methods and Measures 1, 77–89.

    Examples
    --------
    >>> alpha = krippendorff_alpha(list("aabbccdd"), [1, 1, 2, 2, 3, 3, 3, 2], "nominal", n_resamples=0)
    >>> round(alpha.value, 3)
    0.667
    """
    if level not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"unknown level {level!r}; one of nominal, ordinal, interval")
    which, code, number, n_units = _pairable(units, ratings, numeric=level != "nominal")
    if n_units < 2:
        return Measured(None, n=n_units, note="fewer than two units with two ratings")
    if not code.any():
        return Measured(None, n=n_units, note="all ratings are equal: chance disagreement is 0")
    if level == "ordinal" and code.max() >= _FEW_LEVELS:
        alpha = _ordinal_by_ranks(which, code, n_units)
        value = float(alpha(np.ones((1, n_units)))[0])
        if not n_resamples:
            return Measured(value, n=n_units)
        generator = rng(seed, "agreement/ordinal")
        replicates = np.concatenate([alpha(w) for w in _resampled_units(which, n_units, generator, n_resamples)])
        found = with_interval(value, replicates, n=n_units, n_units=n_units)
        return perfect_agreement(found, n_units, _differ_by_chance(code))
    columns, kernel = _columns(level, which, code, number)
    value = float(kernel(columns.sum(axis=0, keepdims=True))[0, 0])
    if not n_resamples:
        return Measured(value, n=n_units)
    replicates = bootstrap_sums(columns, kernel, rng(seed, f"agreement/{level}"), n_resamples)[:, 0]
    found = with_interval(value, replicates, n=n_units, n_units=n_units)
    return perfect_agreement(found, n_units, _differ_by_chance(code))


def clustered_alpha(
    found: Measured, ratings: npt.ArrayLike, level: Level, clusters: npt.ArrayLike, seed: int, n_resamples: int
) -> Measured:
    """An alpha with the interval over clusters of units.

    Parameters
    ----------
    found : Measured
        Of :func:`krippendorff_alpha`; one without a value stays.
    ratings : (n, a) array
        NaN where an annotator gave none.
    level : {"nominal", "ordinal", "interval"}
    clusters : (n,) array
        The cluster of each unit.

    Examples
    --------
    >>> ratings = [[1, 1], [1, 0], [0, 0], [0, 0], [1, 1], [1, 1]]
    >>> alpha = krippendorff_alpha(np.repeat(range(6), 2), np.ravel(ratings), "nominal", n_resamples=0)
    >>> clustered_alpha(alpha, ratings, "nominal", list("ppqqrr"), 0, 50).method
    'percentile bootstrap of 3 clusters, widened by t, 50 resamples'
    """
    if found.value is None or not n_resamples:
        return found
    table, names = np.asarray(ratings, dtype=float), np.asarray(clusters, dtype=str)
    pairable = np.isfinite(table).sum(axis=1) > 1
    drawn = cluster_counts(names[pairable], rng(seed, f"agreement/{level}"), n_resamples)
    replicates = np.concatenate([weighted_alpha(table[pairable], level, weights) for weights in drawn])
    n_clusters = len(np.unique(names[pairable]))
    drawn_alpha = with_interval(found.value, replicates, n=found.n, n_units=n_clusters, clusters=True)
    return perfect_agreement(drawn_alpha, n_clusters, _differ_by_chance(_codes(table[pairable])))


def weighted_alpha(ratings: npt.ArrayLike, level: Level, weights: Floats) -> Floats:
    """Krippendorff's alpha of many resamples at once, from how often each unit was drawn.

    Parameters
    ----------
    ratings : (u, a) array of float
        One row per unit, one column per annotator; NaN is missing.
    level : {"nominal", "ordinal", "interval"}
    weights : (r, u) array

    Returns
    -------
    (r,) array
        NaN where a resample has no value, see :func:`krippendorff_alpha`.

    Examples
    --------
    >>> ratings = np.array([[1.0, 1], [2, 2], [3, 3], [3, 2]])
    >>> weighted_alpha(ratings, "nominal", np.array([[1.0, 1, 1, 1], [1, 1, 2, 0]])).round(3)
    array([0.667, 1.   ])
    """
    table = np.asarray(ratings, dtype=float)
    units = np.repeat(np.arange(len(table)), table.shape[1])
    which, code, number, n_units = _pairable(units, table.ravel(), numeric=True)
    if n_units < 2 or not code.any():
        return np.full(len(weights), np.nan)
    kept = weights[:, np.isfinite(table).sum(axis=1) >= 2]
    if level == "ordinal" and code.max() >= _FEW_LEVELS:
        return _ordinal_by_ranks(which, code, n_units)(kept)
    columns, kernel = _columns(level, which, code, number)
    return kernel(kept @ columns)[:, 0]


def _columns(level: Level, which: Indices, code: Indices, number: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Additive columns of each unit, and alpha from their sums."""
    if level == "interval":
        return _interval_columns(which, number)
    return (_nominal_columns if level == "nominal" else _ordinal_columns)(which, code)


def _pairable(units: npt.ArrayLike, ratings: npt.ArrayLike, *, numeric: bool) -> tuple[Indices, Indices, Floats, int]:
    """Unit index, value code and value of each rating of a unit with two or more, in a canonical order."""
    ids, values = np.asarray(units), np.asarray(ratings)
    if ids.shape != values.shape or ids.ndim != 1:
        raise ValueError(f"one unit for each rating is needed: shapes {ids.shape} and {values.shape}")
    if numeric:
        values = (
            np.array([np.nan if v is None or v == "" else v for v in values]) if values.dtype.kind in "OUS" else values
        )
        values = values.astype(float)
        if np.isinf(values).any():
            raise ValueError("a rating is infinite")
    present = _present(values)
    ids, values = ids[present], values[present]
    distinct, code = np.unique(values if values.dtype.kind in "biuf" else values.astype(str), return_inverse=True)
    _, which, size = np.unique(
        ids if ids.dtype.kind in "biuf" else ids.astype(str), return_inverse=True, return_counts=True
    )
    kept = size[which] >= 2
    which, code = which[kept], code[kept]
    order = np.lexsort((code, which))
    used, code = np.unique(code[order], return_inverse=True)
    _, which = np.unique(which[order], return_inverse=True)
    number = distinct[used][code].astype(float) if numeric else np.empty(0)
    return which, code, number, int((size >= 2).sum())


def _present(values: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    if values.dtype.kind in "biu":
        return np.ones(len(values), dtype=bool)
    if values.dtype.kind == "f":
        present: npt.NDArray[np.bool_] = ~np.isnan(values.astype(float))
        return present
    return np.fromiter((v is not None and v == v and v != "" for v in values.tolist()), bool, len(values))


def _nominal_columns(which: Indices, code: Indices) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Per unit: Σ_{i≠j} δ² / (m − 1), m, and how often each label was given."""
    m = np.bincount(which)
    labels = np.zeros((len(m), int(code.max()) + 1))
    np.add.at(labels, (which, code), 1.0)
    within = (m**2 - (labels**2).sum(axis=1)) / (m - 1)

    def alpha(sums: Floats) -> Floats:
        n, counts = sums[:, 1], sums[:, 2:]
        return _alpha(sums[:, 0], (n**2 - (counts**2).sum(axis=1)), n)[:, None]

    return np.column_stack([within, m, labels]), alpha


def _interval_columns(which: Indices, number: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Per unit: Σ_{i≠j} δ² / (m − 1), m, Σv, Σv²; values are centred first, against cancellation."""
    v = (number - number.mean()) / np.ptp(number)
    m = np.bincount(which).astype(float)
    total, squares = np.bincount(which, weights=v), np.bincount(which, weights=v**2)
    mean = total / m
    within = 2 * m * np.bincount(which, weights=(v - mean[which]) ** 2) / (m - 1)

    def alpha(sums: Floats) -> Floats:
        n = sums[:, 1]
        return _alpha(sums[:, 0], 2 * (n * sums[:, 3] - sums[:, 2] ** 2), n)[:, None]

    return np.column_stack([within, m, total, squares]), alpha


def _ordinal_columns(which: Indices, code: Indices) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Per unit: how often each level was given, and the coincidences of each two levels."""
    m = np.bincount(which)
    levels = np.zeros((len(m), int(code.max()) + 1))
    np.add.at(levels, (which, code), 1.0)
    k = levels.shape[1]
    low, high = np.triu_indices(k, 1)
    pairs = levels[:, low] * levels[:, high] / (m - 1)[:, None]

    def alpha(sums: Floats) -> Floats:
        count = sums[:, :k]
        middle = np.cumsum(count, axis=1) - count / 2
        distance = (middle[:, low] - middle[:, high]) ** 2
        between = 2 * (count[:, low] * count[:, high] * distance).sum(axis=1)
        return _alpha(2 * (sums[:, k:] * distance).sum(axis=1), between, count.sum(axis=1))[:, None]

    return np.hstack([levels, pairs]), alpha


def _ordinal_by_ranks(which: Indices, code: Indices, n_units: int) -> Callable[[Floats], Floats]:
    """A function from the units' weights ``(r, n_units)`` to alpha with midranks taken within each resample."""
    starts = np.searchsorted(which, np.arange(n_units))
    m = np.bincount(which).astype(float)
    order = np.argsort(code, kind="stable")
    level_starts = np.searchsorted(code[order], np.arange(int(code.max()) + 1))

    def alpha(weights: Floats) -> Floats:
        each = weights[:, which]
        at_level = np.add.reduceat(each[:, order], level_starts, axis=1)
        n = at_level.sum(axis=1)
        middle = np.cumsum(at_level, axis=1) - at_level / 2 - n[:, None] / 2
        rank = middle[:, code]
        total, squares = np.add.reduceat(rank, starts, axis=1), np.add.reduceat(rank**2, starts, axis=1)
        within = (weights * 2 * (m * squares - total**2) / (m - 1)).sum(axis=1)
        between = 2 * (n * (at_level * middle**2).sum(axis=1) - ((at_level * middle).sum(axis=1)) ** 2)
        return _alpha(within, between, n)

    return alpha


def _codes(ratings: Floats) -> Indices:
    return np.unique(ratings[np.isfinite(ratings)], return_inverse=True)[1]


def _differ_by_chance(code: Indices) -> float:
    """The share of pairs of ratings of which the two differ, of all ratings put together."""
    n, counts = len(code), np.bincount(code).astype(float)
    return float((n**2 - (counts**2).sum()) / (n * (n - 1.0)))


def _alpha(within: Floats, between: Floats, n: Floats) -> Floats:
    with np.errstate(all="ignore"):
        value = 1 - within * (n - 1) / between
    # A resample in which all ratings are equal leaves a rounding error at most.
    return np.where(between > 1e-12 * n**2, value, np.nan)


def _resampled_units(which: Indices, n_units: int, generator: np.random.Generator, n_resamples: int) -> list[Floats]:
    # Each row is spread over all ratings inside: chunks small enough for that.
    step = max(1, (1 << 19) // len(which))
    chunks: list[Floats] = []
    for counts in resample_counts(n_units, generator, n_resamples):
        chunks.extend(counts[i : i + step] for i in range(0, len(counts), step))
    return chunks


def cohen_kappa(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    weights: Literal["linear", "quadratic"] | None = None,
    *,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Measured:
    """Cohen's kappa of two annotators over the same items, with its percentile bootstrap interval.

    κ = 1 − Σ wᵢⱼ oᵢⱼ / Σ wᵢⱼ eᵢⱼ; o observed and e expected shares from the margins; w is 1 off the diagonal, |i − j|
    (linear) or (i − j)² (quadratic), i and j places in the sorted labels that occur.

    Parameters
    ----------
    first, second : (n,) arrays
        Labels; an item with NaN, None or empty text in either is left out.
    weights : {"linear", "quadratic"}, optional
        For ordered labels.  Labels that are numbers are ordered as such, others as text.

    Returns
    -------
    Measured
        −1 to 1.  Without a value: no common item; only one label in both (chance agreement is 1).

    References
    ----------
    Cohen (1960), Educational and Psychological Measurement 20, 37–46; weighted: Cohen (1968),
    Psychological Bulletin 70, 213–220.

    Examples
    --------
    >>> kappa = cohen_kappa(["y", "y", "n", "n", "y"], ["y", "n", "n", "n", "y"])
    >>> round(kappa.value, 3)
    0.615
    """
    a, b = np.asarray(first), np.asarray(second)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two labels for each item are needed: shapes {a.shape} and {b.shape}")
    if weights not in (None, "linear", "quadratic"):
        raise ValueError(f"unknown weights {weights!r}; linear, quadratic or None")
    both = _present(a) & _present(b)
    n = int(both.sum())
    if n == 0:
        return Measured(None, note="no item was labelled by both")
    labels, code = np.unique(np.concatenate([a[both], b[both]]), return_inverse=True)
    k = len(labels)
    if k == 1:
        return Measured(None, n=n, note="only one label occurs: chance agreement is 1")
    place = np.arange(k)
    distance = np.abs(place[:, None] - place).astype(float)
    cost = {None: (distance > 0).astype(float), "linear": distance, "quadratic": distance**2}[weights]

    def kappa(cells: Floats) -> Floats:
        return _kappa(cells, cost)[:, None]

    cells = np.bincount(code[:n] * k + code[n:], minlength=k * k)
    value = float(kappa(cells[None].astype(float))[0, 0])
    used = np.flatnonzero(cells)
    replicates = bootstrap_sums(
        np.eye(k * k)[used], kappa, rng(seed, "agreement/kappa"), n_resamples, multiplicity=cells[used]
    )[:, 0]
    expected = np.einsum(
        "i,j,ij->", *(np.bincount(side, minlength=k) / n for side in (code[:n], code[n:])), distance > 0
    )
    return perfect_agreement(with_interval(value, replicates, n=n, n_units=n), n, float(expected))


def _kappa(cells: Floats, cost: Floats) -> Floats:
    """Kappa of each flattened table of two annotators' labels: ``(r, k * k)`` counts."""
    table = cells.reshape(-1, *cost.shape)
    expected = np.einsum("ri,rj,ij->r", table.sum(axis=2), table.sum(axis=1), cost)
    with np.errstate(all="ignore"):
        expected = expected / table.sum(axis=(1, 2))
        value = 1 - np.einsum("rij,ij->r", table, cost) / expected
    return np.where(expected > 0, value, np.nan)


def weighted_kappa(first: npt.ArrayLike, second: npt.ArrayLike, weights: Floats) -> Floats:
    """Cohen's kappa, unweighted costs, of many resamples at once, from how often each item was drawn.

    Parameters
    ----------
    first, second : (n,) arrays of float
        Labels; an item with NaN in either is left out.
    weights : (r, n) array

    Returns
    -------
    (r,) array
        NaN where a resample has no common item, or only one label.

    Examples
    --------
    >>> weighted_kappa([1.0, 1, 0, 0, 1], [1.0, 0, 0, 0, 1], np.ones((1, 5))).round(3)
    array([0.615])
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    both = np.isfinite(a) & np.isfinite(b)
    labels, code = np.unique(np.concatenate([a[both], b[both]]), return_inverse=True)
    k, n = len(labels), int(both.sum())
    if k < 2:
        return np.full(len(weights), np.nan)
    cell = np.zeros((n, k * k))
    cell[np.arange(n), code[:n] * k + code[n:]] = 1.0
    return _kappa(weights[:, both] @ cell, 1.0 - np.eye(k))
