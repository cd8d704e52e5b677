"""How close the outputs are to their references, and whether one model's are closer."""

from __future__ import annotations

from evalbench import core, kit
from evalbench.kit.answering import Facts


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """On the leading metric who is closer; where nobody is, on how many of all metrics a difference is shown."""
    said = kit.answering.sentence(summary, facts)
    lead = kit.answering.deciding(summary)
    shown = {d.metric for d in facts.differences() if d.better}
    every = {d.metric for d in facts.differences()}
    if lead is not None and len(every) > 1 and lead.metric not in shown:
        said += f" A difference is shown in {len(shown) or 'none'} of {len(every)} metrics."
    return kit.answering.answered(summary, facts, said)
