"""Which agent reaches the goal, how surely, and where the others leave the way."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.studies.trajectories.faults import JUDGE

BEYOND_CHANCE = "more than chance explains"


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Who reaches the goal how often, whether it holds in every trial, and at which tool the failed ones leave the way."""
    ordered = kit.saying.ranked(summary, "success")
    if not ordered:
        none = "the judge gave no verdict" if _by_judge(facts) else "no trajectory has a mark"
        said = f"How often the goal is reached is not known: {none}."
        return kit.answering.answered(summary, facts, said)
    light, reached = summary.verdict.light, f"{_reached(summary, ordered, facts)}{_by_judge(facts)}"
    deciding = kit.answering.deciding(summary)
    if light == "grey":
        return kit.answering.answered(summary, facts, f"{reached}. Whether that is enough is not known.")
    if light == "red" and deciding is not None and deciding.metric == "forbidden_calls":
        share = kit.saying.share(deciding.value or 0.0)
        said = (
            f"{kit.saying.opened(kit.saying.name_of(deciding))} calls forbidden tools, in {share} of its trajectories."
        )
        return kit.answering.answered(summary, facts, f"{said} {reached}.")
    passing = kit.answering.passing(summary) if light != "unlit" else ""
    return kit.answering.answered(summary, facts, f"{reached}{passing}.{_parting(facts)}")


def _reached(summary: core.Summary, ordered: Sequence[core.Estimate], facts: Facts) -> str:
    """How often the agents reach the goal, the best first; whether a difference is shown."""
    best, worst = ordered[0], ordered[-1]
    a, b = kit.saying.name_of(best), kit.saying.name_of(worst)
    first, last = (kit.saying.share(e.value or 0.0) for e in (best, worst))
    if len(ordered) == 1:
        return f"{kit.saying.opened(a)} reaches the goal in {first} of trials{_every_time(summary)}"
    rows = facts.differences("success")
    if len(ordered) == 2:
        row = next((r for r in rows if {r.a, r.b} == {a, b}), None)
        if row is not None and row.better:
            return f"{kit.saying.opened(a)} reaches the goal more often than {b}, in {first} of trials against {last}, {BEYOND_CHANCE}"
        tested = "no difference is shown" if row is not None else "whether that is chance was not tested"
        return f"{kit.saying.opened(a)} reaches the goal in {first} of trials and {b} in {last}; {tested}"
    alike = kit.saying.not_told_apart(ordered, rows)[1:]
    others = f"; {kit.saying.as_good_as_best(alike)}" if alike else ""
    return f"{kit.saying.opened(a)} reaches the goal most often, in {first} of trials, {b} least, in {last}{others}"


def _by_judge(facts: Facts) -> str:
    """Who decides of success, where that is the judge."""
    return f", as the judge {facts.parameters['judge']} says" if facts.parameters.get("success_by") == JUDGE else ""


def _every_time(summary: core.Summary) -> str:
    """For how many tasks all trials do, of a single agent."""
    own = next(iter(kit.saying.ranked(summary, "pass_hat_k")), None)
    k = re.fullmatch(r"pass\^(\d+)", own.title) if own else None
    return f", and in all of {k[1]} trials for {kit.saying.share(own.value or 0.0)} of tasks" if own and k else ""


def _parting(facts: Facts) -> str:
    """The tool at which failed trajectories most often leave the way of successful ones."""
    table = facts.tables.get("turning_points")
    if table is None or not len(table):
        return ""
    tools = table.loc[table["instead_of"] != "", "instead_of"].value_counts()
    if not len(tools):
        return ""
    name = min(tools.index[tools == tools.iloc[0]])
    return f" Failed trials most often leave the way at “{name}”."
