"""How much of what is wrong a checker finds, and how much of what it reports is right."""

from __future__ import annotations

from collections.abc import Mapping

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.kit.finders import Sought

QUALITY = "match_quality"


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """What each checker finds and reports, which is better, and whether its matches are loose."""
    sought = sought_of(facts)
    said = [*kit.finders.sentences(summary, facts, sought), loose(summary)]
    said.append(kit.doubts.graded(summary, sought.lead))
    short = names_of(facts)
    said = [kit.saying.opened_name(_renamed(text, short)) for text in said if text]
    after = _next(summary, facts, sought)
    return kit.answering.answered(
        summary, facts, kit.doubts.within(kit.doubts.with_doubt(summary, said)), next=after and _renamed(after, short)
    )


def sought_of(facts: Facts) -> Sought:
    """What is found, by the score that the light is that of."""
    lead = str(facts.parameters.get("light_on", "f1"))
    own = "" if lead == "f1" else "ha_"
    return Sought(lead, f"{own}recall", f"{own}precision", "true violations", marks="reports")


def loose(summary: core.Summary) -> str:
    """How little matched violations agree, where that holds the light back: a sentence."""
    e = kit.answering.deciding(summary)
    if e is None or e.metric != QUALITY or e.value is None or e.light not in ("yellow", "red"):
        return ""
    return f"But matches are loose: they agree with the truth by only {kit.saying.share(e.value, e.cuts)}."


def names_of(facts: Facts) -> Mapping[str, str]:
    """Checkers by their names without version and model, where these tell them apart."""
    table = facts.tables.get("checkers")
    if table is None or table["name"].duplicated().any():
        return {}
    return {str(full): str(name) for full, name in zip(table["model"], table["name"], strict=True) if name}


def _renamed(text: str, short: Mapping[str, str]) -> str:
    for full in sorted(short, key=len, reverse=True):
        text = text.replace(full, short[full])
    return text


def _next(summary: core.Summary, facts: Facts, sought: Sought) -> str | None:
    decides = kit.answering.deciding(summary)
    if any(note.kind == "shifted" for note in facts.notes):
        return "Check from where places are counted, and run again."
    open_ones = kit.finders.told(summary, facts, sought)[1]
    if summary.verdict.light in ("grey", "unlit") and open_ones:
        return kit.doubts.adding(open_ones[-1], facts, "text")
    if summary.verdict.light not in ("yellow", "red") or decides is None:
        return None
    if decides.metric == QUALITY:
        return f"Look at the matches of {kit.saying.name_of(decides)}."
    return kit.finders.look(summary, decides, sought)
