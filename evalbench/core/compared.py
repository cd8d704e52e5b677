"""One figure of system A against that of system B: what was found, and the sentence that says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeVar

from evalbench.core.planning import least_p
from evalbench.core.wording import counted, difference_parts, p_equals

System = TypeVar("System")
ALPHA = 0.05
DUST = 1e-12
"""A difference of sums that is nearer to 0 than this is 0 but for floating point."""
ANOTHER_JUDGE: Final = "another judge"
"""The outcome of a figure that rests on a judge, where the two sides had different ones: no verdict on what was judged."""
ANOTHER_MEASURE: Final = "another measure"
"""The outcome of a figure that an option moves in which the two sides differ and that measures: a threshold, a weight."""
Outcome = Literal[
    "same", "equivalent", "better", "worse", "higher", "lower", "no difference shown", "undefined", "another judge",
    "another measure",
]  # fmt: skip
_VOID = {ANOTHER_JUDGE: "the runs had different judges", ANOTHER_MEASURE: "the runs measured it differently"}


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One figure of system A against that of system B.

    - ``metric``, ``title``, ``unit``: ``title`` is the words for people; by default the metric.
    - ``value_a``, ``value_b``: On the compared units only.
    - ``difference``: A − B.
    - ``ci_low``, ``ci_high``: 95 % interval of the difference.
    - ``p``, ``p_holm``: Two-sided permutation p-value, and Holm's adjustment over all figures compared.
    - ``p_mcnemar``: McNemar's exact test, for 0/1 scores of unclustered pairs.
    - ``smallest``: The smallest difference that so many units show with 80 % power when it is tested alone; Holm asks
      for more. None where so few units cannot show any.
    - ``least_p``: The least p-value that a test of so many units can give.
    - ``n_differ``: Paired: the units on which the two sides differ; None where that is not counted.
    - ``n_tests``: Over how many tests Holm's adjustment goes.
    - ``margin``: Differences inside ±margin count as none, where one was stated.
    - ``n_a``, ``n_b``: Units compared on each side; equal where paired.
    - ``n_clusters``: In how many clusters the units come, on the side that has fewer; None without clusters.
    - ``n_left_out``: Units that both sides have but this figure has no value for on one of them.
    - ``outcome``: Of A against B.
    - ``words``: The verdict, a sentence.
    """

    metric: str
    unit: str
    higher_is_better: bool | None
    value_a: float | None
    value_b: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    p_holm: float | None
    p_mcnemar: float | None
    smallest: float | None
    least_p: float | None
    n_differ: int | None = None
    n_tests: int = 1
    margin: float | None
    n_a: int
    n_b: int
    n_left_out: int
    method: str
    outcome: Outcome
    words: str
    note: str
    title: str = ""
    n_clusters: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.metric)

    def row(self) -> dict[str, Any]:
        """Flat and JSON-ready."""
        return asdict(self)


MOST_COMPARED = 25
"""Of more systems than so many, these are compared in pairs (300 of them): 20 000 would make 200 million."""


def best_compared(best_first: Sequence[System]) -> list[System]:
    """The systems that are compared pair by pair: all of a few, the best of many."""
    return list(best_first[:MOST_COMPARED])


def left_out_note(n: int, kind: str, by: str) -> str:
    """What a reader must know where not all systems are compared; empty where all are.

    Examples
    --------
    >>> left_out_note(25, "models", "each metric"), left_out_note(3000, "checkers", "f1")
    ('', 'of 3000 checkers the best 25 by f1 are compared in pairs, with each other only; p-values are adjusted for these tests')
    """
    if n <= MOST_COMPARED:
        return ""
    return (
        f"of {n} {kind} the best {MOST_COMPARED} by {by} are compared in pairs, with each other only; "
        "p-values are adjusted for these tests"
    )


def in_words(comparison: Comparison, names: tuple[str, str] = ("A", "B")) -> str:
    """The verdict of one comparison, a sentence with its figures.

    Examples
    --------
    >>> from evalbench.core.comparison import compare_measures
    >>> from evalbench.core.measures import Measure
    >>> found = compare_measures(
    ...     {"x": [1.0, 0.0]}, {"x": [1.0, 0.0]}, [Measure("mean x", ("x", "#x"), lambda s, n: s / n)],
    ...     units_a=["q1", "q2"], units_b=["q1", "q2"], seed=0, names=("fern", "oak"))
    >>> found.comparisons[0].words
    'mean x: fern and oak are the same on each of 2 units, difference 0.'
    """
    c, (a, b) = comparison, names
    units = f"{c.n_a} units" if c.n_a == c.n_b else f"{c.n_a} and {c.n_b} units"
    if c.n_clusters is not None:
        units += f" in {counted(c.n_clusters, 'cluster')}"
    if c.outcome == "undefined":
        return f"{c.title}: {a} and {b} cannot be compared: {c.note or 'no resample has a value'}."
    if c.outcome in _VOID and c.ci_low is None:
        return f"{c.title}: no verdict on {a} against {b}, since {_VOID[c.outcome]}."
    if c.outcome == "same":
        return f"{c.title}: {a} and {b} are the same on each of {units}, difference 0."
    assert c.difference is not None
    assert c.ci_low is not None
    assert c.ci_high is not None
    assert c.p is not None
    assert c.p_holm is not None
    among = f" over {counted(c.n_tests, 'test')}" if c.n_tests > 1 else ""
    difference = " ".join(difference_parts(c.difference, c.ci_low, c.ci_high))
    figures = f"{difference}, p {p_equals(c.p)}, Holm {p_equals(c.p_holm)}{among}, {units}"
    if c.outcome in _VOID:
        return f"{c.title}: no verdict on {a} against {b}, since {_VOID[c.outcome]}: {figures}."
    if c.outcome == "equivalent":
        return f"{c.title}: {a} and {b} are equivalent within ±{c.margin:.3g}: {figures}."
    if c.outcome == "no difference shown":
        return f"{c.title}: no difference shown between {a} and {b}: {figures}{_because(c)}."
    return f"{c.title}: {a} is {c.outcome} than {b}: {figures}."


def void_because(outcome: str) -> str:
    """Why an outcome is none of the system's; empty where it is.

    Examples
    --------
    >>> void_because("another judge"), void_because("better")
    ('the runs had different judges', '')
    """
    return _VOID.get(outcome, "")


def _because(c: Comparison) -> str:
    """Why none is shown, and what so many units could have shown."""
    # The approximation behind the power is refuted where a difference as large was there and the test did not show it.
    refuted = c.p is not None and c.p > ALPHA and abs(c.difference or 0.0) >= (c.smallest or 0.0)
    power = (
        f"tested alone, a difference of {c.smallest:.2g} would have been shown with 80 % power"
        if c.smallest and not refuted and _least_of_those_that_differ(c) <= ALPHA
        else ""
    )
    return "".join(f"; {part}" for part in (held_back(c), power) if part)


def _least_of_those_that_differ(c: Comparison) -> float:
    """The least p that a test over the units that differ can have; 0 where it is not known how many do."""
    return 0.0 if c.n_differ is None else least_p(c.n_differ, c.n_differ, paired=True)


def held_back(c: Comparison) -> str:
    """Why no difference is shown although the p-value alone, or the interval, would show one; else empty.

    The p-value of the permutation test decides, adjusted for the number of tests; the interval is of this figure alone.
    """
    if c.outcome != "no difference shown" or c.p is None or c.ci_low is None or c.ci_high is None:
        return ""
    if c.least_p is not None and c.least_p > ALPHA:
        return f"so few units cannot show any: p is never below {c.least_p:.2g}"
    otherwise = at_odds(c.p, c.ci_low, c.ci_high, c.n_tests)
    least = _least_of_those_that_differ(c)
    if otherwise and least > ALPHA:
        return (
            f"the two differ on {counted(c.n_differ or 0, 'unit')} only, and over so few p is never below {least:.2g}"
        )
    return otherwise


def at_odds(p: float, low: float, high: float, n_tests: int) -> str:
    """Where no difference is shown, what would show one: the test alone, or the interval; else empty.

    Parameters
    ----------
    p : float
        Unadjusted.
    low, high : float
        The interval of the difference; NaN where there is none.
    n_tests : int
        Over how many tests Holm's adjustment goes.
    """
    if p <= ALPHA:
        return f"alone it has p {p_equals(p)}, but Holm's adjustment for {counted(n_tests, 'test')} decides"
    if low > DUST or high < -DUST:
        return f"the interval excludes 0, but the test, p {p_equals(p)}, decides"
    return ""
