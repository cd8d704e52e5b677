"""Stages 5, 6 and 7: answers against a ground truth, relevant chunks, or the answer of a strong model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from evalbench.judge import criteria, criteria_lint, entail, tasks
from evalbench.judge.verdicts import Judgement, judge, judge_name
from evalbench.studies.cascade import state
from evalbench.text.sentences import sentences

JUDGE = "judge"
TRUTH_BY = (entail.BASELINE, JUDGE)
RIGHT, WRONG = 1.0, 0.0
_LEAST_SUPPORTED = 0.5
STRONG_ANSWER = tasks.Task(
    "strong_answer",
    ("question",),
    {},
    parts={"answer": (str, "the answer, in one to three sentences")},
    prompt="strong_answer",
)
"""What a strong model is asked, whose answer then serves as ground truth."""


def of_labels(cases: Sequence[state.Case], desk: state.Desk) -> state.Found:
    """Labels on which annotators agree serve as ground truth: what people prefer is decided."""
    known = [case for case in cases if case.people]
    return state.Found(
        decided={
            case.id: state.Decision(case.people.outcome, "labels-as-truth", f"{case.people.n} annotators")
            for case in known
            if case.people
        }
    )


def against_truth(cases: Sequence[state.Case], desk: state.Desk, *, ambiguous: bool = False) -> state.Found:
    """Each answer is right, wrong or neither by the ground truth; one right and one wrong decide.

    Both right, or both wrong, is a tie.  Where the ground truth is one of several right answers (``ambiguous``), differing from it
    shows nothing, so that only two right answers are decided.
    """
    by = _instrument(desk)
    verdicts, found = _marks(
        [case for case in cases if case.reference],
        by,
        desk,
        tasks.CORRECTNESS,
        lambda case, side: {"question": case.question, "gold": case.reference, "answer": case.answer(side)},
    )
    return _decided(verdicts, found, "the ground truth", ambiguous)


def against_chunks(cases: Sequence[state.Case], desk: state.Desk) -> state.Found:
    """Each answer against the chunks that are labelled relevant, in which a ground truth is implied."""
    by = _instrument(desk)
    known = [case for case in cases if case.relevant]
    if by == entail.BASELINE:
        verdicts, found = _supported(known)
    else:
        verdicts, found = _marks(
            known,
            by,
            desk,
            criteria.task_of_criterion(next(c for c in criteria_lint.handbook_criteria() if c.name == "hallucination")),
            lambda case, side: {
                "question": case.question,
                "basis": "\n".join(case.relevant),
                "answer": case.answer(side),
            },
        )
    return _decided(verdicts, found, "the relevant chunks", ambiguous=False)


def against_strong(cases: Sequence[state.Case], desk: state.Desk) -> state.Found:
    """A strong model answers the question, and its answer serves as ground truth."""
    assert desk.answerer is not None
    found, truths = state.Found(), {}
    for lang, part in state.by_language(cases, ["strong_answer"], "").items():
        items = [{"id": f"{case.id}/strong", "question": case.question} for case in part]
        asked = judge(items, by=desk.answerer, task=STRONG_ANSWER, language=lang, **desk.settings)
        found.asked.append(asked)
        for case, row in zip(part, (r for r in asked.rows if r.sample == 0), strict=True):
            if row.unscored:
                found.failed[case.id] = (row.unscored, row.detail)
            elif str(row.parts["answer"]).strip():
                truths[case.id] = str(row.parts["answer"])
    by = _instrument(desk)
    verdicts, judged = _marks(
        [case for case in cases if case.id in truths],
        by,
        desk,
        tasks.CORRECTNESS,
        lambda case, side: {"question": case.question, "gold": truths[case.id], "answer": case.answer(side)},
        "strong",
    )
    judged.asked = [*found.asked, *judged.asked]
    judged.failed = {**found.failed, **judged.failed}
    return _decided(verdicts, judged, f"the answer of {judge_name(desk.answerer)}", ambiguous=False)


def _instrument(desk: state.Desk) -> state.By:
    if desk.options["truth_by"] == entail.BASELINE:
        return entail.BASELINE
    assert desk.judge is not None
    return desk.judge


def _marks(
    cases: Sequence[state.Case],
    by: state.By,
    desk: state.Desk,
    task: tasks.Task,
    fields: Callable[[state.Case, str], Mapping[str, str]],
    what: str = "truth",
) -> tuple[dict[str, dict[str, float]], state.Found]:
    """The value of each answer's verdict, 0–1; questions with an answer that got none are in ``failed``."""
    found = state.Found(instrument=judge_name(by))
    values: dict[str, dict[str, float]] = {}
    for lang, part in state.by_language(cases, [task.prompt or task.name], desk.prompt).items():
        items = [{"id": f"{case.id}/{what}/{side}", **fields(case, side)} for case in part for side in state.SIDES]
        asked = judge(
            items, by=by, task=task, language=lang, prompt="" if by == entail.BASELINE else desk.prompt, **desk.settings
        )
        if by != entail.BASELINE:
            found.asked.append(asked)
        said = {row.id: row for row in asked.rows if row.sample == 0}
        for case in part:
            rows = {side: said[f"{case.id}/{what}/{side}"] for side in state.SIDES}
            _note(case, rows, values, found)
    return values, found


def _note(
    case: state.Case, rows: Mapping[str, Judgement], values: dict[str, dict[str, float]], found: state.Found
) -> None:
    lost = next((row for row in rows.values() if row.unscored), None)
    if lost is not None:
        found.failed[case.id] = (lost.unscored, lost.detail)
    else:
        values[case.id] = {side: row.value for side, row in rows.items()}


def _supported(cases: Sequence[state.Case]) -> tuple[dict[str, dict[str, float]], state.Found]:
    """The share of an answer's sentences that a chunk carries, by words and numbers; between none and all, neither right nor wrong."""
    from evalbench.judge.entail import entailer

    said = [
        (case.id, side, text)
        for case in cases
        for side in state.SIDES
        for text in sentences(case.answer(side), case.lang)
    ]
    chunks = {case.id: case.relevant for case in cases}
    pairs = [(chunk, text) for name, _, text in said for chunk in chunks[name]]
    found = (
        entailer(entail.BASELINE).probabilities([p for p, _ in pairs], [t for _, t in pairs])[:, 0]
        if pairs
        else np.empty(0)
    )
    shares: dict[str, dict[str, list[bool]]] = {case.id: {side: [] for side in state.SIDES} for case in cases}
    place = 0
    for name, side, _ in said:
        n = len(chunks[name])
        shares[name][side].append(bool(found[place : place + n].max() >= _LEAST_SUPPORTED))
        place += n
    values = {
        name: {side: WRONG if not any(held) else RIGHT if all(held) else 0.5 for side, held in of.items()}
        for name, of in shares.items()
    }
    return values, state.Found(instrument=entail.BASELINE)


def _decided(
    verdicts: Mapping[str, Mapping[str, float]], found: state.Found, what: str, ambiguous: bool
) -> state.Found:
    for name, of in verdicts.items():
        a, b = of["a"], of["b"]
        words = {RIGHT: "right", WRONG: "wrong"}
        said = f"by {what} A is {words.get(a, 'partly right')}, B {words.get(b, 'partly right')}"
        sure = all(value in words for value in (a, b)) and not (ambiguous and WRONG in (a, b))
        if not sure or math.isnan(a) or math.isnan(b):
            found.quality[name] = (a, b) if not ambiguous else (math.nan, math.nan)
            found.equal[name] = said
            continue
        label = "one-right" if a != b else "both-right" if a == RIGHT else "both-wrong"
        found.decided[name] = state.Decision(state.compared(a, b), label, said, a, b)
    return found
