"""Whose confidence tells its right answers from its wrong ones."""

from __future__ import annotations

from collections.abc import Sequence

from evalbench import core, kit
from evalbench.core.wording import counted
from evalbench.kit.answering import Facts
from evalbench.studies.confidence import joint

PICKED = "a right answer is more confident than a wrong one"
NAMED = 3
COIN = 0.5


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Whose does, whose does only in part or not at all, and of whom that is not known."""
    own = [e for e in summary.estimates if e.metric == joint.METRIC]
    known = kit.saying.ranked(summary, joint.METRIC)
    if summary.verdict.light == "unlit" and known:
        said = _unlit(known, summary)
    else:
        of = {light: [e for e in known if e.light == light] for light in ("green", "yellow", "red")}
        parts = [_said(light, rows, first=not any(list(of.values())[:i])) for i, (light, rows) in enumerate(of.items())]
        rest = [e for e in own if not any(e in rows for rows in of.values())]
        said = " ".join(filter(None, [*parts, _unknown(rest, summary, first=not any(parts))]))
    if len(known) == 2 and known[0].light == known[1].light != "grey":
        said += _compared(facts)
    return kit.answering.answered(
        summary, facts, said, could_change=_on_a_topic(facts), next=_next(own, summary) or None
    )


def _whose(rows: Sequence[core.Estimate], *, first: bool) -> str:
    """The confidence of some models."""
    names = kit.saying.names(rows, NAMED)
    if len(rows) == 1:
        return f"{kit.saying.opened_name(names)}'s{' confidence' if first else ''}"
    return f"{'The confidence' if first else 'That'} of {names}"


def _said(light: str, rows: Sequence[core.Estimate], *, first: bool) -> str:
    """What holds of the models of one light; how it is found out is said once."""
    if not rows:
        return ""
    does = {
        "green": "tells right answers from wrong ones",
        "yellow": "tells right answers from wrong ones only in part" if first else "does so only in part",
        "red": f"does not{' tell right answers from wrong ones' if first else ''}",
    }[light]
    ends = dict.fromkeys(kit.saying.share(e.value or 0.0, e.cuts) for e in (rows[0], rows[-1]))
    how = f"{PICKED} in {' to '.join(ends)} of pairs" if first else " to ".join(ends)
    chance = "" if light == "green" else f", {_chance(rows[0])}"
    return f"{_whose(rows, first=first)} {does}: {how}{chance}."


def _chance(e: core.Estimate) -> str:
    """Against a coin, which finds the right one in half of all pairs."""
    if (e.ci_high or 0.0) < COIN:
        return "less than by chance"
    return "about what chance gives" if (e.ci_low or 0.0) <= COIN else "more than by chance, yet too little"


def _unknown(rows: Sequence[core.Estimate], summary: core.Summary, *, first: bool) -> str:
    """Of whom it is not known, and why."""
    if not rows:
        return ""
    whose = (
        kit.saying.lowered(_whose(rows, first=first)) if len(rows) > 1 else f"{kit.saying.whose(rows[0])} confidence"
    )
    what = "tells right answers from wrong ones" if first else "does"
    notes = {e.note.partition(", so that")[0] for e in rows if e.value is None}
    if len(notes) == 1 and all(e.value is None for e in rows):
        return f"Whether {whose} {what} cannot be said: {notes.pop()}."
    least = [_least(e, summary) for e in rows]
    few = min((one for one in least if one), default=None)
    why = f": only {counted(*few)}" if few and few[0] < core.stats.FEW_UNITS else ""
    return f"Whether {whose} {what} is not known yet{why}."


def _least(e: core.Estimate, summary: core.Summary) -> tuple[int, str] | None:
    """The fewer of a model's wrong and right answers."""
    rate = next((o for o in summary.estimates if o.metric == "error_rate" and o.group == e.group), None)
    if rate is None or rate.value is None:
        return None
    wrong = round(rate.value * rate.n)
    return min((wrong, "wrong answer"), (rate.n - wrong, "right answer"))


def _next(own: Sequence[core.Estimate], summary: core.Summary) -> str:
    """More answers of the kind that is scarce; of a red light what not to do."""
    if summary.verdict.light == "grey":
        least = [one for e in own if e.light == "grey" and (one := _least(e, summary))]
        scarce, kind = min(least, default=(core.stats.FEW_UNITS, ""))
        lacking = core.stats.FEW_UNITS - scarce
        return (
            f"Missing for a light: {counted(lacking, f'more {kind}')} ({core.stats.FEW_UNITS} are needed)."
            if lacking > 0
            else ""
        )
    if summary.verdict.light == "red":
        bad = kit.saying.names([e for e in own if e.light == "red"], NAMED)
        return f"Do not act on the confidence of {bad}."
    return ""


def _on_a_topic(facts: Facts) -> core.Line | None:
    """Where a model is confidently wrong, unless a note comes first."""
    table = facts.tables.get("topics")
    if facts.notes or table is None or not table["shown"].any():
        return None
    row = table[table["shown"]].sort_values("share", ascending=False).iloc[0]
    model = kit.saying.opened_name(kit.saying.named(row["model"]))
    return core.Line(
        f"{model} is often confidently wrong on {row['topic']}: {row['confidently_wrong']} of {row['confident']}.",
        "slices",
    )


def _unlit(known: Sequence[core.Estimate], summary: core.Summary) -> str:
    """In how many pairs, whose are not shown to beat chance, and of whom there is too little to say."""
    few = [e for e in known if (least := _least(e, summary)) and least[0] < core.stats.FEW_UNITS]
    own = [e for e in known if e not in few]
    return " ".join(filter(None, [_pairs(own, alone=len(known) == 1), _unknown(few, summary, first=not own)]))


def _pairs(own: Sequence[core.Estimate], *, alone: bool) -> str:
    if not own:
        return ""
    ends = own[:1] if len(own) == 1 else (own[0], own[-1])
    said = " and ".join(
        f"{kit.saying.share(e.value or 0.0)}{'' if alone else f' ({kit.saying.name_of(e)})'}" for e in ends
    )
    by_chance = [e for e in own if e.ci_low is not None and e.ci_low <= COIN]
    whose = "" if alone else f" for {kit.saying.names(by_chance, NAMED)}"
    chance = f"; that is not shown to be more than chance{whose}" if by_chance else ""
    return f"{kit.saying.opened(PICKED)} in {said} of pairs, where chance gives 50%{chance}; no thresholds say what is good enough."


def _compared(facts: Facts) -> str:
    """Which of two is better at it, where both have one light."""
    row = next(iter(facts.differences(joint.METRIC)), None)
    if row is None:
        return ""
    if not row.better:
        return " Between the two no difference is shown."
    return f" {kit.saying.opened_name(row.better)}'s is better than {row.worse}'s, {kit.saying.BEYOND_CHANCE}."
