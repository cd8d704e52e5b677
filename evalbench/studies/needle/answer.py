"""Who finds the fact in a long context, how often, and from which depth on it is lost."""

from __future__ import annotations

from collections.abc import Sequence

from evalbench import core, kit
from evalbench.judge.entail import holds_back
from evalbench.kit.answering import Facts
from evalbench.kit.saying import name_of
from evalbench.studies.needle.items import JUDGE

LEADING = "recall"
ELSEWHERE = {
    "recall_vanilla": "In texts that have nothing to do with the question",
    "recall_related": "In texts related to the question",
}
"""Where the fact is looked for, of a light that is not that of all contexts."""


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """How often the fact is found, by whom more often, and where it is lost."""
    every = [e for own in kit.answering.by_light(summary, LEADING).values() for e in own]
    ordered = sorted((e for e in every if e.value is not None), key=kit.saying.badness)
    if not ordered:
        said = "No reply could be scored, so it is not known whether the fact is found."
    elif summary.verdict.light == "grey":
        said = _unknown(summary, facts, ordered)
    else:
        found = _one(ordered[0]) if len(ordered) == 1 else _several(ordered, facts)
        rest = _elsewhere(summary) or _lost(ordered, facts)
        said = f"{found}{_enough(summary, ordered)}. {rest}".strip()
    decided = kit.answering.decided_line(summary, _title(summary))
    return kit.answering.answered(summary, facts, said, decided_by=decided, next=_next(summary, facts))


def _title(summary: core.Summary) -> str:
    """The figure that decided, in words."""
    e = kit.answering.deciding(summary)
    return "Facts found" if e is not None and LEADING in (e.metric, e.corrects) else ""


def _share(value: float) -> str:
    """In percent; what is nearly all or none is not called all or none."""
    return kit.saying.share(value, (0.0, 1.0))


def _one(e: core.Estimate) -> str:
    if not e.value:
        return f"{kit.saying.opened_name(name_of(e) or 'the model')} finds the fact in no context"
    every = "every context" if e.value == 1 else f"{_share(e.value)} of contexts"
    return f"{kit.saying.opened_name(name_of(e) or 'the model')} finds the fact in {every}"


def _several(ordered: Sequence[core.Estimate], facts: Facts) -> str:
    """Two models: who finds it more often, and whether that is shown; more: the best, the worst, those not told apart."""
    best, worst, rows = ordered[0], ordered[-1], facts.differences(LEADING)
    a, b, most, least = name_of(best), name_of(worst), _share(best.value or 0.0), _share(worst.value or 0.0)
    if len(ordered) > 2:
        alike = kit.saying.not_told_apart(ordered, rows)[1:]
        beside = f" ({kit.saying.as_good_as_best(alike, 'it')})" if alike else ""
        return f"{kit.saying.opened_name(a)} finds the fact most often, in {most} of contexts{beside}; {b} least often, in {least}"
    if any(d.better == a for d in rows):
        return f"{kit.saying.opened_name(a)} finds the fact more often than {b}, in {most} of contexts against {least}, {kit.saying.BEYOND_CHANCE}"
    if not rows:
        return f"{kit.saying.opened_name(a)} finds the fact in {most} of contexts, {b} in {least}"
    return f"Neither {a} nor {b} is shown to find the fact more often: in {most} and {least} of contexts"


def _enough(summary: core.Summary, ordered: Sequence[core.Estimate]) -> str:
    """What the light says, a clause; of several models who has it."""
    e, light = kit.answering.deciding(summary), summary.verdict.light
    if light == "unlit" or e is None:
        return "; no thresholds say what is enough"
    if LEADING not in (e.metric, e.corrects):
        return ""
    if len(ordered) == 1:
        whole = (
            {"green": "", "red": ""}
            if e.value in (0, 1)
            else {"green": ", which is enough", "red": ", which is too few"}
        )
        return whole.get(light, ", which is between the thresholds")
    if light == "green":
        return f"; {'both' if len(ordered) == 2 else 'all'} do so often enough"
    if len(ordered) > 2 and e.place == ordered[-1].place:
        return ", too rarely" if light == "red" else ", between the thresholds"
    return f"; {name_of(e)} {'finds it too rarely' if light == 'red' else 'is between the thresholds'}"


def _elsewhere(summary: core.Summary) -> str:
    """Of a light that is not that of all contexts, what decided it, a sentence."""
    e = kit.answering.deciding(summary)
    if summary.verdict.light == "unlit" or e is None or LEADING in (e.metric, e.corrects) or e.value is None:
        return ""
    where = ELSEWHERE.get(e.metric, f"Counted {kit.saying.title_of(e)}")
    much = {"green": "which is enough", "red": "which is too few"}.get(e.light, "which is between the thresholds")
    return f"{where} {name_of(e) or 'the model'} finds it in {_share(e.value)}, {much}."


def _lost(ordered: Sequence[core.Estimate], facts: Facts) -> str:
    """From which depth on the least good model that loses the fact does so; that none is shown where nobody does."""
    falls = facts.tables.get("falls")
    if falls is None or falls.empty or not any(e.value for e in ordered):
        return ""
    shown = falls[falls["shown"].astype(bool)]
    depths = shown.groupby("model")["depth"].min()
    losing = [e for e in ordered if e.group.get("model") in depths]
    if not losing:
        return "The place of the fact makes no difference that is shown."
    worst = losing[-1]
    depth = _share(float(depths[worst.group["model"]]))
    whose = kit.saying.opened_name(name_of(worst)) if len(ordered) > 1 else "It"
    return f"{whose} finds it less often once it is {depth} of the way in."


def _unknown(summary: core.Summary, facts: Facts, ordered: Sequence[core.Estimate]) -> str:
    """What is not known, and why: few replies, replies without a score, or ones that only seem to be right."""
    grey = [e for e in ordered if e.light == "grey"] or list(ordered)
    e, judge = grey[-1], str(facts.parameters.get("judge") or "")
    why = kit.saying.too_little(e, "reply", "replies") or kit.saying.lowered(summary.verdict.missing)
    if facts.parameters.get("scorer") == JUDGE and holds_back(judge):
        why = "the judge compares words"
    whom = kit.saying.names(grey, 4) or "the model"
    verb = "find" if len(grey) > 1 else "finds"
    return f"Whether {whom} {verb} the fact is not known yet{f': {why}' if why else ''}."


def _next(summary: core.Summary, facts: Facts) -> core.Line:
    """The replies in which the fact is not found; else what every study says."""
    default, e = kit.answering.next_line(summary, facts), kit.answering.deciding(summary)
    if "decline" in summary.verdict.missing:
        return core.Line("Read those replies: one that denies a fact has not found it.", "items")
    if "scorer word" in summary.verdict.missing:
        return core.Line("Say which scorer counts (scorer=contains or scorer=word).", "items")
    if default.text.startswith("Look at") and e is not None and e.value is not None:
        missed = core.counted(round((1 - e.value) * e.n), "reply", "replies")
        return core.Line(f"Look at the {missed} of {name_of(e) or 'the model'} that miss the fact.", "items")
    return default
