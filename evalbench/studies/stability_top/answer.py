"""How much of its top a search keeps when the question is written otherwise."""

from __future__ import annotations

from evalbench import core, kit
from evalbench.core.wording import counted
from evalbench.kit.answering import Facts

KEPT = "unchanged_soft"
OTHERWISE = "when the question is written otherwise"


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Whether it finds the same passages, and of the top how many with the worst and the best way of writing."""
    ordered = kit.saying.ranked(summary, KEPT)
    lit = {e.light for e in summary.estimates if e.light != "unlit"}
    light = summary.verdict.light
    if light == "grey" or not ordered:
        said = f"Whether the search finds the same passages {OTHERWISE} is not known yet{_why(summary)}."
    elif light == "green":
        kept = kit.saying.share(ordered[-1].value or 0.0)
        said = f"The search finds the same passages however the question is written: {_of(facts, kept)}{' at least' if kept != '100%' else ''}."
    elif light == "unlit":
        said = f"When the question is written otherwise, {_span(ordered, facts)}{kit.answering.passing(summary)}."
    else:
        what = "other passages" if lit == {"red"} else "only some of the same passages"
        said = f"The search finds {what} {OTHERWISE}: {_span(ordered, facts)}."
    alike = light == "grey" and "same top" in summary.verdict.missing
    after = "Missing for a light: tops that differ between questions." if alike else None
    return kit.answering.answered(summary, facts, said, next=after)


def _of(facts: Facts, kept: str) -> str:
    return f"of its top {facts.parameters.get('k', 5)} it keeps {kept}"


def _span(ordered: list[core.Estimate], facts: Facts) -> str:
    """What it keeps with the best and the worst way of writing."""
    best, worst = ordered[0], ordered[-1]
    most, least = (kit.saying.share(e.value or 0.0) for e in (best, worst))
    if most == least:
        return _of(facts, most)
    ways = [kit.rephrasing.in_words(e.group["augmentation"]) for e in (best, worst)]
    return f"{_of(facts, most)} with {ways[0]}, but {least} with {ways[1]}"


def _why(summary: core.Summary) -> str:
    """What holds the light back: few questions, else what the verdict lacks."""
    grey = [e for e in summary.estimates if e.light == "grey"]
    n_lit = sum(e.light != "unlit" for e in summary.estimates)
    least = min(grey, key=lambda e: e.n, default=None)
    if least is not None and least.n < core.stats.FEW_UNITS:
        way = (
            f" with {kit.rephrasing.in_words(least.group['augmentation'])}"
            if any(e.n > least.n for e in grey) or len(grey) < n_lit
            else ""
        )
        return f": only {counted(least.n, 'question')}{way}"
    missing = summary.verdict.missing
    return f": {kit.saying.lowered(missing)}" if missing else ""
