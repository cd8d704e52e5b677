"""Citation marks in running text: ``[1]``, ``[1, 2]``, ``[1-3]``, ``[1][2]``, before or after the full stop."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from evalbench.text.sentences import sentences

MAX_RANGE = 50
# Blanks are taken from their first one on, all or none: a reply of nothing but blanks costs linear time.
_MARK = re.compile(
    r"(?<![ \t])[ \t]*+[\[［【]\s*(?P<body>[0-9]{1,3}(?:\s*[,;，、–—-]\s*[0-9]{1,3}){0,30})\s*[\]］】](?:\(https?://[^\s()]{1,500}\))?"
)
_PART = re.compile(r"(?P<first>[0-9]+)(?:\s*[–—-]\s*(?P<last>[0-9]+))?")


class Mark(NamedTuple):
    """A citation mark: where it stands and the entries that it names, in order, each once."""

    start: int
    end: int
    numbers: tuple[int, ...]


class Statement(NamedTuple):
    """A sentence without its marks, and the entries that they name."""

    text: str
    numbers: tuple[int, ...]


def citation_marks(text: str) -> list[Mark]:
    """All citation marks of a text, in order.

    Numbers have at most three digits, so that ``[2019]`` is no mark; of a range wider than 50 only the ends count.

    Examples
    --------
    >>> [m.numbers for m in citation_marks("It sank [1, 2].[3-5] In [2019] so.")]
    [(1, 2), (3, 4, 5)]
    """
    return [Mark(m.start(), m.end(), _numbers(m["body"])) for m in _MARK.finditer(text)]


def _numbers(body: str) -> tuple[int, ...]:
    out: list[int] = []
    for part in _PART.finditer(body):
        first, last = int(part["first"]), int(part["last"] or part["first"])
        wide = not 0 <= last - first <= MAX_RANGE
        out.extend((first, last) if wide else range(first, last + 1))
    return tuple(dict.fromkeys(out))


def statements(text: str, language: str = "en") -> list[Statement]:
    """The sentences of a text with the entries that each cites.

    A mark belongs to the sentence that it stands in or follows, before or after the full stop; at the start of a
    line, to the sentence that it precedes.

    Parameters
    ----------
    text : str
    language : str
        ISO 639-1 code, for cutting sentences.

    Returns
    -------
    list of Statement
        A text of marks alone has none.

    Examples
    --------
    >>> for s in statements("It sank in April [1]. Many died.[2][3] Few lived."):
    ...     print(s)
    Statement(text='It sank in April.', numbers=(1,))
    Statement(text='Many died.', numbers=(2, 3))
    Statement(text='Few lived.', numbers=())
    """
    plain, attached = _without_marks(text)
    spans, cursor = [], 0
    for sentence in sentences(plain, language):
        start = plain.index(sentence, cursor)
        cursor = start + len(sentence)
        spans.append((start, sentence))
    cited: list[list[int]] = [[] for _ in spans]
    starts = [start for start, _ in spans]
    for position, numbers in attached:
        if spans:
            cited[max(bisect_right(starts, position) - 1, 0)].extend(numbers)
    return [
        Statement(sentence, tuple(dict.fromkeys(numbers))) for (_, sentence), numbers in zip(spans, cited, strict=True)
    ]


def _without_marks(text: str) -> tuple[str, list[tuple[int, tuple[int, ...]]]]:
    """The text without its marks, and for each mark the position of the character that it belongs to."""
    plain = ""
    attached: list[tuple[int, tuple[int, ...]]] = []
    cursor = 0
    for mark in citation_marks(text):
        plain += text[cursor : mark.start]
        cursor = mark.end
        line = plain[plain.rfind("\n") + 1 :]
        before = len(plain.rstrip()) - 1
        # At the start of a line the mark belongs to what follows: the position where the next text will stand.
        attached.append((before if line.strip() else len(plain) + 1, mark.numbers))
        if plain and not plain[-1].isspace() and text[cursor : cursor + 1].isalnum():
            plain += " "
    return plain + text[cursor:], attached
