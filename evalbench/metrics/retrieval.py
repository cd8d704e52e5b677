"""How good rankings of passages are, by relevance or none: precision, recall, hit rate, reciprocal rank and others.

Every function takes :class:`evalbench.metrics.ranking.Rankings` and a depth k (None: the whole ranking), and returns a value per
query: NaN for a query without relevant passages, which no ranking could serve.  Unjudged passages count as irrelevant, as in
trec_eval.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Bools, Floats, Ints
from evalbench.metrics.ranking import Rankings, ranking
from evalbench.metrics.registry import metric

K = int | None
_ONE = ranking([[0, 2, None, 1]], missed=[[1]])
TREC = "trec_eval 9 (NIST)"
HANDBOOK = "handbook (docs/methods.md), «Спецификация RAG: ключевая метрика качества»"


def within(found: Rankings, k: K) -> Bools:
    """Whether each judged passage is among the first k."""
    if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1):
        raise ValueError(f"k must be a whole number from 1 on, or None for the whole ranking; got {k!r}")
    return np.ones(len(found.rank), dtype=bool) if k is None else found.rank <= k


def summed(query: Ints, of: Bools, n: int, weights: npt.NDArray[np.float64] | None = None) -> Floats:
    return np.bincount(query[of], weights=None if weights is None else weights[of], minlength=n).astype(float)


def hits(found: Rankings, k: K) -> Floats:
    """Relevant passages among the first k of each query."""
    return summed(found.query, found.relevant & within(found, k), len(found.ranked))


def defined(values: Floats, found: Rankings) -> Floats:
    return np.where(found.n_relevant > 0, values, np.nan)


def depth(found: Rankings, k: K) -> Floats:
    return np.maximum(found.ranked, 1).astype(float) if k is None else np.full(len(found.ranked), float(k))


def over(numerator: npt.NDArray[Any], denominator: npt.ArrayLike) -> Floats:
    whole = np.asarray(denominator, dtype=float)
    return numerator / np.where(whole > 0, whole, 1.0)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _ONE, "k": 4}, [0.5]),
    reference=f"{TREC}, P_k; {HANDBOOK}: MP@k, whose sum over queries is missing in print",
)
def precision_at_k(found: Rankings, k: K = None) -> Floats:
    """Relevant passages among the first k, over k.

    (1/k) Σ_{i≤k} relᵢ.  A ranking shorter than k still divides by k.

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
    >>> precision_at_k(ranking([[1, 0, 1]]), 5).tolist()
    [0.4]
    """
    return defined(hits(found, k) / depth(found, k), found)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _ONE, "k": 4}, [2 / 3]),
    reference=f"{TREC}, recall_k",
)
def recall_at_k(found: Rankings, k: K = None) -> Floats:
    """Relevant passages among the first k, over all relevant ones.

    Σ_{i≤k} relᵢ / R, 0–1, (q,); NaN where R = 0.

    Examples
    --------
    >>> recall_at_k(ranking([[1, 0]], missed=[[1]]), 1).tolist()
    [0.5]
    """
    return defined(over(hits(found, k), found.n_relevant), found)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    unit="0/1",
    example=({"found": _ONE, "k": 4}, [1.0]),
    reference=f"{TREC}, success_k",
)
def hit_rate_at_k(found: Rankings, k: K = None) -> Floats:
    """Whether a relevant passage is among the first k.

    1 or 0, (q,); NaN for queries without relevant passages.

    Examples
    --------
    >>> hit_rate_at_k(ranking([[0, 1], [1]]), 1).tolist()
    [0.0, 1.0]
    """
    return defined((hits(found, k) > 0).astype(float), found)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _ONE, "k": 4}, [4 / 7]),
    reference="the harmonic mean of precision and recall: van Rijsbergen (1979), Information Retrieval, chapter 7",
)
def f1_at_k(found: Rankings, k: K = None) -> Floats:
    """Harmonic mean of precision and recall among the first k.

    2 Σ_{i≤k} relᵢ / (k + R): 0 where nothing relevant was found; NaN where R = 0.

    Examples
    --------
    >>> f1_at_k(ranking([[1, 0]], missed=[[1]]), 2).tolist()
    [0.5]
    """
    return defined(2 * hits(found, k) / (depth(found, k) + found.n_relevant), found)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _ONE}, [1 / 3]),
    reference=f"{TREC}, Rprec",
)
def r_precision(found: Rankings, k: K = None) -> Floats:
    """Precision among the first R passages, R being the number of relevant ones.

    Parameters
    ----------
    found : Rankings
    k : int, optional
        Where the ranking ends, if not at its own end.

    Returns
    -------
    (q,) array
        0–1; NaN where R = 0.

    Examples
    --------
    >>> r_precision(ranking([[1, 0, 1]])).tolist()
    [0.5]
    """
    first = found.relevant & within(found, k) & (found.rank <= found.n_relevant[found.query])
    return defined(over(summed(found.query, first, len(found.ranked)), found.n_relevant), found)


def average_precision(
    found: Rankings, k: K = None, denominator: Literal["relevant", "min", "k"] = "relevant"
) -> Floats:
    """Precision at the rank of each relevant passage among the first k, summed, over a denominator.

    Σ_{i≤k} relᵢ · P@i / d, with d = R, min(R, k) or k.

    Parameters
    ----------
    k : int, optional
    denominator : {"relevant", "min", "k"}
        R, all relevant passages, as trec_eval; the fewer of R and k, so that a perfect ranking has 1 at every k; or k.

    Returns
    -------
    (q,) array
        0–1; NaN where R = 0.

    Examples
    --------
    >>> first = ranking([[1, 0, 0, 0, 0]])
    >>> [average_precision(first, 5, d).tolist() for d in ("relevant", "min", "k")]
    [[1.0], [1.0], [0.2]]
    """
    hit = found.relevant & within(found, k)
    query, rank = found.query[hit], found.rank[hit]
    count = np.bincount(query, minlength=len(found.ranked))
    so_far = np.arange(len(query)) - (np.cumsum(count) - count)[query] + 1
    total = np.bincount(query, weights=so_far / rank, minlength=len(found.ranked))
    whole = {"relevant": found.n_relevant, "min": np.minimum(found.n_relevant, depth(found, k)), "k": depth(found, k)}
    return defined(over(total, whole[denominator]), found)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    aliases=("map_at_k",),
    example=({"found": _ONE, "k": 4}, [1 / 3]),
    reference=f"{TREC}, map_cut_k; its mean over queries is MAP",
)
def average_precision_at_k(found: Rankings, k: K = None) -> Floats:
    """Average precision among the first k, over all relevant passages.

    Σ_{i≤k} relᵢ · P@i / R; see :func:`average_precision`.

    Examples
    --------
    >>> average_precision_at_k(ranking([[0, 1]], missed=[[1]]), 2).tolist()
    [0.25]
    """
    return average_precision(found, k)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _ONE, "k": 2}, [0.25]),
    reference="as average_precision_at_k, over min(R, k): Kaggle's MAP@k",
)
def average_precision_at_k_min(found: Rankings, k: K = None) -> Floats:
    """Average precision among the first k, over as many relevant passages as fit there.

    Σ_{i≤k} relᵢ · P@i / min(R, k); see :func:`average_precision`.

    Examples
    --------
    >>> average_precision_at_k_min(ranking([[0, 1]], missed=[[1]]), 1).tolist()
    [0.0]
    """
    return average_precision(found, k, "min")


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": _ONE, "k": 4}, [0.25]),
    reference=f"{HANDBOOK}: MAP@k",
    limitations="a perfect ranking has 1 only where at least k passages are relevant",
)
def average_precision_at_k_handbook(found: Rankings, k: K = None) -> Floats:
    """Average precision among the first k, over k.

    Σ_{i≤k} relᵢ · P@i / k; see :func:`average_precision`.

    Examples
    --------
    >>> average_precision_at_k_handbook(ranking([[1, 0, 0, 0, 0]]), 5).tolist()
    [0.2]
    """
    return average_precision(found, k, "k")


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    aliases=("reciprocal_rank_at_k",),
    example=({"found": _ONE, "k": 4}, [0.5]),
    reference=f"{TREC}, recip_rank; its mean over queries is MRR",
)
def mrr_at_k(found: Rankings, k: K = None) -> Floats:
    """One over the rank of the first relevant passage among the first k, 0 without one.

    (q,) array, 0–1; NaN for queries without relevant passages.

    Examples
    --------
    >>> mrr_at_k(ranking([[0, 0, 1], [0, 0, 1]]), 3).round(3).tolist(), mrr_at_k(ranking([[0, 0, 1]]), 2).tolist()
    ([0.333, 0.333], [0.0])
    """
    hit = np.flatnonzero(found.relevant & within(found, k))
    out = np.zeros(len(found.ranked))
    # Written backwards, the first of each query stays.
    out[found.query[hit][::-1]] = 1.0 / found.rank[hit][::-1]
    return defined(out, found)


@metric(
    kind="ranking",
    range=(0, 1),
    higher_is_better=True,
    needs=("qrels",),
    example=({"found": ranking([[1, 0, 1, 0, 0]]), "k": 5}, [5 / 6]),
    reference=f"{HANDBOOK}: auc@k, whose sum has one query too many",
    limitations="sees judged passages only; not how high the first relevant one is",
)
def auc_at_k(found: Rankings, k: K = None, *, min_per_query: int = 5) -> Floats:
    """How often a relevant passage is above an irrelevant one, among the judged ones of the first k.

    The area under the ROC curve of the scores; passages with one score count half.

    Parameters
    ----------
    found : Rankings
    k : int, optional
    min_per_query : int
        A query with fewer judged passages among the first k has no value.

    Returns
    -------
    (q,) array
        0–1; NaN also where all of them are relevant or none is.

    Examples
    --------
    >>> auc_at_k(ranking([[1, 0, 1, 0]]), 4, min_per_query=4).tolist()
    [0.75]
    """
    at, n = np.flatnonzero(within(found, k)), len(found.ranked)
    query, level, relevant = found.query[at], found.level[at], found.relevant[at]
    positive = np.bincount(query[relevant], minlength=n).astype(float)
    negative = np.bincount(query[~relevant], minlength=n).astype(float)
    pairs = positive * negative
    if not len(at):
        return np.full(n, np.nan)
    new = np.concatenate([[True], (query[1:] != query[:-1]) | (level[1:] != level[:-1])])
    group = np.cumsum(new) - 1
    beside = np.bincount(group, weights=~relevant)
    above = (np.cumsum(beside) - beside)[group] - (np.cumsum(negative) - negative)[query]
    lost = np.bincount(query, weights=relevant * (above + beside[group] / 2), minlength=n)
    known = (pairs > 0) & (positive + negative >= min_per_query)
    return defined(np.where(known, 1 - lost / np.where(pairs > 0, pairs, 1), np.nan), found)


def unjudged_at_k(found: Rankings, k: K = None) -> Floats:
    """The share of the first k passages that nobody judged, (q,); NaN where the ranking is empty.

    Examples
    --------
    >>> unjudged_at_k(ranking([[1, None, 0, None]]), 2).tolist()
    [0.5]
    """
    length = found.ranked if k is None else np.minimum(found.ranked, k)
    judged = summed(found.query, within(found, k), len(found.ranked))
    return np.where(length > 0, 1 - judged / np.maximum(length, 1), np.nan)
