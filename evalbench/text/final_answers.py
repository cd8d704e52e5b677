"""The final answer of a worked solution: the number behind a marker, or the last number of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from evalbench.text.arithmetic import plain_latex
from evalbench.text.numbers import Number, ascii_numerals, find_numbers, is_cyrillic

BOX = "\\boxed"
MARKERS = (
    "####", BOX, "Final answer:", "Answer:", "A:",
    "Итоговый ответ:", "Окончательный ответ:", "Ответ:", "最终答案：", "答案：", "答：",
)  # fmt: skip
_REACH = 200
_MOST_BOXES = 100  # of a text that is made of them
_SHORT = 3
_BARE = "*_`$:：\\[]() \t\r"
_COPULA = r"(?:\s+(?:is|это)|[是为為])?"
_LABEL = r"(?i:(?:step|шаг)\s*\d{1,3}[*_]*\s*[-–—:.)]\s*|第\s?\d{1,3}\s?步\s*[：:，,.-]?\s*|\(?\d{1,3}[.)]\s+)?"
# What an answer may be written as behind its marker: x = 26, 20 + 6 = 26.
_DERIVED = re.compile(r"^[-+*/^().,$€£¥₽%\d\s]*=|^\s*[^\W\d_]\s*=")
_SENTENCE_END = re.compile(r"[.!?。！？](?:\s|$)|[。！？]")
# 7:30 is a time or a ratio, neither 7 nor 30.
_CLOCK, _CLOCK_END = re.compile(r":\d"), re.compile(r"\d:$")
_CALCULATES = re.compile(r"[=+*/×÷]|\d\s*[-−]\s*\d|^\s*\d+[.)]\s")


class Marked(NamedTuple):
    """A final answer behind a marker.

    - ``body``: The text that leads to it.
    """

    number: Number
    body: str


def marked_answer(text: str, markers: tuple[str, ...] = MARKERS) -> Marked | None:
    """The number behind the first of the markers, in their order, that has one.

    - ``markers``: What introduces the final answer, the most reliable first. One that ends in a colon is found in any
      case, in bold type, with another sign in place of its colon (``：``, ``=``, a dash), with *is* before it, and as a
      heading of its own; the number is behind it or alone on the line below. A single letter counts only where a line,
      a step or a sentence begins. Of several places the first counts; of ``\\boxed`` the last.

    Returns: Marked or None.

    Examples
    --------
    >>> marked_answer("So 6 + 2 = 8.\\n**Final answer:** 8 jars").number.value
    Fraction(8, 1)
    >>> marked_answer("The answer is 42.") is None
    True
    """
    for marker in markers:
        found = next(_boxes(text) if marker == BOX else _behind(text, marker), None)
        if found is not None:
            return found
    return None


def bare_marked(text: str, markers: tuple[str, ...] = MARKERS) -> str:
    """A text that is a number and nothing else, behind a marker; any other as it is.

    Examples
    --------
    >>> bare_marked("20"), bare_marked("20 jars")
    ('#### 20', '20 jars')
    """
    numbers = find_numbers(text, spaced=True)
    alone = len(numbers) == 1 and not (text[: numbers[0].start] + text[numbers[0].end :]).strip(_BARE + ".")
    first = next((marker for marker in markers if marker != BOX), "")
    return f"{first} {text.strip()}" if alone and first else text


def another_marker(texts: Iterable[str], markers: Sequence[str]) -> str:
    """What to do where texts have their answers behind another marker than these, a clause; empty where they do not."""
    other = next((m for m in MARKERS if all(marked_answer(text, (m,)) for text in texts)), "")
    added = json.dumps([*markers, other], ensure_ascii=False)
    return f", but behind {other}; add it to the list (-p 'answer_markers={added}')" if other else ""


def last_number(text: str, markers: tuple[str, ...] = MARKERS) -> Number | None:
    """The last number of a text; behind a marker, spaces may group its thousands."""
    spaced = is_cyrillic(text)
    for line in reversed(text.splitlines()):
        numbers = find_numbers(line, spaced=spaced or any(_pattern(m).search(line) for m in markers))
        if numbers:
            return None if _CLOCK_END.search(line[: numbers[-1].start]) else numbers[-1]
    return None


def _behind(text: str, marker: str) -> Iterator[Marked]:
    end, last_equation, worded = len(text.rstrip()), text.rfind("="), marker[-1] in ":："
    for match in _pattern(marker).finditer(text):
        line, _, below = text[match.end() : match.end() + _REACH].partition("\n")
        blank = not line.strip(_BARE)
        if blank:
            line = next((row for row in below.split("\n") if row.strip(_BARE)), "")
        if not any(map(str.isnumeric, line)):
            continue
        rest, upto = plain_latex(line), match.end() + len(line)
        # What calculates on behind a marker is a solution, not its answer: «A: 5 + 3 = 8», then more steps.
        if worded and last_equation >= upto and _DERIVED.match(ascii_numerals(rest)):
            continue
        number = _alone(rest) if blank else _leading(rest, derived=worded, sentence=worded and end <= upto)
        if number is not None:
            yield Marked(number, _body(text[: match.start()]))


def _boxes(text: str) -> Iterator[Marked]:
    """The boxes with a number, last first."""
    starts = [match.start() for match in _pattern(BOX).finditer(text)]
    for start in starts[: -_MOST_BOXES - 1 : -1]:
        inside = _in_braces(text[start : start + _REACH])
        if not any(map(str.isnumeric, inside)):
            continue
        number = _leading(plain_latex(inside), derived=True, sentence=True)
        if number is not None:
            body = _body(text[:start])
            # A box may close a calculation: 3 + 4 = \boxed{7}.
            yield Marked(number, text[: start + len(inside)] if text[:start].rstrip().endswith("=") else body)


def _in_braces(text: str) -> str:
    """A text up to the brace that closes its first."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "}" and depth <= 0:
            return text[: at + 1]
    return text


def _leading(rest: str, *, derived: bool, sentence: bool) -> Number | None:
    """The number that a rest of a line begins with, or that its calculation gives; in a sentence, its only one."""
    if derived and (match := _DERIVED.match(ascii_numerals(rest))):
        rest = rest[match.end() :].rpartition("=")[2] if "=" in rest[match.end() :] else rest[match.end() :]
    # A marker is followed by one number: a space in it can only group thousands.
    numbers = find_numbers(rest, spaced=True)
    if not numbers or _CLOCK.match(rest, numbers[0].end):
        return None
    worded = any(c.isalpha() for c in rest[: numbers[0].start])
    return numbers[0] if not worded or (sentence and len(numbers) == 1) else None


def _alone(line: str) -> Number | None:
    """The number of a line that holds nothing else but its unit."""
    line = line.replace("*", "").replace("_", "")
    numbers = find_numbers(line, spaced=True)
    if len(numbers) != 1 or _CALCULATES.search(ascii_numerals(line[: numbers[0].start] + line[numbers[0].end :])):
        return None
    before, after = line[: numbers[0].start], line[numbers[0].end :]
    return None if any(map(str.isalpha, before)) or len(after.split()) > _SHORT else numbers[0]


def _body(before: str) -> str:
    """What leads to an answer, without the words that only introduce it: «Therefore, the final answer»."""
    lines, _, lead = before.rpartition("\n")
    return before if any(map(str.isnumeric, lead)) or _SENTENCE_END.search(lead) else lines


@lru_cache(maxsize=256)
def _pattern(marker: str) -> re.Pattern[str]:
    stem = marker.rstrip(" ").rstrip(":：").rstrip()
    if not stem[:1].isalpha():
        return re.compile(re.escape(marker))
    word = re.escape(stem).replace(r"\ ", r"\s+")
    if marker.strip() == stem:
        return re.compile(rf"(?<![^\W\d_]){word}(?!\w)", re.IGNORECASE)
    colon = rf"{_COPULA}[*_]*[ \t]*(?:[:：=]|[-–—](?=\s))"
    if len(stem) == 1 and stem.isascii():
        begin = rf"(?:^[ \t>*_#-]*+{_LABEL}|(?<=[.!?;] ))[*_]*+"
        return re.compile(rf"{begin}{word}{_COPULA}[*_]*[ \t]*[:：]", re.MULTILINE)
    wide = stem[0] >= "\u3400"  # a script without spaces between words
    begin = "" if wide else r"(?<![^\W\d_])"
    return re.compile(rf"(?:^[ \t>*_#-]*+{_LABEL})?{begin}{word}(?:{colon}|[*_ \t]*$)", re.MULTILINE | re.IGNORECASE)
