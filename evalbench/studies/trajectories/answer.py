"""Which agent reaches the goal, how surely, and where the others leave the way."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.studies.trajectories import causes
from evalbench.studies.trajectories.faults import JUDGE
from evalbench.studies.trajectories.lacking import Lacking, lacking

BEYOND_CHANCE = "more than chance explains"
REVIEW = "what-a-reviewer-must-look-at"
"""The place of the page where the calls of forbidden tools are."""
FEW_FAILED = 5
"""Failed trials with one cause: fewer name none."""


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
    said = f"{reached}{passing}.{_causes(ordered, facts)}"
    return kit.answering.answered(summary, facts, said, decided_by=_decided(summary, ordered, facts))


def _decided(summary: core.Summary, ordered: Sequence[core.Estimate], facts: Facts) -> core.Line:
    """The figure that decides; where it is the success of one of two agents, how far they are apart, too."""
    line = kit.answering.decided_line(summary)
    deciding = kit.answering.deciding(summary)
    rows = () if _too_few_known(ordered, facts) else facts.differences("success")
    if deciding is None or deciding.metric != "success" or not rows or not line.text:
        return line
    if len(ordered) > 2:
        apart = kit.saying.best_less_worst(ordered, rows)
        return core.Line(f"{line.text.removesuffix('.')}; {apart}.", line.at) if apart else line
    if rows[0].low is None or rows[0].high is None or core.stats.no_width(rows[0].low, rows[0].high):
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


def _known(ordered: Sequence[core.Estimate], facts: Facts) -> dict[str, Lacking]:
    """The agents by the names that they are called, and what is known of their trials."""
    rows = facts.tables.get(kit.trials.ROWS)
    if rows is None:
        return {kit.saying.name_of(e): Lacking(e.n, e.n_unscored, 0, 1) for e in ordered}
    own = lacking(rows)
    return {kit.saying.name_of(e): own[e.group["model"]] for e in ordered if e.group.get("model") in own}


def _too_few_known(ordered: Sequence[core.Estimate], facts: Facts) -> dict[str, Lacking]:
    """Those of which too many trials have no mark, or are absent."""
    most = float(facts.parameters.get("max_unscored", kit.MAX_UNSCORED))
    return {name: own for name, own in _known(ordered, facts).items() if own.share > most}


def _unmarked(ordered: Sequence[core.Estimate], facts: Facts, few: Mapping[str, Lacking]) -> str:
    """How often agents reach the goal of which too many trials of one are not known: none is named better."""
    no = {"mark": "mark", JUDGE: "verdict"}.get(str(facts.parameters.get("success_by", "mark")), "score")
    most = max(few, key=lambda name: few[name].share)
    why = few[most].in_words(no)

    def said(e: core.Estimate) -> str:
        own = few.get(kit.saying.name_of(e))
        scored = "" if own is None else f" ({core.wording.count(own.scored)} scored)"
        return f"{kit.saying.share(e.value or 0.0)} of trials{scored}"

    first, last = (kit.saying.name_of(e) for e in (ordered[0], ordered[-1]))
    if len(ordered) == 1:
        return f"{kit.saying.opened_name(first)} reaches the goal in {said(ordered[0])}; {why}"
    why = why.replace(" trials ", f" trials of {most} ", 1)
    if len(ordered) == 2:
        both = (
            f"{kit.saying.opened_name(first)} reaches the goal in {said(ordered[0])} and {last} in {said(ordered[1])}"
        )
        return f"{both}; which is better is not known: {why}"
    return f"Which agent reaches the goal most often is not known: {why}"


def _reached(summary: core.Summary, ordered: Sequence[core.Estimate], facts: Facts) -> str:
    """How often the agents reach the goal, the best first; whether a difference is shown."""
    if few := _too_few_known(ordered, facts):
        return _unmarked(ordered, facts, few)
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
        if row is not None and row.difference is None:
            tested = "they share no scored task, so that they cannot be compared"
        else:
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


def _causes(ordered: Sequence[core.Estimate], facts: Facts) -> str:
    """What most failed trials have in common: of each agent, of many the one that fails most often."""
    table = facts.tables.get("causes")
    if table is None or not len(table):
        return ""
    spoken = ordered if len(ordered) <= 2 else ordered[-1:]
    whose = {e.group.get("model", ""): kit.saying.whose(e) for e in spoken}
    said = causes.said(causes.counted(table), FEW_FAILED, whose)
    return f" {said}" if said else ""
