"""Stages 9 and 10: both answers shown together, in both orders; and answers to duplicates of a question ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalbench import core
from evalbench.judge import tasks, verdicts
from evalbench.judge.criteria import Criterion
from evalbench.judge.pairwise import pairwise, pairwise_task
from evalbench.judge.ranking import ranking
from evalbench.studies.cascade import state

MAJORITY = 2 / 3
"""A ranking decides where at least this share of its orders places one answer before the other."""
MOST_RANKED = 5
"""Questions whose answers are ranked together; of more that are linked, so many at a time."""
CRITERION = "the better answer"


def definition_of(criteria: Sequence[Criterion]) -> str:
    """What makes an answer the better one: the criteria's own definitions."""
    asked = " ".join(criterion.definition for criterion in criteria)
    return f"Which answer serves the one who asked better? {asked}".strip()


def task_of(criteria: Sequence[Criterion]) -> tasks.Task:
    """What a judge is asked of a pair."""
    return pairwise_task(CRITERION, definition_of(criteria))


def in_order(cases: Sequence[state.Case], seed: int) -> list[state.Case]:
    """The order in which pairs are asked: drawn by the seed from the questions' ids, whatever the order of rows."""
    ordered = sorted(cases, key=lambda case: case.id)
    return [ordered[i] for i in core.seeds.rng(seed, "cascade/pairs").permutation(len(ordered))]


def item_of(case: state.Case) -> dict[str, Any]:
    """A pair as a judge is shown it."""
    own = {"id": case.id, "question": case.question, "a": case.a, "b": case.b}
    return {**own, **({"basis": case.basis} if case.basis else {})}


def by_pairs(cases: Sequence[state.Case], desk: state.Desk, criteria: Sequence[Criterion]) -> state.Found:
    """The answer that both orders name is better.  A tie, or orders that disagree, is no decision."""
    assert desk.strong is not None
    found = state.Found(instrument=verdicts.judge_name(desk.strong))
    for lang, part in state.by_language(in_order(cases, desk.options["seed"]), ["pairwise"], desk.prompt).items():
        pairs = pairwise(
            [item_of(case) for case in part],
            by=desk.strong,
            task=task_of(criteria),
            language=lang,
            prompt=desk.prompt,
            **desk.settings,
        )
        found.asked.append(pairs.asked)
        for pair in pairs.rows:
            if pair.unscored:
                found.failed[pair.id] = (pair.unscored, pair.detail)
            elif pair.winner in ("A", "B"):
                reason = next(filter(None, pair.reasons), "")
                found.decided[pair.id] = state.Decision("a" if pair.winner == "A" else "b", "both-orders-agree", reason)
            else:
                found.equal[pair.id] = "the orders disagree" if pair.position_inconsistent else "a tie in both orders"
    return found


def groups_of(same: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Questions that are linked by duplicates, in groups of :data:`MOST_RANKED` at most, in the order of the ids.

    Examples
    --------
    >>> groups_of({"a": ["b"], "b": ["a", "c"], "c": ["b"], "d": ["e"], "e": ["d"]})
    [('a', 'b', 'c'), ('d', 'e')]
    """
    seen: set[str] = set()
    found = []
    for start in sorted(same):
        linked, waiting = set(), [start]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                linked.add(name)
                waiting += same.get(name, ())
        ordered = sorted(linked)
        found += [tuple(ordered[i : i + MOST_RANKED]) for i in range(0, len(ordered), MOST_RANKED)]
    return found


def by_ranking(
    cases: Sequence[state.Case],
    desk: state.Desk,
    criteria: Sequence[Criterion],
    every: Mapping[str, state.Case],
    same: Mapping[str, Sequence[str]],
) -> state.Found:
    """Both answers ranked among the answers to duplicates of their question, each list once, in several orders."""
    assert desk.judge is not None
    found = state.Found(instrument=verdicts.judge_name(desk.judge))
    open_ones = {case.id for case in cases}
    groups = [group for group in groups_of(same) if open_ones & set(group)]
    listed = {min(open_ones & set(group)): group for group in groups}
    firsts = [every[name] for name in sorted(listed)]
    for lang, part in state.by_language(firsts, ["ranking"], desk.prompt).items():
        items = [
            {
                "id": first.id,
                "question": first.question,
                "answers": {
                    f"{name}\x1f{side}": every[name].answer(side) for name in listed[first.id] for side in state.SIDES
                },
                **({"basis": first.basis} if first.basis else {}),
            }
            for first in part
        ]
        told = {
            "by": desk.judge, "criterion": CRITERION, "definition": definition_of(criteria), "orders": desk.options["n_orders"],
            "language": lang, "prompt": desk.prompt, **desk.settings,
        }  # fmt: skip
        ranked = ranking(items, **told)
        found.asked += ranked.asked
        for first, one in zip(part, ranked.rows, strict=True):
            for name in sorted(open_ones & set(listed[first.id])):
                if one.unscored:
                    found.failed[name] = (one.unscored, one.detail)
                    continue
                a, b = (f"{name}\x1f{side}" for side in state.SIDES)
                before = sum(places.index(a) < places.index(b) for places in one.places) / len(one.places)
                said = f"A before B in {before:.0%} of {len(one.places)} orders, among {len(one.borda)} answers"
                if before >= MAJORITY or before <= 1 - MAJORITY:
                    found.decided[name] = state.Decision("a" if before >= MAJORITY else "b", "ranked", said)
                else:
                    found.equal[name] = said
    return found
