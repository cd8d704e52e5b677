"""Questions to items: the outcome of each, the stage that gave it, and what is left open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from evalbench import kit
from evalbench.studies.cascade import stages, state
from evalbench.text.odd_texts import is_error_text

UNDECIDED = "undecided"
SET_ASIDE = "set aside"
EQUAL = "judged-equal"


def items_of(
    rows: pd.DataFrame,
    course: stages.Course,
    cases: Mapping[str, state.Case],
    models: Mapping[str, str],
    annotators: bool,
) -> pd.DataFrame:
    """One row per question, in the order of the ids.

    ``advantage`` is 1 where A is better, −1 where B is, 0 for a tie, NaN where no stage decided; ``low`` and ``high`` are the same with
    every open question counted for B, or for A.  ``quality_a`` and ``quality_b`` are there together or not at all: a naive check
    marks failed answers alone, which would make a model look worse the less is known of it.  A question that only stages without a verdict looked at is unscored.  Without
    ``annotators`` one that a judge found equal is a tie.
    """
    answered = {str(i): (a, b) for i, a, b in zip(rows["id"], rows["answer_a"], rows["answer_b"], strict=True)}
    found = []
    for name in sorted(answered):
        pair = answered[name]
        lost = next((str(reason) for reason in kit.answers.why_unscored(pair) if reason), "")
        number, decision = course.decided.get(name, (0, None))
        if decision is None and not lost and not annotators and name in course.equal:
            number, decision = _last(course), state.Decision("tie", EQUAL, course.equal[name])
        broken = {f"broken_{side}": float(_broken(text)) for side, text in zip("ab", pair, strict=True)}
        found.append(_row(name, lost, number, decision, course, cases.get(name)) | broken)
    items = pd.DataFrame(found)
    if course.stopped is not None:
        items = kit.early.placed(items, course.stopped)
        items["preference"] = items["id"].map(dict(zip(course.stopped.asked, course.stopped.outcomes, strict=True)))
    return items.assign(model_a=models["a"], model_b=models["b"])


def _broken(text: Any) -> bool:
    """Whether an answer is empty or what an endpoint says when it fails."""
    return isinstance(text, str) and (not text.strip() or is_error_text(text))


def _last(course: stages.Course) -> int:
    """The last stage that looked at questions."""
    return max((a.number for a in course.accounts if a.looked and a.number < stages.STAGES[-1].number), default=0)


def _row(
    name: str, lost: str, number: int, decision: state.Decision | None, course: stages.Course, case: state.Case | None
) -> dict[str, Any]:
    outcome = decision.outcome if decision else ""
    aside = outcome == "set-aside"
    spared = not lost and decision is None and name in course.not_asked
    open_ = not lost and decision is None and not spared
    failed = course.failed.get(name) if open_ and name not in course.equal else None
    score = state.SCORES.get(outcome, math.nan)
    known = course.quality.get(name, (math.nan, math.nan))
    own = (decision.quality_a, decision.quality_b) if decision else (math.nan, math.nan)
    quality = [k if math.isnan(o) else o for o, k in zip(own, known, strict=True)]
    marked = not lost and not any(map(math.isnan, quality))  # one alone is that of an answer that failed
    people = case.people.outcome if case and case.people else ""
    evidence = decision.evidence if decision else failed[1] if failed else course.equal.get(name, "")
    return {
        "id": name,
        "outcome": "" if aside else outcome,
        "stage": number,
        "label": decision.label if decision else "",
        "advantage": score,
        "won_a": float(outcome == "a") if outcome in state.SCORES else math.nan,
        "won_b": float(outcome == "b") if outcome in state.SCORES else math.nan,
        "tied": float(outcome == "tie") if outcome in state.SCORES else math.nan,
        "low": math.nan if lost or aside or spared else -1.0 if open_ else score,
        "high": math.nan if lost or aside or spared else 1.0 if open_ else score,
        "open": math.nan if lost or aside or spared else float(open_),
        "quality_a": quality[0] if marked else math.nan,
        "quality_b": quality[1] if marked else math.nan,
        "calls": float(course.calls.get(name, 0)) if not lost else math.nan,
        "by_words": float(course.instrument.get(name, "") == "baseline/lexical"),
        "people": state.SCORES.get(people, math.nan),
        "instrument": course.instrument.get(name, ""),
        "suspect": ", ".join(side.upper() for side in case.suspect) if case else "",
        "evidence": evidence,
        "unscored": lost or (failed[0] if failed else ""),
        "undefined": kit.stopping.NOT_ASKED
        if spared
        else SET_ASIDE
        if aside
        else UNDECIDED
        if open_ and not failed
        else "",
    }


def stages_table(course: stages.Course) -> pd.DataFrame:
    """One row a stage: questions that came, that it looked at, that it decided, that went on; calls made and saved."""
    table = pd.DataFrame([asdict(account) for account in course.accounts])
    return table.astype({"agreement": float}).rename(columns={"number": "stage"})


def contradictions_table(course: stages.Course, cases: Sequence[state.Case], marks_high: float) -> pd.DataFrame:
    """What contradicts what: labels of duplicates, labels and stages, and answers that people call right after a wrong query class."""
    rows = [(name, stage, said) for name, stage, said in course.contradictions]
    for case in cases:
        for side in case.suspect:
            if case.marks.get(side, -math.inf) >= marks_high:
                rows.append(
                    (
                        case.id,
                        0,
                        f"the query of {side.upper()} was classified wrongly, and people gave its answer the best mark",
                    )
                )
        for decided in (course.decided, course.handed_on):
            stage, decision = decided.get(case.id, (0, None))
            if decision and case.people and decision.outcome not in (case.people.outcome, "set-aside"):
                ours, theirs = (
                    {"a": "A is better", "b": "B is better", "tie": "a tie"}[one]
                    for one in (decision.outcome, case.people.outcome)
                )
                said = f"{stages.TITLES[stage]}: {ours}; people: {theirs}"
                rows.append((case.id, stage, said))
    return pd.DataFrame(sorted(set(rows)), columns=["id", "stage", "contradiction"])


def texts_of(cases: Sequence[state.Case]) -> pd.DataFrame:
    """Questions with their answers and ground truth."""
    columns = ["id", "question", "answer_a", "answer_b", "reference", "lang"]
    rows = [
        (case.id, case.question, case.a, case.b, case.reference, case.lang)
        for case in sorted(cases, key=lambda c: c.id)
    ]
    return pd.DataFrame(rows, columns=columns)


def saved_in_all(course: stages.Course) -> tuple[int, int]:
    """Calls made, and calls that asking about every pair in both orders would have been."""
    n = course.accounts[0].came if course.accounts else 0
    return sum(account.calls for account in course.accounts), stages.PER_PAIR * n
