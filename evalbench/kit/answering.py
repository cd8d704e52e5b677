"""What a study answers to its question, in plain words: every study's lines, and words for figures, groups and differences.

A study's hook ``answer(summary, facts)`` writes the first sentence and hands it to :func:`answered`, which makes the other three lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evalbench.core.answer import MOST_WORDS, Answer, Line, clipped, size
from evalbench.core.notes import Note, first_rank
from evalbench.core.result import Estimate, Result, Summary
from evalbench.core.stats import FEW_UNITS
from evalbench.core.verdict import Light
from evalbench.core.wording import count, counted, estimate_text, percent
from evalbench.judge.entail import holds_back
from evalbench.kit import defaults
from evalbench.kit.evidence import unscored_share
from evalbench.kit.saying import (
    Difference,
    badness,
    counts_items,
    difference_of,
    figure,
    is_share,
    lowered,
    name_of,
    opened,
    standing,
    title_of,
    without_score,
)
from evalbench.kit.saying import ranked as ranked
from evalbench.kit.settling import least_settled
from evalbench.kit.settling import more_items as more_items
from evalbench.kit.settling import rounded_up as rounded_up

if TYPE_CHECKING:
    import pandas as pd

Hook = Callable[[Summary, "Facts"], Answer]

_NOTED = Line("See the verdict in full.", "verdict")
_WORDS = MOST_WORDS - 6  # the labels of the box are words too
_LONG = 12  # words: a shorter line is whole or not there
_SURE, _CLOSE = 0.9, 0.6
_UNKNOWN = re.compile(
    r"not known|not enough evidence|cannot be (said|judged|told|compared)|no verdict|not decided|is open|are open|"
    r"could not be|could be measured|has no value|not shown|is shown",
    re.IGNORECASE,
)
_LIGHTS_BY = ("lights", "green_from", "green_to", "key_bands", "threshold")
"""Options that give a light; the first that a study has is named."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What an answer rests on besides the summary.

    - ``by``: The columns of the summary that name a group.
    - ``judged``: What was judged, in words.
    - ``notes``: Those of the first rank, in their order.
    - ``parameters``: Every option as it ran.
    - ``n_items``, ``n_unscored``: Items, and those without a score.
    - ``tables``: Those of the result, such as ``comparison``.
    - ``items``: Those of the result.
    """

    by: tuple[str, ...] = ()
    judged: str = ""
    notes: tuple[Note, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_items: int = 0
    n_unscored: int = 0
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    items: pd.DataFrame | None = None

    @classmethod
    def of(cls, result: Result) -> Facts:
        """Those of a result."""
        return cls(
            by=result.by,
            judged=result.judged,
            notes=first_rank(result.notes),
            parameters=result.parameters,
            n_items=len(result.items),
            n_unscored=result.n_unscored,
            tables=result.tables,
            items=result.items,
        )

    def differences(self, metric: str = "") -> tuple[Difference, ...]:
        """The compared pairs of groups, of one figure or of all; nothing where none were compared."""
        first = next(iter(self.by), "")
        rows = next((self.tables[name] for name in ("comparison", "comparisons") if name in self.tables), None)
        if rows is None or rows.empty or not {f"{first}_a", f"{first}_b", "outcome", "metric"} <= {*rows}:
            return ()
        own = rows[rows["metric"] == metric] if metric else rows
        return tuple(difference_of(row, first) for row in own.to_dict("records"))


def with_answer(result: Result, hook: Hook | None) -> Result:
    """The result with its study's answer, or with the one that every study has."""
    facts = Facts.of(result)
    if hook:
        return replace(result, answer=held(hook(result.summary, facts), result.summary))
    found = answered(result.summary, facts, sentence(result.summary, facts))
    if found.size > MOST_WORDS:  # groups with long names
        found = answered(result.summary, facts, shorter(result.summary))
    return replace(result, answer=found)


def held(found: Answer, summary: Summary) -> Answer:
    """A study's answer within sixty words; of a grey light it says that something is not known."""
    return fitted(_unsure(fitted(found), summary))


def _unsure(found: Answer, summary: Summary) -> Answer:
    """The answer, or where the light is grey and it claims something all the same, why that is not known."""
    why = summary.verdict.missing
    if summary.verdict.light != "grey" or not why or _UNKNOWN.search(found.answer):
        return found
    return replace(found, answer=clipped(f"There is not enough evidence for a verdict: {lowered(why)}.", 30))


def fitted(found: Answer) -> Answer:
    """An answer of sixty words at most, also where groups have long names: without its last sentences, else cut.

    Examples
    --------
    >>> long = Answer(answer=f"Oak is better. It is so for {'very ' * 60}many.", next=Line("Look."))
    >>> fitted(long).answer
    'Oak is better.'
    """
    while found.size > MOST_WORDS and ". " in found.answer:
        found = replace(found, answer=f"{found.answer.rpartition('. ')[0]}.")
    room = MOST_WORDS - found.size + size(found.answer)
    return replace(found, answer=clipped(found.answer, max(room, 4)))


def answered(
    summary: Summary,
    facts: Facts,
    said: str,
    *,
    decided_by: str | Line | None = None,
    could_change: str | Line | None = None,
    next: str | Line | None = None,
) -> Answer:
    """A study's sentence with the other three lines, which fit into sixty words with it.

    Parameters
    ----------
    said : str
        One or two short sentences that answer the study's question: who, what, how sure.
    decided_by, could_change, next : str or Line, optional
        The study's own line where it knows better; ``""`` for none.  By default :func:`decided_line`,
        :func:`changing_line` and :func:`next_line`.

    Examples
    --------
    >>> from evalbench.core.verdict import Verdict
    >>> own = Estimate(metric="f1", title="F1", value=0.9, ci_low=0.85, ci_high=0.95, n=60, light="green", cuts=(0.8,))
    >>> found = answered(Summary((own,), Verdict("green", "…", decided_by={"metric": "f1"})), Facts(), "Oak finds what is there.")
    >>> found.decided_by.text, found.next.text
    ('F1 0.90 [0.85, 0.95], n\xa060.', 'Nothing: the figures carry the light.')
    """
    decided = _line(decided_by, decided_line(summary), "decides")
    after = _line(next, next_line(summary, facts), "items")
    change = _line(could_change, changing_line(summary, facts), "notes")
    left = _WORDS - size(f"{said} {decided.text} {after.text}")
    return Answer(answer=said, decided_by=decided, could_change=_fitted(change, left), next=after)


def _fitted(line: Line, left: int) -> Line:
    """A line that has room: whole, or up to a semicolon, or where it is; words cut off would be no sentence."""
    head, whole = line.text.partition(";")[0], size(line.text)
    if whole <= left:
        return line
    if head != line.text and size(head) <= left:
        return replace(line, text=f"{head}.")
    if whole > _LONG and 3 * size(text := clipped(line.text, left)) >= 2 * whole:
        return replace(line, text=text)
    return _NOTED if left >= size(_NOTED.text) else replace(line, text="")


def _line(own: str | Line | None, default: Line, at: str) -> Line:
    return default if own is None else own if isinstance(own, Line) else Line(own, at)


def decided_line(summary: Summary, title: str = "") -> Line:
    """The figure that decided, its interval and what it rests on; of an unlit verdict the first figure, of the best group.

    Parameters
    ----------
    title : str
        The figure in words; by default its title.
    """
    e = deciding(summary)
    if e is not None and summary.verdict.decided_by is None:
        e = next(iter(ranked(summary, e.metric)), e)
    if e is None or e.value is None:
        return Line("", "decides")
    group = f" ({name_of(e)})" if e.group else ""
    unit = f" {e.unit}" if e.unit in ("pp", "%", "s") else ""
    figure = f"{estimate_text(e, summary.estimates)}{unit}{group}"
    text = f"{opened(title or title_of(e))} {figure}, n\N{NO-BREAK SPACE}{count(e.n)}."
    return Line(text, "decides")


def changing_line(summary: Summary, facts: Facts) -> Line:
    """What could change the answer: the first note of the first rank, else how unsure the light is."""
    if facts.notes:
        return Line(_plainly(facts.notes[0].sentence, summary), "notes")
    light = summary.verdict.would_be or summary.verdict.light
    if (share := summary.verdict.stability) is not None and share < _SURE:
        close = "A close call: only" if share < _CLOSE else "Only"
        return Line(f"{close} {percent(share)} of resamples give {light}.", "verdict")
    if facts.n_unscored:
        return Line(f"{without_score(facts.n_unscored, facts.n_items, 'item')}.", "items")
    return Line("", "notes")


def _plainly(text: str, summary: Summary) -> str:
    """A note without identifiers of figures: their words in their place."""
    for e in summary.estimates:
        if "_" in e.metric:
            text = re.sub(rf"(?<!\w){re.escape(e.metric)}(?!\w)", title_of(e), text)
    return text


def next_line(summary: Summary, facts: Facts) -> Line:
    """What to do now: get what is missing, set thresholds, look at what failed, or nothing."""
    light = summary.verdict.light
    if light == "grey":
        return Line(missing(summary, facts), "items" if facts.n_unscored else "figures")
    lead = next(iter(ranked(summary, e.metric)), e) if (e := deciding(summary)) else None
    if light == "unlit":
        option = next((name for name in _LIGHTS_BY if name in facts.parameters), "")
        lacks = FEW_UNITS - lead.n if lead is not None else 0
        lacking = f", and add {counted(lacks, 'more item')}: {FEW_UNITS} are needed" if lacks > 0 else " to get a light"
        return Line(f"Set thresholds ({option}){lacking}." if option else "Compare the figures.", "method")
    if e is not None and (more := more_items(open_one := least_settled(summary, e))):
        if more > 10 * open_one.n:
            return Line(f"Look at the worst cases: {lowered(_named(open_one, e))} is at a threshold.", "items")
        said = f"about {counted(rounded_up(more), 'more item')} would settle it."
        return Line(f"{_named(open_one, e)} could cross a threshold: {said}", "decides" if open_one is e else "figures")
    if light == "green":
        return Line("Nothing: the figures carry the light.", "figures")
    if e is not None and (failing := failed(e)):
        return Line(f"Look at the {counted(failing, 'item')} that went wrong.", "items")
    return Line("Look at the worst cases.", "items")


def _named(e: Estimate, decides: Estimate) -> str:
    """A figure as the line on it begins: the one that decided needs no name."""
    whose = f" of {name_of(e)}" if e.group else ""
    return "The figure" if e is decides else f"{'That' if e.metric == decides.metric else opened(title_of(e))}{whose}"


def by_light(summary: Summary, metric: str) -> dict[Light, list[Estimate]]:
    """The groups by their light on a figure, the best first: as labels correct it where that has the light.

    Examples
    --------
    >>> from evalbench.core.verdict import Verdict
    >>> own = [Estimate(metric="f1", value=v, n=40, light=l, group={"model": m}) for m, v, l in (("oak", 0.9, "green"), ("fern", 0.7, "red"))]
    >>> {light: [name_of(e) for e in found] for light, found in by_light(Summary(tuple(own), Verdict("red", "…")), "f1").items()}
    {'green': ['oak'], 'red': ['fern']}
    """
    own = [e for e in summary.estimates if e.group and (e.metric == metric or e.corrects == metric)]
    lit = {name_of(e): e for e in own if e.light == "unlit"} | {name_of(e): e for e in own if e.light != "unlit"}
    found: dict[Light, list[Estimate]] = {}
    for e in sorted(lit.values(), key=badness):
        found.setdefault(e.light, []).append(e)
    return found


def missing(summary: Summary, facts: Facts) -> str:
    """What a grey light lacks, and how much of it: a sentence.

    Examples
    --------
    >>> from evalbench.core.verdict import Verdict
    >>> few = Estimate(metric="f1", value=0.9, n=7, light="grey")
    >>> missing(Summary((few,), Verdict("grey", "…", decided_by={"metric": "f1"})), Facts())
    'Missing for a light: 13 more items (20 are needed).'
    """
    judge = str(facts.parameters.get("judge") or "")
    if judge and holds_back(judge) and judge in summary.verdict.missing:
        return f"Missing for a light: a judge that reads; {judge} compares words."
    most = float(facts.parameters.get("max_unscored", defaults.MAX_UNSCORED))
    grey = [e for e in summary.estimates if e.light == "grey"]
    lost = max((e.n_unscored for e in grey if unscored_share(e, most)), default=0)
    if lost:
        return f"Missing for a light: scores of {counted(lost, 'item')}; at most {percent(most, [most])} may lack one."
    if "absent" in summary.verdict.missing:
        return f"Missing for a light: rows that are absent; at most {percent(most, [most])} may be."
    few = [e.n for e in grey if e.n < FEW_UNITS and (e.n or not e.note)]
    if few:
        return f"Missing for a light: {counted(FEW_UNITS - min(few), 'more item')} ({FEW_UNITS} are needed)."
    if summary.verdict.missing:
        return clipped(f"Missing for a light: {lowered(summary.verdict.missing)}.", 20)
    note = next((e.note for e in grey if e.note), "")
    return (
        clipped(f"Missing for a light: {lowered(note)}.", 20)
        if note
        else "What is missing for a light is in the verdict in full."
    )


def deciding(summary: Summary) -> Estimate | None:
    """The figure that the light is that of; without one the first figure that has a value."""
    place = summary.verdict.decided_by
    if place is not None:
        return summary.estimate(**place)
    return next((e for e in summary.estimates if e.value is not None), None)


def failed(e: Estimate) -> int:
    """How many items miss, where the figure is a share of items; else 0."""
    if e.value is None or not (counts_items(e) and is_share(e)) or e.higher_is_better is None:
        return 0
    return round((1 - e.value if e.higher_is_better else e.value) * e.n)


def sentence(summary: Summary, facts: Facts, metric: str = "") -> str:
    """The answer that every study has: which group is better on the leading figure, and whether the light is met.

    Parameters
    ----------
    metric : str
        By default that of the figure that decided.
    """
    lead = deciding(summary) if not metric else next((e for e in summary.estimates if e.metric == metric), None)
    if lead is None:
        return "Nothing could be measured."
    ordered = ranked(summary, lead.metric)
    if not ordered:
        return f"{opened(title_of(lead))} has no value: {lead.note}."
    one = ordered[0]
    few = f", on only {counted(one.n, 'item')}" if one.n < FEW_UNITS else ""
    said = (
        standing(ordered, facts.differences(lead.metric))
        if len(ordered) > 1
        else f"{opened(title_of(lead))} is {figure(one, ordered)}{_whose(one)}{few}"
    )
    return f"{said}{passing(summary)}."


def shorter(summary: Summary) -> str:
    """The same of groups with long names: the ends alone."""
    lead = deciding(summary)
    ordered = ranked(summary, lead.metric) if lead else []
    if lead is None or not ordered:
        return "Nothing could be measured."
    span = dict.fromkeys((figure(ordered[0], ordered), figure(ordered[-1], ordered)))
    return f"{opened(title_of(lead))} is {' to '.join(span)}{passing(replace(summary, estimates=(lead,)))}."


def passing(summary: Summary) -> str:
    """What the light says, a clause that begins with a comma or semicolon.

    Examples
    --------
    >>> from evalbench.core.verdict import Verdict
    >>> passing(Summary((), Verdict("grey", "…")))
    '; there is not enough evidence for a verdict'
    """
    clauses = {
        "green": "; that is good enough",
        "yellow": "; that is between the thresholds",
        "red": "; that is not good enough",
        "grey": "; there is not enough evidence for a verdict",
        "unlit": "; no thresholds say what is good enough",
    }
    worst = summary.verdict.light in ("red", "yellow") and len({name_of(e) for e in summary.estimates if e.group}) > 1
    e = deciding(summary)
    if worst and e is not None and e.group:
        short = "is not good enough" if summary.verdict.light == "red" else "is between the thresholds"
        return f"; {name_of(e)} {short}"
    return clauses[summary.verdict.light]


def _whose(e: Estimate) -> str:
    return f" for {name_of(e)}" if e.group else ""
