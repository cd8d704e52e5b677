"""Whose chains of thought hold, and what fails in those that do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.kit.saying import beside
from evalbench.metrics.reasoning import LEVELS, WEIGHTS

FAILS: Mapping[str, str] = {
    "steps": "{name} takes far fewer or far more steps than the reference solutions",
    "similarity": "{whose} steps are unlike those of the reference solutions",
    "coherence": "{whose} calculations often go wrong or use numbers from nowhere",
}
"""What a low level says; of that of the answers see :func:`_right`."""
_LOOSELY = 0.2
"""From so many more answers on that are right when read loosely, the next step is to read them so."""


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Who passes, who does not and for want of what."""
    found = kit.answering.by_light(summary, "final")
    whole = [e for own in found.values() for e in own]
    if all(e.value is None for e in whole):
        said = "No response could be scored, so it is not known whether the chains of thought hold."
        return kit.answering.answered(summary, facts, said)
    red, grey = found.get("red", []), found.get("grey", [])
    said = kit.saying.parted(
        found,
        "chains of thought",
        "hold",
        "do not" if "green" in found else "do not hold",
        praise=_praised(summary, found.get("green", []), len(whole)),
        blame=_blamed(summary, facts, red[-1], len(whole)) if red else "",
        doubt=_doubted(summary, grey[-1]) if grey else "",
    )
    if len(found.get("green", [])) == len(whole) == 2:
        said += " Which are better was not tested."
    decided = kit.answering.decided_line(summary, "Final score")
    return kit.answering.answered(summary, facts, said, decided_by=decided, next=_next(summary, facts))


def _praised(summary: core.Summary, passing: Sequence[core.Estimate], n_models: int) -> str:
    """Of one model how many answers are right, and whether the steps lead there."""
    right = beside(summary, "answer", passing[0]) if len(passing) == n_models == 1 else None
    if right is None:
        return ""
    sound = beside(summary, "coherence", passing[0])
    if sound is None:
        steps = "; whether the steps lead to them could not be checked"
    else:
        mark = passing[0].cuts[0] if passing[0].cuts else 0.0
        steps = ", and the steps lead to them" if (sound.value or 0.0) >= mark else ", but the steps are weaker"
    return f"{'all' if right.value == 1 else kit.saying.share(right.value or 0.0)} of its answers are right{steps}"


def _blamed(summary: core.Summary, facts: Facts, worst: core.Estimate, n_models: int) -> str:
    """The level that costs the least good model most."""
    weights = facts.parameters.get("weights") or dict(zip(LEVELS, WEIGHTS, strict=True))
    levels = {level: e.value or 0.0 for level in LEVELS if (e := beside(summary, level, worst))}
    if not levels:
        return ""
    level = max(levels, key=lambda name: weights[name] * (1 - levels[name]))
    name, whose = ("it", "its") if n_models == 1 else (kit.saying.name_of(worst), kit.saying.whose(worst))
    return _right(levels[level], whose) if level == "answer" else FAILS[level].format(name=name, whose=whose)


def _right(share: float, whose: str) -> str:
    return (
        f"only {kit.saying.share(share)} of {whose} answers are right" if share else f"none of {whose} answers is right"
    )


def _doubted(summary: core.Summary, e: core.Estimate) -> str:
    """Why it is not known: too few problems, responses without a score, or answers that were not found."""
    marked = beside(summary, "answer_marked", e)
    if marked and "mark" in summary.verdict.missing:
        few = f"only {kit.saying.share(marked.value)} of its responses mark" if marked.value else "no response marks"
        return f"{few} the final answer as was asked"
    return kit.saying.too_little(e, "problem")


def _next(summary: core.Summary, facts: Facts) -> core.Line:
    """How to read the answers otherwise, or which problems to look at; else what every study says."""
    default, e = kit.answering.next_line(summary, facts), kit.answering.deciding(summary)
    if e is None:
        return default
    strict, loose, passed = (beside(summary, name, e) for name in ("answer_strict", "answer_flexible", "passed"))
    read = facts.parameters.get("answer_extractor", "strict")
    if strict and loose and read == "strict" and (loose.value or 0.0) - (strict.value or 0.0) > _LOOSELY:
        right = kit.saying.share(loose.value or 0.0)
        return core.Line(
            f"Read the last number as the answer (answer_extractor=flexible): {right} are right then.", "items"
        )
    if default.text.startswith("Look at") and passed and e.cuts:
        low = core.counted(round((1 - (passed.value or 0.0)) * passed.n), "problem")
        return core.Line(f"Look at the {low} in which {kit.saying.name_of(e)} scores below {e.cuts[0]:g}.", "items")
    return default
