"""Numbers, identifiers and names of a message that nothing before it holds."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal, NamedTuple

import regex as re

from evalbench.text.numbers import find_numbers

Kind = Literal["number", "id", "name"]
LONGEST = 20_000
"""So many characters of a text are looked at."""
_COUNTS = 10
"""Smaller whole numbers count things and number lists: they are not looked at."""
_TOKEN = re.compile(r"[\w@](?:[\w@.\-/#]*[\w@])?")
_UNIT = re.compile(r"\d[\d.,]*[^\W\d_]{1,3}")  # 20th, 9am, 5kg: a number and its unit
_ID = re.compile(r"(?=[^\d]*\d)(?=.*[^\W\d_]).{4,}", re.DOTALL)
_NAMES = re.compile(r"(?<![\w'’])\p{Lu}\p{Ll}+(?:[ \u00a0]\p{Lu}\p{Ll}+)+(?!\w)(?!\**\s*:)")
_WORD = re.compile(r"\w+")
_LIST = re.compile(r"(?m)^\s*\d{1,3}[.)]\s")


class Claim(NamedTuple):
    """Something that a message says, with its place.

    - ``text``: As written.
    - ``kind``: A number, an identifier (letters and digits in one word, or an address), or a name (capitalised words in a row).
    """

    text: str
    kind: Kind
    start: int
    end: int


class Ground:
    """What was said so far, against which claims are held.

    Numbers are compared by value, identifiers and names without case and width; whatever was worked out of others (a sum, a weekday) is
    not found, and has to be looked at.

    Examples
    --------
    >>> ground = Ground()
    >>> ground.add('{"order": "KX-4410", "total": 120.50, "owner": "ada brandt"}')
    >>> [c.text for c in ground.lacking("Order kx-4410 of Ada Brandt costs $120.5, plus 14 for Tom Wick (KX-4411).")]
    ['14', 'KX-4411', 'Tom Wick']
    """

    def __init__(self) -> None:
        self._numbers: set[Fraction] = set()
        self._tokens: set[str] = set()
        self._words: set[str] = set()

    def add(self, text: str) -> None:
        """Take a text as said."""
        numbers, tokens, words = _held(text[:LONGEST])
        self._numbers |= numbers
        self._tokens |= tokens
        self._words |= words

    def holds(self, claim: Claim) -> bool:
        """Whether a claim was said before, in whatever way it was written."""
        folded = _folded(claim.text)
        if claim.kind == "number":
            return any(n.readings() & self._numbers for n in find_numbers(claim.text))
        if claim.kind == "id":
            return folded in self._tokens or _WORD.findall(folded) == [
                w for w in _WORD.findall(folded) if w in self._words
            ]
        return all(word in self._words for word in _WORD.findall(folded))

    def lacking(self, text: str) -> list[Claim]:
        """The claims of a text that were not said before, numbers first."""
        return [claim for claim in claims_in(text) if not self.holds(claim)]


def claims_in(text: str) -> tuple[Claim, ...]:
    """The numbers, identifiers and names that a text mentions, each once.

    Whole numbers below 10, numbers of list entries, names of a single word and capitals that open a sentence are left out.

    Examples
    --------
    >>> [(c.text, c.kind) for c in claims_in("1. For seat HX204 our guest Ada Brandt pays 1,250.00 and has 2 bags.")]
    [('1,250.00', 'number'), ('HX204', 'id'), ('Ada Brandt', 'name')]
    """
    return _claims(text[:LONGEST])


@functools.lru_cache(maxsize=4096)
def _claims(text: str) -> tuple[Claim, ...]:
    ids = [Claim(m[0], "id", *m.span()) for m in _TOKEN.finditer(text) if _is_id(m[0])]
    taken = [(c.start, c.end) for c in ids] + [m.span() for m in _LIST.finditer(text)]
    numbers = [
        Claim(text[n.start : n.end], "number", n.start, n.end)
        for n in find_numbers(text)
        if not (n.face.denominator == 1 and abs(n.face) < _COUNTS and n.scale == 1)
        if not any(start <= n.start < end for start, end in taken)
    ]
    names = [Claim(m[0], "name", *m.span()) for m in _NAMES.finditer(text) if not _opens(text, m.start())]
    seen: dict[tuple[str, str], Claim] = {}
    for claim in (*numbers, *ids, *names):
        seen.setdefault((claim.kind, _folded(claim.text)), claim)
    return tuple(seen.values())


def _is_id(token: str) -> bool:
    if "@" in token[1:-1]:
        return True
    return bool(_ID.fullmatch(token)) and not _UNIT.fullmatch(token)


def _opens(text: str, at: int) -> bool:
    """Whether a sentence begins there, so that the capital of its first word says nothing."""
    before = text[:at].rstrip(" \u00a0\"'“‘«(*_#-•")
    return not before or before[-1] in ".!?:\n\r。！？"


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


@functools.lru_cache(maxsize=4096)
def _held(text: str) -> tuple[frozenset[Fraction], frozenset[str], frozenset[str]]:
    numbers: Iterable[Fraction] = (
        value for n in find_numbers(text) for value in (*n.readings(), abs(n.value), n.scaled)
    )
    folded = _folded(text)
    return frozenset(numbers), frozenset(_TOKEN.findall(folded)), frozenset(_WORD.findall(folded))
