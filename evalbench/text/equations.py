"""Equations in a line of text: calculator annotations ``<<3*2=6>>``, or what is around an equals sign.

A line is text under judgement: what cannot be read as arithmetic is kept with its reason, never guessed at.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import regex as re  # Debian's Python 3.11.2 matches possessive groups of its own module wrongly

from evalbench.text.arithmetic import ArithmeticFault, Expression, Written, parse, spell_operators
from evalbench.text.numbers import VULGAR, ascii_numerals, is_cyrillic

TOLERANCE = Fraction(1, 10**6)
MAX_RUN = 1000

ANNOTATION = re.compile(r"<<([^<>\n]*)>>")
_STEP_WORDS = (
    "step|day|week|month|year|part|stage|phase|round|problem|question|"
    "шаг|день|неделя|месяц|год|этап|часть|задача|вопрос"
)
# What numbers a line or a part of it: «2. », «(2) », «#2 - », «**Step 2** - », «第2步：».  Its dash is no minus.
_LABEL = re.compile(
    r"^\s*+(?:[-*•>]\s++|\#++\s++)*+[*_]*+"
    r"(?:[0-9]{1,3}[.):](?=[\s*_])|\([0-9]{1,3}\)(?!\s*[+*/^=])|\#\s?[0-9]{1,3}\b)[*_]*(?:\s*[-–—:.](?=\s))?"
    r"|^\s*+[-•>]\s++|^\s*+\*\s++(?=[^\s*])"
    rf"|(?<!\w)(?:{_STEP_WORDS})\s*(?:\#|№)?\s?[0-9]{{1,3}}\b(?!\s*[+*/^]\s*[0-9(])[*_]*\s*(?:[-–—:.)](?=[\s*_])|=)?[*_]*"
    r"|(?:第\s?[0-9]{1,3}\s?[步天周月年题]|步[骤驟]\s?[0-9]{1,3})(?:\s*[-–—:：、.])?",
    re.IGNORECASE,
)
_UNKNOWN = r"(?<![^\W\d_])[xXхХ](?![^\W\d_])"
_ARITHMETIC_RUN = re.compile(
    rf"(?:[0-9]++(?:[.,][0-9]++)*+|\.[0-9]++|[-+*/^()=%$€£¥₽{VULGAR}]|[ \t\u00a0\u202f]|{_UNKNOWN})++"
)
_CALCULATION = re.compile(
    rf"(?=.*[0-9){VULGAR}%]\s*[-+*/^(]|.*[0-9*/+-]\s*[^\W\d_]|.*[^\W\d_]\s*[-+*/^]).*[0-9{VULGAR}].*=.*[0-9{VULGAR}]"
)
# Where a colon may stand for division: 12:3, 12 : 3, not «Step 1: 3».
_COLON = re.compile(r"(?<=[0-9)])( ?):\1(?=[0-9(])")
_UNIT = re.compile(r"(?<=[0-9%])\s*+(?:[^\W\d_\u3400-\u9fff]{2,}(?:\s[^\W\d_]{2,})*+|[\u3400-\u9fff]++)")
_PER_UNIT = re.compile(r"(?<=[0-9])/(?=[^\W\d_]{2})")
_DANGLING = re.compile(r"^[*/^%]|[-+*/^(=]$|=\s*[*/^%=]|[-+*/^(]\s*=")
# Bold type around an equation or its result: **3+4=7**, 3+4=**7**.
_BOLD = re.compile(r"^\s*\*\*|(?<==)(\s*)\*\*|\*\*(?=\s*(?:$|=))")
_BRACKETED = re.compile(r"\(((?:[^()=]|\([^()=]*\))*=(?:[^()]|\([^()]*\))*)\)")
_LONE_LETTER = re.compile(r"(?<![^\W\d_])[^\W\d_]$")
_OPERATES = re.compile(r"[-+*/^][^=]*$")
_DEFINED = re.compile(r"\s*[^\W\d_]\s*")


class Equation(NamedTuple):
    """An equation as written, and what it says.

    - ``sides``: Empty where it could not be read.
    - ``fault``: Why it has no sides, else empty.
    - ``span``: Between which characters of its line it is.
    """

    text: str
    sides: tuple[Expression, ...]
    fault: str = ""
    span: tuple[int, int] = (0, 0)

    def holds(self, relative_tolerance: float = 0.0) -> bool:
        """Whether all its sides are equal within 1e-6 or this share of the first; one that cannot be read does not hold."""
        if not self.sides:
            return False
        first = self.sides[0].value
        allowed = max(TOLERANCE, Fraction(relative_tolerance) * abs(first)) if relative_tolerance else TOLERANCE
        return all(abs(side.value - first) <= allowed for side in self.sides[1:])

    @property
    def written(self) -> tuple[Written, ...]:
        """The numbers on its left: all that precedes the last equals sign."""
        return tuple(n for side in self.sides[:-1] for n in side.written)

    @property
    def used(self) -> tuple[Fraction, ...]:
        """What the numbers on its left are worth."""
        return tuple(n.value for n in self.written)

    @property
    def result(self) -> Fraction | None:
        return self.sides[-1].value if self.sides else None


def annotated_equations(line: str) -> tuple[Equation, ...]:
    """The equations between ``<<`` and ``>>``.

    Examples
    --------
    >>> [e.text for e in annotated_equations("3 * 2 = <<3*2=6>>6, <<(6+1=7)>>7")]
    ['3*2=6', '6+1=7']
    """
    return tuple(_equation(_unwrapped(match[1]))._replace(span=match.span(1)) for match in ANNOTATION.finditer(line))


def inline_equations(line: str) -> tuple[Equation, ...]:
    """The calculations of a line that has no annotations.

    Examples
    --------
    >>> [e.text for e in inline_equations("Step 2 - 19.50/0.75 = 26 boxes (26 - 6 = 20 of them full)")]
    ['19.50/0.75 = 26', '26 - 6 = 20']
    """
    if "=" not in line and "＝" not in line:
        return ()
    spelled = _PER_UNIT.sub(" ", spell_operators(without_labels(line)))
    if is_cyrillic(line):
        spelled = _COLON.sub(r"\1/\1", spelled)
    moved = "\\" in line  # LaTeX is spelled in fewer characters
    return tuple(
        _equation(run)._replace(span=(0, len(line)) if moved else match.span())
        for match in _ARITHMETIC_RUN.finditer(spelled)
        if "=" in match.group()
        for run in _runs(spelled, match)
        if len(run) > MAX_RUN or _CALCULATION.search(run)
    )


def without_labels(line: str) -> str:
    """A line with blanks for what numbers it and its parts; every other character stays where it is.

    Examples
    --------
    >>> without_labels("Day 2 - 5 + 3")
    '        5 + 3'
    """
    blanked: str = _LABEL.sub(lambda match: " " * len(match.group()), line)
    return blanked


def places(line: str, equation: Equation) -> Iterator[tuple[int, int]]:
    """Where the numbers on an equation's left are in its line, in order; an empty span for one that is not found."""
    start, end = equation.span
    shown = ascii_numerals(without_labels(line) if not equation.span[0] else line)
    end = max(shown.rfind("=", start, end), start)
    for number in equation.written:
        digits = re.escape(number.text.rstrip("%")) + r"\s?%" * number.text.count("%")
        found = re.compile(rf"(?<![0-9.,]){digits}(?![0-9]|[.,][0-9])").search(shown, start, end)
        start = found.end() if found else start
        yield found.span() if found else (0, 0)


def _runs(line: str, match: re.Match[str]) -> Iterator[str]:
    """The equations in a run of arithmetic characters; none where it is a piece of a sentence (``apples + 4 = 7``)."""
    run = match.group().strip()
    if len(run) > MAX_RUN:
        yield run
        return
    before, after = line[: match.start()], line[match.end() : match.end() + 2]
    if run[:1] in ("+", "-") and before[-1:].isalpha():
        if not (lone := _LONE_LETTER.search(before[-2:])):
            return
        run = f"{lone.group()} {run}"
    if match.group()[-1:].isdigit() and after[:1].isalpha() and not after[1:].isalpha() and _OPERATES.search(run):
        run += after[0]
    for part in (_BRACKETED.sub(" ", run), *_BRACKETED.findall(run)):
        part = _balanced(_BOLD.sub(r"\1", part.strip()))
        if "=" in part and not _DANGLING.search(part):
            yield part


def _balanced(run: str) -> str:
    """Without the brackets of the sentence around it, and those of a remark beside it: ``(a) 5 + 3 = 8 (eggs)``."""
    run = run.lstrip(") ").rstrip("( ")
    while run.startswith("(") and run.count("(") > run.count(")"):
        run = run[1:].strip()
    while run.endswith(")") and run.count(")") > run.count("("):
        run = run[:-1].strip()
    return run


def _unwrapped(text: str) -> str:
    """An equation without the brackets around the whole of it."""
    whole = _BRACKETED.fullmatch(text.strip()) if len(text) <= MAX_RUN else None
    return whole[1] if whole else text


@lru_cache(maxsize=65_536)
def _equation(text: str) -> Equation:
    shown = text if len(text) <= 80 else text[:79] + "…"
    if len(text) > MAX_RUN:
        return Equation(shown, (), f"longer than {MAX_RUN} characters")
    spelled = _UNIT.sub("", text)
    written = [side for side in re.split(r"==?|＝", spelled) if side.strip()]
    if len(written) > 2 and _DEFINED.fullmatch(written[0]):  # x = 3 + 4 = 7 defines x
        written = written[1:]
    try:
        sides = tuple(parse(side) for side in written)
    except ArithmeticFault as fault:
        return Equation(shown, (), str(fault))
    if len(sides) < 2:
        return Equation(shown, (), "an equation needs two sides")
    return Equation(shown, sides)
