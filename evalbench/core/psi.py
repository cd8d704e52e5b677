"""Population stability index: how far the shares of one sample are from those of another, and how far chance alone would put them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

EPSILON = 1e-4
N_BINS = 10
N_PERMUTATIONS = 200
_CELLS = 20_000_000


@dataclass(frozen=True)
class Psi:
    """A population stability index with all that it depends on.

    - ``value``: Σ (q − p) ln(q / p) over the bins, p the reference's shares, q the current ones; 0 or more, NaN where a
      side is empty.
    - ``null_mean``: Its mean where rows are dealt to the sides at random.
    - ``excess``: ``value − null_mean``: may be negative.
    - ``p``: Share of deals, the observed one among them, whose index is at least ``value``.
    - ``reference``, ``current``: Counts in each bin.
    - ``edges``: Inner edges of the bins of numbers, a value on an edge in the bin above it; empty for categories.
    - ``epsilon``: The least share of a bin.
    """

    value: float
    null_mean: float = math.nan
    excess: float = math.nan
    p: float = math.nan
    reference: tuple[float, ...] = field(default=(), repr=False)
    current: tuple[float, ...] = field(default=(), repr=False)
    edges: tuple[float, ...] = ()
    epsilon: float = EPSILON
    n_permutations: int = 0


def psi(reference: npt.ArrayLike, current: npt.ArrayLike, epsilon: float = EPSILON) -> Floats:
    """The index from counts, Σ (q − p) ln(q / p), with shares below ``epsilon`` raised to it.

    Parameters
    ----------
    reference, current : (…, k) arrays
        Counts in the same k bins.
    epsilon : float
        Above 0.

    Returns
    -------
    (…) array of float
        NaN where a side has no count.

    References
    ----------
    Siddiqi (2006), Credit Risk Scorecards, chapter 9; Kullback & Leibler (1951), equation 2.6 (the symmetric divergence).

    Examples
    --------
    >>> round(float(psi([50, 50], [90, 10])), 5)
    0.87889
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        p, q = (
            np.maximum(c / c.sum(axis=-1, keepdims=True), epsilon)
            for c in (np.asarray(side, dtype=float) for side in (reference, current))
        )
        found = np.asarray(((q - p) * np.log(q / p)).sum(axis=-1))
        return found if p.shape[-1] else np.full(found.shape, np.nan)


def inner_edges(values: npt.ArrayLike, n_bins: int = N_BINS) -> Floats:
    """The distinct quantiles between ``n_bins`` bins of equal counts, interpolated linearly; see :func:`distinct`.

    Examples
    --------
    >>> inner_edges([1, 2, 3, 4, 5], 4).tolist()
    [2.0, 3.0, 4.0]
    """
    return distinct(np.quantile(np.asarray(values, dtype=float), np.linspace(0, 1, n_bins + 1)[1:]))


def distinct(ends: npt.ArrayLike) -> Floats:
    """Inner edges from the upper ends of the bins, the last of which is the maximum.

    Where the last inner edge is a value that fills a bin alone, or the maximum, what lies above it has a bin of its own: else a
    reference of ones would be the same as a current side of fifties.

    Examples
    --------
    >>> binned([1, 1, 50], distinct([1, 1, 1])).tolist()
    [0.0, 2.0, 1.0]
    """
    *inner, most = np.asarray(ends, dtype=float)
    edges = np.unique(inner)
    if len(edges) and (inner.count(edges[-1]) > 1 or edges[-1] == most):
        edges = np.append(edges, np.nextafter(edges[-1], np.inf))
    return edges


def binned(values: npt.ArrayLike, edges: npt.ArrayLike) -> Floats:
    """Counts between inner edges; a value on an edge is in the bin above it.

    Examples
    --------
    >>> binned([1, 2, 2, 7], [2, 5]).tolist()
    [1.0, 2.0, 1.0]
    """
    inner = np.asarray(edges, dtype=float)
    where = np.searchsorted(inner, np.asarray(values, dtype=float), side="right")
    return np.bincount(where, minlength=len(inner) + 1).astype(float)


def psi_of_numbers(
    values: npt.ArrayLike,
    current: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    n_bins: int = N_BINS,
    epsilon: float = EPSILON,
    n_permutations: int = N_PERMUTATIONS,
    blocks: npt.ArrayLike | None = None,
) -> Psi:
    """The index of a number of each row, in bins of equal counts of the reference.

    Parameters
    ----------
    values : (n,) array of float
        NaN is left out.
    current : (n,) array of bool
        Which rows are current; the others are the reference.
    n_permutations : int
        Deals of the rows to the sides; each has bins of its own, as the observed one has.
    blocks : (n,) array of int, optional
        Rows of one block, all of one side, are dealt together: those of one client, say.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> moved = psi_of_numbers([*range(50), *range(25, 75)], [False] * 50 + [True] * 50, rng)
    >>> moved.edges[:2], moved.p
    ((4.9, 9.8), 0.004975124378109453)
    """
    number, side = np.asarray(values, dtype=float), np.asarray(current, dtype=bool)
    known = np.isfinite(number)
    number, side = number[known], side[known]
    if side.all() or not side.any():
        return Psi(math.nan, epsilon=epsilon)
    order = np.argsort(number, kind="stable")
    number, side = number[order], side[order]
    together = None if blocks is None else np.asarray(blocks)[known][order]
    edges, reference, now = _in_bins(number, side, n_bins)
    null = []
    for deal in _deals(side, together, rng, n_permutations):
        null.append(_in_bins(number, deal, n_bins)[1:])
    return _against(reference, now, [psi(*counts, epsilon) for counts in null], epsilon, tuple(edges.tolist()))


def psi_of_counts(
    counts: csr_matrix,
    current: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    epsilon: float = EPSILON,
    n_permutations: int = N_PERMUTATIONS,
    blocks: npt.ArrayLike | None = None,
) -> Psi:
    """The index of what rows hold: tokens, or one category each.

    Parameters
    ----------
    counts : (n, k) sparse matrix
        How often each row has each of k tokens or categories.
    current : (n,) array of bool
    n_permutations : int
        Deals of whole rows to the sides: tokens come in bursts, and dealing them singly would take every burst for a change.
    blocks : (n,) array of int, optional
        See :func:`psi_of_numbers`.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> rows = csr_matrix([[2, 0], [1, 1], [0, 2], [0, 2]])
    >>> round(psi_of_counts(rows, [False, False, True, True], np.random.default_rng(0), n_permutations=50).value, 2)
    7.73
    """
    side = np.asarray(current, dtype=bool)
    if side.all() or not side.any():
        return Psi(math.nan, epsilon=epsilon)
    total = np.asarray(counts.sum(axis=0), dtype=float).ravel()
    now = np.asarray(counts.T @ side.astype(float), dtype=float).ravel()
    null: list[Floats] = []
    at_once = max(1, min(n_permutations, _CELLS // max(len(side), len(total))))
    every = _deals(side, None if blocks is None else np.asarray(blocks), rng, n_permutations)
    while deals := list(itertools.islice(every, at_once)):
        dealt = np.asarray(counts.T @ np.stack(deals, axis=1).astype(float), dtype=float).T
        null.append(psi(total - dealt, dealt, epsilon))
    return _against(total - now, now, null, epsilon)


def _deals(
    side: npt.NDArray[np.bool_], blocks: npt.NDArray[Any] | None, rng: np.random.Generator, n: int
) -> Iterator[npt.NDArray[np.bool_]]:
    """The sides of the rows, dealt anew n times, a block as one.

    Examples
    --------
    >>> next(_deals(np.array([True, True, False]), np.array([4, 4, 7]), np.random.default_rng(0), 1)).tolist()
    [True, True, False]
    """
    if blocks is None:
        yield from (rng.permutation(side) for _ in range(n))
        return
    _, first, which = np.unique(blocks, return_index=True, return_inverse=True)
    yield from (rng.permutation(side[first])[which] for _ in range(n))


def _in_bins(values: Floats, current: npt.NDArray[np.bool_], n_bins: int) -> tuple[Floats, Floats, Floats]:
    """Edges and both sides' counts of values in ascending order."""
    edges = inner_edges(values[~current], n_bins)
    ends = np.searchsorted(values, edges, side="left")
    below = np.concatenate([[0], np.cumsum(current)])[ends]
    now = np.diff(np.concatenate([[0], below, [current.sum()]])).astype(float)
    both = np.diff(np.concatenate([[0], ends, [len(values)]])).astype(float)
    return edges, both - now, now


def _against(
    reference: Floats, current: Floats, null: list[Floats], epsilon: float, edges: tuple[float, ...] = ()
) -> Psi:
    value = float(psi(reference, current, epsilon))
    observed = Psi(
        value, reference=tuple(reference.tolist()), current=tuple(current.tolist()), edges=edges, epsilon=epsilon
    )
    if not null or not math.isfinite(value):
        return observed
    drawn = np.concatenate([np.atleast_1d(each) for each in null])
    p = (1 + int((drawn >= value - 1e-12).sum())) / (1 + len(drawn))
    mean = float(drawn.mean())
    return replace(observed, null_mean=mean, excess=value - mean, p=p, n_permutations=len(drawn))
