"""The nearest vectors of each query by cosine: exactly, in blocks of a matrix product; or of very many by a graph (HNSW)."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.progress import at
from evalbench.errors import BadInput, ModelUnavailable

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

BLOCK = 4096
"""Vectors of one matrix product."""
QUERIES = 1024
"""Queries of one matrix product: with a block of vectors 16 MB of cosines."""
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 64, 160
"""Of the graph: edges of a vector; candidates while it is built; candidates of a search."""
_PER_ADD = 20_000
_CROWDED = 0.25
_EQUAL = 1e-6


class Nearest(NamedTuple):
    """The nearest vectors of each query, the nearest first.

    - ``places`` ((n_queries, k) int array): Rows of the vectors.
    - ``scores`` ((n_queries, k) float array): Their cosines.
    """

    places: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]


Search = Callable[["npt.ArrayLike", int], Nearest]
"""Queries and ``k`` in, the nearest of some vectors out."""


def exact_nearest(vectors: npt.ArrayLike, queries: npt.ArrayLike, k: int) -> Nearest:
    """The ``k`` vectors with the highest cosine to each query; of equal ones (to 1e-7) the first.

    The cosines of a block of vectors are computed at once, and only those above a query's k-th best so far are looked
    at again, so that the search costs little more than the matrix product and some 30 MB beside the vectors.

    - ``vectors`` ((n, d) array): Rows of length 1, as :func:`evalbench.models.similarity.embed.embed` returns them.
    - ``queries`` ((m, d) array): Rows of length 1.
    - ``k``: At least 1; where there are fewer vectors, all are found.

    Returns: ``(m, min(k, n))`` each.

    Raises ``BadInput`` for ``k`` below 1, arrays that are no tables of one width, or numbers that are not finite.

    Examples
    --------
    >>> found = exact_nearest([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], [[1.0, 0.0]], k=2)
    >>> found.places.tolist(), found.scores.round(2).tolist()
    ([[0, 2]], [[1.0, 0.6]])
    """
    table, asked = _checked(vectors, queries, k)
    kept = min(k, len(table))
    places = np.empty((len(asked), kept), np.int64)
    scores = np.empty((len(asked), kept))
    for start in range(0, len(asked) if kept else 0, QUERIES):
        part = asked[start : start + QUERIES]
        found = _nearest_of(table, part, kept)
        places[start : start + len(part)], scores[start : start + len(part)] = _in_order(table, part, found)
    return Nearest(places, scores)


def _nearest_of(table: Vectors, queries: Vectors, k: int) -> npt.NDArray[np.int64]:
    """The k best of each query, in no order."""
    buffer = np.empty((len(queries), min(BLOCK, len(table))), np.float32)
    best = np.full((len(queries), k), -np.inf, np.float32)
    places = np.zeros((len(queries), k), np.int64)
    for start in range(0, len(table), BLOCK):
        part = table[start : start + BLOCK]
        cosines = np.matmul(queries, part.T, out=buffer[:, : len(part)])
        if start == 0 and len(part) > k:
            # Those that are lower than the k-th best are looked at no more.
            least = np.partition(cosines, len(part) - k, axis=1)[:, len(part) - k]
            above = cosines >= least[:, None]
        else:
            above = cosines > best.min(axis=1)[:, None]
            if np.count_nonzero(above) > _CROWDED * above.size and len(part) > k:
                least = np.partition(cosines, len(part) - k, axis=1)[:, len(part) - k]
                above &= cosines >= least[:, None]
        rows, columns = divmod(np.flatnonzero(above), len(part))
        if len(rows):
            _merge(best, places, rows, cosines[rows, columns], columns + start)
    return places


def _merge(
    best: npt.NDArray[np.float32],
    places: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    cosines: npt.NDArray[np.float32],
    found: npt.NDArray[np.int64],
) -> None:
    """Take further candidates among the k best of each query, in place; of equal cosines the first vector stays."""
    k = best.shape[1]
    touched = np.unique(rows)
    all_rows = np.concatenate([np.repeat(touched, k), rows])
    all_cosines = np.concatenate([best[touched].ravel(), cosines])
    all_places = np.concatenate([places[touched].ravel(), found])
    order = np.lexsort((all_places, -all_cosines, all_rows))
    first = np.searchsorted(all_rows[order], touched)
    chosen = order[first[:, None] + np.arange(k)]
    best[touched], places[touched] = all_cosines[chosen], all_places[chosen]


def _in_order(table: Vectors, queries: Vectors, places: npt.NDArray[np.int64]) -> Nearest:
    """Those that were found, by their cosine in double precision; equal ones in the order of the vectors."""
    scores = np.stack(
        [np.einsum("mkd,d->mk", table[places[i : i + 1]], q, dtype=np.float64)[0] for i, q in enumerate(queries)]
    )
    order = np.lexsort((places, -scores.round(7)), axis=1)
    return Nearest(np.take_along_axis(places, order, 1), np.take_along_axis(scores, order, 1).clip(-1.0, 1.0))


def graph_of(vectors: npt.ArrayLike, *, expansion_search: int = EXPANSION_SEARCH) -> Search:
    """A search as :func:`exact_nearest`, by usearch's graph (HNSW; Malkov and Yashunin 2018): most of the nearest, not all.

    The graph is built by one thread, in the order of the vectors, so that a second run finds the same; the distances
    within it are of 8-bit numbers, and what is found is put in order by its exact cosines.

    - ``vectors`` ((n, d) array): As for :func:`exact_nearest`.
    - ``expansion_search``: Candidates of a search: more find more, slower.

    Returns: ``search(queries, k) -> Nearest``.

    Raises ``BadInput``: As :func:`exact_nearest`.
    Raises ``ModelUnavailable`` if usearch is not installed.

    Examples
    --------
    >>> table = np.eye(4, dtype=np.float32)
    >>> graph_of(table)(table[[2]], k=1).places.tolist()
    [[2]]
    """
    table, _ = _checked(vectors, np.empty((0, np.shape(vectors)[-1] if np.ndim(vectors) else 0)), 1)
    if find_spec("usearch") is None:
        raise ModelUnavailable("searching by a graph needs usearch: pip install 'evalbench[ml]'", "not-installed")
    from usearch.index import Index

    index = Index(
        ndim=table.shape[1],
        metric="cos",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=expansion_search,
    )
    keys = np.arange(len(table), dtype=np.uint64)
    for start in range(0, len(table), _PER_ADD):
        at("building the graph of the vectors", min(start + _PER_ADD, len(table)), len(table))
        index.add(keys[start : start + _PER_ADD], table[start : start + _PER_ADD], threads=1)

    def search(queries: npt.ArrayLike, k: int) -> Nearest:
        _, asked = _checked(table, queries, k)
        kept = min(k, len(table))
        if not kept or not len(asked):
            return Nearest(np.empty((len(asked), kept), np.int64), np.empty((len(asked), kept)))
        wider = min(len(table), kept + max(kept, 10))
        found: Any = index.search(asked, wider, threads=1)
        counts = getattr(found, "counts", len(found.keys))  # of a single query the keys alone
        if np.min(counts) < wider:  # a graph with vectors that no search reaches, as of many equal ones
            return exact_nearest(table, asked, k)
        places = np.asarray(found.keys).reshape(len(asked), wider).astype(np.int64)
        ordered = _in_order(table, asked, places)
        return Nearest(ordered.places[:, :kept], ordered.scores[:, :kept])

    return search


def recall_against(found: Nearest, true: Nearest) -> float:
    """The recall of a search against the exact one: the share of what it found that is as near as the k-th of the exact one.

    So one of several equally near vectors is as good as another, as in ANN-benchmarks (Aumüller, Bernhardsson and Faithfull 2020,
    section 3.6).

    - ``found``, ``true``: For the same queries and ``k``.

    Returns: 0–1; NaN without a query.

    Examples
    --------
    >>> true = Nearest(np.array([[1, 2]]), np.array([[0.9, 0.8]]))
    >>> recall_against(Nearest(np.array([[1, 3]]), np.array([[0.9, 0.7]])), true)
    0.5
    """
    if not true.scores.size:
        return float("nan")
    return float((found.scores >= true.scores[:, -1:] - _EQUAL).mean())


def _checked(vectors: npt.ArrayLike, queries: npt.ArrayLike, k: int) -> tuple[Vectors, Vectors]:
    table = np.ascontiguousarray(vectors, dtype=np.float32)
    asked = np.ascontiguousarray(queries, dtype=np.float32)
    faults = [] if isinstance(k, (int, np.integer)) and k >= 1 else [f"k must be a whole number from 1, got {k!r}"]
    for name, array in (("vectors", table), ("queries", asked)):
        if array.ndim != 2:
            faults.append(f"{name} must be a table of rows, got an array of {array.ndim} dimensions")
        elif not np.isfinite(np.einsum("ij->i", array)).all():
            faults.append(
                f"{name}: {int((~np.isfinite(array)).any(axis=1).sum())} rows hold numbers that are not finite"
            )
    if not faults and table.shape[1] != asked.shape[1]:
        faults.append(f"vectors of {table.shape[1]} and queries of {asked.shape[1]} numbers")
    if faults:
        raise BadInput.listing("a search cannot be made:", faults)
    return table, asked
