"""How close the outputs are to their references, and whether one model's are closer."""

from __future__ import annotations

from collections.abc import Sequence

from evalbench import core, kit
from evalbench.kit.answering import Facts


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """On the leading metric who is closer; where nobody is, on which or how many of all metrics a difference is shown."""
    said = kit.answering.sentence(summary, facts)
    lead = kit.answering.deciding(summary)
    shown = [*dict.fromkeys(d.metric for d in facts.differences() if d.better)]
    every = {d.metric for d in facts.differences()}
    if lead is not None and len(every) > 1 and lead.metric not in shown:
        said += f" A difference is shown {_where(shown, len(every), summary)}."
    return kit.answering.answered(summary, facts, said)


def _where(shown: Sequence[str], every: int, summary: core.Summary) -> str:
    """In which of all metrics a difference is shown: by their names where they are few."""
    if len(shown) in (1, 2):
        titles = {e.metric: kit.saying.title_of(e) for e in summary.estimates}
        return f"only in {kit.saying.names(titles[metric] for metric in shown)}, of {every} metrics"
    return f"in {len(shown) or 'none'} of {every} metrics"
