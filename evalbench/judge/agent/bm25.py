"""Search by words: BM25 over an inverted index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evalbench.text.words import words

K1, B = 1.2, 0.75


class Bm25:
    """An index of texts by their words.

    score = Σ idf · f (k₁ + 1) / (f + k₁ (1 − b + b · length / mean length)), idf = ln(1 + (N − n + ½) / (n + ½)).

    References
    ----------
    Robertson & Zaragoza (2009), The Probabilistic Relevance Framework: BM25 and Beyond, section 3.

    Examples
    --------
    >>> Bm25(["The desk opens at nine.", "Coffee is free."]).best("when does the desk open", 1)
    [0]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._n = len(texts)
        places: dict[str, dict[int, int]] = {}
        self._lengths = np.zeros(self._n)
        for place, text in enumerate(texts):
            terms = _terms(text)
            self._lengths[place] = len(terms)
            for term in terms:
                counts = places.setdefault(term, {})
                counts[place] = counts.get(place, 0) + 1
        self._found = {
            term: (np.fromiter(counts.keys(), int, len(counts)), np.fromiter(counts.values(), float, len(counts)))
            for term, counts in places.items()
        }

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        """The score of every text, 0 where it shares no word with the query."""
        out = np.zeros(self._n)
        mean = self._lengths.mean() if self._n else 1.0
        for term in dict.fromkeys(_terms(query)):
            if term in self._found:
                at, counts = self._found[term]
                idf = np.log1p((self._n - len(at) + 0.5) / (len(at) + 0.5))
                longer = 1 - B + B * self._lengths[at] / mean
                out[at] += idf * counts * (K1 + 1) / (counts + K1 * longer)
        return out

    def best(self, query: str, k: int) -> list[int]:
        """The places of the best texts, best first; none that shares no word with the query."""
        scores = self.scores(query)
        order = np.argsort(-scores, kind="stable")[:k]
        return [int(place) for place in order if scores[place] > 0]


def _terms(text: str) -> list[str]:
    return words(text, lower=True)
