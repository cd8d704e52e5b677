"""Similarity of texts by meaning or by words: one interface for every backend.

Every distinct text is embedded once, in sorted order, and kept on disk, so that neither the order of rows nor
repeated strings change a figure or cost anything.  Models compute in batches: a vector that was computed in other company
may differ in its last bit, one that was kept does not.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import regex

from evalbench.core import dry
from evalbench.core.progress import at
from evalbench.core.seeds import keys, uniforms
from evalbench.errors import BadInput, ModelUnavailable
from evalbench.models.accounting import count_embeddings, count_not_kept
from evalbench.models.names import is_model_name, model
from evalbench.models.similarity.encoders import DTYPES, Card, card_of, identity, known_models, load_encoder
from evalbench.models.store.vectors import read_vectors, vector_cache_file, write_vectors
from evalbench.text.words import word_ids

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy.sparse import csr_array

    Floats = npt.NDArray[np.float64]
    Vectors = npt.NDArray[np.float32]

__all__ = [
    "Card",
    "Embedder",
    "ModelUnavailable",
    "card_of",
    "embed",
    "embedder",
    "indexed_similarities",
    "known_models",
    "language_warning",
    "pair_similarities",
    "similarity_matrix",
]

JACCARD = "jaccard"
_TEXTS_PER_CHUNK = 2048
_PAIRS_PER_CHUNK = 1 << 17
_TABLE_PER_PAIR = 4
_MADE_UP = 64  # numbers of a made-up vector where nobody knows how many the model's have


@dataclass(frozen=True)
class Embedder:
    """A similarity backend by name; nothing is loaded before it is first used.

    - ``name``: ``jaccard``, ``use-multilingual``, ``minilm``, ``e5-small``, the name or folder of a
      sentence-transformers model, or an endpoint as in :mod:`evalbench.models.names`.
    - ``dtype``: ``float32``, ``float16`` or ``bfloat16``: what the model computes in.
    - ``cache``: The file of vectors already computed; None keeps nothing.
    """

    name: str
    dtype: str = "float32"
    cache: Path | None = None

    @property
    def card(self) -> Card:
        """Languages, dimension, licence, thresholds."""
        return card_of(self.name)


def embedder(name: str, *, dtype: str = "float32", cache: bool = True) -> Embedder:
    """A similarity backend.

    - ``name``: See :class:`Embedder`.
    - ``cache``: Keep vectors on disk, in ``EVALBENCH_CACHE`` or the user's cache folder.

    Raises ``BadInput`` for an empty name or an unknown ``dtype``. A model that is not there is refused when it is
    first used.
    """
    if not name or name != name.strip():
        raise BadInput(f"{name!r} is not an embedding model; known models: {', '.join(known_models())}")
    if dtype not in DTYPES:
        raise BadInput(f"dtype {dtype!r} is not one of {', '.join(DTYPES)}")
    return Embedder(name, dtype, vector_cache_file() if cache else None)


def embed(texts: Sequence[str], by: str | Embedder) -> Vectors:
    """The unit-length embedding vectors of texts.

    - ``texts``: Any order, repeats are free.

    Returns ((n, d) float32 array): Rows of length 1, so that a dot product is a cosine. A blank text has no meaning to
    embed: its row is 0.

    Raises ``BadInput`` if an entry is not a text, the backend has no vectors (``jaccard``), or its cache is damaged.
    Raises ``ModelUnavailable`` if the model is not there.

    Examples
    --------
    >>> vectors = embed(["a red apple", "ein roter Apfel"], "use-multilingual")
    >>> vectors.shape
    (2, 512)
    """
    by = _backend(by)
    if by.name == JACCARD:
        raise BadInput("jaccard compares word sets and has no vectors: choose an embedding model")
    distinct, index = _distinct(_checked(texts, "texts"))
    table = _embed_distinct(distinct, by)
    return table[index]


def pair_similarities(backend: str | Embedder, left: Sequence[str], right: Sequence[str]) -> Floats:
    """Similarity of each pair ``(left[i], right[i])``.

    ``jaccard``: |A ∩ B| / |A ∪ B| of the sets of lower-cased words, in [0, 1].  Embeddings: the cosine, in [-1, 1].

    - ``left``, ``right``: A million pairs over some thousand distinct texts take about a second; each distinct text and
      each distinct pair is computed once.

    Returns ((n,) float64 array): Exactly 1 for identical texts; 0 where just one of the two is blank or has no words.

    Raises ``BadInput`` for unequal lengths or entries that are not texts.

    Examples
    --------
    >>> pair_similarities("jaccard", ["no health claims", "same"], ["No claims", "same"]).round(3).tolist()
    [0.667, 1.0]
    """
    if len(left) != len(right):
        raise BadInput(f"pairs need equally many texts on both sides: {len(left)} left, {len(right)} right")
    left, right = _checked(left, "left"), _checked(right, "right")
    return indexed_similarities(backend, [*left, *right], np.arange(len(left)), np.arange(len(right)) + len(left))


def indexed_similarities(
    backend: str | Embedder, texts: Sequence[str], left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]
) -> Floats:
    """As :func:`pair_similarities`, for the pairs ``(texts[left[i]], texts[right[i]])``.

    Returns: (n,) float64 array.
    """
    by = _backend(backend)
    distinct, index = _distinct(_checked(texts, "texts"))
    if not len(left):
        return np.zeros(0)
    i, j = index[left], index[right]
    if by.name == JACCARD:
        sets = _word_sets(distinct)
        few = len(distinct) ** 2 <= _TABLE_PER_PAIR * len(left)
        values = _jaccard_matrix(sets, sets)[i, j] if few else _jaccard_pairs(sets, i, j)
    else:  # a cosine is dear enough to look for repeated pairs first
        keys, position = np.unique(np.minimum(i, j) * len(distinct) + np.maximum(i, j), return_inverse=True)
        vectors = _embed_distinct(distinct, by)
        values = _cosine_pairs(vectors, keys // len(distinct), keys % len(distinct))[position]
    values[i == j] = 1.0
    return values


def similarity_matrix(backend: str | Embedder, left: Sequence[str], right: Sequence[str]) -> Floats:
    """Similarity of every text on the left with every one on the right.

    Returns ((n_left, n_right) float64 array): Values as in :func:`pair_similarities`.
    """
    by = _backend(backend)
    left, right = _checked(left, "left"), _checked(right, "right")
    texts, index = _distinct([*left, *right])
    if not texts:
        return np.zeros((len(left), len(right)))
    i, j = index[: len(left)], index[len(left) :]
    if by.name == JACCARD:
        sets = _word_sets(texts)
        values = _jaccard_matrix(sets[i], sets[j])
    else:
        vectors = _embed_distinct(texts, by)
        values = np.clip(vectors[i].astype(np.float64) @ vectors[j].T.astype(np.float64), -1.0, 1.0)
    values[i[:, None] == j] = 1.0
    return values


def _backend(by: str | Embedder) -> Embedder:
    return embedder(by) if isinstance(by, str) else by


def _checked(texts: Sequence[str], what: str) -> list[str]:
    if isinstance(texts, str):
        raise BadInput(f"{what}: a sequence of texts is needed, not one text")
    out = list(texts)
    if all(issubclass(kind, str) for kind in set(map(type, out))):
        return out
    wrong = [i for i, text in enumerate(out) if not isinstance(text, str)]
    if wrong:
        shown = ", ".join(f"{i} ({type(out[i]).__name__})" for i in wrong[:5])
        raise BadInput(f"{what}: {len(wrong)} of {len(out)} entries are not texts, at positions {shown}")
    return out


def _distinct(texts: Sequence[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Distinct texts in order of appearance, and where each text is among them."""
    places: defaultdict[str, int] = defaultdict(itertools.count().__next__)
    index = np.fromiter(map(places.__getitem__, texts), np.int64, len(texts))
    return list(places), index


def _embed_distinct(texts: Sequence[str], by: Embedder) -> Vectors:
    wanted = sorted(text for text in texts if text.strip())  # batches do not depend on the order of rows
    known = read_vectors(by.cache, identity(by.name), by.dtype, wanted) if by.cache else {}
    if known and is_model_name(by.name):
        count_embeddings(model(by.name), cached=len(known))
    missing = [text for text in wanted if text not in known]
    if dry.is_dry():
        if is_model_name(by.name):
            from evalbench.models.similarity.endpoint_embed import note_texts

            note_texts(by.name, missing, len(known))
        size = len(next(iter(known.values()))) if known else by.card.dimension or _MADE_UP
        known |= dict(zip(missing, _made_up(missing, size), strict=True))
        missing = []
    keeps = by.cache is not None
    for start in range(0, len(missing), _TEXTS_PER_CHUNK):
        part = missing[start : start + _TEXTS_PER_CHUNK]
        at(f"embedding with {by.name}", start + len(part), len(missing))
        new = dict(zip(part, load_encoder(by.name, by.dtype)(part), strict=True))
        if by.cache and keeps:
            try:
                write_vectors(by.cache, identity(by.name), by.dtype, new)
            except BadInput as error:  # what is computed is not lost for it
                keeps = False
                count_not_kept(str(error.__cause__ or error), len(missing) - start)
        known.update(new)
    dimension = len(next(iter(known.values()))) if known else by.card.dimension or 1
    blank = np.zeros(dimension, dtype=np.float32)
    return np.stack([known.get(text, blank) for text in texts]) if texts else np.zeros((0, dimension), np.float32)


def _made_up(texts: Sequence[str], size: int) -> Vectors:
    """Vectors of texts that nobody embeds: on a dry run no figure is read."""
    drawn = uniforms(keys(0, "embedding", texts)[:, None], np.arange(size)) - 0.5
    found: Vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return found


def _cosine_pairs(vectors: Vectors, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> Floats:
    out = np.empty(len(a))
    for start in range(0, len(a), _PAIRS_PER_CHUNK >> 4):
        part = slice(start, start + (_PAIRS_PER_CHUNK >> 4))
        out[part] = np.einsum("ij,ij->i", vectors[a[part]], vectors[b[part]])
    return np.clip(out, -1.0, 1.0)


def _word_sets(texts: Sequence[str]) -> csr_array:
    """Texts × vocabulary, 1 where the text has the word."""
    from scipy.sparse import csr_array

    tokens = word_ids(texts, lower=True)
    shape = (len(tokens), max(len(tokens.vocabulary), 1))
    sets = csr_array((np.ones(len(tokens.ids), np.int32), (tokens.rows, tokens.ids)), shape=shape)
    sets.sum_duplicates()
    sets.data[:] = 1
    return sets


def _jaccard_pairs(sets: csr_array, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> Floats:
    sizes = sets.sum(1)
    both = np.empty(len(a))
    for start in range(0, len(a), _PAIRS_PER_CHUNK):
        part = slice(start, start + _PAIRS_PER_CHUNK)
        both[part] = sets[a[part]].multiply(sets[b[part]]).sum(1)
    return _jaccard_of(both, sizes[a], sizes[b])


def _jaccard_matrix(left: csr_array, right: csr_array) -> Floats:
    return _jaccard_of((left @ right.T).toarray(), left.sum(1)[:, None], right.sum(1))


def _jaccard_of(both: npt.NDArray[Any], left: npt.NDArray[Any], right: npt.NDArray[Any]) -> Floats:
    """Two texts without words are told apart by their characters only, so they score 0 unless identical."""
    union = (left + right - both).astype(np.float64)
    shares: Floats = np.divide(both, union, out=np.zeros(union.shape), where=union > 0)
    return shares


_SCRIPTS = {
    "Cyrillic": ({"ru", "uk", "be", "bg", "sr", "mk", "kk", "ky", "mn", "tg"}, "Russian (Cyrillic)"),
    "Han": ({"zh", "ja"}, "Chinese (Han)"),
    "Hiragana": ({"ja"}, "Japanese"),
    "Katakana": ({"ja"}, "Japanese"),
    "Hangul": ({"ko"}, "Korean"),
    "Arabic": ({"ar", "fa", "ur"}, "Arabic"),
    "Hebrew": ({"he"}, "Hebrew"),
    "Greek": ({"el"}, "Greek"),
    "Thai": ({"th"}, "Thai"),
    "Devanagari": ({"hi", "mr", "ne"}, "Hindi (Devanagari)"),
}
_LETTERS_OF = {script: regex.compile(rf"\p{{{script}}}") for script in _SCRIPTS}
_LETTER = regex.compile(r"\p{L}")


def language_warning(card: Card, texts: Sequence[str]) -> str:
    """A sentence for the report where texts are in a script that the model was not made for; else empty.

    A text counts for a script when at least a third of its letters are of it.  Languages that share a script
    (German scored by an English model) are not told apart.

    Examples
    --------
    >>> language_warning(card_of("minilm"), ["Без сахара", "sugar free"])
    'minilm is made for en, but 1 of 2 texts are Russian (Cyrillic): their similarities mean little.'
    """
    if "*" in card.languages:
        return ""
    distinct = sorted({text for text in texts if not text.isascii()})
    foreign: dict[str, int] = {}
    for text in distinct:
        letters = len(_LETTER.findall(text))
        for script, (languages, shown) in _SCRIPTS.items():
            n = len(_LETTERS_OF[script].findall(text))
            if n and 3 * n >= letters and not languages & set(card.languages):
                foreign[shown] = foreign.get(shown, 0) + 1
    if not foreign:
        return ""
    what = " and ".join(foreign)
    if not card.languages:
        return f"It is not known which languages {card.name} is for; {sum(foreign.values())} texts are {what}."
    return (
        f"{card.name} is made for {', '.join(card.languages)}, but {sum(foreign.values())} of {len(set(texts))} texts "
        f"are {what}: their similarities mean little."
    )
