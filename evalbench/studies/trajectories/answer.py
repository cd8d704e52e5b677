"""Which agent reaches the goal, how surely, and where the others leave the way."""

from __future__ import annotations

from evalbench import core, kit
from evalbench.kit.answering import Facts


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Who reaches the goal how often, whether it holds in every trial, and at which tool the failed ones leave the way."""
    ordered = kit.saying.ranked(summary, "success")
    if not ordered:
        said = "How often the goal is reached is not known: no trajectory has a mark."
        return kit.answering.answered(summary, facts, said)
    light = summary.verdict.light
    deciding = kit.answering.deciding(summary)
    if light == "grey":
        return kit.answering.answered(
            summary, facts, f"{_reached(ordered, facts)}; whether that is enough is not known."
        )
    if light == "red" and deciding is not None and deciding.metric == "forbidden_calls":
        said = f"{kit.saying.opened(kit.saying.name_of(deciding))} calls forbidden tools"
        share = kit.saying.share(deciding.value or 0.0)
        return kit.answering.answered(
            summary, facts, f"{said}, in {share} of its trajectories. {_reached(ordered, facts)}."
        )
    passing = kit.answering.passing(summary) if light != "unlit" else ""
    return kit.answering.answered(summary, facts, f"{_reached(ordered, facts)}{passing}.{_parting(facts)}")


def _reached(ordered: list[core.Estimate], facts: Facts) -> str:
    if len(ordered) > 1:
        return kit.saying.standing(ordered, facts.differences("success"))
    return f"{kit.saying.opened(kit.saying.name_of(ordered[0]))} reaches the goal in {kit.saying.figure(ordered[0], ordered)} of trials"


def _parting(facts: Facts) -> str:
    """The tool at which failed trajectories most often leave the way of successful ones."""
    table = facts.tables.get("turning_points")
    if table is None or not len(table):
        return ""
    tools = table.loc[table["instead_of"] != "", "instead_of"].value_counts()
    if not len(tools):
        return ""
    name = min(tools.index[tools == tools.iloc[0]])
    return f" Failed trajectories most often leave the way before “{name}”."
