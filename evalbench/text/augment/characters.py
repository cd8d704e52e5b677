"""Slips of a typing hand: neighbouring keys, and the mix that a hurried person makes."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from evalbench.core.seeds import uniforms
from evalbench.text.augment import keyboards
from evalbench.text.augment.edits import KINDS, Edits, Piece, Variants, applied
from evalbench.text.augment.places import Bools, Ints, drawn, protected_spans

_OTHER, _KEYED, _LETTER, _MARK, _DIGIT, _UNKNOWN = range(6)
_CHOICE = 1 << 32  # draws beyond the places: what is done at a place
_SPACE = 32
_WORD_BEFORE = regex.compile(r"(?r)[\p{L}\p{N}][\p{L}\p{M}\p{N}]*")
_WORD_BEHIND = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*")
_classes = np.full(0x110000, _UNKNOWN, np.uint8)  # filled as characters are met


class Column(NamedTuple):
    """A column of texts as one array of code points."""

    codes: npt.NDArray[np.uint32]
    offsets: Ints  # (n_texts + 1,)
    classes: npt.NDArray[np.uint8]
    free: Bools  # neither protected nor followed by a mark
    followed: Bools  # by a character of the same text
    protected: Bools


def butter_finger(
    texts: Sequence[str], keys: npt.NDArray[np.uint64], rate: float, protect: Sequence[str] = ()
) -> Variants:
    """Letters replaced by one of a neighbouring key; the share ``rate`` of the letters."""
    column = _column(texts, protect)
    keyless = column.classes == _LETTER
    swappable = _swappable(column) & keyless
    swappable[:-1] &= keyless[1:]
    possible = np.flatnonzero(((column.classes == _KEYED) & column.free) | swappable)
    first = np.searchsorted(possible, column.offsets)
    spots = drawn(np.diff(first), rate, keys)
    at = possible[first[spots.item] + spots.place]
    is_swap = column.classes[at] == _LETTER
    kept = ~is_swap | (_place_in_run(at, is_swap) % 2 == 0)
    at, is_swap, item, number = at[kept], is_swap[kept], spots.item[kept], spots.number[kept]

    codes = column.codes.copy()
    table = keyboards.table()
    typed, of = at[~is_swap], column.codes[at[~is_swap]]
    choice = uniforms(keys[item[~is_swap]], number[~is_swap] + _CHOICE)
    codes[typed] = table.letters[table.first[of] + (choice * table.number[of]).astype(np.int64)]
    swapped = at[is_swap]
    codes[swapped], codes[swapped + 1] = column.codes[swapped + 1], column.codes[swapped]

    whole = codes.tobytes().decode("utf-32-le", "surrogatepass")
    edges = column.offsets.tolist()
    start = at - column.offsets[item]
    end = start + 1 + is_swap
    kind = np.where(is_swap, KINDS.index("letters swapped"), KINDS.index("neighbouring key")).astype(np.int8)
    return Variants([whole[a:b] for a, b in itertools.pairwise(edges)], Edits(item, start, end, start, end, kind))


def human_level(
    texts: Sequence[str], keys: npt.NDArray[np.uint64], rate: float, protect: Sequence[str] = ()
) -> Variants:
    """One slip or another at the share ``rate`` of the letters and of the blanks between words."""
    column = _column(texts, protect)
    is_letter = (column.classes == _KEYED) | (column.classes == _LETTER)
    in_word = is_letter | (column.classes == _DIGIT) | (column.classes == _MARK)
    between = (column.codes == _SPACE) & column.followed
    between[1:-1] &= in_word[:-2] & in_word[2:]
    between[column.offsets[:-1][np.diff(column.offsets) > 0]] = False
    possible = np.flatnonzero((is_letter | between) & column.free)
    first = np.searchsorted(possible, column.offsets)
    spots = drawn(np.diff(first), rate, keys)
    at = possible[first[spots.item] + spots.place]
    choices = uniforms(keys[spots.item], spots.number + _CHOICE), uniforms(keys[spots.item], spots.number + 2 * _CHOICE)
    rows = zip(spots.item.tolist(), at.tolist(), *(choice.tolist() for choice in choices), strict=True)
    swappable = _swappable(column)

    def pieces() -> Iterator[tuple[int, list[Piece]]]:
        for item, hits in itertools.groupby(rows, key=lambda row: row[0]):
            begins, text = int(column.offsets[item]), texts[item]
            here = slice(begins, begins + len(text))
            masks = column.free[here], column.protected[here], swappable[here]
            out: list[Piece] = []
            for _, place, which, key in hits:
                done = out[-1].end if out else 0
                slips = [s for s in _slips(text, place - begins, key, *masks) if s.start >= done]
                if place - begins >= done and slips:
                    out.append(slips[int(which * len(slips))])
            yield item, out

    return applied(texts, pieces())


def _slips(text: str, at: int, key: float, free: Bools, protected: Bools, swappable: Bools) -> Iterator[Piece]:
    """What a hurried hand may do at a letter, or at the blank between two words."""
    letter = text[at]
    if letter == " ":
        yield Piece(at, at + 1, "", "space lost")
        before, behind = _WORD_BEFORE.match(text, 0, at), _WORD_BEHIND.match(text, at + 1)
        if before and behind and before[0] != behind[0] and not protected[before.start() : behind.end()].any():
            yield Piece(before.start(), behind.end(), f"{behind[0]} {before[0]}", "words swapped")
        return
    near = keyboards.neighbours().get(letter, "")
    if near:
        yield Piece(at, at + 1, near[int(key * len(near))], "neighbouring key")
    if swappable[at]:
        yield Piece(at, at + 2, text[at + 1] + letter, "letters swapped")
    if at and text[at - 1].isalpha() and free[at - 1]:
        yield Piece(at, at, " ", "space added")
    other = letter.swapcase()
    if other != letter and len(other) == 1:
        yield Piece(at, at + 1, other, "case changed")


def _column(texts: Sequence[str], protect: Sequence[str]) -> Column:
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    classes = _classes[codes]
    new = codes[classes == _UNKNOWN]
    if len(new):
        for code in np.unique(new).tolist():
            _classes[code] = _class_of(chr(code))
        classes = _classes[codes]
    followed = np.ones(len(codes), bool)
    followed[(offsets[1:] - 1)[np.diff(offsets) > 0]] = False
    free = np.ones(len(codes), bool)
    free[:-1] = classes[1:] != _MARK
    free |= ~followed
    protected = np.zeros(len(codes), bool)
    for begins, text in zip(offsets.tolist(), texts, strict=False) if protect else ():
        for start, end in protected_spans(text, protect):
            protected[begins + start : begins + end] = True
    return Column(codes, offsets, classes, free & ~protected, followed, protected)


def _class_of(character: str) -> int:
    if character in keyboards.neighbours():
        return _KEYED
    category = unicodedata.category(character)
    if category[0] == "M" or character == "\u200d":
        return _MARK
    return _LETTER if category[0] == "L" and category != "Lm" else _DIGIT if category[0] == "N" else _OTHER


def _swappable(column: Column) -> Bools:
    """Letters that may change places with the letter behind them."""
    letter = ((column.classes == _KEYED) | (column.classes == _LETTER)) & column.free
    out = np.zeros(len(letter), bool)
    out[:-1] = letter[:-1] & letter[1:] & column.followed[:-1] & (column.codes[:-1] != column.codes[1:])
    return out


def _place_in_run(at: Ints, is_swap: Bools) -> Ints:
    """How many swaps come just before each without a character between."""
    begins = np.ones(len(at), bool)
    begins[1:] = ~(is_swap[1:] & is_swap[:-1] & (at[1:] == at[:-1] + 1))
    numbers = np.arange(len(at))
    return numbers - np.maximum.accumulate(np.where(begins, numbers, 0)) if len(at) else numbers
