"""Citation marks in running text: ``[1]``, ``[1, 2]``, ``[1-3]``, ``[1][2]``, before or after the full stop."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from evalbench.text.sentences import sentences

MAX_RANGE = 50
# Blanks are taken from their first one on, all or none: a reply of nothing but blanks costs linear time.
_MARK = re.compile(
    r"(?<![ \t])[ \t]*+[\[［【]\s*(?P<body>[0-9]{1,3}(?:\s*[,;，、–—-]\s*[0-9]{1,3})*)\s*[\]］】](?:\(https?://[^\s()]{1,500}\))?"
)
_TICKS = re.compile(r"`+|(?<![^\n ])~{3,}")
_SENTENCE_END = re.compile(r"[。！？]|[.!?…][\"'”’)]*(?:[ \t]*[\[［【][\d,; –—-]+[\]］】])*[ \t\n]+(?=[^\W\d_a-z])")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_PART = re.compile(r"(?P<first>[0-9]+)(?:\s*[–—-]\s*(?P<last>[0-9]+))?")


class Mark(NamedTuple):
    """A citation mark: where it is and the entries that it names, in order, each once."""

    start: int
    end: int
    numbers: tuple[int, ...]


class Statement(NamedTuple):
    """A sentence without its marks, and the entries that they name."""

    text: str
    numbers: tuple[int, ...]


def citation_marks(text: str) -> list[Mark]:
    """All citation marks of a text, in order.

    Numbers have at most three digits, so that ``[2019]`` is not a mark; of a range wider than 50 only the ends count.
    What is in code (between backticks, in a fenced block) or holds a 0, as ``[0-9]`` does, is not a mark.

    Examples
    --------
    >>> [m.numbers for m in citation_marks("It sank [1, 2].[3-5] In [2019] so.")]
    [(1, 2), (3, 4, 5)]
    """
    code = _code(text)
    starts = [start for start, _ in code]

    def in_code(place: int) -> bool:
        before = bisect_right(starts, place) - 1
        return before >= 0 and place < code[before][1]

    marks = (
        Mark(m.start(), m.end(), _numbers(m["body"])) for m in _MARK.finditer(text) if not in_code(m.start("body"))
    )
    return [mark for mark in marks if 0 not in mark.numbers]


def _code(text: str) -> list[tuple[int, int]]:
    """Where code is: fenced blocks, to the end where they are not closed, and spans within a sentence, as in Markdown."""
    runs = [(m.start(), m.end()) for m in _TICKS.finditer(text)]
    if not runs:
        return []
    breaks = [m.start() for m in _PARAGRAPH.finditer(text)]
    fences = [i for i, (a, b) in enumerate(runs) if b - a >= 3 and _opens_a_line(text, a)]
    opening = set(fences)
    same: dict[str, list[int]] = {}
    for i, (a, b) in enumerate(runs):
        same.setdefault(text[a:b], []).append(i)
    full_stops = [m.start() for m in _SENTENCE_END.finditer(text)]

    def ends(start: int, end: int) -> bool:
        """Whether a sentence ends between these places."""
        return bisect_right(full_stops, start - 1) < bisect_right(full_stops, end - 1)

    found, i = [], 0
    while i < len(runs):
        start, end = runs[i]
        if i in opening:
            after = (fences[k] for k in range(bisect_right(fences, i), len(fences)))
            close = next((j for j in after if text[runs[j][0] : runs[j][1]].startswith(text[start:end])), None)
            found.append((start, len(text) if close is None else runs[close][1]))
            i = len(runs) if close is None else close + 1
            continue
        equal = same[text[start:end]]
        place = bisect_right(equal, i)
        last = runs[equal[place]][0] if place < len(equal) else -1
        if last >= 0 and bisect_right(breaks, start) == bisect_right(breaks, last) and not ends(end, last):
            found.append((start, runs[equal[place]][1]))
            i = equal[place]
        i += 1
    return found


def _opens_a_line(text: str, place: int) -> bool:
    before = text[max(0, place - 4) : place]
    return (place < 4 or "\n" in before) and not before.rpartition("\n")[2].strip(" ")


def _numbers(body: str) -> tuple[int, ...]:
    out: list[int] = []
    for part in _PART.finditer(body):
        first, last = int(part["first"]), int(part["last"] or part["first"])
        wide = not 0 <= last - first <= MAX_RANGE
        out.extend((first, last) if wide else range(first, last + 1))
    return tuple(dict.fromkeys(out))


def statements(text: str, language: str = "en") -> list[Statement]:
    """The sentences of a text with the entries that each cites.

    A mark belongs to the sentence that it is in or follows, before or after the full stop; at the start of a
    line, to the sentence that it precedes.

    - ``language``: ISO 639-1 code, for cutting sentences.

    Returns: A text of marks alone has none.

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
        # At the start of a line the mark belongs to what follows: the position where the next text will be.
        attached.append((before if line.strip() else len(plain) + 1, mark.numbers))
        if plain and not plain[-1].isspace() and text[cursor : cursor + 1].isalnum():
            plain += " "
    return plain + text[cursor:], attached
