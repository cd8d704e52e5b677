"""Which models answer as well however the query is written, and what makes the others fall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalbench import core, kit
from evalbench.core.wording import counted
from evalbench.kit.answering import Facts
from evalbench.studies.stability.summary import DROP, NO_ROOM

NAMED = 3
Drops = Mapping[str, Sequence[core.Estimate]]


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Who still answers as well, who does not and when, and of whom that is not known."""
    drops: dict[str, list[core.Estimate]] = {}
    for e in summary.estimates:
        if e.metric == DROP:
            drops.setdefault(e.group.get("model", "the model"), []).append(e)
    of: dict[str, list[str]] = {}
    for model, rows in drops.items():
        of.setdefault(core.verdict.worst([e.light for e in rows]), []).append(model)
    parts: list[str] = []
    for light in ("green", "yellow", "red"):
        if models := of.get(light):
            parts.append(_said(light, models, drops, first=not parts))
    if rest := [m for light in ("grey", "unlit") for m in of.get(light, [])]:
        parts.append(_unknown(rest, drops, first=not parts))
    if len(drops) == 2 and len(of) == 1 and not rest:
        parts.append(_compared(facts))
    return kit.answering.answered(summary, facts, " ".join(filter(None, parts)), next=_next(summary, drops))


def _said(light: str, models: Sequence[str], drops: Drops, *, first: bool) -> str:
    """What holds of the models of one light, with the largest drop."""
    every = [e for rows in drops.values() for e in rows]
    worst = max((e for m in models for e in drops[m] if e.value is not None), key=lambda e: e.value or 0.0)
    one = len(models) == 1
    names = kit.saying.opened_name(kit.saying.names(map(kit.saying.named, models), NAMED))
    score, fall = ("its score", "falls") if one else ("their scores", "fall")
    if (worst.value or 0.0) <= 0:
        how = f"{score} {'does' if one else 'do'} not fall"
    elif light == "green":
        how = f"{score} {fall} by {kit.saying.figure(worst, every)} at most"
    else:
        way = kit.rephrasing.in_words(worst.group["augmentation"])
        how = f"with {way} {score} {fall} by {kit.saying.figure(worst, every)}"
        if light == "yellow" and worst.cuts and (worst.value or 0.0) > worst.cuts[-1]:
            how += f", though more than {worst.cuts[-1]:g} is not shown"
    return f"{names} {_verb(light, one, first)}: {how}."


def _verb(light: str, one: bool, first: bool) -> str:
    """What the models of one light do; how the query is written is said once."""
    answer, do = ("answers", "does") if one else ("answer", "do")
    if light == "green":
        return f"{answer} equally well however the query is written"
    if light == "yellow":
        return f"{answer} somewhat worse when the query is written otherwise" if first else f"{do} not quite"
    return f"{answer} worse when the query is written otherwise" if first else f"{do} not"


def _unknown(models: Sequence[str], drops: Drops, *, first: bool) -> str:
    """Of whom it is not known, and why."""
    names, one = kit.saying.names(map(kit.saying.named, models), NAMED), len(models) == 1
    whole = f"{'answers' if one else 'answer'} as well when the query is written otherwise"
    what = whole if first else "does" if one else "do"
    grey = [e for m in models for e in drops[m] if e.light in ("grey", "unlit")]
    if all(NO_ROOM in e.note for e in grey):
        return f"Whether {names} {what} cannot be said: the score as written is too low to fall."
    least = min(grey, key=lambda e: e.n)
    way = kit.rephrasing.in_words(least.group["augmentation"])
    few = f": {counted(least.n, 'item')} with {way} {'is' if least.n == 1 else 'are'} too few"
    return f"Whether {names} {what} is not known yet{few if _needed(least) else ''}."


def _needed(e: core.Estimate) -> int:
    """How many more items a grey drop needs so that a red one is excluded."""
    if e.value is None or not e.cuts:
        return max(core.stats.FEW_UNITS - e.n, 0)
    return max(core.stats.FEW_UNITS - e.n, kit.answering.more_items(replace(e, cuts=(e.cuts[-1],))))


def _compared(facts: Facts) -> str:
    """Which of two models of one light falls less."""
    rows = facts.differences()
    shown = next((d for d in rows if d.better), None)
    if not rows:
        return ""
    if shown is None:
        return "Between the two no difference is shown."
    way = kit.rephrasing.in_words(shown.metric.removeprefix(f"{DROP} "))
    return f"With {way} {shown.better} falls less than {shown.worse}, {kit.saying.BEYOND_CHANCE}."


def _next(summary: core.Summary, drops: Drops) -> str | None:
    """Of a grey light how many items are lacking; of a red one where to look."""
    every = [e for rows in drops.values() for e in rows]
    if summary.verdict.light == "grey":
        grey = [e for e in every if e.light == "grey"]
        if grey and all(NO_ROOM in e.note for e in grey):
            return "Missing for a light: items that are answered well as written."
        needed = max((_needed(e) for e in grey), default=0)
        if needed and not any(e.n_unscored for e in grey):
            return f"Missing for a light: about {counted(kit.answering.rounded_up(needed), 'more item')}."
        return None
    decided = kit.answering.deciding(summary)
    if summary.verdict.light == "red" and decided is not None and not kit.answering.more_items(decided):
        worse = next(
            (e for e in summary.estimates if e.metric == "worse" and e.group == decided.group and e.value), None
        )
        if worse is not None:
            return f"Look at the {counted(round((worse.value or 0.0) * worse.n), 'item')} that became worse."
    return None
