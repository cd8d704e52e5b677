"""Documents cut into chunks on sentence borders: the pieces that a search over documents finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex

from evalbench.errors import BadInput
from evalbench.text.sentences import sentences

CLUSTER = regex.compile(r"\X")
BLANK = regex.compile(r"\s+")


class Span(NamedTuple):
    """A stretch of a text: ``text[start:end]``."""

    start: int
    end: int


def chunk_spans(text: str, size: int, overlap: int = 0, language: str = "en") -> list[Span]:
    """Cut a text into chunks of whole sentences, each as long as ``size`` allows.

    - ``size``: The longest chunk, in characters. A sentence that is longer is cut between words, and a word that is
      longer between characters, never within a letter and its marks.
    - ``overlap``: How many characters of a chunk the next one repeats, as near as whole sentences come to it (where two
      come equally near, the fewer): 0 where its last sentence is more than twice as long. Below ``size``.
    - ``language``: ISO 639-1 code, see :func:`evalbench.text.sentences.sentences`.

    Returns: In order, none blank at its ends or empty; every character that is not blank is in one at least. Of a blank
    text none.

    Raises ``BadInput`` for a size below 1, and an overlap below 0 or not below the size.

    Examples
    --------
    >>> text = "It rains. It pours. The old man snores."
    >>> [text[a:b] for a, b in chunk_spans(text, 20)]
    ['It rains. It pours.', 'The old man snores.']
    >>> [text[a:b] for a, b in chunk_spans(text, 30, overlap=9)]
    ['It rains. It pours.', 'It pours. The old man snores.']
    """
    check_size(size, overlap)
    return packed(text, sentence_spans(text, language), size, overlap)


def check_size(size: int, overlap: int = 0) -> None:
    """Refuse a size or an overlap that no chunk can have."""
    faults = [] if _is_whole(size) and size >= 1 else [f"chunk size must be a whole number from 1, got {size!r}"]
    if not (_is_whole(overlap) and overlap >= 0):
        faults.append(f"overlap must be a whole number from 0, got {overlap!r}")
    elif not faults and overlap >= size:
        faults.append(f"overlap must be below the chunk size: {overlap} is not below {size}")
    if faults:
        raise BadInput.listing("chunks:", faults)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def sentence_spans(text: str, language: str = "en") -> list[Span]:
    """Where the sentences of a text are.

    Examples
    --------
    >>> sentence_spans("It rains.  It pours.")
    [Span(start=0, end=9), Span(start=11, end=20)]
    """
    # A sentence holds all of its characters but blanks, which the library may have changed.
    places = [i for i, character in enumerate(text) if not character.isspace()]
    found, taken = [], 0
    for sentence in sentences(text, language):
        n = len("".join(sentence.split()))
        if n:
            found.append(Span(places[taken], places[taken + n - 1] + 1))
            taken += n
    return found


def packed(text: str, pieces: Sequence[Span], size: int, overlap: int) -> list[Span]:
    """Chunks of pieces that are already found; see :func:`chunk_spans`."""
    pieces = [
        part for piece in pieces for part in ([piece] if piece.end - piece.start <= size else _cut(text, piece, size))
    ]
    chunks: list[Span] = []
    first = 0  # of the chunk
    new = 0  # the first piece that no chunk holds
    while new < len(pieces):
        last = new
        while last + 1 < len(pieces) and pieces[last + 1].end - pieces[first].start <= size:
            last += 1
        chunks.append(Span(pieces[first].start, pieces[last].end))
        new = last + 1
        if new < len(pieces):
            first = _repeated(pieces, first, last, size, overlap)
    return chunks


def _repeated(pieces: Sequence[Span], first: int, last: int, size: int, overlap: int) -> int:
    """The piece with which the next chunk begins: its start is about ``overlap`` before the end of the last one."""
    end = pieces[last].end
    start = last + 1
    while start - 1 > first and abs(end - pieces[start - 1].start - overlap) < abs(
        _length(pieces, start, end) - overlap
    ):
        start -= 1
    while pieces[last + 1].end - pieces[start].start > size:
        start += 1
    return start


def _length(pieces: Sequence[Span], start: int, end: int) -> int:
    return max(0, end - pieces[start].start)


def _cut(text: str, piece: Span, size: int) -> Iterator[Span]:
    """A sentence that is longer than a chunk, in parts of whole words where there are blanks."""
    start, end = piece
    while end - start > size:
        blanks = list(BLANK.finditer(text, start + 1, start + size + 1))
        if blanks:
            cut, after = blanks[-1].start(), blanks[-1].end()
        else:
            cut = start
            for cluster in CLUSTER.finditer(text, start, end):
                if cluster.end() - start > size and cut > start:
                    break
                cut = min(cluster.end(), start + size)
            after = cut
        yield Span(start, cut)
        start = after
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield Span(start, end)
