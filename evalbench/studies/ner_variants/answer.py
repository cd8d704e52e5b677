"""Whether a model finds entities better with definitions, with examples, and asked for one class at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.studies.ner_variants.summary import DIVIDED, FOUND_NOTHING, GAIN

ARROW = " → "


class Step(NamedTuple):
    """A change of the request, and what it does to one model."""

    model: str
    what: str
    gain: core.Estimate
    texts: int
    effect: str


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Of each model what helps, what harms, and of what neither is shown; of many how many are helped."""
    steps = [step(e, facts) for e in summary.estimates if e.metric in (GAIN, DIVIDED)]
    gained = sorted(steps, key=lambda s: -(s.gain.value or 0.0))
    models = list(dict.fromkeys(s.model for s in gained))
    said = (
        _of_many(steps, models)
        if len(models) > 2
        else [_of_one([s for s in steps if s.model == m], facts, short=len(models) > 1) for m in models]
    )
    if len(models) == 1 and summary.verdict.light in ("yellow", "red"):
        said = [f"The wording matters: {_of_one(steps, facts, short=False, opens=False)}"]
    if not steps:
        said = ["Whether the wording of a request matters is not known: only one was tried."]
    return kit.answering.answered(summary, facts, kit.doubts.within(said), next=_next(summary, facts, steps))


def step(e: core.Estimate, facts: Facts) -> Step:
    """A gain as a change and its effect: ``better``, ``worse``, ``not shown``, or ``not known``."""
    model, _, change = e.group["model"].rsplit(", ", 2)
    to = change.partition(ARROW)[2]
    n = texts(e, facts)
    what = {"one": "one class per request", "definition": "definitions"}.get(to, to)
    e = replace(e, group={"model": model})
    if e.value is None or e.light == "grey" or kit.doubts.lacking(e, facts, "text", n):
        return Step(model, what, e, n, "not known")
    if e.ci_low is not None and e.ci_low > 0:
        return Step(model, what, e, n, "better")
    return Step(model, what, e, n, "worse" if e.ci_high is not None and e.ci_high < 0 else "not shown")


def texts(e: core.Estimate, facts: Facts) -> int:
    """How many texts a gain rests on; the figure counts texts × classes."""
    table = facts.tables.get("gains")
    own = None if table is None else table[(table["wordings"] == e.group["model"]) & (table["entity_class"] == "")]
    return e.n if own is None or own.empty else int(own["n"].iloc[0])


def _of_one(steps: Sequence[Step], facts: Facts, *, short: bool, opens: bool = True) -> str:
    name = kit.saying.name_of(steps[0].gain)
    first_word = kit.saying.opened if opens else str
    clauses = []
    for effect in ("better", "worse"):
        if own := [s for s in steps if s.effect == effect]:
            parts = [f"with {s.what} (by {_points(s.gain)})" for s in own[:2]]
            clauses.append(f"{effect} {' and '.join(parts)}")
    said = f"{first_word(name)} finds entities {', '.join(clauses)}" if clauses else ""
    for effect, first, later in (
        ("not shown", f"it is not shown that {name} finds entities better", "it is not shown to be better"),
        ("not known", f"whether {name} finds entities better", "whether it is better"),
    ):
        if said and short:
            break
        if whats := _either([s.what for s in steps if s.effect == effect]):
            clause = f"{later if said else first} with {whats}{' is not known' if effect == 'not known' else ''}"
            said = f"{said}; {clause}" if said else first_word(clause)
    return f"{said}{_reason(steps, facts)}."


def _either(changes: Sequence[str]) -> str:
    return kit.saying.names(changes).replace(" and ", " or ")


def _reason(steps: Sequence[Step], facts: Facts) -> str:
    """Why something is not known: no entity is found, or texts are lacking."""
    for s in steps:
        if s.effect == "not known":
            return f": {s.gain.note if s.gain.note.startswith(FOUND_NOTHING) else kit.doubts.lacking(s.gain, facts, 'text', s.texts) or s.gain.note}"
    return ""


def _points(e: core.Estimate) -> str:
    size = f"{abs(e.value or 0.0):.2g}"
    return f"{size} point{'' if size == '1' else 's'} of F1"


def _of_many(steps: Sequence[Step], models: Sequence[str]) -> list[str]:
    """For each change how many of the models it helps and harms."""
    said = []
    for what in dict.fromkeys(s.what for s in steps):
        helped, harmed = (
            list(dict.fromkeys(s.model for s in steps if s.what == what and s.effect == effect))
            for effect in ("better", "worse")
        )
        clause = f"With {what} {_so_many(helped, models)} better"
        said.append(f"{clause}{f', {len(harmed)} worse' if harmed else ''}.")
    return said


def _so_many(helped: Sequence[str], models: Sequence[str]) -> str:
    if not helped:
        return f"none of {len(models)} models is shown to find entities"
    return f"{len(helped)} of {len(models)} models {'find' if len(helped) > 1 else 'finds'} entities"


def _next(summary: core.Summary, facts: Facts, steps: Sequence[Step]) -> str | None:
    light = summary.verdict.light
    if light == "unlit":
        return "Ask with two descriptions of the classes to get a light."
    if light == "grey":
        open_ones = [s for s in steps if s.effect == "not known"]
        if any(s.gain.note.startswith(FOUND_NOTHING) for s in open_ones):
            return "Look at the replies: none names a true entity."
        return next(filter(None, (kit.doubts.adding(s.gain, facts, "text", s.texts) for s in open_ones)), None)
    helps = max((s for s in steps if s.effect == "better"), key=lambda s: s.gain.value or 0.0, default=None)
    if helps is None:
        return "Keep the shortest request." if light == "green" else None
    return f"Ask {kit.saying.name_of(helps.gain)} with {helps.what}."
