"""How good rankings of passages are, by grades of relevance: nDCG and expected reciprocal rank.

As in :mod:`evalbench.metrics.retrieval`: rankings and a depth to a value per query, NaN without relevant passages.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from evalbench.core.arrays import Floats, Ints
from evalbench.metrics.ranking import Rankings, ranking
from evalbench.metrics.registry import metric
from evalbench.metrics.retrieval import HANDBOOK, TREC, K, defined, depth, over, within

_ONE = ranking([[0, 2, None, 1]], missed=[[1]])
_BEST = ranking([[2, 1, 0]])


def ndcg(found: Rankings, k: K = None, gain: Literal["linear", "exponential"] = "linear") -> Floats:
    """Discounted cumulative gain among the first k, over that of the best order of the query's own passages.

    DCG = Σ_{i≤k} g(relᵢ) / log₂(i + 1), with g(rel) = rel or 2^rel − 1; nDCG = DCG / DCG of all judged passages by grade
    descending, ranked or not.

    Parameters
    ----------
    k : int, optional
    gain : {"linear", "exponential"}
        Negative grades and unjudged passages gain 0.

    Returns
    -------
    (q,) array
        0–1; NaN for queries without relevant passages.

    References
    ----------
    Järvelin & Kekäläinen (2002), ACM TOIS 20, 422–446 (linear); Burges et al. (2005), ICML (exponential).

    Examples
    --------
    >>> ndcg(ranking([[0, 3, 1]]), 3).round(4).tolist(), ndcg(ranking([[0, 3, 1]]), 3, "exponential").round(4).tolist()
    ([0.659], [0.6443])
    """
    gaining, n = within(found, k) & (found.grade > 0), len(found.ranked)
    dcg = np.bincount(found.query[gaining], _gained(found.grade[gaining], found.rank[gaining], gain), n)
    best = np.ones(len(found.ideal_rank), dtype=bool) if k is None else found.ideal_rank <= k
    ideal = np.bincount(found.ideal_query[best], _gained(found.ideal_grade[best], found.ideal_rank[best], gain), n)
    return defined(over(dcg, ideal), found)


def _gained(grade: Floats, rank: Ints, gain: str) -> Floats:
    gained: Floats = (np.exp2(grade) - 1 if gain == "exponential" else grade) / np.log2(rank + 1.0)
    return gained


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _BEST, "k": 3}, [1.0]),
    reference=f"Järvelin & Kekäläinen (2002), ACM TOIS 20; {TREC}, ndcg_cut_k",
)
def ndcg_at_k(found: Rankings, k: K = None) -> Floats:
    """Normalised discounted cumulative gain, gain linear in the grade.

    See :func:`ndcg`.

    Examples
    --------
    >>> ndcg_at_k(ranking([[0, 1]]), 2).round(4).tolist()
    [0.6309]
    """
    return ndcg(found, k)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _BEST, "k": 3}, [1.0]),
    reference=f"Burges et al. (2005), ICML: gain 2^rel − 1; {HANDBOOK} prints 2^(rel − 1), by which irrelevant passages gain",
)
def ndcg_at_k_exponential(found: Rankings, k: K = None) -> Floats:
    """Normalised discounted cumulative gain, gain 2^grade − 1.

    See :func:`ndcg`.

    Examples
    --------
    >>> ndcg_at_k_exponential(ranking([[0, 3, 1]]), 3).round(4).tolist()
    [0.6443]
    """
    return ndcg(found, k, "exponential")


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _BEST, "k": 3}, [0.7653606369886217]),
    reference=f"{HANDBOOK}: nDCG@k of relevance 0 or 1",
    limitations="a perfect ranking has 1 only where at least k passages are relevant",
)
def ndcg_at_k_handbook(found: Rankings, k: K = None) -> Floats:
    """Discounted relevance, 0 or 1, over that of a ranking with k relevant passages.

    Σ_{i≤k} relᵢ / log₂(i + 1) over Σ_{i≤k} 1 / log₂(i + 1), rel = 1 from ``relevant_from`` on.

    Parameters
    ----------
    found : Rankings
    k : int, optional
        By default the length of each query's ranking.

    Returns
    -------
    (q,) array
        0–1; NaN for queries without relevant passages.

    Examples
    --------
    >>> ndcg_at_k_handbook(ranking([[1, 0, 0, 0, 0]]), 5).round(3).tolist()
    [0.339]
    """
    hit, n = found.relevant & within(found, k), len(found.ranked)
    dcg = np.bincount(found.query[hit], 1 / np.log2(found.rank[hit] + 1.0), n)
    last = depth(found, k).astype(np.int64)
    ideal = np.cumsum(1 / np.log2(np.arange(2.0, last.max(initial=1) + 2)))
    return defined(dcg / ideal[last - 1], found)


def expected_reciprocal_rank(found: Rankings, k: K, top: float, max_grade: float) -> Floats:
    """Σ_{r≤k} (1/r) pᵣ Π_{i<r} (1 − pᵢ) with p = (2^rel − 1) / top.

    Raises
    ------
    ValueError
        If a grade is above the highest of the scale.
    """
    # The next passage of all queries at once: as many steps as a query has such passages.
    if max(found.grade.max(initial=0), found.ideal_grade.max(initial=0)) > max_grade:
        raise ValueError(f"a grade is above max_grade, {max_grade:g}, the highest of the scale")
    hit = np.flatnonzero(within(found, k) & (found.grade > 0))
    query, rank = found.query[hit], found.rank[hit]
    p = (np.exp2(found.grade[hit]) - 1) / top
    count = np.bincount(query, minlength=len(found.ranked))
    nth = np.arange(len(query)) - (np.cumsum(count) - count)[query]
    steps = np.split(np.argsort(nth, kind="stable"), np.cumsum(np.bincount(nth))[:-1])
    out, looking = np.zeros(len(found.ranked)), np.ones(len(found.ranked))
    for at in steps:
        own = query[at]
        out[own] += looking[own] * p[at] / rank[at]
        looking[own] *= 1 - p[at]
    return defined(out, found)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _ONE, "k": 4, "max_grade": 2}, [0.390625]),
    reference="Chapelle et al. (2009), CIKM, equation 4",
)
def err_at_k(found: Rankings, k: K = None, *, max_grade: float) -> Floats:
    """Expected reciprocal rank: where a reader who stops at what satisfies is expected to stop.

    Σ_{r≤k} (1/r) pᵣ Π_{i<r} (1 − pᵢ) with p = (2^rel − 1) / 2^max_grade.

    Parameters
    ----------
    found : Rankings
    k : int, optional
    max_grade : float
        The highest grade of the scale, whether the sample has it or not.

    Returns
    -------
    (q,) array
        0 to 1 − 2^−max_grade for a first passage of the highest grade and more with further ones; NaN for queries without
        relevant passages.

    Raises
    ------
    ValueError
        If a grade is above ``max_grade``.

    Examples
    --------
    >>> err_at_k(ranking([[1]]), 1, max_grade=1).tolist()
    [0.5]
    """
    return expected_reciprocal_rank(found, k, 2.0**max_grade, max_grade)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _ONE, "k": 4, "max_grade": 2}, [0.5]),
    reference=f"{HANDBOOK}: ERR@k; its 2^(rel − 1) is read as 2^rel − 1, which gives p = rel for relevance 0 or 1",
)
def err_at_k_handbook(found: Rankings, k: K = None, *, max_grade: float) -> Floats:
    """Expected reciprocal rank in which a passage of the highest grade always satisfies.

    As :func:`err_at_k` with p = (2^rel − 1) / (2^max_grade − 1); the reciprocal rank where grades are 0 and 1.

    Examples
    --------
    >>> err_at_k_handbook(ranking([[0, 1]]), 2, max_grade=1).tolist()
    [0.5]
    """
    return expected_reciprocal_rank(found, k, 2.0**max_grade - 1, max_grade)
