"""Worked solutions of word problems: steps, equations, final answer.

A solution is lines of text, each line a step, closed by a final answer behind a marker (``#### 18`` or
``A: 18``).  Its equations are calculator annotations ``<<3*2=6>>``, or, in a text without any, what stands
around an equals sign.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from evalbench.text.arithmetic import ArithmeticFault, Expression, parse, plain_latex, spell_operators
from evalbench.text.numbers import VULGAR, Number, find_numbers, is_cyrillic
from evalbench.text.words import words

MARKERS = ("####", "A:")
TOLERANCE = Fraction(1, 10**6)
MAX_RUN = 1000

_ANNOTATION = re.compile(r"<<([^<>\n]*)>>")
_BULLET = re.compile(r"^\s*(?:[-*•]|[0-9]+[.)])\s+")
_ARITHMETIC_RUN = re.compile(
    rf"(?:[0-9]++(?:[.,][0-9]++)*+|\.[0-9]++|[-+*/^()=%$€£¥₽{VULGAR}]|[ \t\u00a0\u202f])++"
)
_CALCULATION = re.compile(rf"(?=.*[0-9){VULGAR}%]\s*[-+*/^(]).*[0-9{VULGAR}].*=.*[0-9{VULGAR}]")
# Where a colon may stand for division: 12:3, 12 : 3, not «Step 1: 3».
_COLON = re.compile(r"(?<=[0-9)])( ?):\1(?=[0-9(])")
_UNIT = re.compile(r"(?<=[0-9%])\s*+(?:[^\W\d_\u3400-\u9fff]{2,}(?:\s[^\W\d_]{2,})*+|[\u3400-\u9fff]++)")
_PER_UNIT = re.compile(r"(?<=[0-9])/(?=[^\W\d_]{2})")
_DANGLING = re.compile(r"^[*/^%]|[-+*/^(=]$|=\s*[*/^%=]|[-+*/^(]\s*=")


class Equation(NamedTuple):
    """An equation as written, and what it says.

    Attributes
    ----------
    text : str
    sides : tuple of Expression
        Empty where it could not be read.
    fault : str
        Why it could not be read, else empty.
    """

    text: str
    sides: tuple[Expression, ...]
    fault: str = ""

    def holds(self, relative_tolerance: float = 0.0) -> bool:
        """Whether all its sides are equal within 1e-6 or this share of the first; one that cannot be read does not hold."""
        if not self.sides:
            return False
        first = self.sides[0].value
        allowed = (
            max(TOLERANCE, Fraction(relative_tolerance) * abs(first)) if relative_tolerance else TOLERANCE
        )
        return all(abs(side.value - first) <= allowed for side in self.sides[1:])

    @property
    def used(self) -> tuple[Fraction, ...]:
        """The numbers on its left: all that stands before the last equals sign."""
        return tuple(n for side in self.sides[:-1] for n in side.numbers)

    @property
    def result(self) -> Fraction | None:
        return self.sides[-1].value if self.sides else None


class Step(NamedTuple):
    """One line of a solution and its equations."""

    text: str
    equations: tuple[Equation, ...]


class Solution(NamedTuple):
    """A parsed solution.

    Attributes
    ----------
    steps : tuple of Step
    strict : Number or None
        The number behind the first marker.
    flexible : Number or None
        The last number of the text.
    words : frozenset of str
        Lower-cased words without digits, annotations left out.
    """

    steps: tuple[Step, ...]
    strict: Number | None
    flexible: Number | None
    words: frozenset[str]

    @property
    def equations(self) -> tuple[Equation, ...]:
        return tuple(e for step in self.steps for e in step.equations)

    @property
    def operators(self) -> frozenset[str]:
        return frozenset(o for e in self.equations for side in e.sides for o in side.operators)

    @property
    def numbers(self) -> frozenset[Fraction]:
        return frozenset(n for e in self.equations for side in e.sides for n in side.numbers)


@lru_cache(maxsize=16_384)
def parse_solution(text: str, markers: tuple[str, ...] = MARKERS) -> Solution:
    """Parse a solution into steps, equations and both readings of its final answer.

    Parameters
    ----------
    text : str
    markers : tuple of str
        What introduces the final answer.  A marker that starts with a letter counts only at the start of a line.

    Returns
    -------
    Solution
        What follows the first marker with a number is no step.  Without one, every non-empty line is a step.

    References
    ----------
    The strict extractor is that of the GSM8K authors (first ``####``); the flexible one, the last number of the
    text, is what common harnesses call flexible extraction.

    Examples
    --------
    >>> s = parse_solution("She has 3 + 4 = <<3+4=7>>7 eggs.\\n#### 7")
    >>> len(s.steps), s.equations[0].text, s.strict.value
    (1, '3+4=7', Fraction(7, 1))
    """
    body, strict = _final_answer(text, markers)
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    annotated = any(_ANNOTATION.search(line) for line in lines)
    read = _annotations if annotated else _inline_equations
    prose = plain_latex(_ANNOTATION.sub("", text))
    return Solution(
        tuple(Step(line, read(line)) for line in lines),
        strict,
        _last_number(prose, markers),
        frozenset(w for w in words(prose, lower=True) if w.isalpha() or not any(map(str.isdigit, w))),
    )


def _final_answer(text: str, markers: tuple[str, ...]) -> tuple[str, Number | None]:
    for match in _marker_pattern(markers).finditer(text):
        rest = plain_latex(text[match.end() : match.end() + 200].split("\n", 1)[0])
        # Behind a marker stands one number: a space in it can only group thousands.
        number = next(iter(find_numbers(rest, spaced=True)), None) if any(map(str.isnumeric, rest)) else None
        if number is not None and not any(c.isalpha() for c in rest[: number.start]):
            return text[: match.start()], number
    return text, None


def _last_number(text: str, markers: tuple[str, ...]) -> Number | None:
    spaced = is_cyrillic(text)
    marker = _marker_pattern(markers)
    for line in reversed(text.splitlines()):
        numbers = find_numbers(line, spaced=spaced or marker.search(line) is not None)
        if numbers:
            return numbers[-1]
    return None


@lru_cache(maxsize=64)
def _marker_pattern(markers: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        "|".join(rf"^[ \t*]*{re.escape(m)}" if m[:1].isalpha() else re.escape(m) for m in markers) or r"(?!)",
        re.MULTILINE,
    )


def _annotations(line: str) -> tuple[Equation, ...]:
    return tuple(_equation(inside) for inside in _ANNOTATION.findall(line))


def _inline_equations(line: str) -> tuple[Equation, ...]:
    if "=" not in line and "＝" not in line:
        return ()
    spelled = _PER_UNIT.sub(" ", spell_operators(_BULLET.sub("", line)))
    if is_cyrillic(line):
        spelled = _COLON.sub(r"\1/\1", spelled)
    runs = (_run(spelled, match) for match in _ARITHMETIC_RUN.finditer(spelled) if "=" in match.group())
    return tuple(_equation(run) for run in runs if len(run) > MAX_RUN or _CALCULATION.search(run))


def _run(line: str, match: re.Match[str]) -> str:
    """The equation in a run of arithmetic characters; empty where the run is a piece of algebra (``x - 4 = 116``)."""
    run = match.group().strip()
    if len(run) > MAX_RUN:
        return run
    run = _balanced(run)
    after_letter = line[: match.start()][-1:].isalpha() and run[:1] in ("+", "-")
    return "" if after_letter or _DANGLING.search(run) else run


def _balanced(run: str) -> str:
    """Without the brackets of the sentence around it, and those of a remark beside it: ``(a) 5 + 3 = 8 (eggs)``."""
    run = run.lstrip(") ").rstrip("( ")
    while run.startswith("(") and run.count("(") > run.count(")"):
        run = run[1:].strip()
    while run.endswith(")") and run.count(")") > run.count("("):
        run = run[:-1].strip()
    return run


@lru_cache(maxsize=65_536)
def _equation(text: str) -> Equation:
    shown = text if len(text) <= 80 else text[:79] + "…"
    if len(text) > MAX_RUN:
        return Equation(shown, (), f"longer than {MAX_RUN} characters")
    try:
        spelled = _UNIT.sub("", text)
        sides = tuple(parse(side) for side in re.split(r"==?|＝", spelled) if side.strip())
    except ArithmeticFault as fault:
        return Equation(shown, (), str(fault))
    if len(sides) < 2:
        return Equation(shown, (), "an equation needs two sides")
    return Equation(shown, sides)


def same_number(left: Number | None, right: Number | None) -> bool:
    """Whether two written numbers are equal within 1e-6; ``20%`` equals both 20 and 0.2, ``3 million`` both 3 and 3 000 000."""
    if left is None or right is None:
        return False
    return any(
        abs(a - b) <= TOLERANCE
        for a in {left.value, left.face, left.scaled}
        for b in {right.value, right.face, right.scaled}
    )
