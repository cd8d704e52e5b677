"""Which agent reaches the goal, how surely, and where the others leave the way."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.studies.trajectories.faults import JUDGE
from evalbench.studies.trajectories.turning import OTHER_ARGUMENTS

BEYOND_CHANCE = "more than chance explains"
REVIEW = "what-a-reviewer-must-look-at"
"""The place of the page where the calls of forbidden tools are."""
FEW_PARTED = 5
"""Failed trials that leave the way at one tool: fewer name no tool."""


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Who reaches the goal how often, whether it holds in every trial, and at which tool the failed ones leave the way."""
    ordered = kit.saying.ranked(summary, "success")
    if not ordered:
        none = "the judge gave no verdict" if _by_judge(facts) else "no trajectory has a mark"
        said = f"How often the goal is reached is not known: {none}."
        after = core.Line("Add what was reached: a table of outcomes, a column mark, or a judge.", "figures")
        return kit.answering.answered(summary, facts, said, next=None if _by_judge(facts) else after)
    light, reached = summary.verdict.light, f"{_reached(summary, ordered, facts)}{_by_judge(facts)}"
    deciding = kit.answering.deciding(summary)
    if light == "grey":
        return kit.answering.answered(summary, facts, f"{reached}. Whether that is enough is not known.")
    if light == "red" and deciding is not None and deciding.metric == "forbidden_calls":
        said, after = _forbidden(deciding, facts)
        return kit.answering.answered(summary, facts, f"{said} {reached}.", next=after)
    passing = kit.answering.passing(summary) if light != "unlit" else ""
    said = f"{reached}{passing}.{_parting(facts)}"
    return kit.answering.answered(summary, facts, said, decided_by=_decided(summary, ordered, facts))


def _decided(summary: core.Summary, ordered: Sequence[core.Estimate], facts: Facts) -> core.Line:
    """The figure that decides; where it is the success of one of two agents, how far they are apart, too."""
    line = kit.answering.decided_line(summary)
    deciding = kit.answering.deciding(summary)
    rows = facts.differences("success") if len(ordered) == 2 else ()
    if deciding is None or deciding.metric != "success" or len(rows) != 1 or not line.text:
        return line
    shared = _shared(ordered, facts)
    best, worst = shared.names if shared else (kit.saying.name_of(e) for e in ordered)
    ahead = kit.saying.points_ahead(rows[0], best)
    on = f" on the {core.wording.count(shared.tasks)} tasks of both" if shared else ""
    return core.Line(f"{line.text.removesuffix('.')}; {best} less {worst}{on}: {ahead}.", line.at) if ahead else line


class _Shared(NamedTuple):
    """How often each of two agents that were given different tasks reaches the goal on those of both, the better first."""

    tasks: int
    names: tuple[str, str]
    values: tuple[float, float]


def _shared(ordered: Sequence[core.Estimate], facts: Facts) -> _Shared | None:
    table = facts.tables.get("comparison")
    own = [] if table is None else table[table["metric"] == "success"].to_dict("records")
    if len(ordered) != 2 or len(own) != 1:
        return None
    unscored = sum(e.n_unscored for e in ordered)  # a task that one has no mark of was given to both all the same
    if own[0]["n_a"] + unscored >= max(e.n + e.n_unscored for e in ordered):
        return None
    sides = [(own[0][f"value_{side}"], own[0][f"model_{side}"]) for side in "ab"]
    if any(value is None or value != value for value, _ in sides):
        return None
    (first, a), (last, b) = sorted(sides, key=lambda side: -side[0])
    return _Shared(int(own[0]["n_a"]), (kit.saying.named(a), kit.saying.named(b)), (float(first), float(last)))


def _forbidden(e: core.Estimate, facts: Facts) -> tuple[str, core.Line]:
    """In how many of its trajectories an agent called which forbidden tool, and what to look at."""
    rows, calls = facts.tables.get(kit.trials.ROWS), facts.tables.get("tool_calls")
    n, own = e.n, round((e.value or 0.0) * e.n)
    if rows is not None:
        of_agent = rows.loc[rows["model"] == e.group.get("model"), "forbidden"].dropna()
        n, own = len(of_agent), int((of_agent > 0).sum())
    tool, after = "", core.Line("Look at the calls of forbidden tools.", REVIEW)
    if calls is not None:
        banned = calls[calls["forbidden"]]
        names = banned.loc[banned["model"] == e.group.get("model"), "name"].value_counts()
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        tool = f" ({min(names.index[names == names.iloc[0]]):.40}{more})" if len(names) else ""
        many = f"{len(banned)} calls of forbidden tools" if len(banned) > 1 else "call of a forbidden tool"
        after = core.Line(f"Look at the {many}.", REVIEW)
    which = "forbidden tools" if tool.endswith(" more)") else "a forbidden tool"
    of = core.counted(n, "trajectory", "trajectories")
    return f"{kit.saying.opened_name(kit.saying.name_of(e))} called {which}{tool} in {own} of {of}.", after


class _Marks(NamedTuple):
    """How many trials of an agent are scored, and how many are not."""

    scored: int
    lost: int

    @property
    def share(self) -> float:
        return self.lost / max(self.scored + self.lost, 1)


def _marks(e: core.Estimate, facts: Facts) -> _Marks:
    rows = facts.tables.get(kit.trials.ROWS)
    if rows is None:
        return _Marks(e.n, e.n_unscored)
    own = rows[rows["model"] == e.group["model"]] if "model" in e.group else rows
    return _Marks(int(own["success"].notna().sum()), int((own["unscored"] != "").sum()))


def _unmarked(ordered: Sequence[core.Estimate], facts: Facts, lacking: Mapping[str, _Marks]) -> str:
    """How often agents reach the goal of which one has too many trials without a mark: none is named better."""
    no = {"mark": "no mark", JUDGE: "no verdict"}.get(str(facts.parameters.get("success_by", "mark")), "no score")
    most = max(lacking, key=lambda name: lacking[name].share)
    scored, lost = lacking[most]
    of = f"{core.wording.count(lost)} of {core.wording.count(scored + lost)}"

    def said(e: core.Estimate) -> str:
        own = lacking.get(kit.saying.name_of(e))
        scored = "" if own is None else f" ({core.wording.count(own.scored)} scored)"
        return f"{kit.saying.share(e.value or 0.0)} of trials{scored}"

    first, last = (kit.saying.name_of(e) for e in (ordered[0], ordered[-1]))
    if len(ordered) == 1:
        return f"{kit.saying.opened_name(first)} reaches the goal in {said(ordered[0])}; {of} have {no}"
    if len(ordered) == 2:
        both = (
            f"{kit.saying.opened_name(first)} reaches the goal in {said(ordered[0])} and {last} in {said(ordered[1])}"
        )
        return f"{both}; which is better is not known: {of} trials of {most} have {no}"
    return f"Which agent reaches the goal most often is not known: {of} trials of {most} have {no}"


def _reached(summary: core.Summary, ordered: Sequence[core.Estimate], facts: Facts) -> str:
    """How often the agents reach the goal, the best first; whether a difference is shown."""
    share = float(facts.parameters.get("max_unscored", kit.MAX_UNSCORED))
    marks = {kit.saying.name_of(e): _marks(e, facts) for e in ordered}
    if lacking := {name: own for name, own in marks.items() if own.share > share}:
        return _unmarked(ordered, facts, lacking)
    best, worst = ordered[0], ordered[-1]
    a, b = kit.saying.name_of(best), kit.saying.name_of(worst)
    first, last = (kit.saying.share(e.value or 0.0) for e in (best, worst))
    if len(ordered) == 1:
        return f"{kit.saying.opened_name(a)} reaches the goal in {first} of trials{_every_time(summary)}"
    rows = facts.differences("success")
    if len(ordered) == 2:
        row = next((r for r in rows if {r.a, r.b} == {a, b}), None)
        opening = kit.saying.opened_name(a)
        if shared := _shared(ordered, facts):
            (a, b), (first, last) = shared.names, map(kit.saying.share, shared.values)
            opening = f"On the {core.wording.count(shared.tasks)} tasks that both tried, {a}"
        if row is not None and row.better:
            return (
                f"{opening} reaches the goal more often than {b}, in {first} of trials against {last}, {BEYOND_CHANCE}"
            )
        tested = "no difference is shown" if row is not None else "whether that is chance was not tested"
        return f"{opening} reaches the goal in {first} of trials and {b} in {last}; {tested}"
    alike = kit.saying.not_told_apart(ordered, rows)[1:]
    unlike = len({e.n + e.n_unscored for e in ordered}) > 1
    others = (
        f"{', not all on the same tasks' if unlike else ''}{f'; {kit.saying.as_good_as_best(alike)}' if alike else ''}"
    )
    return (
        f"{kit.saying.opened_name(a)} reaches the goal most often, in {first} of trials, {b} least, in {last}{others}"
    )


def _by_judge(facts: Facts) -> str:
    """Who decides of success, where that is the judge."""
    return f", as the judge {facts.parameters['judge']} says" if facts.parameters.get("success_by") == JUDGE else ""


def _every_time(summary: core.Summary) -> str:
    """For how many tasks all trials do, of a single agent."""
    own = next(iter(kit.saying.ranked(summary, "pass_hat_k")), None)
    k = re.fullmatch(r"pass\^(\d+)", own.title) if own else None
    return f", and in all of {k[1]} trials for {kit.saying.share(own.value or 0.0)} of tasks" if own and k else ""


def _parting(facts: Facts) -> str:
    """The tool at which most failed trajectories leave the way of successful ones; nothing of few, or where two tools are as frequent."""
    table = facts.tables.get("turning_points")
    if table is None or not len(table):
        return ""
    tools = table.loc[table["instead_of"] != "", "instead_of"].value_counts()
    if not len(tools):
        return ""
    most = int(tools.iloc[0])
    if most < FEW_PARTED or (tools == most).sum() > 1:
        return ""
    kinds = table.loc[table["instead_of"] == tools.index[0], "kind"]
    how = ", called with other arguments" if (kinds == OTHER_ARGUMENTS).mean() > 0.5 else ""
    return f" Failed trials most often leave the way at “{tools.index[0]:.60}”{how}: {most} of the {len(table)} that part from a successful one."
