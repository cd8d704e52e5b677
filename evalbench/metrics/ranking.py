"""Rankings of passages and judgements of their relevance as flat, sorted arrays: what retrieval metrics are computed from.

A run ranks passages per query by score; qrels grade the relevance of some.  Metrics see the judged passages only, each with
its query and its rank, so that a million queries are a few numpy calls.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Bools, Floats, Indices, Ints
from evalbench.core.measures import Columns
from evalbench.core.seeds import rng

Ties = Literal["descending", "ascending", "random"]
TIES = ("descending", "ascending", "random")


class Rankings(NamedTuple):
    """The judged passages of many queries in the order of one run, and the best order that there is.

    Attributes
    ----------
    query : (n,) array of int
        The number of the query of each judged passage that the run has, ascending.
    rank : (n,) array of int
        From 1, ascending in a query.
    level : (n,) array
        The mean rank of the passages that have its score.
    grade : (n,) array
        Its relevance.
    ranked : (q,) array of int
        How many passages the run has for each query.
    tied : (q,) array of int
        How many of them share their score with another.
    n_relevant : (q,) array of int
        How many passages are relevant: judged with ``relevant_from`` or more, ranked or not.
    ideal_query, ideal_rank : (m,) arrays of int
    ideal_grade : (m,) array
        The passages with a positive grade, ranked or not, the highest grades first.
    relevant_from : float
        A passage is relevant from this grade on.
    """

    query: Ints
    rank: Ints
    level: Floats
    grade: Floats
    ranked: Ints
    tied: Ints
    n_relevant: Ints
    ideal_query: Ints
    ideal_rank: Ints
    ideal_grade: Floats
    relevant_from: float = 1.0

    @property
    def relevant(self) -> Bools:
        """Whether each judged passage is relevant, (n,)."""
        return self.grade >= self.relevant_from


def ranking(
    grades: list[list[float | None]], *, missed: list[list[float]] | None = None, relevant_from: float = 1.0
) -> Rankings:
    """Rankings written by hand: the grades of each query's passages from the first rank on.

    Parameters
    ----------
    grades : list of list of float or None
        A list per query; None is a passage that nobody judged.
    missed : list of list of float, optional
        The grades of judged passages that the run does not have, per query.

    Examples
    --------
    >>> found = ranking([[0, None, 2]], missed=[[1]])
    >>> found.rank.tolist(), found.n_relevant.tolist(), found.ideal_grade.tolist()
    ([1, 3], [2], [2.0, 1.0])
    """
    query = np.repeat(np.arange(len(grades)), [len(own) for own in grades])
    flat = np.array([np.nan if grade is None else grade for own in grades for grade in own], dtype=float)
    score = -np.arange(len(flat), dtype=float)
    absent = missed or [[] for _ in grades]
    further = np.repeat(np.arange(len(grades)), [len(own) for own in absent])
    known = ~np.isnan(flat)
    return rankings(
        query,
        score,
        np.arange(len(flat)),
        flat,
        judged_query=np.concatenate([query[known], further]),
        judged_grade=np.concatenate([flat[known], [grade for own in absent for grade in own]]),
        n_queries=len(grades),
        relevant_from=relevant_from,
    )


def rankings(
    query: Ints,
    score: Floats,
    passage: Any,
    grade: Floats,
    *,
    judged_query: Ints,
    judged_grade: Floats,
    n_queries: int,
    relevant_from: float = 1.0,
    ties: Ties = "descending",
    seed: int = 0,
) -> Rankings:
    """Rank the passages of a run.

    Parameters
    ----------
    query : (n,) array of int
        The number of the query, from 0, of each passage of the run.
    score : (n,) array
        Finite; the higher, the earlier.
    passage : (n,) array of str, or anything with ``take``
        Ids: which of two passages with one score comes first.
    grade : (n,) array
        The relevance of each; NaN where it was not judged.
    judged_query, judged_grade : (m,) arrays
        Every judgement, ranked or not.
    ties : {"descending", "ascending", "random"}
        The order of passages with one score: by their id descending, as trec_eval, ascending, or by chance.
    seed : int
        Of the chance; the order of the rows changes nothing.

    Notes
    -----
    trec_eval compares scores in single precision, so that it sees more ties than there are where scores have over six digits.
    """
    order, level, ranked, tied = ordered(query, score, passage, n_queries, ties, seed)
    start = np.cumsum(ranked) - ranked
    if order is not None:
        query, grade = query[order], grade[order]
    known = np.flatnonzero(~np.isnan(grade))
    own = query[known]
    positive = judged_grade > 0
    ideal_query, ideal_grade = judged_query[positive], judged_grade[positive]
    best = np.lexsort((-ideal_grade, ideal_query))
    ideal_query, ideal_grade = ideal_query[best], ideal_grade[best]
    n_ideal = np.bincount(ideal_query, minlength=n_queries)
    ideal_start = np.cumsum(n_ideal) - n_ideal
    return Rankings(
        query=own,
        rank=known - start[own] + 1,
        level=(level[known] - start[own] + 1).astype(float),
        grade=grade[known],
        ranked=ranked,
        tied=tied,
        n_relevant=np.bincount(judged_query[judged_grade >= relevant_from], minlength=n_queries),
        ideal_query=ideal_query,
        ideal_rank=np.arange(len(ideal_query)) - ideal_start[ideal_query] + 1,
        ideal_grade=ideal_grade,
        relevant_from=relevant_from,
    )


def ordered(
    query: Ints, score: Floats, passage: Any, n_queries: int, ties: Ties, seed: int = 0
) -> tuple[Indices | None, Floats, Ints, Ints]:
    """The order of a run's rows by query, score descending and the rule for ties.

    Returns
    -------
    order : (n,) array of int or None
        None where the rows are in order.
    level : (n,) array
        The mean place, from 0, of the rows with the same query and score.
    ranked, tied : (q,) arrays of int
        Rows of each query, and those of them that share their score.
    """
    n = len(query)
    same_query = query[1:] == query[:-1]
    order = None
    if ((query[1:] < query[:-1]) | (same_query & (score[1:] > score[:-1]))).any():
        order = np.lexsort((-score, query))
        query, score = query[order], score[order]
        same_query = query[1:] == query[:-1]
    ranked = np.bincount(query, minlength=n_queries)
    level = np.arange(n, dtype=float)
    as_before = same_query & (score[1:] == score[:-1])
    if not as_before.any():
        return order, level, ranked, np.zeros(n_queries, dtype=np.int64)
    shares = np.zeros(n, dtype=bool)
    shares[1:] = as_before
    shares[:-1] |= as_before
    rows = np.flatnonzero(shares)
    group = np.cumsum(np.concatenate([[True], ~as_before])[rows]) - 1
    size = np.bincount(group)
    level[rows] = (np.bincount(group, weights=rows) / size)[group]
    order = np.arange(n) if order is None else order
    place = _places(passage.take(order[rows]))
    key: Floats | Ints = -place if ties == "descending" else place
    if ties == "random":
        key = np.empty(len(rows))
        key[np.lexsort((place, query[rows]))] = rng(seed, "ties").random(len(rows))
    order[rows] = order[rows][np.lexsort((key, group))]
    return order, level, ranked, np.bincount(query[rows], minlength=n_queries)


def _places(ids: Any) -> Ints:
    """The place of each id in their ascending order of code points."""
    if isinstance(ids, np.ndarray) and ids.dtype != object:
        return np.unique(ids, return_inverse=True)[1]
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = pc.dictionary_encode(pa.array(ids, type=pa.large_string()))
    names = coded.dictionary
    place = np.empty(len(names), dtype=np.int64)
    place[pc.sort_indices(names).to_numpy()] = np.arange(len(names))
    codes: Ints = coded.indices.to_numpy()
    return place[codes]


class Joined(NamedTuple):
    """A run beside the judgements, by the numbers of their queries.

    Attributes
    ----------
    queries : (q,) array of str
        The ids of the queries that have judgements, ascending; the others have numbers as these are in order.
    query, judged_query : arrays of int
        −1 in the run where a query has no judgement.
    grade : (n,) array
        Of each passage of the run; NaN where it was not judged.
    judged_grade : (m,) array
    """

    queries: npt.NDArray[Any]
    query: Ints
    grade: Floats
    judged_query: Ints
    judged_grade: Floats


def joined(run: Columns, qrels: Columns) -> Joined:
    """Look up the relevance of a run's passages.

    Parameters
    ----------
    run : DataFrame, or mapping of str to arrays
        ``id``, ``doc_id``.
    qrels : DataFrame, or mapping of str to arrays
        ``id``, ``doc_id``, ``relevance``; a passage once per query.

    Examples
    --------
    >>> run = {"id": ["b", "b", "c"], "doc_id": ["p", "q", "p"]}
    >>> qrels = {"id": ["b", "a"], "doc_id": ["q", "p"], "relevance": [2, 1]}
    >>> found = joined(run, qrels)
    >>> found.queries.tolist(), found.query.tolist(), found.grade.tolist()
    (['a', 'b'], [1, 1, -1], [nan, 2.0, nan])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    of_judged, of_run = (_ids(table["id"]) for table in (qrels, run))
    queries = pc.unique(of_judged)
    queries = queries.take(pc.sort_indices(queries))
    judged_query, query = _numbers(of_judged, queries), _numbers(of_run, queries)
    of_judged, of_run = (_ids(table["doc_id"]) for table in (qrels, run))
    passages = pc.unique(of_judged)
    judged_key = judged_query * len(passages) + _numbers(of_judged, passages)
    passage = _numbers(of_run, passages)
    judged_grade = np.asarray(qrels["relevance"], dtype=float)
    rows = np.flatnonzero((query >= 0) & (passage >= 0))
    grade = np.full(len(query), np.nan)
    if len(rows):
        order = np.argsort(judged_key, kind="stable")
        sorted_key = judged_key[order]
        wanted = query[rows] * len(passages) + passage[rows]
        at = np.minimum(np.searchsorted(sorted_key, wanted), len(sorted_key) - 1)
        found = sorted_key[at] == wanted
        grade[rows[found]] = judged_grade[order[at[found]]]
    names = np.array(pa.array(queries).to_pylist(), dtype=object)
    return Joined(names, query, grade, judged_query, judged_grade)


def among(ids: Any, names: Any) -> Bools:
    """Whether each id is one of the names; in linear time, whatever the columns are made of.

    Examples
    --------
    >>> among(["a", "b", "a"], ["b", "c"]).tolist()
    [False, True, False]
    """
    return _numbers(_ids(ids), _ids(names).unique()) >= 0


def _ids(column: Any) -> Any:
    import pyarrow as pa

    found = pa.array(column)
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    return found if pa.types.is_large_string(found.type) else found.cast(pa.large_string())


def _numbers(ids: Any, names: Any) -> Ints:
    """The place of each id among names; −1 where it is none of them."""
    import pyarrow.compute as pc

    found: Ints = pc.fill_null(pc.index_in(ids, value_set=names), -1).to_numpy().astype(np.int64)
    return found


def ranked_run(
    run: Columns, qrels: Columns, *, relevant_from: float = 1.0, ties: Ties = "descending", seed: int = 0
) -> tuple[npt.NDArray[Any], Rankings]:
    """The ids of the judged queries, ascending, and how one run ranks their passages.

    Parameters
    ----------
    run : DataFrame, or mapping of str to arrays
        ``id``, ``doc_id``, ``score``: finite, a passage once per query.  Queries without judgements are left out.
    qrels : DataFrame, or mapping of str to arrays
        ``id``, ``doc_id``, ``relevance``.
    relevant_from, ties, seed
        See :func:`rankings`.

    Examples
    --------
    >>> run = {"id": ["a", "a"], "doc_id": ["p", "q"], "score": [0.5, 0.5]}
    >>> qrels = {"id": ["a"], "doc_id": ["p"], "relevance": [1]}
    >>> queries, found = ranked_run(run, qrels)
    >>> queries.tolist(), found.rank.tolist(), found.tied.tolist()
    (['a'], [2], [2])
    """
    both = joined(run, qrels)
    score, ids = np.asarray(run["score"], dtype=float), _ids(run["doc_id"])
    query, grade = both.query, both.grade
    if (query < 0).any():
        rows = np.flatnonzero(query >= 0)
        query, score, grade, ids = query[rows], score[rows], grade[rows], ids.take(rows)
    return both.queries, rankings(
        query,
        score,
        ids,
        grade,
        judged_query=both.judged_query,
        judged_grade=both.judged_grade,
        n_queries=len(both.queries),
        relevant_from=relevant_from,
        ties=ties,
        seed=seed,
    )
