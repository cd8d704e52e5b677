"""Stages 4 and 8: each answer marked by itself, by criteria without facts, or with facts from a dictionary or chunks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evalbench.judge import dag, verdicts
from evalbench.judge.criteria import Criterion, task_of_criterion
from evalbench.judge.geval import geval
from evalbench.studies.cascade import state
from evalbench.text.words import words

STEPS: Mapping[str, tuple[str, ...]] = {
    "en": (
        "Read the question, and the basis where there is one.",
        "Go through the answer statement by statement and hold each against the criterion.",
        "Give the mark whose description fits the answer as a whole.",
    ),
    "ru": (
        "Прочитайте вопрос и основание, если оно есть.",
        "Пройдите ответ утверждение за утверждением и сверьте каждое с критерием.",
        "Поставьте оценку, описание которой подходит к ответу в целом.",
    ),
    "zh": ("阅读问题，如有依据也请阅读。", "逐句检查答案，对照标准。", "给出描述与整个答案相符的分数。"),
}
"""How to judge by a criterion: given, so that no call writes them and none can fail to."""
Marks = dict[str, dict[str, dict[str, float]]]
"""Question → criterion → side → mark, 0–1."""


def without_facts(cases: Sequence[state.Case], desk: state.Desk, criteria: Sequence[Criterion]) -> state.Found:
    """Criteria that need no basis: forbidden words by a list, others by a judge."""
    listed = [tuple(words(each, lower=True)) for each in desk.options["forbidden"]]
    found = state.Found()
    if listed:
        for case in cases:
            clean = {side: not any(_holds(case.answer(side), each) for each in listed) for side in state.SIDES}
            if clean["a"] != clean["b"]:
                worse = "b" if clean["a"] else "a"
                marks = (math.nan if clean["a"] else 0.0, math.nan if clean["b"] else 0.0)
                found.decided[case.id] = state.Decision(
                    "a" if clean["a"] else "b", "forbidden-words", f"{worse.upper()} has a forbidden word", *marks
                )
    rest = [case for case in cases if case.id not in found.decided]
    if criteria and desk.judge is not None and rest:
        judged = by_criteria(rest, desk, criteria, lambda case: "")
        judged.decided = {**found.decided, **judged.decided}
        return judged
    return found


def with_facts(
    cases: Sequence[state.Case], desk: state.Desk, criteria: Sequence[Criterion], graph: dag.Dag | None
) -> state.Found:
    """Criteria that need facts, with the entries of the dictionary, or else the chunks, as their basis: G-Eval, or a decision graph."""
    known = [case for case in cases if basis_of(case)]
    return by_graph(known, desk, graph) if graph is not None else by_criteria(known, desk, criteria, basis_of)


def basis_of(case: state.Case) -> str:
    """What stage 8 rests on: the dictionary's entries, else the chunks."""
    return "\n".join(case.dictionary or case.relevant or case.contexts)


def by_criteria(
    cases: Sequence[state.Case], desk: state.Desk, criteria: Sequence[Criterion], basis: Any
) -> state.Found:
    """Both answers marked by each criterion (G-Eval).  One that is better by one of them and worse by none is better."""
    assert desk.judge is not None
    found = state.Found(instrument=verdicts.judge_name(desk.judge))
    marks: Marks = {}
    for criterion in criteria:
        task = task_of_criterion(criterion)
        top, bottom = max(criterion.scale), min(criterion.scale)
        for lang, part in state.by_language(cases, ["geval", "mark"], desk.prompt).items():
            items = [
                {
                    "id": f"{case.id}/{criterion.name}/{side}",
                    "question": case.question,
                    "answer": case.answer(side),
                    **_known(basis(case)),
                }
                for case in part
                for side in state.SIDES
            ]
            more = {"language": lang, "prompt": desk.prompt, **desk.settings}
            rated = geval(
                items,
                by=desk.judge,
                task=task,
                steps=STEPS.get(lang, STEPS["en"]),
                n_samples=desk.options["geval_samples"],
                **more,
            )
            found.asked += rated.asked
            _collect(marks, rated.rows, part, criterion.name, (bottom, top), found)
    return _compared(marks, cases, found, [c.name for c in criteria])


def by_graph(cases: Sequence[state.Case], desk: state.Desk, graph: dag.Dag) -> state.Found:
    """Both answers taken through a decision graph to a mark."""
    assert desk.judge is not None
    found = state.Found(instrument=verdicts.judge_name(desk.judge))
    marks: Marks = {}
    ends = [float(b) for node in graph.nodes.values() for b in node.branches.values() if not isinstance(b, str)]
    prompts = sorted({node.task.prompt or node.task.name for node in graph.nodes.values()})
    for lang, part in state.by_language(cases, prompts, desk.prompt).items():
        items = [
            {
                "id": f"{case.id}/graph/{side}",
                "question": case.question,
                "answer": case.answer(side),
                **_known(basis_of(case)),
            }
            for case in part
            for side in state.SIDES
        ]
        walked = dag.walk(items, by=desk.judge, graph=graph, language=lang, prompt=desk.prompt, **desk.settings)
        found.asked += walked.asked
        _collect(marks, walked.rows, part, "graph", (min(ends), max(ends)), found)
    return _compared(marks, cases, found, ["graph"])


def _known(basis: str) -> dict[str, str]:
    return {"basis": basis} if basis else {}


def _collect(
    marks: Marks,
    rows: Sequence[Any],
    cases: Sequence[state.Case],
    name: str,
    ends: tuple[float, float],
    found: state.Found,
) -> None:
    said, (low, high) = {row.id: row for row in rows}, ends
    for case in cases:
        both = {side: said[f"{case.id}/{name}/{side}"] for side in state.SIDES}
        lost = next((row for row in both.values() if row.unscored), None)
        if lost is not None:
            found.failed[case.id] = (lost.unscored, lost.detail)
        else:
            scaled = {side: (row.mark - low) / (high - low) if high > low else math.nan for side, row in both.items()}
            marks.setdefault(case.id, {})[name] = scaled


def _compared(marks: Marks, cases: Sequence[state.Case], found: state.Found, names: Sequence[str]) -> state.Found:
    for case in cases:
        of = marks.get(case.id, {})
        if case.id in found.failed or len(of) < len(names):
            continue
        better = {side: any(m[side] > m[other] + 1e-9 for m in of.values()) for side, other in (("a", "b"), ("b", "a"))}
        said = "; ".join(f"{name} A {m['a']:.2f}, B {m['b']:.2f}" for name, m in of.items())
        quality = tuple(sum(m[side] for m in of.values()) / len(of) for side in state.SIDES)
        if better["a"] != better["b"]:
            found.decided[case.id] = state.Decision("a" if better["a"] else "b", "marks-differ", said, *quality)
        else:
            found.equal[case.id] = said
            found.quality[case.id] = (quality[0], quality[1])
    return found


def _holds(answer: str, run: tuple[str, ...]) -> bool:
    told = tuple(words(answer, lower=True))
    return bool(run) and any(told[i : i + len(run)] == run for i in range(len(told) - len(run) + 1))
