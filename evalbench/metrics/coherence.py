"""Level 4 of a chain of thought: are its equations true, and do its numbers come from somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from evalbench.errors import BadInput
from evalbench.text.arithmetic import plain_latex
from evalbench.text.equations import Equation, places
from evalbench.text.number_words import number_words
from evalbench.text.numbers import find_numbers
from evalbench.text.solutions import Solution

FaultKind = Literal["wrong", "unsourced", "unread"]
CONSTANTS = {"none": (), "everyday": (1, 2, 7, 10, 12, 24, 30, 52, 60, 100, 365, 1000)}
_PERCENT = re.compile(r"\d\s?[%％]|\bper ?cent\b|процент|百分之", re.IGNORECASE)


def constants_of(text: str) -> tuple[float, ...]:
    """Numbers that need no source: a list by name, or numbers separated by commas.

    Raises
    ------
    BadInput
        For anything else.

    Examples
    --------
    >>> constants_of("7, 12"), len(constants_of("everyday"))
    ((7.0, 12.0), 12)
    """
    if text in CONSTANTS:
        return CONSTANTS[text]
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = (np.nan,)
    if not np.isfinite(numbers).all():
        raise BadInput(f"common_constants must be {', '.join(CONSTANTS)} or numbers separated by commas; got {text!r}")
    return numbers


class Fault(NamedTuple):
    """What is wrong with one step, as data.

    Attributes
    ----------
    kind : {"wrong", "unsourced", "unread"}
        An equation whose sides differ, a number without a source, an equation that cannot be read.
    number : str
        The number without a source as it is written, else empty.
    detail : str
        The value of a wrong equation's left side, or why an equation cannot be read; else empty.
    start, end : int
        Where the equation or number is in the step's text; equal where it is not found.
    """

    kind: FaultKind
    equation: str
    number: str
    detail: str
    start: int
    end: int


class StepCheck(NamedTuple):
    """What level 4 saw in one step.

    Attributes
    ----------
    number : int
        From 1.
    accurate, coherent : bool or None
        None for a step without an equation that can be read.
    """

    number: int
    text: str
    equations: tuple[str, ...]
    accurate: bool | None
    coherent: bool | None
    faults: tuple[Fault, ...]


class Coherence(NamedTuple):
    """Level 4 of one solution; NaN where it has no equation that can be read."""

    accuracy: float
    coherence: float
    score: float
    steps: tuple[StepCheck, ...]


@lru_cache(maxsize=16_384)
def given_numbers(question: str, *, article_as_one: bool = False) -> frozenset[Fraction]:
    """The numbers that a question gives, in digits or words; a part gives its numerator and denominator too.

    Examples
    --------
    >>> sorted(map(str, given_numbers("Half of the 20% discount")))
    ['1', '1/2', '1/5', '2', '20']
    """
    numbers = find_numbers(plain_latex(question))
    written = frozenset(r for number in numbers for r in (*number.readings(), number.scaled))
    return written | number_words(question, article_as_one=article_as_one)


def step_coherence(
    solution: Solution,
    question: str,
    *,
    article_as_one: bool = False,
    common_constants: Iterable[float] = (),
    relative_tolerance: float = 0.0,
) -> Coherence:
    """Level 4: 0.75 · accuracy + 0.25 · coherence.

    Accuracy is the share of equations whose sides are equal.  Coherence is the share of steps whose numbers
    all have a source: the question (or ``common_constants``), or the result of an earlier coherent step.  The
    numbers of a step are those on the left sides of its equations.  An equation that cannot be read is left out of
    both, and so is a step without one that can.

    Parameters
    ----------
    article_as_one : bool
        Whether *a* and *an* in the question give 1.
    common_constants : iterable of float
        Numbers that need no source, such as 7 days of a week.
    relative_tolerance : float
        By how large a share of its first side an equation may be off; 0.001 forgives rounded results.

    Returns
    -------
    Coherence
        NaN where the solution has no equation that can be read.

    Notes
    -----
    The result of an incoherent step is no source for later steps.  A sign is an operator: −2 is a source of 2.
    A percentage may come from its face (20% from 20), and 100% from any percentage that the question names.

    Examples
    --------
    >>> from evalbench.text.solutions import parse_solution
    >>> c = step_coherence(parse_solution("<<2*3=6>>\\n<<7=7>>\\n<<6*7=42>>"), "Two cows, three pails each, for a week.")
    >>> c.accuracy, round(c.coherence, 3), c.steps[1].faults[0].number
    (1.0, 0.333, '7')
    """
    known = set(map(abs, given_numbers(question, article_as_one=article_as_one)))
    known.update(abs(Fraction(str(constant))) for constant in common_constants)
    of_all: Set[Fraction] = frozenset({Fraction(100)}) if _PERCENT.search(question) else frozenset()
    checks = []
    for number, step in enumerate(solution.steps, 1):
        read = [e for e in step.equations if e.sides]
        faults = [
            *(_fault("unread", e, e.fault) for e in step.equations if not e.sides),
            *(_fault("wrong", e, shown(e.sides[0].value)) for e in read if not e.holds(relative_tolerance)),
        ]
        unsourced = [f for e in read for f in _unsourced(e, step.text, known, of_all)]
        if not unsourced:
            known.update(abs(e.result) for e in read if e.result is not None)
        checks.append(
            StepCheck(
                number,
                step.text,
                tuple(e.text for e in step.equations),
                not any(f.kind == "wrong" for f in faults) if read else None,
                not unsourced if read else None,
                (*faults, *unsourced),
            )
        )
    equations = [e for e in solution.equations if e.sides]
    if not equations:
        return Coherence(np.nan, np.nan, np.nan, tuple(checks))
    accuracy = sum(e.holds(relative_tolerance) for e in equations) / len(equations)
    judged = [c.coherent for c in checks if c.coherent is not None]
    share = sum(judged) / len(judged)
    return Coherence(accuracy, share, 0.75 * accuracy + 0.25 * share, tuple(checks))


def in_words(faults: Iterable[Fault]) -> str:
    """The faults of one step as a reader sees them.

    Examples
    --------
    >>> in_words([Fault("wrong", "2+3=6", "", "5", 0, 5), Fault("unsourced", "7*4=28", "7", "", 8, 9)])
    '2+3=6 is wrong: the left side is 5; 7 has no source'
    """
    faults = list(faults)
    said = [f"{fault.equation}: {fault.detail}" for fault in faults if fault.kind == "unread"]
    wrong = [fault for fault in faults if fault.kind == "wrong"]
    said += [f"{fault.equation} is wrong: the left side is {fault.detail}" for fault in wrong]
    numbers = list(dict.fromkeys(fault.number for fault in faults if fault.kind == "unsourced"))
    if numbers:
        said.append(f"{', '.join(numbers)} {'has' if len(numbers) == 1 else 'have'} no source")
    return "; ".join(said)


def _unsourced(equation: Equation, text: str, known: Set[Fraction], percentages: Set[Fraction]) -> list[Fault]:
    lacking = [
        n.value not in known and not (n.text.endswith("%") and (n.value * 100 in known or n.value * 100 in percentages))
        for n in equation.written
    ]
    if not any(lacking):
        return []
    found = zip(equation.written, places(text, equation), lacking, strict=True)
    return [Fault("unsourced", equation.text, n.text, "", *place) for n, place, lacks in found if lacks]


def _fault(kind: FaultKind, equation: Equation, detail: str) -> Fault:
    return Fault(kind, equation.text, "", detail, *equation.span)


def shown(number: Fraction, digits: int = 9) -> str:
    """A number of any size, rounded to so many significant digits."""
    rounded = f"{Decimal(number.numerator) / Decimal(number.denominator):.{digits}g}"
    return rounded.rstrip("0").rstrip(".") if "." in rounded and "e" not in rounded else rounded
