"""Whether answers are faithful to their contexts, right and to the point, and whether the right thing was retrieved."""

from __future__ import annotations

from collections.abc import Sequence

from evalbench import core, kit
from evalbench.judge.entail import holds_back
from evalbench.kit.answering import Facts

ANSWERS = {
    "faithfulness": "faithful to their contexts",
    "answer_correctness": "right",
    "answer_relevance": "to the point",
}
"""What answers are, by a metric."""
CONTEXTS = {
    "context_recall": "contexts hold {} of what right answers need",
    "context_precision": "contexts are in the right order by {}",
}
"""What was retrieved, by a metric."""
HOW = {"green": "", "yellow": "not always ", "red": "too seldom "}


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """What each model's answers are, whose are better, and of whom it is not known."""
    lead = kit.answering.deciding(summary)
    if lead is None or not any(e.value is not None for e in summary.estimates):
        note = next((e.note for e in summary.estimates if e.note), "there are no answers")
        said = [f"How good the answers are is not known: {kit.saying.lowered(note)}."]
        return kit.answering.answered(summary, facts, kit.doubts.within(kit.doubts.with_doubt(summary, said)))
    by_words = holds_back(str(facts.parameters.get("judge") or ""))
    every = kit.saying.ranked(summary, lead.metric)
    known = [e for e in every if not kit.doubts.lacking(e, facts, "answer")]
    if by_words and summary.verdict.light == "grey":
        said = [f"How good {_whose(every)} answers are is not known: the judge compares words and does not read."]
        return kit.answering.answered(summary, facts, said[0])
    said = [_of_one(summary, known[0])] if len(known) == 1 else _of_several(summary, known, facts) if known else []
    if known and by_words:
        said.append("The judge compares words alone.")
    for e in [e for e in every if e not in known][:1]:
        said.append(f"How good {_whose([e])} answers are is not known: {kit.doubts.lacking(e, facts, 'answer')}.")
    return kit.answering.answered(
        summary, facts, kit.doubts.within(kit.doubts.with_doubt(summary, said)), next=_next(summary, facts, every)
    )


def _whose(groups: Sequence[core.Estimate]) -> str:
    return "the models'" if len(groups) > 1 else kit.saying.whose(groups[0])


def _own(summary: core.Summary, e: core.Estimate, metrics: Sequence[str]) -> list[core.Estimate]:
    """Figures of the same model, as labels correct them where they do."""
    own = {_key(o): o for o in sorted(summary.estimates, key=lambda o: bool(o.corrects)) if o.group == e.group}
    return [own[metric] for metric in metrics if metric in own and own[metric].value is not None]


def _key(e: core.Estimate) -> str:
    """The metric of a figure, also of one that labels correct."""
    return e.corrects or e.metric


def _of_one(summary: core.Summary, e: core.Estimate) -> str:
    """Every figure of one model that has a light; without any, the figures."""
    whose = kit.saying.opened_name(kit.saying.whose(e))
    answers, contexts = _own(summary, e, list(ANSWERS)), _own(summary, e, list(CONTEXTS))
    lit = [o for o in answers if o.light in HOW]
    if lit:
        clauses = []
        for light in HOW:
            if own := [_graded(o) for o in lit if o.light == light]:
                clauses.append(kit.saying.names(own))
        said = f"{whose} answers are {', '.join(clauses)}"
        return f"{said}{_retrieved([o for o in contexts if o.light in HOW][:1])}."
    if answers:
        clauses = [f"{_share(o)} {ANSWERS[_key(o)]}" for o in answers[:2]]
        return f"{whose} answers are {kit.saying.names(clauses)}{_retrieved(contexts[:1])}."
    return f"{whose} {CONTEXTS[_key(e)].format(_share(e))}." if _key(e) in CONTEXTS else _named(e)


def _retrieved(contexts: Sequence[core.Estimate]) -> str:
    return "".join(f"; their {CONTEXTS[_key(o)].format(_share(o))}" for o in contexts)


def _named(e: core.Estimate) -> str:
    return f"Of {_whose([e])} answers the {kit.saying.title_of(e)} is {kit.saying.figure(e)}."


def _graded(e: core.Estimate) -> str:
    """What answers are by the light of a figure: ``not always right (64%)``."""
    return f"{HOW[e.light] if e.value else 'not '}{ANSWERS[_key(e)]} ({_share(e)})"


def _share(e: core.Estimate) -> str:
    return kit.saying.share(e.value or 0.0, e.cuts)


def _of_several(summary: core.Summary, known: Sequence[core.Estimate], facts: Facts) -> list[str]:
    """The best and the worst by the leading figure, whether that is shown, and what else is wrong with the worst."""
    best, worst = known[0], known[-1]
    a, b = kit.saying.opened_name(kit.saying.whose(best)), kit.saying.whose(worst)
    last = "" if len(known) == 2 else ", the worst,"
    if _key(best) in ANSWERS:
        said = f"{a} answers are {_share(best)} {ANSWERS[_key(best)]}, {b}{last} {_share(worst)}"
    elif _key(best) in CONTEXTS:
        said = f"{a} {CONTEXTS[_key(best)].format(_share(best))}, {b}{last} {_share(worst)}"
    else:
        said = f"In {kit.saying.title_of(best)} {kit.saying.name_of(best)} has {kit.saying.figure(best, known)}, {kit.saying.name_of(worst)}{last} {kit.saying.figure(worst, known)}"
    sure = kit.doubts.shown(known, facts.differences(_key(best)))
    other = [o for o in _own(summary, worst, list(ANSWERS)) if _key(o) != _key(best) and o.light in ("yellow", "red")]
    faults = [_graded(o) for o in other[:1]]
    more = [f"{kit.saying.opened_name(b)} are {fault}." for fault in faults]
    if _key(best) in ANSWERS:
        found = _own(summary, worst, ["context_recall"])
        more += [f"{kit.saying.opened_name(b)} {CONTEXTS[_key(o)].format(_share(o))}." for o in found]
    return [f"{said}; {sure}.", *more, kit.doubts.graded(summary, best.metric)]


def _next(summary: core.Summary, facts: Facts, every: Sequence[core.Estimate]) -> str | None:
    if summary.verdict.light != "grey":
        return None
    return next(filter(None, (kit.doubts.adding(e, facts, "answer") for e in reversed(every))), None)
