"""Worked solutions of word problems: steps, equations, final answer.

A solution is lines of text, each line a step, closed by a final answer behind a marker (``#### 18`` or
``A: 18``).  Its equations are calculator annotations ``<<3*2=6>>``, or, in a text without any, what is
around an equals sign.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from evalbench.text.arithmetic import plain_latex
from evalbench.text.equations import ANNOTATION, TOLERANCE, Equation, annotated_equations, inline_equations
from evalbench.text.final_answers import MARKERS, last_number, marked_answer
from evalbench.text.numbers import Number
from evalbench.text.words import words


class Step(NamedTuple):
    """One line of a solution and its equations."""

    text: str
    equations: tuple[Equation, ...]


class Solution(NamedTuple):
    """A parsed solution.

    - ``strict``: The number behind a marker.
    - ``flexible``: The last number of the text.
    - ``words``: Lower-cased words without digits, annotations left out.
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

    - ``markers``: What introduces the final answer; see :func:`evalbench.text.final_answers.marked_answer`.

    Returns: What follows the marker of the final answer is not a step. Without one, every non-empty line is a step.

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
    marked = marked_answer(text, markers)
    body = marked.body if marked else text
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    read = annotated_equations if any(ANNOTATION.search(line) for line in lines) else inline_equations
    prose = plain_latex(ANNOTATION.sub("", text))
    return Solution(
        tuple(Step(line, read(line)) for line in lines),
        marked.number if marked else None,
        last_number(prose, markers),
        frozenset(w for w in words(prose, lower=True) if w.isalpha() or not any(map(str.isdigit, w))),
    )


def same_number(left: Number | None, right: Number | None) -> bool:
    """Whether two written numbers are equal within 1e-6; ``20%`` equals both 20 and 0.2, ``3 million`` both 3 and 3 000 000."""
    if left is None or right is None:
        return False
    return any(
        abs(a - b) <= TOLERANCE
        for a in {left.value, left.face, left.scaled}
        for b in {right.value, right.face, right.scaled}
    )
