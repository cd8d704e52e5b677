"""An answer of studies of what is found of what is there: entities, violations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from evalbench.core.result import Estimate, Summary
from evalbench.core.wording import count
from evalbench.kit.doubts import lacking, shown
from evalbench.kit.saying import Difference, beside, name_of, names, not_told_apart, opened, opened_name, ranked, share

if TYPE_CHECKING:
    from evalbench.kit.answering import Facts


class Sought(NamedTuple):
    """What is looked for.

    - ``lead``: The figure that groups are ranked and compared by.
    - ``found``, ``right``: The figures of what is found of all that is there, and of what is right of all that is marked.
    - ``things``: What is there, in words.
    - ``how``: What counts as found, words that follow ``things``.
    - ``marks``: A finder does so: ``marks``, ``reports``.
    - ``most_wrong``: A larger share that is wrong is blamed.
    """

    lead: str
    found: str
    right: str
    things: str
    how: str = ""
    marks: str = "marks"
    most_wrong: float = 0.3


def told(summary: Summary, facts: Facts, sought: Sought) -> tuple[list[Estimate], list[Estimate]]:
    """The groups by the leading figure, the best first: those of which something is known, and the others."""
    every = ranked(summary, sought.lead)
    open_ones = [e for e in every if lacking(e, facts, "text")]
    return [e for e in every if e not in open_ones], open_ones


def sentences(summary: Summary, facts: Facts, sought: Sought) -> list[str]:
    """What each finds, who is better and whether that is shown, and of whom it is not known."""
    known, open_ones = told(summary, facts, sought)
    rows = facts.differences(sought.lead)
    said = []
    if len(known) == 1:
        said.append(_of_one(summary, known[0], sought))
    elif len(known) == 2:
        said.append(_of_two(summary, known, rows, sought))
    elif known:
        said += _of_many(summary, known, rows, sought)
    if open_ones:
        first = open_ones[0]
        if len(open_ones) == 1:
            them = "them" if known else f"the {sought.things}"
            said.append(f"How well {name_of(first)} finds {them} is not known: {lacking(first, facts, 'text')}.")
        else:
            said.append(f"How well {names(open_ones, 3)} find the {sought.things} is not known: texts are lacking.")
    return said or [f"What is found is not known: there are no {sought.things}, neither true nor predicted ones."]


def _of_one(summary: Summary, e: Estimate, sought: Sought) -> str:
    found, right = value_of(summary, e, sought.found), value_of(summary, e, sought.right)
    name = opened_name(name_of(e))
    if found is None:
        return f"What {name_of(e)} finds is not known: there are no true {sought.things}."
    if right is None:
        return f"{name} finds none of the {sought.things}: it {sought.marks} nothing."
    if not found:
        return f"{name} finds none of the {sought.things}{sought.how}."
    wrong = right < 1 - sought.most_wrong
    clause = f"but {part_of(1 - right)}" if wrong else f"and {part_of(right)}"
    return f"{name} finds {part_of(found)} the {sought.things}{sought.how}, {clause} what it {sought.marks} is {'wrong' if wrong else 'right'}."


def _of_two(summary: Summary, known: Sequence[Estimate], rows: Sequence[Difference], sought: Sought) -> str:
    return f"{_beside(summary, known[0], known[1], sought)}; {shown(known, rows)}."


def _beside(summary: Summary, a: Estimate, b: Estimate, sought: Sought) -> str:
    """Two groups by the figure that tells most for the first."""
    first, second = name_of(a), name_of(b)
    metric = telling(summary, a, b, sought)
    x, y = value_of(summary, a, metric), value_of(summary, b, metric)
    if x is None or y is None:
        return f"{opened_name(first)} finds more than {second}"
    if metric == sought.found:
        return f"{opened_name(first)} finds {part_of(x)} the {sought.things}{sought.how}, {second} {share(y)}"
    return f"Of what {first} {sought.marks} {share(x)} is right, of what {second} {sought.marks} {share(y)}"


def _of_many(summary: Summary, known: Sequence[Estimate], rows: Sequence[Difference], sought: Sought) -> list[str]:
    best, worst = known[0], known[-1]
    alike = not_told_apart(known, rows)
    if rows and len(alike) == len(known):
        x, y = value_of(summary, worst, sought.found), value_of(summary, best, sought.found)
        span = "" if x is None or y is None else f": they find {share(min(x, y))} to {share(max(x, y))}"
        return [
            f"None of the {count(len(known))} is shown to be better than the others{span} of the {sought.things}{sought.how}."
        ]
    metric = telling(summary, best, worst, sought)
    x, y = value_of(summary, best, metric), value_of(summary, worst, metric)
    sure = rows and len(alike) == 1
    name, last = f"{opened_name(name_of(best))} is {'shown to be best' if sure else 'best'}", name_of(worst)
    if x is None or y is None:
        said = f"{name}, {last} is worst."
    elif metric == sought.found:
        said = f"{name}: it finds {part_of(x)} the {sought.things}{sought.how}; {last}, the worst, finds {share(y)}."
    else:
        said = f"{name}: {share(x)} of what it {sought.marks} is right; {last} is worst with {share(y)}."
    return [said, "" if sure else opened(f"{shown(known, rows)}.")]


def telling(summary: Summary, a: Estimate, b: Estimate, sought: Sought) -> str:
    """The figure that tells why the first group is ahead: what is found, or what is right where it is ahead in that far more."""
    ahead = {}
    for metric in (sought.found, sought.right):
        x, y = value_of(summary, a, metric), value_of(summary, b, metric)
        ahead[metric] = -1.0 if x is None or y is None else x - y
    return sought.found if ahead[sought.found] >= max(ahead[sought.right] / 2, 0.005) else sought.right


def look(summary: Summary, e: Estimate, sought: Sought) -> str:
    """Where a finder fails more: a sentence of what to look at."""
    found, right = (value_of(summary, e, metric) or 0.0 for metric in (sought.found, sought.right))
    return f"Look at what {name_of(e)} {'misses' if found <= right else f'{sought.marks} wrongly'}."


def part_of(value: float) -> str:
    """A share with the words that lead on to its whole.

    Examples
    --------
    >>> part_of(0.53), part_of(1.0)
    ('53% of', 'all of')
    """
    return "all of" if value == 1 else f"{share(value)} of"


def value_of(summary: Summary, e: Estimate, metric: str) -> float | None:
    """The value of another figure of a group."""
    other = beside(summary, metric, e)
    return other.value if other else None
