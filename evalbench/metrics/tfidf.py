"""TF-IDF of texts in any language: words as Unicode cuts them, runs of characters, and the shapes of what holds a digit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalbench.core.arrays import Ints
from evalbench.text.words import token_ids, words

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_CHARACTERS, MAX_FEATURES = 2000, 20_000
"""Characters from the start of each text; features of a kind, the most frequent ones."""
WORD, SHAPE, CHARACTERS = "word", "shape", "characters"
_RUNS = (2, 3, 4)
_LEAST_ROWS = 2
_BLANKS = re.compile(r"\s+")
_DIGIT = re.compile(r"\d")


class TextFeatures(NamedTuple):
    """TF-IDF of texts.

    Attributes
    ----------
    matrix : (n, k) csr_matrix
        Words and shapes, then characters; either part of a row has length 1, or 0 where the text has none of it.
    kinds : tuple of str
        ``word``; ``shape``, what is between blanks and holds a digit, every digit as 0; ``characters``, 2 to 4 in a row.
    """

    matrix: csr_matrix
    names: tuple[str, ...]
    kinds: tuple[str, ...]


def text_features(texts: Sequence[str]) -> TextFeatures:
    """TF-IDF of the words, shapes and characters of texts; features of a single text are left out.

    tf = 1 + ln count, idf = 1 + ln((1 + n) / (1 + texts that have it)); of each text the first :data:`MAX_CHARACTERS`.

    References
    ----------
    Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval, section 6.4.

    Examples
    --------
    >>> found = text_features(["see T-17", "see T-23"])
    >>> [name for name, kind in zip(found.names, found.kinds) if kind != "characters"]
    ['see', 't', 't-00']
    """
    from scipy.sparse import hstack

    plain = [_plain(text) for text in texts]
    cut = token_ids(plain, _words_and_shapes)
    by_words, kept = _counted(cut.rows, cut.ids, len(plain))
    known = [cut.vocabulary[i] for i in kept]
    runs, names = _characters(plain)
    parts = [_weighted(part) for part in (by_words, runs)]
    kinds = [SHAPE if name.startswith("\0") else WORD for name in known] + [CHARACTERS] * len(names)
    return TextFeatures(
        hstack(parts, format="csr"), tuple([name.removeprefix("\0") for name in known] + names), tuple(kinds)
    )


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text[:MAX_CHARACTERS].lower()).replace("\0", " ")).strip()


def _words_and_shapes(text: str) -> list[str]:
    shapes = ["\0" + _DIGIT.sub("0", run) for run in text.split() if _DIGIT.search(run) and not run.isdecimal()]
    return words(text) + shapes


def _counted(rows: Ints, ids: Ints, n_rows: int) -> tuple[csr_matrix, Ints]:
    """Counts of the features that more than one row has, and which those are."""
    from scipy.sparse import csr_matrix

    width = int(ids.max()) + 1 if len(ids) else 0
    counts = csr_matrix((np.ones(len(ids)), (rows, ids)), shape=(n_rows, width))
    counts.sum_duplicates()
    having = np.bincount(counts.indices, minlength=width)
    kept = np.flatnonzero(having >= _LEAST_ROWS)
    kept = np.sort(kept[np.argsort(-having[kept], kind="stable")[:MAX_FEATURES]])
    return counts[:, kept], kept


def _characters(texts: Sequence[str]) -> tuple[csr_matrix, list[str]]:
    """Counts of runs of 2 to 4 characters; a blank stands before and after each text."""
    from scipy.sparse import hstack

    padded = [f" {text} " if text else "" for text in texts]
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), "<u4")
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in padded])
    alphabet, letter = np.unique(codes, return_inverse=True)
    size = max(1, len(alphabet))
    counts, names = [], []
    number = letter.astype(np.int64)
    for n in range(2, max(_RUNS) + 1):
        number = number[:-1] * size + letter[n - 1 :]
        within = rows[: len(number)] == rows[n - 1 :]
        found, ids = np.unique(number[within], return_inverse=True)
        part, kept = _counted(rows[: len(number)][within], ids, len(texts))
        counts.append(part)
        digits = found[kept][:, None] // size ** np.arange(n - 1, -1, -1) % size
        names += ["".join(map(chr, row)) for row in alphabet[digits].tolist()]
    return hstack(counts, format="csr"), names


def _weighted(counts: csr_matrix) -> csr_matrix:
    weighted = counts.astype(float)
    n, width = weighted.shape
    having = np.bincount(weighted.indices, minlength=width)
    idf = 1 + np.log((1 + n) / (1 + having))
    weighted.data = (1 + np.log(weighted.data)) * idf[weighted.indices]
    length = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    weighted.data /= np.repeat(np.maximum(length, 1e-12), np.diff(weighted.indptr))
    return weighted
