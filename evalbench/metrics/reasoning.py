"""Chain of thought on word problems: final answer, steps ratio, similarity, coherence.

What a step, an equation and a final answer are, :mod:`evalbench.text.solutions` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.metrics.registry import metric
from evalbench.text.arithmetic import plain_latex
from evalbench.text.equations import Equation, places
from evalbench.text.final_answers import MARKERS
from evalbench.text.number_words import number_words
from evalbench.text.numbers import find_numbers
from evalbench.text.solutions import Solution, parse_solution, same_number

Extractor = Literal["strict", "flexible"]
FaultKind = Literal["wrong", "unsourced", "unread"]

_PERCENT = re.compile(r"\d\s?[%％]|\bper ?cent\b|процент|百分之", re.IGNORECASE)
LEVELS = ("answer", "steps", "similarity", "coherence")
WEIGHTS = (0.3, 0.2, 0.2, 0.3)
CONSTANTS = {"none": (), "everyday": (1, 2, 7, 10, 12, 24, 30, 52, 60, 100, 365, 1000)}

_GSM8K = "Cobbe et al. 2021, Training verifiers to solve math word problems, section 2 (data and annotations)"
_MILK = {"response": "Six pails and two make <<6+2=8>>8.\n#### 8", "reference": "Together <<2+6=8>>8 pails.\n#### 8"}


class Fault(NamedTuple):
    """What is wrong with one step, as data.

    Attributes
    ----------
    kind : {"wrong", "unsourced", "unread"}
        An equation whose sides differ, a number without a source, an equation that cannot be read.
    equation : str
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
    text : str
    equations : tuple of str
    accurate, coherent : bool or None
        None for a step without an equation that can be read.
    faults : tuple of Fault
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


@metric(kind="solution", range=(0, 1), higher_is_better=True, reference=_GSM8K, example=(_MILK, 1.0))
def final_answer_accuracy(
    response: str, reference: str, *, extractor: Extractor = "strict", markers: tuple[str, ...] = MARKERS
) -> float:
    """Level 1: 1 if the final answers are equal as numbers within 1e-6, else 0.

    Parameters
    ----------
    response, reference : str
        Solutions; the reference's answer stands behind a marker.
    extractor : {"strict", "flexible"}
        ``strict`` reads the number behind the first marker, ``flexible`` the last number of the response.
    markers : tuple of str

    Returns
    -------
    float
        0 or 1; a response without an answer is wrong.

    Raises
    ------
    ValueError
        If the reference has no answer behind a marker.

    Examples
    --------
    >>> final_answer_accuracy("That makes $1,200.\\n#### 1,200", "#### 1200")
    1.0
    """
    truth = parse_solution(reference, markers).strict
    if truth is None:
        raise ValueError(f"the reference has no number behind a marker ({', '.join(markers)}): {reference[-60:]!r}")
    return float(same_number(getattr(parse_solution(response, markers), extractor), truth))


@metric(
    kind="counts",
    range=(0, 1),
    higher_is_better=True,
    needs=(),
    reference="explainability (docs/methods.md), Level 2: bounds 0.8 and 1.2, floors 0.2 and 0.5",
    example=({"n_response": 6, "n_reference": 5}, 1.0),
)
def steps_ratio_score(n_response: npt.ArrayLike, n_reference: npt.ArrayLike) -> Floats:
    """Level 2: whether a solution has about as many steps as the reference.

    With r = n_response / n_reference: 1 for 0.8 ≤ r ≤ 1.2; max(0.2, r / 0.8) below; max(0.5, 1.2 / r) above.

    Parameters
    ----------
    n_response, n_reference : (n,) arrays of counts

    Returns
    -------
    (n,) array
        NaN where the reference has no step.

    Raises
    ------
    ValueError
        For negative counts or unequal lengths.

    Examples
    --------
    >>> steps_ratio_score([6, 2, 10], [5, 5, 5]).tolist()
    [1.0, 0.5, 0.6]
    """
    response, reference = np.asarray(n_response, float), np.asarray(n_reference, float)
    if response.shape != reference.shape:
        raise ValueError(f"{response.shape} counts of response steps, {reference.shape} of reference steps")
    if (response < 0).any() or (reference < 0).any():
        raise ValueError("a count of steps is negative")
    with np.errstate(all="ignore"):
        r = response / reference
        score = np.where(r < 0.8, np.maximum(0.2, r / 0.8), np.where(r > 1.2, np.maximum(0.5, 1.2 / r), 1.0))
    return np.where(reference > 0, score, np.nan)


def _jaccard(left: frozenset[object], right: frozenset[object]) -> float:
    union = len(left | right)
    return len(left & right) / union if union else 1.0


@metric(
    kind="solution",
    range=(0, 1),
    higher_is_better=True,
    reference="explainability (docs/methods.md), Level 3: Jaccard 1901; operators 0.4, numbers 0.4, words 0.2",
    example=(_MILK, 0.8 + 0.2 / 6),
)
def steps_similarity(response: str, reference: str, *, markers: tuple[str, ...] = MARKERS) -> float:
    """Level 3: 0.4·J(operators) + 0.4·J(numbers) + 0.2·J(words), J the Jaccard index of sets.

    Operators and numbers are those in equations, on both sides; words are those without digits, in the
    whole solution, lower-cased, annotations left out.  Two empty sets have J = 1.

    Parameters
    ----------
    response, reference : str
    markers : tuple of str

    Returns
    -------
    float
        0–1.

    Examples
    --------
    >>> steps_similarity("<<2*3=6>>", "<<2*3=6>>")
    1.0
    """
    return similarity(parse_solution(response, markers), parse_solution(reference, markers))


def similarity(response: Solution, reference: Solution) -> float:
    """:func:`steps_similarity` of parsed solutions."""
    return (
        0.4 * _jaccard(response.operators, reference.operators)
        + 0.4 * _jaccard(response.numbers, reference.numbers)
        + 0.2 * _jaccard(response.words, reference.words)
    )


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
    solution : Solution
    question : str
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


def weighted_mean(scores: npt.ArrayLike, weights: Sequence[float] = WEIGHTS) -> Floats:
    """Weighted means over the last axis, renormalised over the entries that are not NaN.

    Parameters
    ----------
    scores : (..., k) array
    weights : k non-negative numbers, not all 0

    Returns
    -------
    (...) array
        NaN where no entry with a weight has a value.

    Raises
    ------
    ValueError
        For negative or all-zero weights, or a wrong count of them.

    Examples
    --------
    >>> weighted_mean([[1, 1, 0.853, 0.917], [1, 1, 1, float("nan")]]).round(3).tolist()
    [0.946, 1.0]
    """
    values, w = np.asarray(scores, float), np.asarray(weights, float)
    if w.ndim != 1 or values.shape[-1:] != w.shape:
        raise ValueError(f"{len(np.atleast_1d(w))} weights for {values.shape[-1:]} scores")
    if not np.isfinite(w).all() or (w < 0).any() or w.sum() == 0:
        raise ValueError(f"weights must be non-negative and not all 0: {list(weights)}")
    mass = np.where(np.isfinite(values), w, 0.0)
    with np.errstate(all="ignore"):
        return np.where(mass.sum(-1) > 0, np.nansum(values * w, -1) / mass.sum(-1), np.nan)
