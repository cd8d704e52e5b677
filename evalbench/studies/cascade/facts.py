"""Stages 11 and 12: facts that an answer must have, and closed questions about what it says."""

from __future__ import annotations

from collections.abc import Sequence

from evalbench.judge import facts, verdicts
from evalbench.judge.closed_questions import closed_questions
from evalbench.studies.cascade import state

LEAST_GAP = 0.2
"""Agreements of closed questions that are nearer to each other decide nothing."""


def by_facts(cases: Sequence[state.Case], desk: state.Desk) -> state.Found:
    """An answer without a must-have fact is incomplete, one with a claim beside them unreliable; an answer that is neither is sound.

    A sound answer beats one that is not; two sound ones are a tie; of two others the one that misses no more and adds no more,
    and one of the two less, is better.
    """
    assert desk.judge is not None
    found = state.Found(instrument=verdicts.judge_name(desk.judge))
    known = [case for case in cases if case.facts]
    for lang, part in state.by_language(known, ["claims", "support"], desk.prompt).items():
        items = [
            {
                "id": f"{case.id}/{side}",
                "question": case.question,
                "answer": case.answer(side),
                "facts": list(case.facts),
            }
            for case in part
            for side in state.SIDES
        ]
        checked = facts.check_facts(items, by=desk.judge, language=lang, prompt=desk.prompt, **desk.settings)
        found.asked += checked.asked
        of = {row.id: row for row in checked.rows}
        for case in part:
            a, b = (of[f"{case.id}/{side}"] for side in state.SIDES)
            if a.unscored or b.unscored:
                lost = a if a.unscored else b
                found.failed[case.id] = (lost.unscored, lost.detail)
                continue
            said, quality = f"A is {_words(a)}; B is {_words(b)}", (a.recall, b.recall)
            less = (len(a.missing) - len(b.missing), len(a.extra) - len(b.extra))
            if not any((*a.missing, *a.extra, *b.missing, *b.extra)):
                found.decided[case.id] = state.Decision("tie", "both-sound", said, *quality)
            elif less != (0, 0) and (max(less) <= 0 or min(less) >= 0):
                found.decided[case.id] = state.Decision("a" if max(less) <= 0 else "b", "facts-differ", said, *quality)
            else:
                found.equal[case.id] = said
                found.quality[case.id] = quality
    return found


def _words(check: facts.FactCheck) -> str:
    parts = [f"incomplete ({len(check.missing)} of {len(check.facts)} facts missing)"] if check.missing else []
    parts += [f"unreliable ({len(check.extra)} more claims)"] if check.extra else []
    return " and ".join(parts) or "sound"


def by_closed_questions(cases: Sequence[state.Case], desk: state.Desk) -> state.Found:
    """Closed questions about each answer, answered by another model: the answer that it confirms more is better."""
    assert desk.judge is not None
    assert desk.answerer is not None
    found = state.Found(
        instrument=f"{verdicts.judge_name(desk.judge)}, answered by {verdicts.judge_name(desk.answerer)}"
    )
    for lang, part in state.by_language(cases, ["closed_questions", "closed_answer"], desk.prompt).items():
        items = [
            {"id": f"{case.id}/closed/{side}", "question": case.question, "answer": case.answer(side)}
            for case in part
            for side in state.SIDES
        ]
        told = {"n": desk.options["n_questions"], "language": lang, "prompt": desk.prompt, **desk.settings}
        confirmed = closed_questions(items, by=desk.judge, answered_by=desk.answerer, **told)
        found.asked += confirmed.asked
        of = {row.id: row for row in confirmed.rows}
        for case in part:
            a, b = (of[f"{case.id}/closed/{side}"] for side in state.SIDES)
            if a.unscored or b.unscored:
                lost = a if a.unscored else b
                found.failed[case.id] = (lost.unscored, lost.detail)
                continue
            said, quality = f"confirmed: A {a.agreement:.2f}, B {b.agreement:.2f}", (a.agreement, b.agreement)
            outcome = state.compared(*quality, least=LEAST_GAP - 1e-9)
            if outcome == "tie":
                found.equal[case.id], found.quality[case.id] = said, quality
            else:
                found.decided[case.id] = state.Decision(outcome, "confirmed", said, *quality)
    return found
