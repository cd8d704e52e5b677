"""How much of one text is found again in another: folded words, their weights, numbers and negations."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from evalbench.core.arrays import Floats
from evalbench.text.number_words import number_words
from evalbench.text.numbers import find_numbers
from evalbench.text.stopwords import NEGATIONS, stop_words
from evalbench.text.words import words

FUNCTION_WORD_WEIGHT = 0.1
FULL_WEIGHT_LETTERS = 6
SAME_WORD = 0.88

_COMBINING = re.compile("[\u0300-\u036f]")
_HAN = re.compile("[\u3400-\u9fff]")


@functools.cache
def function_words() -> frozenset[str]:
    """Words that carry grammar rather than content, of English, Russian and Chinese."""
    return frozenset(fold(word) for code in ("en", "ru", "zh") for word in stop_words(code)) - NEGATIONS


def fold(text: str) -> str:
    """Case and accents away."""
    bare = _COMBINING.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare)


@functools.lru_cache(maxsize=1 << 16)
def terms(text: str) -> tuple[str, ...]:
    """Folded words of a text, in order; a number word becomes its numeral."""
    return tuple(_numeral(word) for word in words(fold(text)))


@functools.lru_cache(maxsize=1 << 16)
def _numeral(word: str) -> str:
    read = number_words(word) if word.isalpha() else frozenset()
    return str(next(iter(read))) if len(read) == 1 else word


@functools.lru_cache(maxsize=1 << 16)
def values(text: str) -> frozenset[Fraction]:
    """Every value that the numbers of a text may stand for, in digits or in words."""
    return frozenset(v for n in find_numbers(text) for v in n.readings()) | number_words(text)


def gives_new_number(claim: str, passage: str) -> bool:
    """Whether a claim gives a number that its passage gives in no reading; of number words, whether it gives none."""
    known, spelled = values(passage), number_words(claim)
    written = any(not n.readings() & known for n in find_numbers(claim))
    return written or bool(spelled and not spelled & known)


@functools.lru_cache(maxsize=1 << 16)
def weight(term: str) -> float:
    """How much a word says: numbers and long words most, function words least, without any corpus."""
    if term in function_words():
        return FUNCTION_WORD_WEIGHT
    if term[0].isdigit() or _HAN.match(term):
        return 1.0
    return min(len(term), FULL_WEIGHT_LETTERS) / FULL_WEIGHT_LETTERS


def match_matrix(left: Sequence[str], right: Sequence[str]) -> Floats:
    """How far words are the same word: 1 for equal ones, Jaro–Winkler similarity for close spellings, else 0.

    Words with a digit, and words of fewer than four letters, are the same only when equal.

    Returns
    -------
    (n_left, n_right) float64 array
    """
    from rapidfuzz import distance, process

    if not left or not right:
        return np.zeros((len(left), len(right)))
    similar = process.cdist(
        left, right, scorer=distance.JaroWinkler.normalized_similarity, score_cutoff=SAME_WORD, dtype=np.float64
    )
    strict_left = np.array([_only_exact(t) for t in left])
    strict_right = np.array([_only_exact(t) for t in right])
    similar[(strict_left[:, None] | strict_right) & (similar < 1.0)] = 0.0
    return similar


@functools.lru_cache(maxsize=1 << 16)
def _only_exact(term: str) -> bool:
    return len(term) < 4 or any(c.isdigit() for c in term)


def coverage(claim: Sequence[str], pool: Sequence[str]) -> float:
    """Weighted share of the claim's words that the pool holds, 0–1; 0 for an empty claim."""
    if not claim or not pool:
        return 0.0
    weights = np.array([weight(t) for t in claim])
    return float(match_matrix(claim, pool).max(axis=1) @ weights / weights.sum())


@functools.lru_cache(maxsize=1 << 16)
def denied_words(text: str) -> frozenset[str]:
    """What a text denies: the first content word after each negation; ``""`` for a negation that stands alone."""
    out, open_negation = set(), False
    for term in terms(text):
        if term in NEGATIONS or term.endswith(("n't", "n’t")):
            open_negation = True
        elif open_negation and term not in function_words():
            out.add(term)
            open_negation = False
    return frozenset(out | {""} if open_negation else out)


def denials_differ(left: str, right: str) -> bool:
    """Whether one text denies a word that the other affirms, or just one is a bare no."""
    a, b = denied_words(left), denied_words(right)
    if ("" in a) != ("" in b):
        return True
    return _affirms(terms(right), a, b) or _affirms(terms(left), b, a)


def _affirms(own: Sequence[str], denied_there: frozenset[str], denied_here: frozenset[str]) -> bool:
    """Whether a text says a word that the other denies, and does not deny it itself."""
    there, here = sorted(denied_there - {""}), sorted(denied_here - {""})
    said = match_matrix(there, own).any(axis=1)
    denied = match_matrix(there, here).any(axis=1)
    return bool((said & ~denied).any())
