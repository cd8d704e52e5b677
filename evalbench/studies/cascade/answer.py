"""Which of two models is better, and what that took."""

from __future__ import annotations

from dataclasses import replace

from evalbench import core, kit
from evalbench.core.wording import count, counted, estimate_text, percent
from evalbench.kit.answering import Facts
from evalbench.studies.cascade import stages, summary

BY_CHANCE = "which chance could explain"


def answer(found: core.Summary, facts: Facts) -> core.Answer:
    """Who is better by how many questions, or why that is not known; and how many calls it took."""
    a, b = summary.names_of(facts.items) if facts.items is not None else ("A", "B")
    own = {e.metric: e for e in found.estimates}
    advantage = own["advantage"]
    n_open = _number(own["open"])
    if advantage.value is None:
        left = counted(n_open, "question")
        return kit.answering.answered(
            found,
            facts,
            f"Whether {a} or {b} is better is not known: no question could be decided.",
            next=f"Missing for a light: ground truths, labels or a judge that decide the {left} still open.",
        )
    won, lost = _number(own["won_a"]), _number(own["won_b"])
    margin = float(facts.parameters.get("margin", summary.MARGIN))
    light = found.verdict.light
    if light == "grey":
        said, after = _grey(found, facts, (a, b), (won, lost), n_open)
    elif light == "yellow":
        said = f"No difference between {a} and {b} is shown: {_counts(a, b, won, lost)}, {BY_CHANCE}."
        after = _to_show(advantage)
    elif light == "red":
        said = _better(b, a, lost, won)
        after = f"Look at the {counted(lost, 'question')} that {a} loses."
    elif alike := _alike(own, margin):
        said, after = f"{kit.saying.opened_name(a)} and {b} are equally good: {alike}.", None
    else:
        said, after = _better(a, b, won, lost), None
    if light != "grey":
        said += _cost(facts)
    figure = estimate_text(advantage, found.estimates)
    decided = f"{kit.saying.opened_name(a)}'s net share of wins: {figure}, n\N{NO-BREAK SPACE}{count(advantage.n)}."
    return kit.answering.answered(found, facts, said, decided_by=decided, next=after)


def _number(e: core.Estimate) -> int:
    """Of how many questions a share is one."""
    return round((e.value or 0.0) * e.n)


def _better(a: str, b: str, won: int, lost: int) -> str:
    """That one is better, by how many questions, and that this is shown."""
    losses = count(lost) if lost else "none"
    return f"{kit.saying.opened_name(a)} is better than {b}: it wins {counted(won, 'question')} and loses {losses}, more than chance explains."


def _counts(a: str, b: str, won: int, lost: int) -> str:
    return f"{a} wins {counted(won, 'question')} and {b} {count(lost) if lost else 'none'}"


def _alike(own: dict[str, core.Estimate], margin: float) -> str:
    """Why the two count as equal; empty where one is better."""
    advantage = own["advantage"]
    differ = _number(own["won_a"]) + _number(own["won_b"])
    if not differ and not _number(own["open"]):
        return f"they tie on all {counted(advantage.n, 'question')}"
    if differ + _number(own["open"]) < margin * own["open"].n:
        return f"they differ on fewer than {percent(margin, [margin])} of all questions"
    low, high = advantage.ci_low, advantage.ci_high
    if low is not None and high is not None and -margin < low <= 0 <= high < margin:
        return f"neither wins {percent(margin, [margin])} more questions than the other"
    return ""


def _grey(
    found: core.Summary, facts: Facts, names: tuple[str, str], counts: tuple[int, int], n_open: int
) -> tuple[str, str | None]:
    """That it is not known who is better, why, and what would be needed."""
    (a, b), (won, lost), advantage = names, counts, found.estimates[0]
    most = float(facts.parameters.get("max_unscored", kit.MAX_UNSCORED))
    few = core.stats.FEW_UNITS - advantage.n
    after: str | None = None
    if summary.UNSURE_TIES in advantage.note:
        tied = counted(_number(found.estimate("tied")), "question")
        why = advantage.note.partition(f"{summary.UNSURE_TIES}: ")[2].partition("; ")[0]
        return (
            f"Whether {a} or {b} is better is not known: they tie on {tied}, but {why}.",
            f"Look at the {tied} of which that holds.",
        )
    if few > 0:
        why = f"only {counted(advantage.n, 'question')} {'is' if advantage.n == 1 else 'are'} decided"
        after = (
            f"Missing for a light: {counted(few, 'more decided question')}; {count(n_open)} {'is' if n_open == 1 else 'are'} open."
            if n_open
            else None
        )
    elif summary.OPEN in advantage.note:
        why = f"{_counts(a, b, won, lost)}, but the {count(n_open)} still open could decide it otherwise"
        after = f"Let people decide the {counted(n_open, 'open question')}."
    elif summary.BY_WORDS in advantage.note:
        why = f"{_counts(a, b, won, lost)}, but words alone were compared, which no labels confirm"
        after = "Missing for a light: a judge that reads, or labels of people for such questions."
    elif facts.n_unscored > most * facts.n_items:
        why = f"{count(facts.n_unscored)} of {counted(facts.n_items, 'question')} have no score"
    else:
        why = _counts(a, b, won, lost)
    return f"Whether {a} or {b} is better is not known yet: {why}.", after


def _to_show(advantage: core.Estimate) -> str:
    """How many more questions would show a difference of this size."""
    more = kit.answering.more_items(replace(advantage, cuts=(0.0,)))
    if not advantage.value:
        return "Nothing: both win equally often."
    if more > 10 * advantage.n:
        return f"A difference of this size takes more than {counted(kit.answering.rounded_up(10 * advantage.n), 'question')} to show."
    if 10 * more < advantage.n:
        return "A few more questions may show a difference of this size."
    return f"About {counted(kit.answering.rounded_up(more), 'more question')} would show a difference of this size."


def _cost(facts: Facts) -> str:
    """How many calls it took, beside those that every pair takes."""
    table = facts.tables.get("stages")
    if table is None or table.empty:
        return ""
    calls, every = int(table["calls"].sum()), stages.PER_PAIR * int(table["came"].max())
    if not calls:
        return " No judge was asked."
    return f" That took {counted(calls, 'call')} to a judge instead of {count(every)}." if calls < every else ""
