"""From where places in texts are counted: only the texts can tell, or the user; it is never guessed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from shlex import quote
from typing import NamedTuple

from evalbench.errors import BadInput

START, END = {"start_from_0": 0, "start_from_1": 1}, {"end_outside": 0, "end_inside": 1}
"""Names that say it of a place's two ends, and what they add to a first character from 0 and an end outside."""


class Place(NamedTuple):
    """Two ends of a span as they are written, its text, and the words that it should hold; empty where nobody says."""

    start: int
    end: int
    text: str
    words: str = ""


class Counting(NamedTuple):
    """How places are counted: the number of the first character, and whether the end is the last character's."""

    first: int = 0
    inside: int = 0

    def moved(self, start: int, end: int) -> tuple[int, int]:
        """The ends counted from 0, with the end outside.

        Examples
        --------
        >>> Counting(1, 1).moved(1, 4)
        (0, 4)
        """
        return start - self.first, end - self.first + self.inside

    def __str__(self) -> str:
        return f"from {self.first}, with the end {'inside' if self.inside else 'outside'}"


OURS = Counting()
WAYS = tuple(Counting(first, inside) for first in (0, 1) for inside in (0, 1))


def shown_by(places: Iterable[Place]) -> Counting | None:
    """The only way of counting by which every place holds its words, or whole words; None where several do, or none.

    Examples
    --------
    >>> shown_by([Place(4, 8, "Yes Oslo is")]), shown_by([Place(5, 8, "Yes Oslo is")]), shown_by([Place(1, 2, "GATTACA")])
    (Counting(first=0, inside=0), Counting(first=1, inside=1), None)
    """
    known = [place for place in places if place.text]
    fitting = [way for way in WAYS if known and all(_fits(way, place) for place in known)]
    return fitting[0] if len(fitting) == 1 else None


def likeliest(places: Iterable[Place]) -> Counting | None:
    """The way of counting that most places fit, where no other fits as many."""
    known = [place for place in places if place.text]
    counts = [sum(_fits(way, place) for place in known) for way in WAYS]
    best = max(counts)
    return WAYS[counts.index(best)] if best and counts.count(best) == 1 else None


def _fits(way: Counting, place: Place) -> bool:
    start, end = way.moved(place.start, place.end)
    text = place.text
    if not 0 <= start < end <= len(text):
        return False
    if place.words:
        return text[start:end].split() == place.words.split()
    if text[start].isspace() or text[end - 1].isspace():
        return False
    cut_before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    return not cut_before and not (end < len(text) and text[end].isalnum() and text[end - 1].isalnum())


def refuse(what: str, names: tuple[str, str]) -> None:
    """Ask how places are counted.

    - ``names``: The columns, or keys of listed objects, with the ends.

    Raises ``BadInput``: One question with the options of each way.
    """
    start, end = names
    options = [
        f"{way}: --map {quote(f'{start}={_named(START, way.first)}')} --map {quote(f'{end}={_named(END, way.inside)}')}"
        for way in WAYS
    ]
    head = f"{what}: do {start} and {end} count from 0 or from 1, and is the end inside?  The texts do not show it; say so:"
    raise BadInput.listing(head, options, headed=True)


def _named(names: dict[str, int], value: int) -> str:
    return next(name for name, added in names.items() if added == value)


def said_by(names: Sequence[str]) -> Counting | None:
    """What the names of two ends say of themselves; None where they do not.

    Examples
    --------
    >>> said_by(["start_from_1", "end_inside"]), said_by(["start", "end"])
    (Counting(first=1, inside=1), None)
    """
    start, end = names
    return Counting(START[start], END[end]) if start in START and end in END else None
