"""Closed questions from a long answer, answered by another model."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from chat import chat_endpoint

from evalbench.errors import BadInput
from evalbench.judge.closed_questions import Asked, closed_questions
from evalbench.judge.recorded import Recording

ITEMS = [{"id": "1", "question": "When?", "answer": "At noon, for free.", "basis": "Tours are at noon."}]
QUESTIONS = [{"question": "Is it at noon?", "answer": "YES"}, {"question": "Does it cost anything?", "answer": "NO"}]


def writer(item: dict[str, Any]) -> Any:
    return {"questions": QUESTIONS}


def test_agreement_is_over_what_the_other_model_could_answer() -> None:
    def other(item: dict[str, Any]) -> str:
        assert item["basis"] == "Tours are at noon."
        assert "answer" not in item
        return "YES" if "noon" in item["question"] else "UNKNOWN"

    row = closed_questions(ITEMS, by=writer, answered_by=other).rows[0]
    assert row.agreement == 1
    assert row.asked == (Asked("Is it at noon?", "YES", "YES"), Asked("Does it cost anything?", "NO", "UNKNOWN"))


def test_a_contradiction_lowers_it() -> None:
    assert closed_questions(ITEMS, by=writer, answered_by=lambda item: "YES").rows[0].agreement == 0.5


@pytest.mark.parametrize(
    ("by", "other", "why"),
    [
        (lambda item: {"questions": []}, lambda item: "YES", "the answer gave rise to no closed question"),
        (writer, lambda item: "UNKNOWN", "the other model could answer none of the questions"),
    ],
)
def test_without_a_question_or_a_reply_nothing_is_confirmed(by: Any, other: Any, why: str) -> None:
    row = closed_questions(ITEMS, by=by, answered_by=other).rows[0]
    assert (row.unscored, row.detail) == ("no-value", why)
    assert math.isnan(row.agreement)


def test_failures_of_either_are_unscored_with_their_reason() -> None:
    failed = closed_questions(ITEMS, by=lambda item: {"unscored": "timeout"}, answered_by=writer)
    assert failed.rows[0].unscored == "timeout"
    silent = closed_questions(ITEMS, by=writer, answered_by=lambda item: {"unscored": "timeout", "detail": "slow"})
    assert (silent.rows[0].unscored, silent.rows[0].detail) == ("timeout", "1/1: slow")
    assert silent.frame()["unscored"].tolist() == ["timeout"]


def test_too_many_questions_do_not_parse() -> None:
    row = closed_questions(ITEMS, by=writer, answered_by=lambda item: "YES", n=1).rows[0]
    assert row.unscored == "unparsed"


def test_recorded_questions_and_a_model_that_answers(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    kept = Recording([{"id": "1", "questions": QUESTIONS}])
    with chat_endpoint(lambda _: json.dumps({"reason": "so", "label": "NO"})) as server:
        row = closed_questions(ITEMS, by=kept, answered_by=server.name).rows[0]
        assert all("Tours are at noon." in prompt and "for free" not in prompt for prompt in server.answered)
    assert row.agreement == 0.5


def test_a_model_does_not_confirm_itself() -> None:
    with pytest.raises(BadInput, match="confirm itself"):
        closed_questions(ITEMS, by="openai/a", answered_by="openai/a")
    with pytest.raises(BadInput, match="n is 0"):
        closed_questions(ITEMS, by=writer, answered_by=lambda item: "YES", n=0)
    assert closed_questions([], by=writer, answered_by=lambda item: "YES").rows == ()
