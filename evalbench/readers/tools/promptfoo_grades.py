"""The grades of one row of promptfoo: scores, and verdicts of the assertions that a model judges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evalbench.readers.tools.safe import mapping, objects
from evalbench.readers.tools.shapes import UNSCORED, Score, clipped, no_number, number_of, present, text_of

ERROR = 2
"""``failureReason`` of a row that could not be run."""
UNCHECKED = "No assertions"
_JUDGED = """llm-rubric model-graded-closedqa model-graded-factuality factuality g-eval answer-relevance context-faithfulness
context-recall context-relevance search-rubric agent-rubric conversation-relevance select-best trajectory:goal-success"""
JUDGED = frozenset(_JUDGED.split())
_FAILED = re.compile(
    r"^(Could not extract JSON from|No output\b|API (call |response )?error)|produced malformed response"
)


def error_of(row: Mapping[str, Any]) -> str:
    """Why a row could not be run; empty for one that ran, whether it passed or not."""
    reason = row.get("failureReason")
    failed = mapping(row.get("response")).get("error")
    ran = (
        reason != ERROR
        if isinstance(reason, int)
        else bool(row.get("gradingResult")) or not (failed or row.get("error"))
    )
    return "" if ran else clipped(text_of(row.get("error") or failed or "promptfoo: error"))


def components(grade: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The results of single assertions, those of a set one by one."""
    for part in objects(grade.get("componentResults")):
        kind = mapping(part.get("assertion")).get("type")
        if objects(part.get("componentResults")) and kind in (None, "assert-set"):
            yield from components(part)
        elif kind:
            yield part


def named(assertions: Iterator[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Assertions under their metric, or else their type; the second of a name is numbered."""
    seen: dict[str, int] = {}
    for assertion in assertions:
        name = str(assertion.get("metric") or assertion.get("type"))
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name} ({seen[name]})"), assertion


def judge_failed(part: Mapping[str, Any]) -> bool:
    """Whether an assertion failed because its judge gave no grade."""
    if mapping(part.get("metadata")).get("graderError") is True:
        return True
    kind = str(mapping(part.get("assertion")).get("type")).removeprefix("not-")
    return kind in JUDGED and not part.get("pass") and bool(_FAILED.search(str(part.get("reason") or "")))


def _graded(row: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    parts = list(components(mapping(row.get("gradingResult"))))
    names = [name for name, _ in named(mapping(part.get("assertion")) for part in parts)]
    return list(zip(names, parts, strict=True))


def unchecked(row: Mapping[str, Any]) -> bool:
    """Whether a row ran and no assertion looked at it."""
    return not error_of(row) and not _graded(row) and not _asserted(row) and (
        mapping(row.get("gradingResult")).get("reason") in (UNCHECKED, None, "")
    )  # fmt: skip


def _asserted(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The assertions that a row's test has, those of sets one by one."""
    found: list[Mapping[str, Any]] = []
    for assertion in objects(mapping(row.get("testCase")).get("assert")):
        found += objects(assertion.get("assert")) if assertion.get("type") == "assert-set" else [assertion]
    return found


def why_none(row: Mapping[str, Any]) -> str:
    """Why a row as a whole has no score: an error, a judge that failed, no assertion; else empty."""
    if words := error_of(row):
        return words
    failed = [part for _, part in _graded(row) if judge_failed(part)]
    if failed:
        return clipped(f"a judge failed: {failed[0].get('reason') or 'no reason given'}")
    return UNCHECKED if unchecked(row) else ""


def scores_of(row: Mapping[str, Any]) -> list[Score]:
    """``score`` and ``pass`` of a row, and each of its assertions."""
    why = why_none(row)
    passed = row.get("success")
    whole = [
        _score("score", row.get("score"), why),
        Score("pass", None, why) if why or not isinstance(passed, bool) else Score("pass", float(passed)),
    ]
    error = error_of(row)
    if error:
        return whole + [Score(name, None, error) for name, _ in named(iter(_asserted(row)))]
    return whole + [
        _score(
            name, part.get("score"), clipped(str(part.get("reason"))) if judge_failed(part) else "", part.get("pass")
        )
        for name, part in _graded(row)
    ]


def _score(name: str, value: Any, why: str, passed: Any = None) -> Score:
    number = None if why else number_of(value)
    said = passed if isinstance(passed, bool) and number is not None else None
    return Score(name, number, "" if number is not None else why or f"promptfoo: {no_number(value)}", passed=said)


def verdicts_of(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The verdicts of the assertions that a model judges."""
    out = []
    for name, part in _graded(row):
        assertion = mapping(part.get("assertion"))
        if str(assertion.get("type")).removeprefix("not-") not in JUDGED:
            continue
        score = _score(name, part.get("score"), clipped(str(part.get("reason"))) if judge_failed(part) else "")
        out.append({
            **present(judge=_judge(assertion, row)),
            "criterion": name,
            "mark": score.value,
            "label": "" if score.value is None else "pass" if part.get("pass") else "fail",
            "reason": str(part.get("reason") or ""),
            "unscored": UNSCORED if score.value is None else "",
            "detail": score.detail,
            **present(judge_prompt=text_of(assertion["value"]) if assertion.get("value") is not None else None),
            **present(tokens=number_of(mapping(part.get("tokensUsed")).get("total"))),
        })  # fmt: skip
    return out


def _judge(assertion: Mapping[str, Any], row: Mapping[str, Any]) -> str | None:
    """The provider of a judge: of the assertion, else of the test's options; None where the file names none."""
    found = assertion.get("provider") or mapping(mapping(row.get("testCase")).get("options")).get("provider")
    found = found.get("id") or found.get("label") if isinstance(found, dict) else found
    return str(found) if found else None
