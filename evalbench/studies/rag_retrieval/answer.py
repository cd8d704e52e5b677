"""How well a search finds the passages that answer, and which search is better."""

from __future__ import annotations

from collections.abc import Sequence

from evalbench import core, kit
from evalbench.kit.answering import Facts

SAYS = {
    "hit_rate": "finds a passage that answers among the first {k} for {x} of queries",
    "recall": "finds {x} of the passages that answer among the first {k}",
    "ndcg": "reaches {x} of the best possible ranking of the first {k} passages",
    "precision": "gives {x} passages that answer among the first {k}",
}
"""What a search does by a metric; any other is named."""


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """What each search finds by the leading metric, which is better, and of which it is not known."""
    lead = kit.answering.deciding(summary)
    every = kit.saying.ranked(summary, lead.metric) if lead else []
    known = [e for e in every if not kit.doubts.lacking(e, facts, "query")]
    said = _of_several(summary, known, facts) if known else []
    for e in [e for e in every if e not in known][:1]:
        whose = f"How well {_search(e)} finds passages is not known"
        said.append(f"{whose}: {kit.doubts.lacking(e, facts, 'query')}.")
    if not every:
        note = next((e.note for e in summary.estimates if e.note), "there are no queries with judged passages")
        said = [f"How well passages are found is not known: {kit.saying.lowered(note)}."]
    elif known:
        said.append(kit.doubts.graded(summary, every[0].metric).replace("The run is", "The search is"))
    return kit.answering.answered(
        summary, facts, kit.doubts.within(kit.doubts.with_doubt(summary, said)), next=_next(summary, facts, every)
    )


def _of_several(summary: core.Summary, known: Sequence[core.Estimate], facts: Facts) -> list[str]:
    best, worst = known[0], known[-1]
    first = f"{kit.saying.opened_name(_search(best))} {_does(best)}"
    if len(known) == 1:
        hits = next(
            (e for e in summary.estimates if e.metric == f"hit_rate_at_{_depth(best)}" and e.group == best.group), None
        )
        if hits is None or hits is best or hits.value is None:
            return [f"{first}."]
        return [f"{first}.", f"For {kit.saying.share(hits.value)} of queries one that answers is among them."]
    rows = facts.differences(best.metric)
    if len(known) == 2:
        return [f"{first}, {_search(worst)} {_value(worst)}; {kit.doubts.shown(known, rows)}."]
    last = f"{first}, {_search(worst)}, the worst, {_value(worst)}"
    return [f"{last}.", kit.saying.opened(f"{kit.doubts.shown(known, rows)}.")]


def _search(e: core.Estimate) -> str:
    name = kit.saying.name_of(e)
    return "the search" if name in ("", "run", "run not named") else name


def _depth(e: core.Estimate) -> str:
    return e.metric.rpartition("_at_")[2].partition("_")[0]


def _value(e: core.Estimate) -> str:
    value = e.value or 0.0
    return kit.saying.share(value, e.cuts) if _says(e) else kit.saying.figure(e)


def _says(e: core.Estimate) -> str:
    """The words for its metric; empty where there are none."""
    return next((said for name, said in SAYS.items() if e.metric == f"{name}_at_{_depth(e)}"), "")


def _does(e: core.Estimate) -> str:
    if not e.value:
        return f"finds no passage that answers among the first {_depth(e)}"
    if said := _says(e):
        return said.format(k=_depth(e), x=_value(e))
    return f"reaches {_value(e)} in {kit.saying.title_of(e)}"


def _next(summary: core.Summary, facts: Facts, every: Sequence[core.Estimate]) -> str | None:
    notes = " ".join(map(str, facts.notes))
    if "are the scores distances" in notes:
        return "If the scores are distances, turn them round."
    if "have the same score" in notes:
        return "Give scores that differ, or ranks."
    if summary.verdict.light not in ("grey", "unlit"):
        return None
    return next(filter(None, (kit.doubts.adding(e, facts, "query") for e in reversed(every))), None)
