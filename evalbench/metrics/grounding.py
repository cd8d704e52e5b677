"""Numbers, identifiers and names of a message that nothing before it holds."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import regex as re

from evalbench.text.numbers import VULGAR, ascii_numerals, find_numbers

Kind = Literal["number", "date", "time", "id", "name"]
LONGEST = 20_000
"""So many characters of a text are looked at."""
_PASSED = 8
"""So many claims may pass a text over before it is read."""
_COUNTS = 10
"""Smaller whole numbers count things and number lists: they are not looked at."""
_TOKEN = re.compile(r"[\w@](?:[\w@.\-/#]*[\w@])?")
_UNIT = re.compile(r"\d[\d.,]*[^\W\d_]{1,3}")  # 20th, 9am, 5kg: a number and its unit
_ID = re.compile(r"(?=[^\d]*\d)(?=.*[^\W\d_]).{4,}", re.DOTALL)
_NAMES = re.compile(r"(?<![\w'’])\p{Lu}\p{Ll}+(?:[ \u00a0]\p{Lu}\p{Ll}+)+(?!\w)(?!\**\s*:)")
_WORD = re.compile(r"\w+")
_LIST = re.compile(r"(?m)^\s*\d{1,3}[.)]\s")
_BULLET = re.compile(r"(?m)^[ \t]*[-\u2212\u2013+][ \t\u00a0]")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?"
    r"|Dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\d:])"
_DATES = (
    re.compile(r"(?<![\w-])(?P<year>\d{4})([-/.])(?P<number>\d{1,2})\2(?P<day>\d{1,2})(?!\d)"),
    re.compile(rf"\b{_MONTH} {_DAY}\b(?:,? (?P<year>\d{{4}})(?![\w:]))?"),
    re.compile(rf"\b{_DAY} (?:of )?{_MONTH}(?:,? (?P<year>\d{{4}})(?![\w:]))?"),
)
_CLOCK = re.compile(r"(?<![\d:.])(\d{1,2}):([0-5]\d)(?::[0-5]\d)?(?![\d:])(?:[ \u00a0\u202f]?([AaPp])\.?[Mm]\b)?")
_FRACTION = re.compile(rf"[{VULGAR}]|[0-9]/[0-9]")
_PARTING = dict.fromkeys(map(ord, ",. \t\n\u00a0\u202f\u2009"))


class Claim(NamedTuple):
    """Something that a message says, with its place.

    - ``text``: As written.
    - ``kind``: A number, a plain date, a time of day, an identifier (letters and digits in one word, or an address), or a name
      (capitalised words in a row).
    """

    text: str
    kind: Kind
    start: int
    end: int


class Ground:
    """What was said so far, against which claims are held.

    Numbers are compared by value, without their sign where that was not said; dates as dates (May 19, 2024 is 2024-05-19; one without a
    year is held by any), times of day as such, identifiers and names without case and width; whatever was worked out of others (a sum, a weekday) is
    not found, and has to be looked at.

    Examples
    --------
    >>> ground = Ground()
    >>> ground.add('{"order": "KX-4410", "total": 120.50, "owner": "ada brandt"}')
    >>> [c.text for c in ground.lacking("Order kx-4410 of Ada Brandt costs $120.5, plus 14 for Tom Wick (KX-4411).")]
    ['14', 'KX-4411', 'Tom Wick']
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._read: dict[Any, set[Any]] = {part: set() for part in _PARTS}
        self._waiting: dict[Any, list[tuple[str, int]]] = {part: [] for part in _PARTS}
        self._taken = dict.fromkeys(_PARTS, 0)

    def add(self, text: str) -> None:
        """Take a text as said; it is read when a claim may be in it."""
        if text:
            self._texts.append(text)

    def holds(self, claim: Claim) -> bool:
        """Whether a claim was said before, in whatever way it was written."""
        folded = _folded(claim.text)
        if claim.kind == "number":
            wanted = frozenset[Fraction]().union(*(n.readings() for n in find_numbers(claim.text)))
            wanted |= {abs(value) for value in wanted}
            digits = tuple(map(_significant, wanted))
            return self._has(_numbers, wanted, partial(_may_number, digits))
        if claim.kind == "date":
            dates = {date for date in _dates(claim.text) if date[0] > 0} or _dates(claim.text)
            if self._has(_dates, dates, partial(_may_day, dates)):
                return True
        if claim.kind == "time":
            times = _times(claim.text)
            return self._has(_times, times, partial(_may_minute, times))
        if claim.kind == "id" and self._has(_tokens, {folded}, partial(_contains, folded)):
            return True
        return all(self._has(_words, {word}, partial(_contains, word)) for word in _WORD.findall(folded))

    def _has(self, part: Any, wanted: Collection[Any], may: Callable[[str], bool]) -> bool:
        """Whether a number, token or word is in what was said; texts that cannot hold it are left unread, but not for ever."""
        read = self._read[part]
        if not read.isdisjoint(wanted):
            return True
        left = []
        new = ((text[:LONGEST], 0) for text in self._texts[self._taken[part] :])
        self._taken[part] = len(self._texts)
        for text, passed in chain(self._waiting[part], new):
            if passed >= _PASSED or may(text):
                read |= part(text)
            else:
                left.append((text, passed + 1))
        self._waiting[part] = left
        return not read.isdisjoint(wanted)

    def lacking(self, text: str) -> list[Claim]:
        """The claims of a text that were not said before, numbers first."""
        return [claim for claim in claims_in(text) if not self.holds(claim)]


def claims_in(text: str) -> tuple[Claim, ...]:
    """The numbers, dates, times, identifiers and names that a text mentions, each once.

    A hyphen that opens a line is a bullet, not a sign.  Whole numbers below 10, numbers of list entries, names of a single word and capitals that open a sentence are left out.

    Examples
    --------
    >>> [(c.text, c.kind) for c in claims_in("1. For seat HX204 our guest Ada Brandt pays 1,250.00 and has 2 bags.")]
    [('1,250.00', 'number'), ('HX204', 'id'), ('Ada Brandt', 'name')]
    >>> [(c.text, c.kind) for c in claims_in("- $100 by May 19, 2024 at 16:45")]
    [('$100', 'number'), ('May 19, 2024', 'date'), ('16:45', 'time')]
    """
    return _claims(text[:LONGEST])


@functools.lru_cache(maxsize=4096)
def _claims(text: str) -> tuple[Claim, ...]:
    when = [Claim(m[0], "date", *m.span()) for pattern in _DATES for m in pattern.finditer(text) if _date(m)]
    when += [Claim(m[0], "time", *m.span()) for m in _CLOCK.finditer(text)]
    when = [c for i, c in enumerate(when) if not any(c.start < d.end and d.start < c.end for d in when[:i])]
    timed = [(c.start, c.end) for c in when]
    ids = [
        Claim(m[0], "id", *m.span())
        for m in _TOKEN.finditer(text)
        if _is_id(m[0]) and not any(m.start() < end and start < m.end() for start, end in timed)
    ]
    taken = [(c.start, c.end) for c in ids] + [m.span() for m in _LIST.finditer(text)] + timed
    plain = _BULLET.sub(lambda m: " " * len(m[0]), text)
    numbers = [
        Claim(text[n.start : n.end], "number", n.start, n.end)
        for n in find_numbers(plain)
        if not (n.face.denominator == 1 and abs(n.face) < _COUNTS and n.scale == 1)
        if not any(start <= n.start < end for start, end in taken)
    ]
    names = [
        Claim(m[0], "name", *m.span())
        for m in _NAMES.finditer(text)
        if not _opens(text, m.start()) and not any(m.start() < end and start < m.end() for start, end in timed)
    ]
    seen: dict[tuple[str, str], Claim] = {}
    for claim in (*numbers, *when, *ids, *names):
        seen.setdefault((claim.kind, _folded(claim.text)), claim)
    return tuple(seen.values())


def _date(match: Any) -> tuple[int, int, int] | None:
    """Year (0: none), month and day of a date; None where there is no such day."""
    parts = match.groupdict()
    month = int(parts["number"]) if parts.get("number") else _MONTHS.index(parts["month"][:3].lower()) + 1
    day = int(parts["day"])
    return (int(parts["year"] or 0), month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _is_id(token: str) -> bool:
    if "@" in token[1:-1]:
        return True
    return bool(_ID.fullmatch(token)) and not _UNIT.fullmatch(token)


def _opens(text: str, at: int) -> bool:
    """Whether a sentence begins there, so that the capital of its first word says nothing."""
    before = text[:at].rstrip(" \u00a0\"'“‘«(*_#-•")
    return not before or before[-1] in ".!?:\n\r。！？"


@functools.lru_cache(maxsize=1024)
def _folded(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


@functools.lru_cache(maxsize=1024)
def _numbers(text: str) -> frozenset[Fraction]:
    return frozenset(value for n in find_numbers(text) for value in (*n.readings(), abs(n.value), n.scaled))


@functools.lru_cache(maxsize=1024)
def _tokens(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(_folded(text)))


@functools.lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_folded(text)))


@functools.lru_cache(maxsize=1024)
def _dates(text: str) -> frozenset[tuple[int, int, int]]:
    """The plain dates of a text, each also as of any year (-1)."""
    found = {date for pattern in _DATES for m in pattern.finditer(text) if (date := _date(m))}
    return frozenset(found | {(-1, month, day) for _, month, day in found})


@functools.lru_cache(maxsize=1024)
def _times(text: str) -> frozenset[tuple[int, int]]:
    """The times of day of a text, of 24 hours; one that may be of the morning or the evening is both."""
    found = set()
    for m in _CLOCK.finditer(text):
        at, half, hour, minute = m[1], (m[3] or "").lower(), int(m[1]), int(m[2])
        if half:
            found.add((hour % 12 + 12 * (half == "p"), minute))
        elif 1 <= hour <= 12 and not at.startswith("0"):
            found |= {(hour % 12, minute), (hour % 12 + 12, minute)}
        else:
            found.add((hour, minute))
    return frozenset(found)


_PARTS = (_numbers, _dates, _times, _tokens, _words)
"""What is read out of a text, each by itself."""


@functools.lru_cache(maxsize=1024)
def _digits(text: str) -> str:
    """A text without what may part the digits of one numeral; empty where it may hold fractions, whose value has other digits."""
    spelled = ascii_numerals(text)
    return "" if _FRACTION.search(spelled) else spelled.translate(_PARTING)


def _significant(value: Fraction) -> str:
    """The digits of a decimal number without zeros at its ends; empty for one that no decimal writes."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return ""
    scale = 10 ** value.denominator.bit_length()  # a multiple of every denominator of twos and fives
    return str(abs(value.numerator) * scale // value.denominator).strip("0")


def _contains(part: str, text: str) -> bool:
    return part in _folded(text)


def _may_day(dates: Collection[tuple[int, int, int]], text: str) -> bool:
    return any(str(day) in text for _, _, day in dates)


def _may_minute(times: Collection[tuple[int, int]], text: str) -> bool:
    return any(f":{minute:02d}" in text for _, minute in times)


def _may_number(digits: Sequence[str], text: str) -> bool:
    """Whether a text may hold a number of these digits: it need not be read where it does not."""
    plain = _digits(text)
    return not plain or any(own in plain for own in digits)
