"""What texts look like, in any language: tokens, characters, stop-words and new tokens of two samples, no model needed."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Bools, Floats, Ints
from evalbench.core.seeds import keys
from evalbench.errors import BadInput
from evalbench.text.stopwords import stop_words
from evalbench.text.words import TokenIds, token_ids, words

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

N_FREQUENT = 100
"""How many of the most frequent tokens replace a list of stop-words."""
HALVINGS = 8
"""In how many ways the reference is cut in two."""
NAMED = 20
_LOWER = functools.partial(words, lower=True)


@dataclass(frozen=True)
class NewTokens:
    """Tokens that the reference does not have, beside what a half of the reference lacks of the other.

    Attributes
    ----------
    share : float
        Of the current texts' tokens, each occurrence counted, those that no reference text has; NaN without a token on either side.
    expected : float
        The same share between two halves of the reference, the mean of both directions and of :data:`HALVINGS` ways to cut it;
        NaN for fewer than two reference rows with tokens.
    increase : float
        ``share − expected``, −1 … 1.  Without drift it is a little below 0: a half has fewer tokens to find than the whole.
    ratio : float
        ``share / expected``; NaN where ``expected`` is 0.
    examples : tuple of (str, int)
        The most frequent new tokens and how often they occur, at most :data:`NAMED`.
    """

    share: float
    expected: float
    increase: float
    ratio: float
    examples: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class StopWords:
    """Which tokens count as stop-words, and where they come from.

    Attributes
    ----------
    source : str
        In words, for the page.
    """

    words: frozenset[str] = field(repr=False)
    source: str


@dataclass(frozen=True)
class TextStatistics:
    """What each row's text looks like; a row without text has NaN everywhere and no token.

    Attributes
    ----------
    n_tokens, n_characters : (n,) arrays of float
        Whole numbers; an empty text has 0.
    stop_share : (n,) array of float
        Stop-words by tokens, 0 … 1; NaN for a text without a token.
    n_new : (n,) array of float
        Tokens that no reference text has; NaN for reference rows.
    counts : (n, k) sparse matrix of float
        How often each row has each token, for :func:`evalbench.core.psi.psi_of_counts`.
    vocabulary : tuple of str
        The k tokens, sorted.
    """

    n_tokens: Floats
    n_characters: Floats
    stop_share: Floats
    n_new: Floats
    counts: csr_matrix = field(repr=False)
    vocabulary: tuple[str, ...] = field(repr=False)
    stop_words: StopWords
    new: NewTokens


def text_statistics(
    texts: Sequence[str | None],
    current: npt.ArrayLike,
    ids: Sequence[str],
    *,
    languages: Sequence[str] = (),
    stop: StopWords | None = None,
    seed: int = 0,
) -> TextStatistics:
    """Tokens, characters, stop-words and new tokens of texts in any language.

    Parameters
    ----------
    texts : (n,) sequence of str or None
        None (or NaN): no text.
    current : (n,) array of bool
        Which rows are current; the others are the reference.
    ids : (n,) sequence of str
        Decide which half of the reference a row is in, so that the order of rows changes nothing.
    languages : sequence of str
        ISO 639-1 codes whose lists of stop-words count together; none: the :data:`N_FREQUENT` most frequent tokens of both sides.
    stop : StopWords, optional
        Instead of ``languages``.

    Raises
    ------
    BadInput
        For columns of different lengths, cells that are not texts, a language without a list.

    Notes
    -----
    Tokens are the lower-cased words of :func:`evalbench.text.words.words`: segments of UAX #29 with a letter or a digit, in
    scripts written without spaces one character each.

    Examples
    --------
    >>> found = text_statistics(["where is my order", "我的订单", None, "where is my refund"], [False, False, False, True], "abcd")
    >>> found.n_tokens.tolist(), found.n_characters.tolist()
    ([4.0, 4.0, nan, 4.0], [17.0, 4.0, nan, 18.0])
    >>> found.new.share, found.new.examples
    (0.25, (('refund', 1),))
    """
    side = np.asarray(current, dtype=bool)
    if not len(texts) == len(side) == len(ids):
        raise BadInput(f"{len(texts)} texts, {len(side)} sides and {len(ids)} ids: one of each is needed for a row")
    plain, known = present(texts)
    tokens = sorted_tokens(plain)
    rows, k = tokens.rows, len(tokens.vocabulary)
    reference = np.bincount(tokens.ids[~side[rows]], minlength=k)
    now = np.bincount(tokens.ids[side[rows]], minlength=k)
    stop = stop or stop_words_of(tokens.vocabulary, reference + now, languages)
    lengths = tokens.lengths.astype(float)
    stopping = per_row(tokens, is_stop(tokens.vocabulary, stop))
    fresh = reference == 0
    halves = halves_seen(tokens, keys(seed, "halves", ids), ~side)
    return TextStatistics(
        n_tokens=np.where(known, lengths, np.nan),
        n_characters=np.where(known, np.fromiter(map(len, plain), float, len(plain)), np.nan),
        stop_share=np.divide(stopping, lengths, out=np.full(len(side), np.nan), where=lengths > 0),
        n_new=np.where(side & known, per_row(tokens, fresh), np.nan),
        counts=_matrix(tokens),
        vocabulary=tokens.vocabulary,
        stop_words=stop,
        new=new_tokens(
            reference, now, halves, _most_frequent(tokens.vocabulary, np.where(fresh & reference.any(), now, 0))
        ),
    )


def present(texts: Sequence[str | None]) -> tuple[list[str], Bools]:
    """Texts with ``""`` where there is none, and which there are.

    Raises
    ------
    BadInput
        For cells that are neither a text nor null.
    """
    column = list(texts)
    if set(map(type, column)) <= {str}:
        return column, np.ones(len(column), dtype=bool)  # type: ignore[return-value]
    known = np.fromiter((isinstance(text, str) for text in column), bool, len(column))
    wrong = [i for i in np.flatnonzero(~known) if not _absent(column[i])]
    if wrong:
        shown = ", ".join(f"row {i}: {column[i]!r}" for i in wrong[:5])
        raise BadInput(f"texts: {len(wrong)} of {len(column)} are not text ({shown})")
    return [text if isinstance(text, str) else "" for text in column], known


def _absent(value: object) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def sorted_tokens(texts: list[str]) -> TokenIds:
    """Lower-cased words of many texts; the vocabulary is sorted, so that the order of texts changes no sum.

    Examples
    --------
    >>> found = sorted_tokens(["b a", "我 b"])
    >>> found.vocabulary, found.ids.tolist()
    (('a', 'b', '我'), [1, 0, 2, 1])
    """
    found = token_ids(texts, _LOWER, between_blanks=True)
    order = sorted(range(len(found.vocabulary)), key=found.vocabulary.__getitem__)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return TokenIds(place[found.ids], found.offsets, tuple(found.vocabulary[i] for i in order))


def stop_words_of(vocabulary: Sequence[str], counts: Ints, languages: Sequence[str] = ()) -> StopWords:
    """Listed stop-words of some languages, or the most frequent tokens (of equal ones the first by code point).

    Where they are to be compared between two sides, the counts are of both: chosen on one side, tokens that are frequent there by
    chance would make the other side's share lower without any drift.

    Parameters
    ----------
    vocabulary : sequence of str
        Sorted.
    counts : (k,) array of int
        How often each occurs.

    Raises
    ------
    BadInput
        For a language without a list.

    Examples
    --------
    >>> stop_words_of(["cat", "the"], np.array([1, 5]), ["en"]).source
    'lists of stop-words: en'
    >>> stop_words_of(["cat", "the"], np.array([1, 5])).source
    'the 2 most frequent tokens'
    """
    if languages:
        listed = frozenset[str]().union(*(stop_words(code) for code in languages))
        return StopWords(listed, f"lists of stop-words: {', '.join(languages)}")
    most = frozenset(token for token, _ in _most_frequent(vocabulary, counts, N_FREQUENT))
    return StopWords(most, f"the {len(most)} most frequent tokens")


def is_stop(vocabulary: Sequence[str], stop: StopWords) -> Bools:
    """Which tokens are stop-words, ``(k,)``."""
    return np.fromiter(map(stop.words.__contains__, vocabulary), bool, len(vocabulary))


def per_row(tokens: TokenIds, which: Bools) -> Floats:
    """How many of each text's tokens are among some of the vocabulary, ``(n,)``."""
    return np.diff(np.concatenate([[0], np.cumsum(which[tokens.ids])])[tokens.offsets]).astype(float)


def halves_seen(tokens: TokenIds, row_keys: npt.NDArray[np.uint64], reference: Bools) -> npt.NDArray[np.uint16]:
    """In which halves of the reference each token occurs.

    Parameters
    ----------
    row_keys : (n,) uint64 array
        Bit i is the half of the row in cut i.
    reference : (n,) array of bool
        The others are left out.

    Returns
    -------
    (k,) uint16 array
        Bit 2i: in the first half of cut i; bit 2i + 1: in the second.
    """
    taken = reference[tokens.rows]
    ids, key = tokens.ids[taken], row_keys[tokens.rows[taken]]
    seen = np.zeros(len(tokens.vocabulary), dtype=np.uint16)
    for cut in range(HALVINGS):
        second = (key >> np.uint64(cut)) & np.uint64(1) == 1
        for half, own in enumerate((ids[~second], ids[second])):
            there = np.zeros(len(seen), dtype=bool)
            there[own] = True
            seen |= there.astype(np.uint16) << np.uint16(2 * cut + half)
    return seen


def new_tokens(
    reference: npt.ArrayLike,
    current: npt.ArrayLike,
    halves: npt.NDArray[np.uint16],
    examples: Sequence[tuple[str, int]] = (),
    weights: npt.ArrayLike = 1.0,
    totals: tuple[float, float] | None = None,
) -> NewTokens:
    """The share of new tokens from counts of the vocabulary.

    Parameters
    ----------
    reference, current : (k,) arrays
        How often each side has each token.
    halves : (k,) uint16 array
        Of :func:`halves_seen`.
    examples : sequence of (str, int)
        Passed on.
    weights : (k,) array of float
        How many tokens of the vocabulary each stands for, where only some of them were counted.
    totals : (float, float), optional
        Tokens of both sides; by default the sums of the counts.

    Examples
    --------
    >>> seen = np.array([3, 3, 1, 0], dtype=np.uint16)  # one cut: two tokens in both halves, one only in the first
    >>> found = new_tokens([2, 2, 1, 0], [1, 0, 0, 1], seen)
    >>> found.share, round(found.expected, 3)
    (0.5, 0.2)
    """
    before, now = np.asarray(reference, dtype=float), np.asarray(current, dtype=float)
    weight = np.broadcast_to(np.asarray(weights, dtype=float), before.shape)
    n_before, n_now = totals or (float((before * weight).sum()), float((now * weight).sum()))
    share = float((now * weight)[before == 0].sum()) / n_now if n_before and n_now else math.nan
    lacking = []
    for cut in range(HALVINGS):
        pair = (halves >> np.uint16(2 * cut)) & np.uint16(3)
        if (pair & 1).any() and (pair & 2).any():
            lacking.append(float((before * weight)[(pair == 1) | (pair == 2)].sum()) / n_before)
    expected = float(np.mean(lacking)) if lacking else math.nan
    ratio = share / expected if expected else math.nan
    return NewTokens(share, expected, share - expected, ratio, tuple(examples))


def _most_frequent(vocabulary: Sequence[str], counts: Ints, most: int = NAMED) -> list[tuple[str, int]]:
    order = np.argsort(-counts, kind="stable")[:most]
    return [(vocabulary[i], int(counts[i])) for i in order if counts[i]]


def _matrix(tokens: TokenIds) -> csr_matrix:
    from scipy.sparse import csr_matrix

    ones = np.ones(len(tokens.ids))
    rows = csr_matrix((ones, tokens.ids, tokens.offsets), shape=(len(tokens), len(tokens.vocabulary)))
    rows.sum_duplicates()
    return rows
