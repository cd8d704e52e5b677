"""How many answers a session takes, whether that is as short or as long as is wanted, and how many sessions were resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.kit.saying import beside, name_of, share
from evalbench.studies.dialogue.summary import LEAST, ORIENTATION


@dataclass(frozen=True)
class _Words:
    """The words of an orientation: a session of it, one that is as wanted, and one that is not."""

    sessions: str
    good: str
    bad: str


_WORDS = {
    "goal": _Words("sessions", "short enough", "too long"),
    "discussion": _Words("conversations", "long enough", "too short"),
}


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """The length of sessions with each model, and what a short one may mean."""
    ordered = kit.answering.ranked(summary, "answers")
    words = _WORDS[str(facts.parameters.get("orientation", ORIENTATION))]
    if not ordered:
        said = "No session has an answer of a model, so it is not known how many it takes."
    elif summary.verdict.light == "grey":
        said = _unknown(summary, ordered, words)
    else:
        said = _one(summary, ordered[0], words) if len(ordered) == 1 else _several(summary, facts, ordered, words)
        said = f"{said} {_resolved(summary, facts, ordered, words)}".strip()
    return kit.answering.answered(summary, facts, said, next=_next(summary, facts, words))


def _one(summary: core.Summary, e: core.Estimate, words: _Words) -> str:
    """One model: how many answers, and whether they are as wanted."""
    who = name_of(e) or "the model"
    takes = f"A {words.sessions[:-1]} with {who} takes {e.value:.1f} answers on average"
    decides = kit.answering.deciding(summary) or e
    if decides.metric == "answers_resolved" and decides.light in ("yellow", "red"):
        return f"Solving a problem takes {who} {decides.value:.1f} answers on average, {_beyond(decides, words)}."
    if decides.metric == "resolved" and decides.light == "yellow":
        few = f"only {share(decides.value)} were resolved" if decides.value else "none was resolved"
        return f"{takes}, but {few}: users may have given up."
    if e.light == "unlit":
        return f"{takes}; no thresholds say what is good enough."
    return f"{takes}, {_beyond(e, words)}."


def _beyond(e: core.Estimate, words: _Words) -> str:
    """A length against its thresholds."""
    if e.light == "green":
        return f"which is {words.good}"
    if e.light == "red":
        return f"which is {words.bad}"
    return (
        f"which is between short ({e.cuts[0]:g}) and long ({e.cuts[-1]:g})"
        if e.cuts
        else "which is between the thresholds"
    )


def _several(summary: core.Summary, facts: Facts, ordered: Sequence[core.Estimate], words: _Words) -> str:
    """Several models: with whom sessions are shortest and longest, whether that is shown, and what the worst is."""
    by_length = sorted(ordered, key=lambda e: e.value or 0.0)
    a, b = by_length[0], by_length[-1]
    short, long = f"{a.value:.1f}", f"{b.value:.1f}"
    shown = {frozenset((d.a, d.b)) for d in facts.differences("answers") if d.shown}
    if len(ordered) > 2:
        compared = {frozenset((d.a, d.b)) for d in facts.differences("answers")}
        alike = [name_of(e) for e in by_length[1:] if frozenset((name_of(a), name_of(e))) in compared - shown]
        beside_it = f"; {kit.saying.as_good_as_best(alike, 'the shortest')}" if alike else ""
        said = f"{words.sessions} are shortest with {name_of(a)} ({short} answers) and longest with {name_of(b)} ({long}){beside_it}"
    elif {name_of(a), name_of(b)} in shown:
        said = f"{words.sessions} are shorter with {name_of(a)} than with {name_of(b)}, {short} answers against {long}, {kit.saying.BEYOND_CHANCE}"
    else:
        said = f"between {name_of(a)} and {name_of(b)} no difference in length is shown: {short} and {long} answers a session"
    return f"{kit.saying.opened(said)}; {_worst(summary, ordered, words)}."


def _worst(summary: core.Summary, ordered: Sequence[core.Estimate], words: _Words) -> str:
    """What the light is that of."""
    e, light = kit.answering.deciding(summary), summary.verdict.light
    if light == "green" or e is None:
        return (
            f"{'both' if len(ordered) == 2 else 'all'} are {words.good}"
            if light == "green"
            else "no thresholds say what is good"
        )
    if e.metric == "resolved":
        return f"{name_of(e)} resolves too few"
    which = f"{name_of(e)}'s that are resolved" if e.metric == "answers_resolved" else f"{name_of(e)}'s"
    return f"{which} are {words.bad if light == 'red' else 'neither short nor long'}"


def _resolved(summary: core.Summary, facts: Facts, ordered: Sequence[core.Estimate], words: _Words) -> str:
    """How many sessions were resolved, a sentence; in discussions it does not matter."""
    if words is not _WORDS["goal"]:
        return ""
    ends = [e for o in ordered if (e := beside(summary, "resolved", o))]
    if not ends:
        return "Which were resolved is not known, so short ones may have been given up."
    value = ends[0].value or 0.0
    if len(ends) == 1:
        if (summary.verdict.decided_by or {}).get("metric") == "resolved" and summary.verdict.light != "green":
            return ""  # said already
        many = "All" if value == 1 else share(value)
        return (
            f"{many} of the {words.sessions} were resolved." if value else f"None of the {words.sessions} was resolved."
        )
    rows = facts.differences("resolved")
    if len(ends) == 2 and rows:
        d = rows[0]
        if not d.better:
            return "Neither model is shown to resolve more."
        best, worst = (next(e for e in ends if name_of(e) == name) for name in (d.better, d.worse))
        return f"{kit.saying.opened_name(d.better)} resolves more, {share(best.value or 0.0)} against {share(worst.value or 0.0)}, {kit.saying.BEYOND_CHANCE}."
    low, high = min(e.value or 0.0 for e in ends), max(e.value or 0.0 for e in ends)
    return (
        f"Of them {share(low)} to {share(high)} were resolved."
        if share(low) != share(high)
        else f"With each {share(low)} were resolved."
    )


def _unknown(summary: core.Summary, ordered: Sequence[core.Estimate], words: _Words) -> str:
    """What is not known: how long sessions are, or how they ended."""
    grey = [e for e in ordered if e.light == "grey"]
    if not grey:  # it is known how long they are
        e = ordered[-1]
        if len(ordered) > 1:
            return f"Whether {words.sessions} are {words.good} is open: {_ended(summary)}."
        takes = f"A {words.sessions[:-1]} with {name_of(e) or 'the model'} takes {e.value:.1f} answers on average"
        return f"{takes}; whether that is {words.good} is open: {_ended(summary)}."
    e = grey[-1]
    why = (
        f"{core.counted(e.n, 'session')} {'is' if e.n == 1 else 'are'} too few"
        if e.n < LEAST and not e.n_unscored
        else kit.saying.too_little(e, "session") or _ended(summary)
    )
    of = f" with {kit.saying.names(grey)}" if len(ordered) > 1 else ""
    return f"How many answers a session{of} takes is not known yet: {why.replace('have no score', 'have no answer')}."


def _ended(summary: core.Summary) -> str:
    """Why the lights of resolved sessions are held back."""
    return kit.saying.lowered(summary.verdict.missing.split(";")[0]) or "there is not enough evidence"


def _next(summary: core.Summary, facts: Facts, words: _Words) -> core.Line:
    """How many sessions are missing, or which to look at; else what every study says."""
    default, e = kit.answering.next_line(summary, facts), kit.answering.deciding(summary)
    if e is None:
        return default
    if summary.verdict.light == "grey" and "absent" not in summary.verdict.missing:
        if _ended(summary).endswith("ended is not known"):
            return core.Line("Say how the other sessions ended (column resolved).", "items")
        if e_few := [o for o in summary.estimates if o.metric == "answers_resolved" and 0 < o.n < LEAST <= e.n]:
            more = core.counted(LEAST - e_few[0].n, "more resolved session")
            return core.Line(f"Missing for a light: {more} ({LEAST} are needed).", "figures")
        few = [o.n for o in summary.estimates if o.light == "grey" and o.n < LEAST and not o.n_unscored]
        if few:
            return core.Line(
                f"Missing for a light: {core.counted(LEAST - min(few), 'more session')} ({LEAST} are needed).",
                "figures",
            )
    if default.text.startswith("Look at"):
        if e.metric == "resolved":
            lost = core.counted(round((1 - (e.value or 0.0)) * e.n), "session")
            return core.Line(f"Look at the {lost} that ended without a solution.", "items")
        who = f" with {name_of(e)}" if e.group else ""
        return core.Line(
            f"Look at the {'longest' if words is _WORDS['goal'] else 'shortest'} {words.sessions}{who}.", "items"
        )
    return default
