"""In how many texts it cannot be told which places a model means, and of which class the entities are."""

from __future__ import annotations

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.metrics.mentions import CLASS
from evalbench.studies.ner_conflicts.summary import SHARE, UNDIVIDED


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """How often places cannot be told, of which class most, who is better, and of whom it is not known."""
    every = kit.saying.ranked(summary, SHARE)
    known = [e for e in every if not why(e, summary, facts)]
    said = [_how_often(known, facts)] if known else []
    said += [_which_class(known, facts), kit.doubts.graded(summary, SHARE)] if known else []
    said += [_not_known(e, why(e, summary, facts)) for e in every if e not in known][:1]
    if not every:
        note = next((e.note for e in summary.estimates if e.metric == SHARE and e.note), "there are no predictions")
        said = [f"Which places are left open is not known: {kit.saying.lowered(note)}."]
    return kit.answering.answered(
        summary, facts, kit.doubts.within(kit.doubts.with_doubt(summary, said)), next=_next(summary, facts)
    )


def why(e: core.Estimate, summary: core.Summary, facts: Facts) -> str:
    """Why the figure of a model tells nothing, a clause; empty where it does."""
    strange = _of(summary, e, "absent_share")
    if e.light == "grey" and strange is not None and strange.value and not kit.doubts.lacking(e, facts, "text"):
        return f"{kit.saying.share(strange.value)} of its strings are not in their texts"
    return kit.doubts.lacking(e, facts, "text")


def _of(summary: core.Summary, e: core.Estimate, metric: str) -> core.Estimate | None:
    return next((o for o in summary.estimates if o.metric == metric and o.group == e.group), None)


def _not_known(e: core.Estimate, reason: str) -> str:
    return f"Which places {kit.saying.name_of(e)} leaves open is not known: {reason}."


def _how_often(known: list[core.Estimate], facts: Facts) -> str:
    best, worst = known[0], known[-1]
    a, b = kit.saying.name_of(best), kit.saying.name_of(worst)
    if not worst.value:
        whose = f"{a} never leaves open which place it means"
        them = f"{kit.saying.names(known, 3)} never leave open which places they mean"
        return f"Where strings are repeated, {whose if len(known) == 1 else them}."
    low, high = (kit.saying.figure(e, known) for e in (best, worst))
    said = f"Where strings are repeated, {a} leaves open which place it means in {low} of texts"
    if len(known) == 1:
        return f"{said}."
    last = f"{b}, the worst," if len(known) > 2 else b
    return f"{said}, {last} in {high}; {kit.doubts.shown(known, facts.differences(SHARE))}."


def _which_class(known: list[core.Estimate], facts: Facts) -> str:
    """The class of most conflicts, where there are several."""
    table = facts.tables["conflicts"]
    own = table[(table["kind"] == CLASS) & table["model"].isin([e.group.get("model", "") for e in known])]
    counts = own["entity_class"].value_counts()
    most = len(counts) > 1 and counts.iloc[0] > counts.iloc[1]
    return f"Entities of class {counts.index[0]} are affected most." if most else ""


def _next(summary: core.Summary, facts: Facts) -> str | None:
    if summary.verdict.light != "grey":
        return None
    own = [e for e in summary.estimates if e.metric == SHARE and e.light == "grey"]
    said = [kit.doubts.adding(e, facts, "text") for e in own]
    if any(said):
        return max(said, key=len).replace("more texts", "more texts with repeated strings")
    if any("case_sensitive=false" in str(note) for note in facts.notes):
        return "Run again with case_sensitive=false."
    if any(UNDIVIDED in str(note) for note in facts.notes):
        return "Check that the predictions have their classes."
    return "Check that the predictions are of these texts."
