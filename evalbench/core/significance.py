"""Tests of a difference between two systems, and what several tests cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

from evalbench.core.arrays import Floats, Ints
from evalbench.core.resample import CROWD, spread_of

# Up to this many differing units every assignment is enumerated (4 096) instead of sampled.
_ENUMERATED = 12
# Of no more different moves than this, counts are drawn of each, however many units move so.
_FEW = 1_000


class Permutation(NamedTuple):
    """A permutation test: two-sided p-value and how it came about.

    - ``exact``: True where all permutations were enumerated.
    - ``note``: Why there is no p-value.
    """

    p: float | None
    n_permutations: int = 0
    exact: bool = False
    note: str = ""


def swap_test(
    units_a: npt.ArrayLike,
    units_b: npt.ArrayLike,
    statistic: Callable[[Floats], Floats],
    rng: np.random.Generator,
    n_permutations: int = 10_000,
) -> list[Permutation]:
    """Approximate randomisation: swap the two systems' rows within units and recompute.

    For a mean over the same items this is the sign-flip test of the differences.

    Parameters
    ----------
    units_a, units_b : (n, c) arrays
        Additive columns of the same units under either system, row by row.
    statistic : callable
        Sums ``(r, c)`` → values ``(r, f)``; the test is on the difference of values, A − B.

    Returns
    -------
    list of Permutation, one per statistic
        p = (1 + k) / (1 + n_permutations), where k permutations differ at least as much as observed; k / 2**m
        where the m ≤ 12 differing units were enumerated.  A permutation without a value counts as
        at least as different.  B against A has exactly the p of A against B.  Of more than 100 000 units with more
        than 1 000 different moves the sums are drawn from their normal limit, where no unit weighs much.

    References
    ----------
    Noreen (1989), Computer-intensive methods for testing hypotheses, chapter 2; Phipson & Smyth (2010) for the 1 + k.

    Examples
    --------
    >>> a, b = np.ones((5, 1)), np.zeros((5, 1))
    >>> swap_test(a, b, lambda sums: sums / 5, np.random.default_rng(0))[0].p
    0.0625
    """
    a, b = np.asarray(units_a, dtype=float), np.asarray(units_b, dtype=float)
    if a.shape != b.shape or a.ndim != 2:
        raise ValueError(f"the two systems need the same units and columns: shapes {a.shape} and {b.shape}")
    sums_a, sums_b = a.sum(axis=0), b.sum(axis=0)
    least, moves = _least_and_moves(a, b)
    if len(moves) <= _ENUMERATED:
        masks = np.arange(1 << len(moves))[:, None] >> np.arange(len(moves)) & 1
        moved = masks @ moves
    else:
        moved = _random_moves(moves, rng, n_permutations)
    with np.errstate(all="ignore"):
        observed = (statistic(sums_a[None]) - statistic(sums_b[None]))[0]
        permuted = statistic(least + moved) - statistic(sums_a + sums_b - (least + moved))
    return _two_sided(observed, permuted, exact=len(moves) <= _ENUMERATED)


def _least_and_moves(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The sums of each unit's lesser row, by the first column that differs, and by how much its other row is more.

    Sides in the other order give the same, so that a test of B against A draws what one of A against B does.
    """
    differ = a != b
    falls = np.take_along_axis(b < a, differ.argmax(axis=1)[:, None], axis=1)
    least, moves, moved = np.where(falls, b, a).sum(axis=0), b - a, differ.any(axis=1)
    np.subtract(a, b, out=moves, where=falls)
    return least, moves if moved.all() else moves[moved]


def _random_moves(moves: Floats, rng: np.random.Generator, n_permutations: int) -> Floats:
    """Sums of random halves of the moves; equal moves are counted together, which is exact; those of a crowd are normal."""
    distinct, count = _distinct_rows(moves)
    out = np.zeros((n_permutations, moves.shape[1]))
    many = count.sum() > CROWD and len(distinct) > _FEW
    if many and (root := spread_of(distinct, count=count)) is not None:
        return np.asarray((moves.sum(axis=0) + rng.standard_normal(out.shape) @ root.T) / 2)
    step = max(1, (1 << 21) // len(distinct))
    for begin in range(0, n_permutations, step):
        size = min(step, n_permutations - begin)
        if count.max() == 1:
            bits = np.frombuffer(rng.bytes(size * -(-len(count) // 8)), dtype=np.uint8).reshape(size, -1)
            taken = np.unpackbits(bits, axis=1, count=len(count)).astype(float)
        else:
            taken = rng.binomial(count, 0.5, size=(size, len(count))).astype(float)
        out[begin : begin + size] = taken @ distinct
    return out


def _distinct_rows(rows: Floats) -> tuple[Floats, Ints]:
    """The different rows in ascending order, and how many there are of each; many times as fast where one column varies alone."""
    varies = np.flatnonzero((rows != rows[0]).any(axis=0))
    if len(varies) != 1:
        return np.unique(rows, axis=0, return_counts=True)
    values, count = np.unique(rows[:, varies[0]], return_counts=True)
    distinct = np.repeat(rows[:1], len(values), axis=0)
    distinct[:, varies[0]] = values
    return distinct, count


def shuffle_test(
    units_a: npt.ArrayLike,
    units_b: npt.ArrayLike,
    statistic: Callable[[Floats], Floats],
    rng: np.random.Generator,
    n_permutations: int = 10_000,
) -> list[Permutation]:
    """Permutation test of two systems on different units: deal the units anew to the systems and recompute.

    Parameters and returns as :func:`swap_test`, except that the systems need not have the same units.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 15.
    """
    a, b = np.asarray(units_a, dtype=float), np.asarray(units_b, dtype=float)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise ValueError(f"the two systems need the same columns: shapes {a.shape} and {b.shape}")
    both = np.concatenate([a, b])
    pool, count = _distinct_rows(both)
    total, n = a.sum(axis=0) + b.sum(axis=0), len(a) + len(b)
    dealt = np.empty((n_permutations, a.shape[1]))
    if len(pool) > CROWD and (root := spread_of(both, mean := total / n)) is not None:
        dealt = len(a) * mean + math.sqrt(len(a) * len(b) / n / (n - 1)) * rng.standard_normal(dealt.shape) @ root.T
    elif len(pool) * 4 < n:
        for k in range(n_permutations):
            dealt[k] = rng.multivariate_hypergeometric(count, len(a), method="marginals") @ pool
    else:
        rows = np.repeat(pool, count, axis=0)
        for k in range(n_permutations):
            dealt[k] = rows[rng.permutation(len(rows))[: len(a)]].sum(axis=0)
    with np.errstate(all="ignore"):
        observed = (statistic(a.sum(axis=0)[None]) - statistic(b.sum(axis=0)[None]))[0]
        permuted = statistic(dealt) - statistic(total - dealt)
    return _two_sided(observed, permuted, exact=False)


def _two_sided(observed: Floats, permuted: Floats, *, exact: bool) -> list[Permutation]:
    # Sums in another order differ in the last bits: what ties with the observed must count.
    slack = 1e-9 * np.maximum(np.abs(observed), 1e-300) + 1e-12 * np.nan_to_num(np.abs(permuted)).max(axis=0)
    with np.errstate(all="ignore"):
        extreme = (~(np.abs(permuted) < np.abs(observed) - slack)).sum(axis=0)
    n = len(permuted)
    p = extreme / n if exact else (1 + extreme) / (1 + n)
    return [
        Permutation(float(p_j), n, exact) if np.isfinite(o) else Permutation(None, note="one side has no value")
        for p_j, o in zip(p, observed, strict=True)
    ]


def sign_flip_test(differences: npt.ArrayLike, rng: np.random.Generator, n_permutations: int = 10_000) -> Permutation:
    """Sign-flip test that paired differences have mean 0; two-sided.

    Parameters
    ----------
    differences : (n,) array
        A − B on each unit; finite.

    References
    ----------
    Fisher (1935), The Design of Experiments, section 21.

    Examples
    --------
    >>> sign_flip_test([1, 1, 1, 1, 1, 1], np.random.default_rng(0)).p
    0.03125
    """
    d = np.asarray(differences, dtype=float).reshape(-1, 1)
    if not np.isfinite(d).all():
        raise ValueError("a difference is not finite: leave unscored pairs out")
    if not len(d):
        return Permutation(None, note="there are no pairs")
    return swap_test(d, np.zeros_like(d), lambda sums: sums / len(d), rng, n_permutations)[0]


def mcnemar(only_a: int, only_b: int) -> float:
    """McNemar's exact test: two-sided binomial p-value of the items that one system alone gets right.

    p = min(1, 2 P(X ≤ min(only_a, only_b))), X ~ Binomial(only_a + only_b, ½); 1 where the two never differ.

    Parameters
    ----------
    only_a, only_b : int
        Items that A alone, and that B alone, gets right.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153–157; exact form: Agresti (2013), Categorical Data Analysis, section 11.1.

    Examples
    --------
    >>> round(mcnemar(5, 1), 4)
    0.2188
    """
    if only_a < 0 or only_b < 0:
        raise ValueError("counts must not be negative")
    if only_a + only_b == 0:
        return 1.0
    return min(1.0, 2 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))


def holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's adjusted p-values, in the order given; NaN (no test) stays NaN and is not counted.

    Sorted ascending, p₍ᵢ₎ becomes the largest of (m − j + 1) p₍ⱼ₎ over j ≤ i, at most 1.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65–70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p-values must be between 0 and 1")
    out = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    out[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return out


def benjamini_yekutieli(p_values: npt.ArrayLike) -> Floats:
    """Benjamini and Yekutieli's adjusted p-values, in the order given; NaN (no test) stays NaN and is not counted.

    Sorted ascending, p₍ᵢ₎ becomes the least of c m p₍ⱼ₎ / j over j ≥ i, at most 1, with c = Σ 1/j over j ≤ m.  Those at most q
    keep the expected share of false rejections at q, whatever the tests' dependence.

    References
    ----------
    Benjamini & Yekutieli (2001), Annals of Statistics 29, 1165–1188.

    Examples
    --------
    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(3).tolist()
    [0.055, 0.073, 0.073]
    """
    p = np.asarray(p_values, dtype=float)
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p-values must be between 0 and 1")
    out = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    place = np.arange(1, len(order) + 1)
    scaled = p[order] * len(order) * (1 / place).sum() / place
    out[order] = np.minimum(1, np.minimum.accumulate(scaled[::-1])[::-1])
    return out
