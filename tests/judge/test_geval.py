"""G-Eval: marks weighted by their probabilities, or averaged over samples."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from chat import chat_endpoint

from evalbench.errors import BadInput
from evalbench.judge.geval import geval
from evalbench.judge.recorded import Recording
from evalbench.judge.tasks import mark_task

TASK = mark_task("fulness", "Does it say when and where?", {0: "neither", 1: "one of them", 2: "both"})
ITEMS = [{"id": "1", "question": "Where?", "answer": "At noon, by the gate."}, {"id": "2", "answer": "At noon."}]
STEPS = ["Look for a time.", "Look for a place."]


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))


def scripted(prompt: str) -> str:
    if "steps: at most" in prompt:
        return json.dumps({"steps": STEPS})
    return json.dumps({"reason": "as seen", "mark": 2 if "gate" in prompt else 1})


def likely(reply: str) -> list[dict[str, Any]]:
    """At the mark: 2 with .6, 1 with .3, a word with .1; before it a 0 within the reason's text."""
    top = [{"token": t, "logprob": math.log(p)} for t, p in (("2", 0.6), (" 1", 0.3), ("x", 0.1))]
    return [
        {"token": '{"reason": "', "logprob": 0.0, "top_logprobs": []},
        {"token": "0", "logprob": 0.0, "top_logprobs": [{"token": "0", "logprob": 0.0}]},
        {"token": ' as seen", "mark": ', "logprob": 0.0, "top_logprobs": []},
        {"token": "2", "logprob": math.log(0.6), "top_logprobs": top},
        {"token": "}", "logprob": 0.0, "top_logprobs": []},
    ]


def test_the_mark_is_weighted_by_the_probabilities_of_the_marks() -> None:
    with chat_endpoint(scripted, logprobs=likely) as server:
        found = geval(ITEMS, by=server.name, task=TASK, steps=STEPS)
        assert len(server.answered) == 2
    for row in found.rows:
        assert row.mark == pytest.approx((0.6 * 2 + 0.3 * 1) / 0.9)
        assert (row.method, row.n, row.reason) == ("probabilities", 1, "as seen")
        assert row.off_marks == pytest.approx(0.1)


def test_without_probabilities_marks_are_sampled_and_it_says_so() -> None:
    marks = iter([2, 2, 1, 0, 2] * 10)
    with chat_endpoint(lambda _: json.dumps({"reason": "so", "mark": next(marks)})) as server:
        found = geval(ITEMS, by=server.name, task=TASK, steps=STEPS, n_samples=4, concurrency=1)
        assert len(server.answered) == 1 + 2 * 4  # one probe for log-probabilities, then the samples
        assert {body.get("temperature") for body in server.bodies[1:]} == {1.0}
    assert [(row.method, row.n) for row in found.rows] == [("samples", 4)] * 2
    assert found.rows[0].mark == pytest.approx((2 + 1 + 0 + 2) / 4)
    assert math.isnan(found.rows[0].off_marks)


def test_probabilities_alone_leave_the_rest_unscored() -> None:
    with chat_endpoint(scripted) as server:
        found = geval(ITEMS, by=server.name, task=TASK, steps=STEPS, method="probabilities")
    assert [(row.unscored, math.isnan(row.mark)) for row in found.rows] == [("no-value", True)] * 2


def test_the_judge_writes_the_steps_once_and_judges_by_them() -> None:
    with chat_endpoint(scripted, logprobs=likely) as server:
        found = geval(ITEMS, by=server.name, task=TASK)
        again = geval(ITEMS, by=server.name, task=TASK)
        assert len(server.answered) == 1 + 2
        assert all("1. Look for a time.\n2. Look for a place." in prompt for prompt in server.answered[1:])
    assert found.steps == again.steps == tuple(STEPS)
    assert [one.task.name for one in found.asked] == ["geval_steps", "mark", "mark"]


def test_a_judge_that_writes_no_steps_is_refused_with_the_way_out() -> None:
    with chat_endpoint(lambda _: "I would rather not") as server, pytest.raises(BadInput, match=r"give steps=\["):
        geval(ITEMS, by=server.name, task=TASK, max_reasks=0)


def test_samples_that_fail_are_left_out_and_counted() -> None:
    said = iter(['{"reason": "so", "mark": 2}', "no", '{"reason": "so", "mark": 1}', "no", "no", "no"])
    with chat_endpoint(lambda _: next(said)) as server:
        found = geval(
            ITEMS, by=server.name, task=TASK, steps=STEPS, method="samples", n_samples=3, concurrency=1, max_reasks=0
        )
    first, second = found.rows
    assert (first.mark, first.n, first.detail) == (1.5, 2, "1 of 3 samples without a mark")
    assert (second.n, second.unscored) == (0, "unparsed")
    assert math.isnan(second.mark)


def test_functions_and_recorded_samples_are_averaged() -> None:
    kept = Recording([{"id": "1", "mark": m, "sample": s} for s, m in enumerate((2, 1, 1, 2))])
    first, second = geval(ITEMS, by=kept, task=TASK).rows
    assert (first.mark, first.method, first.n) == (1.5, "samples", 4)
    assert second.unscored == "not-recorded"
    assert [row.mark for row in geval(ITEMS, by=lambda item: 1, task=TASK).rows] == [1, 1]


def test_faults_are_refused_all_at_once() -> None:
    with pytest.raises(BadInput) as raised:
        geval(ITEMS, by=lambda item: 1, task=TASK, method="magic", n_samples=0, steps=[" "])
    for part in ("method is 'magic'", "n_samples is 0", "a step is empty"):
        assert part in str(raised.value)
