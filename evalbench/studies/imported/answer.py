"""What another tool's scores show: who is better on the leading metric, and on how many of the others."""

from __future__ import annotations

from collections.abc import Sequence

from evalbench import core, kit
from evalbench.core.wording import count
from evalbench.kit.answering import Facts
from evalbench.kit.saying import Difference
from evalbench.studies.imported.summary import two_scales

NAMED = 3
SHOWN = "more than chance explains"


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """The models on the metric that decides, whether it is chance, whether it is good enough; the other metrics in a count."""
    lead = kit.answering.deciding(summary)
    ordered = kit.saying.ranked(summary, lead.metric) if lead else []
    if lead is None or not ordered:
        return kit.answering.answered(
            summary, facts, "What the scores show cannot be said: no model has a value on any metric."
        )
    mixed = [] if facts.items is None else two_scales(facts.items, lead.metric)
    if mixed:
        said = f"Which model is better on “{kit.saying.title_of(lead)}” cannot be said: {mixed[0].short}"
        return kit.answering.answered(summary, facts, said, next="Bring the scores to one scale, and run again.")
    rows = facts.differences(lead.metric)
    said, light = _standing(ordered, rows), _light(summary, ordered)
    others = ""
    if len(ordered) == 2:
        others = _others(facts, lead.metric, next((r.better for r in rows if r.better), ""))
    if others and summary.verdict.light == "unlit":
        said = f"{said}.{others} {kit.saying.opened(light.removeprefix('; '))}."
    else:
        said = f"{said}{light}.{others}"
    return kit.answering.answered(summary, facts, said)


def _standing(ordered: Sequence[core.Estimate], rows: Sequence[Difference]) -> str:
    """One metric of each model: who is better, and whether that is shown."""
    where = f"“{kit.saying.title_of(ordered[0])}”"
    best, worst = ordered[0], ordered[-1]
    a, b = kit.saying.name_of(best), kit.saying.name_of(worst)
    first, last = kit.saying.figure(best, ordered), kit.saying.figure(worst, ordered)
    if len(ordered) == 1:
        return f"{kit.saying.opened_name(a)} scores {first} on {where}"
    if len(ordered) > 2:
        alike = [name for name in kit.saying.not_told_apart(ordered, rows) if name != a]
        if len(alike) == len(ordered) - 1:
            return (
                f"On {where} none of {count(len(ordered))} models is shown to be better: {first} ({a}) to {last} ({b})"
            )
        others = f"; {kit.saying.as_good_as_best(alike)}" if alike else ""
        tested = "" if rows else "; whether that is chance was not tested"
        return f"On {where} {a} is best with {first} and {b} worst with {last}{others}{tested}"
    one, other = (kit.saying.named(e.group.get("model", "")) for e in (best, worst))
    row = next((r for r in rows if {r.a, r.b} == {one, other}), None)
    if row is None:
        untested = "; whether that is chance was not tested" if first != last else ""
        return f"On {where} {a} has {first} and {b} {last}{untested}"
    if row.better:
        ends = f"{first} against {last}" if row.better == one else f"{last} against {first}"
        return f"On {where} {row.better} is better than {row.worse}: {ends}, {SHOWN}"
    if row.shown:
        return f"On {where} {a} has {first} and {b} {last}, {SHOWN}"
    return f"On {where} no difference between {a} and {b} is shown: {first} and {last}"


def _light(summary: core.Summary, ordered: Sequence[core.Estimate]) -> str:
    """What the light says; of several models, whose score is not good enough."""
    light = summary.verdict.light
    bad = [e for e in ordered if e.light == light]
    if light not in ("red", "yellow") or len(ordered) == 1 or not bad:
        return kit.answering.passing(summary)
    names, verb = kit.saying.names(bad, NAMED), "is" if len(bad) == 1 else "are"
    return f"; {names} {verb} {'not good enough' if light == 'red' else 'between the thresholds'}"


def _others(facts: Facts, metric: str, better: str) -> str:
    """On how many other metrics of two models the same one is better."""
    rows = [d for d in facts.differences() if d.metric != metric]
    shown = [d for d in rows if d.better]
    if not rows:
        return ""
    of = f"{count(len(rows))} other metric{'s' if len(rows) > 1 else ''}"
    if not better and not shown:
        return f" Nor is one shown on {'any of ' if len(rows) > 1 else ''}{of}."
    if not better:
        return f" On {count(len(shown))} of {of} one is shown."
    same = sum(d.better == better for d in shown)
    worse = f", and worse on {count(len(shown) - same)}" if len(shown) > same else ""
    return f" {kit.saying.opened_name(better)} is better on {count(same) if same else 'none'} of {of}{' too' if same else ''}{worse}."
