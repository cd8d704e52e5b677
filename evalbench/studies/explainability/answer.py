"""Whether the model can explain its answers, and which of the two halves fails."""

from __future__ import annotations

from collections.abc import Mapping

from evalbench import core, kit
from evalbench.judge.entail import holds_back
from evalbench.kit.answering import Facts
from evalbench.studies.explainability import inputs
from evalbench.studies.explainability.summary import OVERALL

_ITEM: Mapping[str, str] = {"cot": "chain of thought", "citation": "cited answer"}
_HOLD: Mapping[str, str] = {"cot": "hold", "citation": "hold up"}
_ITEMS: Mapping[str, str] = {"cot": "chains of thought", "citation": "cited answers"}


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Yes, no or not known, and what either half has to do with it."""
    named = facts.judged.removeprefix("model ")
    who = "the model" if named == facts.judged or " and " in named else named
    halves = {name: _half(summary, name) for name in inputs.PARTS if facts.parameters.get(f"weight_{name}", 0.5) > 0}
    if summary.verdict.light == "grey":
        said = f"Whether {who} can explain its answers is not known yet: {_doubts(halves, facts)}."
    else:
        can = (
            "can explain its answers" if summary.verdict.light == "green" else "cannot explain its answers well enough"
        )
        said = f"{kit.saying.opened_name(who)} {can}: {_halves(halves)}."
    cut = next((e.cuts[0] for e in summary.estimates if e.metric.startswith(OVERALL) and e.cuts), None)
    decided = kit.answering.decided_line(summary)
    text = decided.text.removesuffix(".") + f"; {cut:g} passes." if cut is not None and decided.text else decided.text
    after = _next(summary, halves, facts)
    return kit.answering.answered(summary, facts, said, decided_by=core.Line(text, "decides"), next=after)


def _half(summary: core.Summary, name: str) -> core.Estimate:
    """The mean score of a half: as labels correct it where that has the light."""
    own = [e for e in summary.estimates if e.group.get("part") == name and "score" in (e.metric, e.corrects)]
    return next((e for e in own if e.light != "unlit"), own[0])


def _halves(halves: Mapping[str, core.Estimate]) -> str:
    """Which half holds, and what one that does not scores."""
    score = {name: f"{e.value or 0.0:.2f}" for name, e in halves.items()}
    holding = [name for name, e in halves.items() if e.light == "green"]
    failing = [name for name in halves if name not in holding]
    if not failing:
        both = "both " if len(holding) == 2 else ""
        return f"{both}its {' and its '.join(_ITEMS[name] for name in holding)} {_HOLD[holding[-1]]}"
    if not holding:
        parts = [f"its {_ITEMS[name]} ({score[name]})" for name in failing]
        return (
            f"neither {parts[0]} nor {parts[1]} hold up"
            if len(parts) == 2
            else f"{parts[0]} do not {_HOLD[failing[0]]}"
        )
    return f"its {_ITEMS[holding[0]]} {_HOLD[holding[0]]}, but its {_ITEMS[failing[0]]} score only {score[failing[0]]} of 1"


def _doubts(halves: Mapping[str, core.Estimate], facts: Facts) -> str:
    """What is known of the halves, then what is not."""
    known = [
        f"its {_ITEMS[name]} {'' if e.light == 'green' else 'do not '}{_HOLD[name]}"
        for name, e in halves.items()
        if e.light in ("green", "red")
    ]
    doubts = [_doubted(name, e, facts) for name, e in halves.items() if e.light not in ("green", "red")]
    if not known or not doubts:
        return " and ".join([*known, *doubts])
    return f"{known[0]}, {'and' if ' do not ' in known[0] else 'but'} {doubts[0]}"


def _doubted(name: str, e: core.Estimate, facts: Facts) -> str:
    """Why a half is grey."""
    things, judge = _ITEMS[name], str(facts.parameters.get("judge") or "")
    if e.value is None:
        return f"its {things} have no score"
    if why := kit.saying.too_little(e, _ITEM[name], things):
        return why
    if name == "citation" and holds_back(judge):
        return f"its {things} were judged by common words alone"
    if name == "citation":
        return f"what its {things} cite cannot be followed"
    return "its final answers are not marked as was asked"


def _next(summary: core.Summary, halves: Mapping[str, core.Estimate], facts: Facts) -> core.Line:
    """What the half that is grey lacks, or where to look; else what every study says."""
    default, judge = kit.answering.next_line(summary, facts), str(facts.parameters.get("judge") or "")
    if summary.verdict.light == "grey":
        grey = {name: e for name, e in halves.items() if e.light == "grey"}
        few = {
            name: core.stats.FEW_UNITS - e.n
            for name, e in grey.items()
            if e.n < core.stats.FEW_UNITS and not e.n_unscored
        }
        if few:
            more = kit.saying.names(f"{n} more {_ITEM[name] if n == 1 else _ITEMS[name]}" for name, n in few.items())
            return core.Line(f"Missing for a light: {more} ({core.stats.FEW_UNITS} are needed).", "figures")
        if "citation" in grey and holds_back(judge):
            return core.Line(f"Missing for a light: a judge that reads; {judge} compares words.", "figures")
        if not any(e.n_unscored for e in grey.values()):
            cited = (
                "sources, marks and quotes that can be followed"
                if "citation" in grey
                else "final answers that are marked as was asked"
            )
            return core.Line(f"Missing for a light: {cited}.", "notes")
    worst = min((e for e in halves.values() if e.light == "red"), key=lambda e: e.value or 0.0, default=None)
    if default.text.startswith("Look at") and worst is not None:
        return core.Line(f"Look at the worst of the {_ITEMS[worst.group['part']]}.", "items")
    return default
