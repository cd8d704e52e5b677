"""What an augmentation changed: spans before and after, of one text or of a column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
KINDS = (
    "neighbouring key",
    "letters swapped",
    "words swapped",
    "space added",
    "space lost",
    "case changed",
    "letters separated",
    "transliterated",
)


class Edit(NamedTuple):
    """``original[start:end]`` became ``variant[new_start:new_end]``."""

    start: int
    end: int
    new_start: int
    new_end: int
    kind: str


class Piece(NamedTuple):
    """What is to be put in the place of ``text[start:end]``."""

    start: int
    end: int
    text: str
    kind: str


@dataclass(frozen=True)
class Edits:
    """The edits of a column of texts, in the order of the texts and of their characters.

    - ``item`` ((n_edits,) int64 array): The text that each belongs to.
    - ``start``, ``end``, ``new_start``, ``new_end`` ((n_edits,) int64 arrays): As in :class:`Edit`.
    - ``kind`` ((n_edits,) int8 array): Indices into :data:`KINDS`.
    """

    item: Ints
    start: Ints
    end: Ints
    new_start: Ints
    new_end: Ints
    kind: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.item)

    def of(self, item: int) -> tuple[Edit, ...]:
        """The edits of one text."""
        first, last = np.searchsorted(self.item, [item, item + 1])
        columns = (self.start, self.end, self.new_start, self.new_end, self.kind)
        rows = zip(*(column[first:last].tolist() for column in columns), strict=True)
        return tuple(Edit(a, b, c, d, KINDS[kind]) for a, b, c, d, kind in rows)

    def counts(self, n_texts: int) -> Ints:
        """How many edits each text has, ``(n_texts,)``."""
        return np.bincount(self.item, minlength=n_texts).astype(np.int64)


class Variants(NamedTuple):
    """The variants of a column of texts, and what was changed in each."""

    texts: list[str]
    edits: Edits


class Variant(NamedTuple):
    """The variant of one text, and what was changed in it."""

    text: str
    edits: tuple[Edit, ...]


def applied(texts: Sequence[str], pieces: Iterable[tuple[int, Sequence[Piece]]]) -> Variants:
    """Texts with pieces replaced.

    - ``pieces`` (iterable of (int, sequence of Piece)): A text's number and its pieces, from left to right and without
      overlaps; the texts in order.

    Examples
    --------
    >>> applied(["abc"], [(0, [Piece(1, 2, "BB", "case changed")])]).texts
    ['aBBc']
    """
    out = list(texts)
    rows: list[tuple[int, int, int, int, int, int]] = []
    for item, changes in pieces:
        text, parts, done, length = texts[item], [], 0, 0
        for start, end, new, kind in changes:
            parts += [text[done:start], new]
            length += start - done
            rows.append((item, start, end, length, length + len(new), KINDS.index(kind)))
            length += len(new)
            done = end
        parts.append(text[done:])
        out[item] = "".join(parts)
    table = np.array(rows, dtype=np.int64).reshape(-1, 6)
    item_, start_, end_, new_start, new_end, kind_ = table.T
    return Variants(out, Edits(item_, start_, end_, new_start, new_end, kind_.astype(np.int8)))


def together(parts: Sequence[Variants]) -> Variants:
    """Parts of a column as one; items are renumbered."""
    texts = [text for part in parts for text in part.texts]
    firsts = np.cumsum([0, *(len(part.texts) for part in parts)])
    every = [part.edits for part in parts] or [applied([], []).edits]
    items = [edits.item + first for edits, first in zip(every, firsts, strict=False)]
    names = ("start", "end", "new_start", "new_end", "kind")
    return Variants(
        texts, Edits(np.concatenate(items), *(np.concatenate([getattr(e, name) for e in every]) for name in names))
    )
