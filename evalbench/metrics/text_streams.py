"""The statistics of :mod:`evalbench.metrics.text_statistics` from batches: parts are counted apart and joined, in any order.

Numbers of each row become histograms, tokens a tally of hashes; memory depends on neither the number of rows nor their order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Bools, Ints
from evalbench.core.psi import EPSILON, N_BINS, Psi
from evalbench.core.tallies import NOTHING, Histogram, Tally, histogram, psi_of_histogram, together
from evalbench.metrics.text_statistics import (
    HALVINGS,
    NAMED,
    NewTokens,
    StopWords,
    is_stop,
    sorted_tokens,
    stop_words_of,
)
from evalbench.text.words import TokenIds, cut_at_blanks, token_ids, word_ids, words

if TYPE_CHECKING:
    import pyarrow as pa

MOST_TOKENS = 2_000_000
"""Distinct tokens that are counted one by one beside those of the sample."""
NUMBERS = ("n_tokens", "n_characters", "stop_share")


@dataclass(frozen=True)
class Known:
    """What a sample of the rows settles before all are counted.

    Attributes
    ----------
    keys : (k,) array of uint64
        Of the sample's tokens: these are always counted.
    tokens : tuple of str
        The sample's tokens, sorted; named where they are new.
    """

    stop: StopWords
    keys: npt.NDArray[np.uint64] = field(repr=False)
    tokens: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True)
class Vocabulary:
    """How much of the vocabulary was counted.

    Attributes
    ----------
    counted : int
        Distinct tokens with a count of their own.
    distinct : float
        How many there are, estimated where some were left out.
    one_in : int
        Of the tokens that the sample does not have one in so many was counted, by its hash; 1: all.
    left_out : float
        Share of all tokens, each occurrence counted, that have no count of their own.
    psi_error, increase_error : float
        Standard errors, from what was left out, of the index of token frequencies and of the increase of new tokens.
    """

    counted: int
    distinct: float
    one_in: int
    left_out: float
    psi_error: float
    increase_error: float


@dataclass(frozen=True)
class StreamedStatistics:
    """The statistics of all rows.

    Attributes
    ----------
    rows, texts, tokens : (int, int)
        Of the reference and the current side; texts are rows that have one.
    psi : mapping of str to Psi
        Of :data:`NUMBERS` and ``"tokens"``, without a null; the index of tokens without its counts.
    histograms : mapping of str to Histogram
    new : NewTokens
        Its examples are tokens of the sample.
    """

    rows: tuple[int, int]
    texts: tuple[int, int]
    tokens: tuple[int, int]
    psi: Mapping[str, Psi]
    histograms: Mapping[str, Histogram] = field(repr=False)
    new: NewTokens
    stop_words: StopWords
    vocabulary: Vocabulary


def known_from(texts: Sequence[str], languages: Sequence[str] = ()) -> Known:
    """Stop-words, and the tokens that are always counted, from a sample of both sides.

    Examples
    --------
    >>> known = known_from(["the cat", "a dog"])
    >>> known.tokens, known.stop.source
    (('a', 'cat', 'dog', 'the'), 'the 4 most frequent tokens')
    """
    tokens = sorted_tokens(list(texts))
    counts = np.bincount(tokens.ids, minlength=len(tokens.vocabulary))
    return Known(stop_words_of(tokens.vocabulary, counts, languages), hashes(tokens.vocabulary), tokens.vocabulary)


def hashes(tokens: Sequence[str]) -> npt.NDArray[np.uint64]:
    """A number of 64 bits for each token, the same in every process."""
    import pandas as pd

    return np.asarray(pd.util.hash_array(np.array([*tokens, ""], dtype=object)[:-1], categorize=False), dtype=np.uint64)


class TextCounts:
    """What is counted of one column of texts.

    Parameters
    ----------
    most : int
        See :data:`MOST_TOKENS`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> current = np.array([False, False, True])
    >>> counts = TextCounts(known_from(["where is it", "it is here", "refund it"]))
    >>> counts.add(pa.array(["where is it", "it is here", "refund it"]), current, np.arange(3, dtype=np.uint64))
    >>> found = counts.statistics()
    >>> found.tokens, found.new.share, found.new.examples
    ((6, 2), 0.5, (('refund', 1),))
    """

    def __init__(self, known: Known, most: int = MOST_TOKENS) -> None:
        self.known = known
        self.tally = Tally(known.keys, most)
        self.numbers: dict[str, Histogram] = dict.fromkeys(NUMBERS, NOTHING)
        self.rows, self.texts, self.tokens = (np.zeros(2, dtype=np.int64) for _ in range(3))
        self.halves = 0

    def add(self, texts: pa.Array, current: Bools, row_keys: npt.NDArray[np.uint64]) -> None:
        """Count a batch of rows.

        Parameters
        ----------
        texts : (n,) Arrow array of strings
            Null: no text.
        current : (n,) array of bool
        row_keys : (n,) array of uint64
            :func:`evalbench.core.seeds.keys` of the rows' ids for ``"halves"``.
        """
        import pyarrow.compute as pc

        present = texts.is_valid().to_numpy(zero_copy_only=False)
        runs = cut_at_blanks(texts.fill_null(""))
        parts = _tokens_of_runs(runs.vocabulary)
        each = _sums(runs, parts.lengths)
        stopping = _sums(runs, _sums(parts, is_stop(parts.vocabulary, self.known.stop)))
        with np.errstate(invalid="ignore", divide="ignore"):
            found = {
                "n_tokens": each.astype(float),
                "n_characters": pc.utf8_length(texts.fill_null("")).to_numpy().astype(float),
                "stop_share": stopping / each,
            }
        for name, values in found.items():
            own = histogram(np.where(present, values, np.nan), current)
            self.numbers[name] = together([self.numbers[name], own])
        self.rows += _by_side(np.ones(len(current)), current)
        self.texts += _by_side(present, current)
        self.tokens += _by_side(each, current)
        self._count(runs, parts, current, row_keys)

    def join(self, other: TextCounts) -> None:
        """Add what was counted of other rows, with the same ``known`` and ``most``."""
        self.tally.join(other.tally)
        for name, own in other.numbers.items():
            self.numbers[name] = together([self.numbers[name], own])
        self.rows, self.texts, self.tokens = (
            self.rows + other.rows,
            self.texts + other.texts,
            self.tokens + other.tokens,
        )
        self.halves |= other.halves

    def statistics(self, *, n_bins: int = N_BINS, epsilon: float = EPSILON) -> StreamedStatistics:
        """The statistics of all that was counted."""
        tally = self.tally
        index = {name: psi_of_histogram(self.numbers[name], n_bins=n_bins, epsilon=epsilon) for name in NUMBERS}
        n_before, n_now = map(int, self.tokens)
        before, now = tally.counts.T.astype(float)
        value, psi_error = math.nan, math.nan
        if n_before and n_now:
            p, q = np.maximum(before / n_before, epsilon), np.maximum(now / n_now, epsilon)
            value, psi_error = tally.total((q - p) * np.log(q / p))
        index["tokens"] = Psi(value, epsilon=epsilon)
        new, increase_error = self._new(before, now)
        counted = float(before.sum() + now.sum())
        every = float(n_before + n_now)
        vocabulary = Vocabulary(
            counted=len(tally.keys),
            distinct=float(tally.weights.sum()),
            one_in=2**tally.level,
            left_out=1 - counted / every if every else 0.0,
            psi_error=psi_error,
            increase_error=increase_error,
        )
        rows, texts, tokens = ((int(a), int(b)) for a, b in (self.rows, self.texts, self.tokens))
        return StreamedStatistics(rows, texts, tokens, index, self.numbers, new, self.known.stop, vocabulary)

    def _new(self, before: npt.NDArray[np.float64], now: npt.NDArray[np.float64]) -> tuple[NewTokens, float]:
        n_before, n_now = map(int, self.tokens)
        fresh = np.where(before == 0, now, 0) / (n_now or math.nan) if n_before else np.full(len(now), math.nan)
        cuts = [cut for cut in range(HALVINGS) if (self.halves >> 2 * cut) & 3 == 3]
        lacking = np.zeros(len(before))
        for cut in cuts:
            pair = (self.tally.marks >> np.uint16(2 * cut)) & np.uint16(3)
            lacking += np.where((pair == 1) | (pair == 2), before, 0) / n_before / len(cuts)
        share = self.tally.total(fresh)[0] if n_before and n_now else math.nan
        expected = self.tally.total(lacking)[0] if cuts else math.nan
        increase, error = self.tally.total(fresh - lacking) if cuts and n_now else (math.nan, math.nan)
        ratio = share / expected if expected else math.nan
        return NewTokens(share, expected, share - expected if cuts else increase, ratio, self._examples()), error

    def _examples(self) -> tuple[tuple[str, int], ...]:
        """The most frequent new tokens among those of the sample."""
        keys, counts = self.tally.keys, self.tally.counts
        if not len(keys) or not self.tokens[0]:
            return ()
        at = np.minimum(np.searchsorted(keys, self.known.keys), len(keys) - 1)
        own = np.where((keys[at] == self.known.keys) & (counts[at, 0] == 0), counts[at, 1], 0)
        order = np.argsort(-own, kind="stable")[:NAMED]
        return tuple((self.known.tokens[i], int(own[i])) for i in order if own[i])

    def _count(self, runs: TokenIds, parts: TokenIds, current: Bools, row_keys: npt.NDArray[np.uint64]) -> None:
        """Tokens by side, and the halves of the reference that have them: of distinct runs first, each of which has some tokens."""
        n_runs, n_tokens = len(runs.vocabulary), len(parts.vocabulary)
        side = np.repeat(current, runs.lengths)
        of_runs = np.bincount(2 * runs.ids + side, minlength=2 * n_runs).reshape(-1, 2)
        owners = parts.rows
        counts = np.column_stack(
            [np.bincount(parts.ids, weights=of_runs[owners, i], minlength=n_tokens) for i in (0, 1)]
        ).astype(np.int64)
        low = np.repeat(row_keys.astype(np.uint8), runs.lengths)[~side]
        ids = runs.ids[~side]
        marks = np.zeros(n_tokens, dtype=np.uint16)
        for cut in range(HALVINGS):
            second = (low >> np.uint8(cut)) & np.uint8(1) == 1
            for half, own in enumerate((ids[~second], ids[second])):
                run_there = np.zeros(n_runs, dtype=bool)
                run_there[own] = True
                there = np.zeros(n_tokens, dtype=bool)
                there[parts.ids[run_there[owners]]] = True
                marks |= there.astype(np.uint16) << np.uint16(2 * cut + half)
        self.halves |= int(np.bitwise_or.reduce(marks)) if n_tokens else 0
        key = hashes(parts.vocabulary)
        order = np.argsort(key, kind="stable")
        self.tally.add(key[order], counts[order], marks[order])


@functools.lru_cache(maxsize=1 << 17)
def _kept_words(run: str) -> list[str]:
    return words(run, lower=True)


def _tokens_of_runs(runs: Sequence[str]) -> TokenIds:
    """As ``token_ids(runs, lower-cased words)``, those in ASCII at once."""
    ascii = np.fromiter((run.isascii() for run in runs), bool, len(runs))
    plain = word_ids([run for run in runs if run.isascii()], lower=True) if ascii.any() else token_ids(())
    others = token_ids((run for run in runs if not run.isascii()), _kept_words)
    index = {token: i for i, token in enumerate(plain.vocabulary)}
    place = np.fromiter((index.setdefault(t, len(index)) for t in others.vocabulary), np.int64, len(others.vocabulary))
    lengths = np.zeros(len(runs), dtype=np.int64)
    lengths[ascii], lengths[~ascii] = plain.lengths, others.lengths
    of_plain = np.repeat(ascii, lengths)
    ids = np.empty(len(of_plain), dtype=np.int64)
    ids[of_plain] = plain.ids
    ids[~of_plain] = place[others.ids]
    return TokenIds(ids, np.concatenate([[0], np.cumsum(lengths)]), tuple(index))


def _sums(parts: TokenIds, which: Bools | Ints) -> Ints:
    return np.asarray(np.diff(np.concatenate([[0], np.cumsum(which[parts.ids])])[parts.offsets]), dtype=np.int64)


def _by_side(values: npt.ArrayLike, current: Bools) -> Ints:
    return np.bincount(current.astype(np.int64), weights=np.asarray(values, dtype=float), minlength=2).astype(np.int64)
