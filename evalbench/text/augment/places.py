"""Where an augmentation may change a text, what it must leave alone, and which places it draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from evalbench.core.seeds import uniforms
from evalbench.errors import BadInput

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
PROTECTED = {
    # Whatever is written together with a digit, and digits that blanks group: COVID-19, 3.14, 12 000, 50%.
    "numbers": regex.compile(r"\S*\p{N}\S*(?:[ \u00a0\u202f\u2009]\p{N}\S*)*"),
    "code": regex.compile(r"(?s)(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)|(?P<tick>`{1,2})(?!`).+?(?P=tick)"),
    "urls": regex.compile(
        r"(?i)\b(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)[^\s<>«»\"“”]*[^\s<>«»\"“”.,;:!?')\]]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    ),
}
"""What can be kept: its name, and how it is found."""


class Spot(NamedTuple):
    """Places that were drawn, in the order of the texts and of their places."""

    item: Ints
    place: Ints
    number: Ints  # which draw of its item


def check_protect(protect: Sequence[str]) -> list[str]:
    """Faults of a choice of what is protected."""
    if isinstance(protect, str):
        return [f"protect must be a list of names, got the text {protect!r}"]
    unknown = [name for name in protect if name not in PROTECTED]
    return [f"protect: {name!r} is not one of {', '.join(PROTECTED)}" for name in unknown]


def protected_spans(text: str, protect: Sequence[str]) -> list[tuple[int, int]]:
    """Where a text is to stay as it is.

    - ``protect``: ``numbers`` (whatever is written together with a digit), ``code`` (within backticks, fenced blocks),
      ``urls`` (addresses of pages and of mail).

    Returns (list of (int, int)): From left to right, without overlaps.

    Raises ``BadInput`` for an unknown name.

    Examples
    --------
    >>> text = "Run `x = y` 12 000 times, see https://a.example/b?c=d."
    >>> [text[a:b] for a, b in protected_spans(text, ["numbers", "code", "urls"])]
    ['`x = y`', '12 000', 'https://a.example/b?c=d']
    """
    if faults := check_protect(protect):
        raise BadInput.listing("texts cannot be protected:", faults)
    found = sorted(match.span() for name in protect for match in PROTECTED[name].finditer(text))
    out: list[tuple[int, int]] = []
    for start, end in found:
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def drawn(counts: Ints, rate: float, keys: npt.NDArray[np.uint64]) -> Spot:
    """Places drawn at random, the share ``rate`` of each text's.

    - ``counts`` ((n_texts,) int64 array): How many places each text has.
    - ``rate``: 0–1.
    - ``keys`` ((n_texts,) uint64 array): Of :func:`evalbench.core.seeds.keys`.

    Returns: Of n places ``floor(rate n)`` or one more, ``rate n`` on average. The places are drawn stratum by stratum,
    one in each 1/rate of them, so that edits are spread over a text; no place is drawn twice.

    Examples
    --------
    >>> drawn(np.array([3, 0, 1]), 1.0, np.zeros(3, np.uint64)).place.tolist()
    [0, 1, 2, 0]
    """
    per_text = np.ceil(counts * rate).astype(np.int64)
    item = np.repeat(np.arange(len(counts)), per_text)
    number = np.arange(len(item)) - np.repeat(np.cumsum(per_text) - per_text, per_text)
    if not len(item):
        return Spot(item, number, number)
    place = np.floor((number + uniforms(keys[item], number)) / rate).astype(np.int64)
    # Where strata share a place, the later one moves on; texts are kept apart by more than they have places.
    most = int(counts.max()) + 1
    apart = item * (most + 1)
    place = np.maximum.accumulate(np.minimum(place, most) - number + apart) - apart + number
    kept = place < counts[item]
    return Spot(item[kept], place[kept], number[kept])
