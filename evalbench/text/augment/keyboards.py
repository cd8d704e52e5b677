"""Neighbouring keys: English QWERTY and Russian ЙЦУКЕН, from where the keys are."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# Rows of letters with the place of their first key, in widths of a key.  Ё has its place of Apple's keyboards, beside Э; on
# others it is in the corner, with no letter beside it.
LAYOUTS = {
    "en": ((0.5, "qwertyuiop"), (0.75, "asdfghjkl"), (1.25, "zxcvbnm")),
    "ru": ((0.5, "йцукенгшщзхъ"), (0.75, "фывапролджэё"), (1.25, "ячсмитьбю")),
}
MOST = 0x500
"""Letters with a key are below this code point."""


@cache
def neighbours() -> dict[str, str]:
    """Each letter with the letters whose keys touch its own, both cases.

    Keys touch if they are side by side in a row, or less than a key's width apart in rows one above the other.

    Examples
    --------
    >>> neighbours()["g"], neighbours()["О"]
    ('tyfhvb', 'ГШРЛТЬ')
    """
    out: dict[str, str] = {}
    for rows in LAYOUTS.values():
        keys = [
            (first + i, row, letter) for row, (first, letters) in enumerate(rows) for i, letter in enumerate(letters)
        ]
        for x, row, letter in keys:
            near = [
                other
                for x2, row2, other in keys
                if (row2 == row and abs(x2 - x) == 1) or (abs(row2 - row) == 1 and abs(x2 - x) < 1)
            ]
            out[letter], out[letter.upper()] = "".join(near), "".join(near).upper()
    return out


class Table(NamedTuple):
    """Neighbours by code point: ``letters[first[c] : first[c] + number[c]]``."""

    first: npt.NDArray[np.int64]
    number: npt.NDArray[np.int64]
    letters: npt.NDArray[np.uint32]


@cache
def table() -> Table:
    """The neighbours as arrays."""
    known = neighbours()
    first, count = np.zeros(MOST, np.int64), np.zeros(MOST, np.int64)
    letters: list[int] = []
    for letter, near in known.items():
        first[ord(letter)], count[ord(letter)] = len(letters), len(near)
        letters += map(ord, near)
    return Table(first, count, np.array(letters, np.uint32))
