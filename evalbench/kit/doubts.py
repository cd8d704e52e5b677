"""What is not known yet, for an answer in plain words: why a group's figure carries no light, and what to add."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalbench.core.answer import size
from evalbench.core.result import Estimate, Summary
from evalbench.core.stats import FEW_UNITS
from evalbench.core.wording import counted
from evalbench.kit import defaults
from evalbench.kit.evidence import unscored_share
from evalbench.kit.saying import (
    BEYOND_CHANCE,
    Difference,
    as_good_as_best,
    lowered,
    name_of,
    names,
    not_told_apart,
    opened_name,
    ranked,
    without_score,
)

if TYPE_CHECKING:
    from evalbench.kit.answering import Facts

MOST = 34
"""An answer of several sentences has at most so many words, so that the other lines have room."""


def lacking(e: Estimate, facts: Facts, unit: str, n: int | None = None) -> str:
    """Why a figure without a light is not known: a clause; empty where its items are there, scored and enough.

    Parameters
    ----------
    unit : str
        An item in words, singular.
    n : int, optional
        How many there are; by default those of the figure.

    Examples
    --------
    >>> from evalbench.kit.answering import Facts
    >>> lacking(Estimate(metric="f1", value=1.0, n=2, light="grey"), Facts(), "text")
    'it rests on only 2 texts, and 20 are needed'
    """
    own = e.n if n is None else n
    if e.light not in ("grey", "unlit"):
        return ""
    if absent := _absent(e, facts):
        return f"{absent[0]} of {absent[1]} are absent"
    if _unscored(e, facts):
        return without_score(e.n_unscored, _every(e), unit)
    return f"it rests on only {counted(own, unit)}, and {FEW_UNITS} are needed" if own < FEW_UNITS else ""


def adding(e: Estimate, facts: Facts, unit: str, n: int | None = None) -> str:
    """What to add so that the figure gets a light: a sentence; empty where nothing is lacking.

    Examples
    --------
    >>> from evalbench.kit.answering import Facts
    >>> adding(Estimate(metric="f1", value=1.0, n=2, light="grey"), Facts(), "text")
    'Add 18 more texts.'
    """
    own = e.n if n is None else n
    if not lacking(e, facts, unit, n):
        return ""
    if absent := _absent(e, facts):
        units = absent[1].partition(" ")[2]
        return f"Add the {absent[0]} {units} that {name_of(e)} lacks."
    if _unscored(e, facts):
        return f"Get scores for the {counted(e.n_unscored, unit)} without one."
    return f"Add {counted(FEW_UNITS - own, f'more {unit}')}."


def _unscored(e: Estimate, facts: Facts) -> bool:
    return bool(unscored_share(e, float(facts.parameters.get("max_unscored", defaults.MAX_UNSCORED))))


def _every(e: Estimate) -> int:
    return e.n + e.n_unscored + e.n_undefined


def _absent(e: Estimate, facts: Facts) -> tuple[str, str] | None:
    """Of a group that lacks more units than may be, how many, and of how many: ``("37", "40 texts")``."""
    name, most = name_of(e), float(facts.parameters.get("max_unscored", defaults.MAX_UNSCORED))
    notes = (str(note) for note in facts.notes if note.kind == "absent")
    found = (re.search(rf"([\d\u202f]+) of ([\d\u202f]+ \w+) absent \({re.escape(name)}\)", text) for text in notes)
    known = [(match[1], match[2]) for match in found if match]
    return next((pair for pair in known if _number(pair[0]) > most * _number(pair[1])), None)


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def shown(known: Sequence[Estimate], rows: Sequence[Difference]) -> str:
    """Whether the first of several groups, which are ordered, is shown to be better: a clause.

    Examples
    --------
    >>> own = [Estimate(metric="f1", value=v, group={"model": m}) for m, v in (("oak", 0.9), ("fern", 0.7))]
    >>> shown(own, ()), shown(own, [Difference("f1", "oak", "fern", 0.2, "0–1", "oak", True)])
    ('whether that is chance was not tested', 'oak is better, more than chance explains')
    """
    if not rows:
        return "whether that is chance was not tested"
    if len(known) == 2:
        pair = {name_of(e) for e in known}
        better = next((r.better for r in rows if {r.a, r.b} == pair), "")
        return f"{better} is better, {BEYOND_CHANCE}" if better else "no difference between them is shown"
    alike = not_told_apart(known, rows)
    if len(alike) == len(known):
        return "none is shown to be better than the others"
    if len(alike) > 1:
        return as_good_as_best(alike[1:])
    return f"{name_of(known[0])} is shown to be best"


def graded(summary: Summary, metric: str) -> str:
    """What the light says of one figure of the groups: a sentence; empty where it is another figure's.

    Examples
    --------
    >>> from evalbench.core.verdict import Verdict
    >>> own = [Estimate(metric="f1", value=v, light=lit, group={"model": m}) for m, v, lit in (("oak", 0.9, "green"), ("fern", 0.2, "red"))]
    >>> graded(Summary(tuple(own), Verdict("red", "…")), "f1")
    'Fern is not good enough.'
    """
    light, every = summary.verdict.light, ranked(summary, metric)
    if light == "unlit":
        return "No thresholds say what is good enough."
    own = [e for e in every if e.light == light]
    words = {"green": "good enough", "red": "not good enough", "yellow": "between the thresholds"}
    if light not in words or not own:
        return ""
    if len(every) == 1:
        return f"That is {words[light]}."
    if len(own) == len(every):
        return f"{'Both' if len(every) == 2 else 'All'} are {words[light]}."
    if light == "green":
        return ""
    return f"{opened_name(names([name_of(e) for e in own], 3))} {'are' if len(own) > 1 else 'is'} {words[light]}."


def with_doubt(summary: Summary, said: Sequence[str]) -> list[str]:
    """Of a grey light that no sentence calls into doubt yet, after the first one that it is not known, and why.

    Examples
    --------
    >>> from evalbench.core.verdict import Verdict
    >>> with_doubt(Summary((), Verdict("grey", "…", missing="The judge was not asked")), ["Oak has 0.9."])
    ['Oak has 0.9.', 'Whether that holds is not known: the judge was not asked.']
    """
    every = [part for part in said if part]
    if summary.verdict.light != "grey" or any("not known" in part for part in every):
        return every
    why = lowered(summary.verdict.missing) if summary.verdict.missing else "there is not enough evidence"
    return [*every[:1], f"Whether that holds is not known: {why}.", *every[1:]]


def within(parts: Sequence[str], most: int = MOST) -> str:
    """The first sentence, and of the others as many as fit.

    Examples
    --------
    >>> within(["Oak is better.", "", "Fern is not good enough."], 5)
    'Oak is better.'
    """
    said = [part for part in parts if part]
    while len(said) > 1 and size(" ".join(said)) > most:
        said.pop()
    return " ".join(said)
