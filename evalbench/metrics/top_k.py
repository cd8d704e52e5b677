"""How much of the top of a ranking is the same after the query was changed, at every depth; no judgement of relevance is needed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.errors import BadInput

PERSISTENCE = 0.9
"""Of rank-biased overlap, as its authors have it in their examples."""
_AT_ONCE = 1 << 22  # comparisons


class TopAgreement(NamedTuple):
    """Agreement of two rankings of each query at the depths 1 … K, each ``(n, K)`` and from 0 to 1.

    Attributes
    ----------
    unchanged_strict : array
        1 where the first k passages are the same ones, in any order; else 0.
    unchanged_soft : array
        The share of the first k passages that are still among the first k.
    jaccard : array
        Passages that both have among the first k, of those that either has.
    rbo : array
        Rank-biased overlap down to k, extrapolated; the only one that looks at the order.
    """

    unchanged_strict: Floats
    unchanged_soft: Floats
    jaccard: Floats
    rbo: Floats

    @property
    def changed_strict(self) -> Floats:
        """``1 − unchanged_strict``: the method document's strict strategy."""
        return 1 - self.unchanged_strict

    @property
    def changed_soft(self) -> Floats:
        """``1 − unchanged_soft``: the share of passages that were replaced."""
        return 1 - self.unchanged_soft


def top_agreement(before: npt.ArrayLike, after: npt.ArrayLike, *, persistence: float = PERSISTENCE) -> TopAgreement:
    """Compare the tops of two rankings of the same queries at every depth.

    With A and B the first k of both, X_d the passages that are among the first d of both, and p the persistence: soft |A ∩ B| / k,
    strict [A = B], Jaccard |A ∩ B| / |A ∪ B|, rank-biased overlap p^k X_k / k + (1 − p) / p · Σ_{d ≤ k} p^d X_d / d, which is 1 for
    equal lists.

    Parameters
    ----------
    before, after : (n, K) arrays of int
        Passages by number, the best first, none twice in a row.  A negative number is no passage: a shorter ranking ends in such.
    persistence : float
        Between 0 and 1, ends excluded: the lower, the more the first ranks count.

    Returns
    -------
    TopAgreement
        Soft and Jaccard divide by what the rankings hold where both are shorter than k; NaN where neither holds anything.

    Raises
    ------
    BadInput
        For shapes that differ, a passage that is in a ranking twice, one behind a missing one, and a persistence outside (0, 1).

    References
    ----------
    Method document ``handbook``, stability of the top: the strict strategy is the mean of ``changed_strict``; of the soft one, which
    sums over queries, the mean.  Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings, equation 32.

    Examples
    --------
    >>> found = top_agreement([[1, 2, 3]], [[2, 1, 4]])
    >>> found.unchanged_strict.tolist(), found.unchanged_soft.round(2).tolist(), found.jaccard.round(2).tolist()
    ([[0.0, 1.0, 0.0]], [[0.0, 1.0, 0.67]], [[0.0, 1.0, 0.5]])
    >>> top_agreement([[1, 2, 3]], [[1, 2, 3]]).rbo.round(12).tolist()
    [[1.0, 1.0, 1.0]]
    """
    first, second = _checked(before, after, persistence)
    n, depth = first.shape
    common = np.zeros((n, depth))
    step = max(1, _AT_ONCE // max(depth * depth, 1))
    deeper = np.maximum(np.arange(depth)[:, None], np.arange(depth))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        same = (first[rows, :, None] == second[rows, None, :]) & (first[rows, :, None] >= 0)
        row, i, j = np.nonzero(same)
        np.add.at(common[rows], (row, deeper[i, j]), 1)
    common = np.cumsum(common, axis=1)
    sizes = np.cumsum(first >= 0, axis=1), np.cumsum(second >= 0, axis=1)
    longest, both = np.maximum(*sizes), sizes[0] + sizes[1]
    soft = _share(common, longest)
    strict = np.where(longest > 0, (common == longest).astype(float), np.nan)
    p = persistence
    weights = (1 - p) / p * p ** np.arange(1, depth + 1)
    overlap = np.where(longest > 0, common / np.maximum(longest, 1), 0.0)
    rbo = overlap * p ** np.arange(1, depth + 1) + np.cumsum(weights * overlap, axis=1)
    return TopAgreement(strict, soft, _share(common, both - common), np.where(longest > 0, rbo, np.nan))


def _share(part: Floats, whole: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> Floats:
    share: Floats = np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
    return share


def _checked(
    before: npt.ArrayLike, after: npt.ArrayLike, persistence: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    sides = {"before": np.asarray(before, dtype=np.int64), "after": np.asarray(after, dtype=np.int64)}
    faults = [] if 0 < persistence < 1 else [f"persistence must be between 0 and 1, got {persistence!r}"]
    for name, side in sides.items():
        if side.ndim != 2:
            faults.append(f"{name} must be a table of rankings, got an array of {side.ndim} dimensions")
            continue
        gaps = np.flatnonzero(((side[:, 1:] >= 0) & (side[:, :-1] < 0)).any(axis=1))
        faults += [f"{name}: row {i}: a passage behind a missing one" for i in gaps.tolist()]
        ordered = np.sort(side, axis=1)
        twice = np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))
        faults += [f"{name}: row {i}: a passage is ranked twice" for i in twice.tolist()]
    if sides["before"].shape != sides["after"].shape:
        faults.append(f"before has shape {sides['before'].shape}, after {sides['after'].shape}")
    if faults:
        raise BadInput.listing("rankings cannot be compared:", faults)
    return sides["before"], sides["after"]
