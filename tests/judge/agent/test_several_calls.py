"""Several calls in one reply: all are carried out in their order, within the bound, and each result is that of its call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tool_endpoint import FakeEndpoint, call, steps_before, verdict

from evalbench.judge.agent.loop import NOT_USED, NOT_YET
from evalbench.judge.rag import SUPPORT
from evalbench.judge.rows import Judgements
from evalbench.judge.verdicts import judge

ITEM = {"id": "1", "passages": ["The desk opens at nine."], "statement": "The desk opens at nine."}
DECIDED = verdict("SUPPORTED", [(1, "opens at nine")])
THREE = [call("calculate", expression="2 * 3"), call("open", passage=1), call("compare", first="9", second="10")]


def asked(fake: FakeEndpoint, settings: str = "", **options: Any) -> Judgements:
    return judge([ITEM], by=f"agent{settings}:{fake.model}", task=SUPPORT, **options)


def flat(one: dict[str, Any]) -> dict[str, Any]:
    return {"tool": one["tool"], "arguments": {k: v for k, v in one.items() if k != "tool"}}


# How a reply of three calls is written where there are no tools of the endpoint.
WRITTEN = {
    "lines": "\n".join(map(json.dumps, THREE)),
    "a list": json.dumps(THREE),
    "calls": json.dumps({"calls": [flat(one) for one in THREE]}),
    "more": json.dumps({**THREE[0], "more": THREE[1:]}),
    "prose": "First {this}: " + "\nthen ".join(map(json.dumps, THREE)) + ' and {"note": 1}.',
}


@pytest.mark.parametrize("form", ["tool_calls", "blocks", *WRITTEN])
def test_all_are_carried_out_in_their_order(fake: FakeEndpoint, form: str) -> None:
    said: Any = WRITTEN.get(form, THREE)
    fake.tools, fake.calls_as = ("ignores", "tool_calls") if form in WRITTEN else ("takes", form)
    fake.says = lambda messages: DECIDED if steps_before(messages) else said
    found = asked(fake)
    assert found.rows[0].label == "SUPPORTED"
    results = found.calls["result"].iloc[0].split("\n\nResult ")
    assert [one.partition("\n")[0].removeprefix("Result ") for one in results] == [
        "1 (calculate):",
        "2 (open):",
        "3 (compare):",
    ]
    assert "2 * 3 = 6" in results[0]
    assert "opens at nine" in results[1]
    assert "smaller, by 1" in results[2]
    assert len(fake.asked) == 2


def test_results_are_named_by_the_call_that_they_are_of(fake: FakeEndpoint) -> None:
    fake.says = lambda messages: DECIDED if steps_before(messages) else THREE
    asked(fake)
    _, calls, *results = fake.asked[-1]["messages"]
    assert [one["function"]["name"] for one in calls["tool_calls"]] == ["calculate", "open", "compare"]
    assert [one["tool_call_id"] for one in results] == [one["id"] for one in calls["tool_calls"]]
    assert len({one["tool_call_id"] for one in results}) == 3
    assert [one["role"] for one in results] == ["tool"] * 3
    assert "2 * 3 = 6" in results[0]["content"]
    assert "smaller, by 1" in results[2]["content"]


@pytest.mark.parametrize("settings", ["", "[protocol=json]"])
def test_without_tools_the_results_are_one_message(fake: FakeEndpoint, settings: str) -> None:
    """Templates of local models take no two messages of a user in a row."""
    fake.tools = "refuses"
    fake.says = lambda messages: DECIDED if steps_before(messages) else {**THREE[0], "more": THREE[1:]}
    asked(fake, settings)
    messages = [one for one in fake.asked[-1]["messages"] if "JSON schema" not in one["content"]]
    assert [one["role"] for one in messages] == ["user", "assistant", "user"]
    assert "Result 1 (calculate):\n2 * 3 = 6\n\nResult 2 (open):" in messages[-1]["content"]


def test_a_verdict_beside_calls_is_not_taken_and_one_before_them_ends(fake: FakeEndpoint) -> None:
    lie = verdict("NOT_SUPPORTED", [(1, "opens at nine")])
    fake.says = lambda messages: DECIDED if steps_before(messages) else [THREE[0], lie]
    found = asked(fake)
    assert found.rows[0].label == "SUPPORTED"
    assert NOT_YET in found.calls["result"].iloc[0]
    fake.says = lambda messages: [DECIDED, *THREE]
    found = judge([{**ITEM, "id": "2", "statement": "It is open at nine."}], by=f"agent:{fake.model}", task=SUPPORT)
    assert found.rows[0].label == "SUPPORTED"
    assert len(found.calls) == 1


@pytest.mark.parametrize("tools", ["takes", "ignores"])
def test_calls_beyond_the_bound_are_not_carried_out(fake: FakeEndpoint, tools: str) -> None:
    fake.tools = tools
    many = [call("calculate", expression=f"{n} + 1") for n in range(30)]
    fake.says = lambda messages: DECIDED if steps_before(messages) else many
    found = asked(fake, "[calls=4]")
    result = found.calls["result"].iloc[0]
    assert result.count(NOT_USED) == 26
    assert "3 + 1 = 4" in result
    assert "4 + 1" not in result
    assert "Give the verdict now" in json.dumps(fake.asked[-1]["messages"][-1])
    assert found.rows[0].label == "SUPPORTED"


def test_thousands_of_calls_are_bounded(fake: FakeEndpoint) -> None:
    fake.says = lambda messages: DECIDED if steps_before(messages) else [call("open", passage=1)] * 5000
    found = asked(fake)
    assert found.rows[0].label == "SUPPORTED"
    assert len(json.dumps(fake.asked[-1])) < 60_000


@pytest.mark.parametrize("strange", [{"tool": "rm", "path": "/"}, {"tool": "open", "passage": "one"}])
def test_a_call_that_cannot_be_read_is_asked_for_anew(fake: FakeEndpoint, strange: dict[str, Any]) -> None:
    fake.says = lambda messages: [THREE[0], strange] if len(fake.asked) == 1 else DECIDED
    found = asked(fake)
    assert found.rows[0].label == "SUPPORTED"
    assert found.calls["reasks"].tolist() == [1]


def test_a_second_run_asks_nothing(fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.says = lambda messages: DECIDED if steps_before(messages) else THREE
    first = asked(fake)
    again = asked(fake)
    assert len(fake.asked) == 2
    assert again.rows == first.rows
    assert again.calls["result"].tolist() == first.calls["result"].tolist()
