"""Several rankings of one query made one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalbench.errors import BadInput

FUSIONS = ("rrf", "union")
CONSTANT = 60
"""Of reciprocal rank fusion, as its authors have it."""


def fused(rankings: npt.ArrayLike, k: int, how: str = "rrf", constant: float = CONSTANT) -> npt.NDArray[np.int64]:
    """One ranking out of several of the same query.

    ``rrf``: by the sum of 1 / (constant + rank) over the rankings that hold a passage (Cormack, Clarke and Büttcher 2009,
    section 2).  ``union``: by the best rank that a passage has in any of them.  Equal ones: by their best rank, then in the
    order of the rankings.

    Parameters
    ----------
    rankings : (n_rankings, depth) array of int
        Passages by number, the best first; a negative number is no passage.
    k : int
        How many are wanted, at least 1.
    how : {"rrf", "union"}
    constant : float
        Not below 0.

    Returns
    -------
    (at most k,) array of int
        No passage twice.

    Raises
    ------
    BadInput
        For an unknown way, ``k`` below 1, a negative constant, or an array of another shape.

    Examples
    --------
    >>> fused([[1, 2, 3], [2, 4, 1]], k=3).tolist(), fused([[1, 2, 3], [2, 4, 1]], k=3, how="union").tolist()
    ([2, 1, 4], [1, 2, 4])
    """
    table = np.asarray(rankings, dtype=np.int64)
    faults = [] if how in FUSIONS else [f"fusion must be one of {', '.join(FUSIONS)}; got {how!r}"]
    faults += [] if k >= 1 else [f"k must be at least 1, got {k!r}"]
    faults += [] if constant >= 0 else [f"constant must be at least 0, got {constant!r}"]
    faults += [] if table.ndim == 2 else [f"rankings must be a table, one a row; got {table.ndim} dimensions"]
    if faults:
        raise BadInput.listing("rankings cannot be fused:", faults)
    ranks = np.broadcast_to(np.arange(1, table.shape[1] + 1), table.shape)
    order = np.lexsort((np.broadcast_to(np.arange(len(table))[:, None], table.shape).ravel(), ranks.ravel()))
    passages, ranks = table.ravel()[order], ranks.ravel()[order]
    passages, ranks = passages[passages >= 0], ranks[passages >= 0]
    # Of each passage its first place in that order, which is its best rank.
    known, first, index = np.unique(passages, return_index=True, return_inverse=True)
    scores = np.bincount(index, weights=1 / (constant + ranks), minlength=len(known)) if how == "rrf" else -ranks[first]
    return known[np.lexsort((first, -scores.round(12)))][:k]
