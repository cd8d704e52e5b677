"""Chain of thought on word problems, four levels: final answer, steps ratio, similarity, coherence.

What a step, an equation and a final answer are, :mod:`evalbench.text.solutions` says; level 4 is
:mod:`evalbench.metrics.coherence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.metrics.coherence import StepCheck, step_coherence
from evalbench.metrics.registry import metric
from evalbench.text.final_answers import MARKERS
from evalbench.text.refusals import is_refusal
from evalbench.text.solutions import Solution, parse_solution, same_number

Extractor = Literal["strict", "flexible"]

LEVELS = ("answer", "steps", "similarity", "coherence")
WEIGHTS = (0.3, 0.2, 0.2, 0.3)
_GSM8K = "Cobbe et al. 2021, Training verifiers to solve math word problems, section 2 (data and annotations)"
_MILK = {"response": "Six pails and two make <<6+2=8>>8.\n#### 8", "reference": "Together <<2+6=8>>8 pails.\n#### 8"}


@metric(kind="solution", range=(0, 1), higher_is_better=True, reference=_GSM8K, example=(_MILK, 1.0))
def final_answer_accuracy(
    response: str | Solution,
    reference: str | Solution,
    *,
    extractor: Extractor = "strict",
    markers: tuple[str, ...] = MARKERS,
) -> float:
    """Level 1: 1 if the final answers are equal as numbers within 1e-6, else 0.

    Parameters
    ----------
    response, reference : str or Solution
        The reference's answer follows a marker.
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
    truth = _parsed(reference, markers).strict
    if truth is None:
        shown = f": {reference[-60:]!r}" if isinstance(reference, str) else ""
        raise ValueError(f"the reference has no number behind a marker ({', '.join(markers)}){shown}")
    return float(same_number(getattr(_parsed(response, markers), extractor), truth))


def _parsed(solution: str | Solution, markers: tuple[str, ...]) -> Solution:
    return parse_solution(solution, markers) if isinstance(solution, str) else solution


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
def steps_similarity(
    response: str | Solution, reference: str | Solution, *, markers: tuple[str, ...] = MARKERS
) -> float:
    """Level 3: 0.4·J(operators) + 0.4·J(numbers) + 0.2·J(words), J the Jaccard index of sets.

    Operators and numbers are those in equations, on both sides; words are those without digits, in the
    whole solution, lower-cased, annotations left out.  Two empty sets have J = 1.

    Parameters
    ----------
    response, reference : str or Solution
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
    said, truth = _parsed(response, markers), _parsed(reference, markers)
    return (
        0.4 * _jaccard(said.operators, truth.operators)
        + 0.4 * _jaccard(said.numbers, truth.numbers)
        + 0.2 * _jaccard(said.words, truth.words)
    )


class Levels(NamedTuple):
    """One response on the four levels, each 0–1, and what it was read as.

    Attributes
    ----------
    answer_strict, answer_flexible : float
        Level 1 by each extractor.
    steps, similarity, coherence : float
        Levels 2 to 4; the first two NaN where the reference has no step, the last where the response has no equation that
        can be read.  Of a response none of whose equations can be read, only the final answer is scored.
    accuracy, sourced : float
        The parts of level 4: equations that are right, steps whose numbers have a source.
    marked : float
        Whether a marker introduces the final answer; NaN for an empty response and a refusal.
    n_steps, n_reference_steps, n_equations, n_unread : float
        The last are the equations that cannot be read.
    """

    answer_strict: float
    answer_flexible: float
    steps: float
    similarity: float
    coherence: float
    accuracy: float
    sourced: float
    marked: float
    n_steps: float
    n_reference_steps: float
    n_equations: float
    n_unread: float
    checks: tuple[StepCheck, ...]


def four_levels(
    response: str,
    reference: str,
    question: str,
    *,
    markers: tuple[str, ...] = MARKERS,
    article_as_one: bool = False,
    common_constants: Iterable[float] = (),
    relative_tolerance: float = 0.0,
) -> Levels:
    """A chain of thought on all four levels.

    An empty response and a refusal score 0 on each; without a reference levels 1 to 3 are NaN, and where it has no step
    levels 2 and 3.

    Parameters
    ----------
    markers : tuple of str
        What introduces the final answer.
    article_as_one, common_constants, relative_tolerance
        Of level 4: see :func:`~evalbench.metrics.coherence.step_coherence`.

    Examples
    --------
    >>> seen = four_levels("Six and two make <<6+2=8>>8.\\n#### 8", "<<2+6=8>>8 pails.\\n#### 8", "Two pails, then six.")
    >>> seen.answer_strict, seen.steps, seen.coherence, seen.n_equations
    (1.0, 1.0, 1.0, 1)
    """
    solution, truth = parse_solution(response, markers), parse_solution(reference, markers)
    level_4 = step_coherence(
        solution,
        question,
        article_as_one=article_as_one,
        common_constants=common_constants,
        relative_tolerance=relative_tolerance,
    )
    readable = sum(bool(e.sides) for e in solution.equations)
    seen = Levels(
        answer_strict=final_answer_accuracy(solution, truth) if reference else np.nan,
        answer_flexible=final_answer_accuracy(solution, truth, extractor="flexible") if reference else np.nan,
        steps=float(steps_ratio_score(len(solution.steps), len(truth.steps))),
        similarity=steps_similarity(solution, truth),
        coherence=level_4.score,
        accuracy=level_4.accuracy,
        sourced=level_4.coherence,
        marked=float(solution.strict is not None),
        n_steps=len(solution.steps),
        n_reference_steps=len(truth.steps),
        n_equations=len(solution.equations),
        n_unread=len(solution.equations) - readable,
        checks=level_4.steps,
    )
    if not response.strip() or refuses(solution, response):
        seen = seen._replace(marked=np.nan, **_all(Levels._fields[:7], 0.0))
    if not truth.steps:
        seen = seen._replace(steps=np.nan, similarity=np.nan)
    if not reference:
        of_reference = ("answer_strict", "answer_flexible", "steps", "similarity", "n_reference_steps")
        seen = seen._replace(**_all(of_reference, np.nan))
    if solution.equations and not readable:
        seen = seen._replace(steps=np.nan, similarity=np.nan)
    return seen


def refuses(solution: Solution, response: str) -> bool:
    """Whether a response declines to answer, and neither calculates nor marks an answer.

    Examples
    --------
    >>> [refuses(parse_solution(text), text) for text in ("I cannot answer that.", "I'm sorry for the delay: 2 + 3 = 5.")]
    [True, False]
    """
    return not solution.equations and solution.strict is None and is_refusal(response)


def _all(names: Iterable[str], value: float) -> dict[str, Any]:
    return dict.fromkeys(names, value)


def formulas(
    *, markers: Sequence[str], common_constants: Iterable[float], relative_tolerance: float, **_: object
) -> tuple[str, ...]:
    """The four levels in words, with the options of :func:`four_levels` that are in force."""
    constants = ", ".join(f"{constant:g}" for constant in common_constants)
    return (
        "Level 1, answer: equal numbers within 1e-6; strict reads the number behind the first of these markers that "
        f"has one, {', '.join(markers)}; flexible the last number of the response.",
        "Level 2, steps: r = steps of the response / of the reference; 1 for 0.8 ≤ r ≤ 1.2, max(0.2, r/0.8) below, "
        "max(0.5, 1.2/r) above.",
        "Level 3, similarity: 0.4 Jaccard of operators + 0.4 of numbers in equations + 0.2 of words without digits.",
        f"Level 4, coherence: 0.75 × share of equations with sides equal within 1e-6 or {relative_tolerance:g} of the "
        "first + 0.25 × share of steps all of whose left-hand numbers come from the question or from the result of an "
        "earlier coherent step; steps without an equation are left out. 100% has a source where the question names a "
        "percentage.",
        f"Common constants that need no source: {constants or 'none'}.",
        "An empty response and a refusal score 0 on every level; where the reference has no step, levels 2 and 3 have no value. An equation that cannot be read is left out, with the reason in the "
        "table of faults; a response none of whose equations can be read is unscored.",
    )


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
