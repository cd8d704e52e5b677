"""Words that change places, and words whose letters are separated."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import regex

from evalbench.text.augment.edits import Piece, Variants, applied
from evalbench.text.augment.places import drawn, protected_spans
from evalbench.text.words import word_spans

_Place = tuple[int, ...]
_LETTERS = regex.compile(r"\p{L}\p{M}*(?:\p{L}\p{M}*)+")
_CLUSTER = regex.compile(r"\X")
SEPARATOR = "-"


def word_swap(texts: Sequence[str], keys: npt.NDArray[np.uint64], rate: float, protect: Sequence[str] = ()) -> Variants:
    """Neighbouring words that change places; the share ``rate`` of the pairs of neighbours, those that overlap left out."""

    def pairs(text: str) -> list[_Place]:
        found = itertools.pairwise(word_spans(text))
        return [(a, b, c, d) for (a, b), (c, d) in found if text[a:b] != text[c:d]]

    def swapped(text: str, place: _Place) -> str:
        a, b, c, d = place
        return text[c:d] + text[b:c] + text[a:b]

    return chosen(texts, keys, rate, protect, "words swapped", pairs, swapped)


def special_token(
    texts: Sequence[str], keys: npt.NDArray[np.uint64], rate: float, protect: Sequence[str] = ()
) -> Variants:
    """Words with a hyphen between each two letters; the share ``rate`` of the words of two letters and more."""

    def words(text: str) -> list[_Place]:
        return [found.span() for found in _LETTERS.finditer(text)]

    def separated(text: str, place: _Place) -> str:
        return SEPARATOR.join(_CLUSTER.findall(text, *place))

    return chosen(texts, keys, rate, protect, "letters separated", words, separated)


def chosen(
    texts: Sequence[str],
    keys: npt.NDArray[np.uint64],
    rate: float,
    protect: Sequence[str],
    kind: str,
    places_of: Callable[[str], list[_Place]],
    changed: Callable[[str, _Place], str],
) -> Variants:
    """The share ``rate`` of the places that each text offers changed, those that touch what is protected left out.

    A place begins with its first number and ends with its last one.
    """
    offered = [_allowed(places_of(text), protected_spans(text, protect) if protect else ()) for text in texts]
    spots = drawn(np.fromiter(map(len, offered), np.int64, len(texts)), rate, keys)
    rows = zip(spots.item.tolist(), spots.place.tolist(), strict=True)

    def taken() -> Iterator[tuple[int, list[Piece]]]:
        for item, numbers in itertools.groupby(rows, key=lambda row: row[0]):
            text, done = texts[item], 0
            out: list[Piece] = []
            for _, number in numbers:
                place = offered[item][number]
                new = changed(text, place) if place[0] >= done else ""
                if new and new != text[place[0] : place[-1]]:
                    done = place[-1]
                    out.append(Piece(place[0], done, new, kind))
            yield item, out

    return applied(texts, taken())


def _allowed(places: list[_Place], spans: Sequence[tuple[int, int]]) -> list[_Place]:
    return [p for p in places if not any(p[0] < end and start < p[-1] for start, end in spans)] if spans else places
