"""A small RAG of parts that can be swapped: documents, chunks, vectors, search."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors
from evalbench.metrics import ranking, retrieval
from evalbench.models.similarity.embed import embed as embedded
from evalbench.models.similarity.search import Nearest, Search, exact_nearest, graph_of, recall_against
from evalbench.studies.rag_tuning import inputs
from evalbench.text.chunks import Span, packed, sentence_spans

Array = np.ndarray[Any, Any]

Chunker = Callable[[str, int, int, str], Sequence[tuple[int, int]]]
Embed = Callable[[Sequence[str]], "Array"]
Searcher = Callable[["Array"], Search]
SENTENCES, WHOLE = "sentences", "documents"
SEARCHES = ("auto", "exact", "graph")
CHECKED_QUERIES = 200
CHECKED_K = 10
CARRIES = 0.5
"""A chunk carries a passage where they share half of the shorter of the two."""
_CODE = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True)
class Parts:
    """The parts of the RAG, each by name or a function of the user's own; see :func:`evalbench.studies.rag_tuning.evaluate`."""

    chunker: str | Chunker = SENTENCES
    embed: str | Embed = "use-multilingual"
    search: str | Searcher = "auto"
    graph_from: int = 200_000
    language: str = "en"

    @property
    def varies(self) -> bool:
        """Whether the chunker takes a size."""
        return self.chunker != WHOLE

    def vectors(self, texts: Sequence[str]) -> Array:
        """The vectors of texts, as the embedding gives them; checked where it is a function."""
        if isinstance(self.embed, str):
            return embedded(texts, self.embed)
        found = np.asarray(self.embed(list(texts)), dtype=np.float32)
        if found.ndim != 2 or len(found) != len(texts) or not np.isfinite(found).all():
            raise errors.BadInput(
                f"embed: {len(texts)} texts gave an array of shape {found.shape}, or numbers that are not finite"
            )
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        unit: Array = np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)
        return unit


class Index(NamedTuple):
    """The chunks of the documents, ready to be searched.

    - ``documents``, ``starts``, ``ends`` ((n,) int arrays): The document of each chunk, and which stretch of it; by
      document, then by place.
    - ``names``: ``DOCUMENT:START-END``.
    - ``vectors`` ((n, d) float32 array)
    - ``how``: ``exact``, ``graph`` or the name of the function that searches.
    """

    documents: Array
    starts: Array
    ends: Array
    texts: list[str]
    names: list[str]
    vectors: Array
    search: Search
    how: str

    @property
    def sizes(self) -> Array:
        """Characters of each chunk."""
        sizes: Array = self.ends - self.starts
        return sizes


class Cutter:
    """Cuts documents into chunks of any size; the sentences of a document are looked for once."""

    def __init__(self, documents: pd.DataFrame, parts: Parts) -> None:
        self.texts, self.parts = documents["text"].tolist(), parts
        given = documents["lang"].tolist() if "lang" in documents else [""] * len(documents)
        self.languages = [lang if _CODE.fullmatch(lang or "") else parts.language for lang in given]
        self._sentences: list[list[Span]] | None = None

    def cut(self, size: int, overlap: int) -> list[list[Span]]:
        """The chunks of each document."""
        chunker = self.parts.chunker
        if chunker == WHOLE:
            return [[_trimmed(text, 0, len(text))] if text.strip() else [] for text in self.texts]
        if callable(chunker):
            pairs = zip(self.texts, self.languages, strict=True)
            return [_checked(text, chunker(text, size, overlap, lang)) for text, lang in pairs]
        if self._sentences is None:
            self._sentences = []
            for text, lang in zip(self.texts, self.languages, strict=True):
                core.progress.at("cutting documents into sentences", len(self._sentences) + 1, len(self.texts))
                self._sentences.append(sentence_spans(text, lang))
        return [packed(text, found, size, overlap) for text, found in zip(self.texts, self._sentences, strict=True)]


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))


def _checked(text: str, spans: Sequence[tuple[int, int]]) -> list[Span]:
    """The spans of a user's own chunker; blank ones are left out."""
    found = [Span(int(start), int(end)) for start, end in spans]
    wrong = [span for span in found if not 0 <= span.start <= span.end <= len(text)]
    if wrong:
        raise errors.BadInput(f"chunker: {tuple(wrong[0])} is not a stretch of a text of {len(text)} characters")
    return [span for span in found if text[span.start : span.end].strip()]


def indexed(documents: pd.DataFrame, cutter: Cutter, size: int, overlap: int) -> Index:
    """The index of documents cut into chunks of one size and overlap."""
    spans = cutter.cut(size, overlap)
    flat = np.array([(i, *span) for i, own in enumerate(spans) for span in own], dtype=np.int64).reshape(-1, 3)
    if not len(flat):
        raise errors.BadInput("the documents have no chunk: the chunker found none")
    texts = [cutter.texts[i][a:b] for i, a, b in flat.tolist()]
    names = documents["doc_id"].tolist()
    vectors = cutter.parts.vectors(texts)
    search, how = _search(vectors, cutter.parts)
    own, starts, ends = flat.T
    named = [f"{names[i]}:{a}-{b}" for i, a, b in flat.tolist()]
    return Index(own, starts, ends, texts, named, vectors, search, how)


def _search(vectors: Array, parts: Parts) -> tuple[Search, str]:
    if callable(parts.search):
        return _own(parts.search(vectors), len(vectors)), f"function:{getattr(parts.search, '__name__', 'search')}"
    if parts.search == "graph" or (parts.search == "auto" and len(vectors) >= parts.graph_from):
        return graph_of(vectors), "graph"
    return lambda queries, k: exact_nearest(vectors, queries, k), "exact"


def _own(search: Search, n: int) -> Search:
    """A user's own search, whose places are checked."""

    def checked(queries: Any, k: int) -> Nearest:
        places, scores = (np.asarray(part) for part in search(queries, k))
        shape = (len(queries), min(k, n))
        if (
            places.shape != shape
            or scores.shape != shape
            or (places.size and not 0 <= places.min() <= places.max() < n)
        ):
            raise errors.BadInput(f"search: places and scores of shape {shape} are needed, places from 0 to {n - 1}")
        return Nearest(places.astype(np.int64), scores.astype(float))

    return checked


def recall_of_search(index: Index, queries: Array, seed: int) -> dict[str, Any]:
    """How many of the nearest a search that is not exact finds: its recall@10 on a sample of queries.

    Returns: ``n_chunks, search, n_queries, recall``; the exact search has recall 1 by definition, and no queries.
    """
    if index.how == "exact":
        return {"n_chunks": len(index.texts), "search": "exact", "n_queries": 0, "recall": 1.0}
    drawn = core.seeds.rng(seed, "search/recall").permutation(len(queries))[:CHECKED_QUERIES]
    k = min(CHECKED_K, len(index.texts))
    asked = queries[np.sort(drawn)]
    found, true = index.search(asked, k), exact_nearest(index.vectors, asked, k)
    recall = recall_against(found, true)
    return {"n_chunks": len(index.texts), "search": index.how, "n_queries": len(drawn), "recall": recall}


class Found(NamedTuple):
    """What a search found for every question.

    - ``places`` ((n, depth) int array): Chunks, the nearest first; −1 where there is none.
    - ``carries`` ((n, depth) bool array): Whether the chunk carries a source of the question.
    - ``first`` ((n_sources,) float array): The rank of the first chunk that carries a source; infinite where none does.
    """

    places: Array
    carries: Array
    first: Array


def judged(index: Index, places: Array, sources: inputs.Sources) -> Found:
    """Which of the chunks that were found carry a source of their question.

    A chunk carries a source where it is of the same document, and shares half of the shorter of the two with its passage.
    """
    carries = np.zeros(places.shape, bool)
    own = places[sources.question]
    same = (index.documents[own] == sources.document[:, None]) & (own >= 0)
    ends = np.minimum(index.ends[own], sources.end[:, None])
    shared = ends - np.maximum(index.starts[own], sources.start[:, None])
    shorter = np.minimum(index.ends[own] - index.starts[own], (sources.end - sources.start)[:, None])
    holds = same & (shared >= CARRIES * shorter) & (shared > 0)
    np.logical_or.at(carries, sources.question, holds)
    depth = places.shape[1]
    first = np.where(holds.any(axis=1), holds.argmax(axis=1) + 1.0, np.inf) if depth else np.full(len(own), np.inf)
    return Found(places, carries, first)


def retrieval_scores(found: Found, sources: inputs.Sources, k: int) -> dict[str, Array]:
    """Hit, reciprocal rank, recall and precision of every question at ``k``; NaN without a source.

    Precision is over the k places that were wanted, as in trec_eval: where there are fewer chunks, the others count 0.
    """
    ranked = rankings_of(found, sources)
    known = ranked.n_relevant > 0
    return {
        "hit_rate": retrieval.hit_rate_at_k(ranked, k),
        "mrr": retrieval.mrr_at_k(ranked, k),
        "recall": retrieval.recall_at_k(ranked, k),
        "precision": np.where(known, found.carries[:, :k].sum(axis=1) / k, np.nan),
    }


def rankings_of(found: Found, sources: inputs.Sources) -> ranking.Rankings:
    """The sources of each question by the rank of the first chunk that carries them, for the metrics of retrieval."""
    n, depth = found.places.shape
    order = np.lexsort((found.first, sources.question))
    every, first = sources.question[order], found.first[order]
    query, rank = every[np.isfinite(first)], first[np.isfinite(first)].astype(np.int64)
    counts = np.bincount(every, minlength=n)
    return ranking.Rankings(
        query=query,
        rank=rank,
        level=rank.astype(float),
        grade=np.ones(len(rank)),
        ranked=np.full(n, depth),
        tied=np.zeros(n, np.int64),
        n_relevant=counts,
        ideal_query=every,
        ideal_rank=np.arange(1, len(every) + 1) - np.repeat(np.cumsum(counts) - counts, counts),
        ideal_grade=np.ones(len(every)),
    )
