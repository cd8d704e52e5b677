"""A log store whose hook kept calls of tools: requests that go on with each other are one trajectory."""

from datetime import UTC, datetime, timedelta

import pytest
from trajectory_files import ANSWER, FAILED, FOUND, POLICY, QUESTION, openai

from evalbench.errors import BadInput
from evalbench.monitor.store import LogStore
from evalbench.readers.dataset import load
from evalbench.readers.schema import Column, Table

STEPS = Table(
    (
        *(
            Column("id", "id"),
            Column("step", "int", low=0),
            Column("kind", "text"),
            Column("name", "text", False, True),
            Column("call_id", "text", False, True),
        ),
        *(
            Column("role", "text", False, True),
            Column("text", "text", False, True),
            Column("error", "text", False, True),
        ),
        *(
            Column("tokens", "float", False, True),
            Column("seconds", "float", False, True),
            Column("time", "ts", False, True),
        ),
    ),
    unique=("id", "step"),
    trials="model",
)
OUTCOMES = Table(
    (Column("id", "id"), Column("mark", "float", empty_ok=True)), unique=("id",), required=False, trials="model"
)
SCHEMA = {"steps": STEPS, "outcomes": OUTCOMES}
START = datetime(2026, 5, 1, tzinfo=UTC)


def requests(name, answer=ANSWER):
    """The three requests of a trial: two calls of tools, then the answer."""
    messages = openai()
    replies = [(2, "", messages[2]["tool_calls"]), (4, "", messages[4]["tool_calls"]), (6, answer, [])]
    for i, (length, said, calls) in enumerate(replies):
        stages = {"messages": messages[:length], "finish": "tool_calls" if calls else "stop"}
        if calls:
            stages["tool_calls"] = [{key: call["function"][key] for key in ("name", "arguments")} for call in calls]
        yield {"id": f"{name}{i}", "ts": START + timedelta(seconds=10 * i), "request": QUESTION, "response": said, "stages": stages, "model": "fern-1b", "latency": 2.0, "input_tokens": 9, "output_tokens": 1}  # fmt: skip


@pytest.fixture
def log(log_place):
    with LogStore(log_place, create=True) as made:
        yield made


def test_requests_that_go_on_are_one_trajectory(log):
    log.append([*requests("a"), {"id": "z", "ts": START, "request": "Hi", "response": "Hello", "model": "fern-1b"}])
    log.append_feedback([{"interaction": "a2", "ts": START, "source": "annotator", "judge": "ann", "value": 1}])
    data = load(log.address.named, SCHEMA)
    first = data["steps"][data["steps"]["id"] == "a0"]
    assert first["kind"].tolist() == ["message", "message", "call", "result", "call", "result", "message"]
    assert first["text"].tolist() == [POLICY, QUESTION, "", FAILED, "", FOUND, ANSWER]
    assert first["name"].tolist() == ["", "", "find_shelf", "find_shelf", "find_loan", "find_loan", ""]
    assert first["call_id"].tolist() == ["", "", "c1", "c1", "c2", "c2", ""]
    assert first["error"].tolist() == ["", "", "", FAILED, "", "", ""]
    assert first["tokens"].dropna().tolist() == [10.0] * 3
    assert data["steps"].groupby("id").size().to_dict() == {"a0": 7, "z": 2}
    assert data["outcomes"].set_index("id")["mark"].dropna().to_dict() == {"a0": 1.0}


def test_two_runs_of_the_same_words_stay_two(log):
    one, other = list(requests("a")), list(requests("b", "Never."))
    log.append([row for pair in zip(one, other, strict=True) for row in pair])
    steps = load(log.address.named, SCHEMA)["steps"]
    assert steps.groupby("id").size().to_dict() == {"a0": 7, "b0": 7}
    assert {*steps.groupby("id")["text"].last()} == {ANSWER, "Never."}


def test_a_reply_that_was_cut_and_one_that_failed(log):
    cut, lost = ({"id": name, "ts": START, "request": "Hi", "model": "fern-1b"} for name in "ab")
    log.append(
        [
            {**cut, "response": "He", "stages": {"finish": "length"}},
            {**lost, "response": None, "error": "Timeout: 30 s"},
        ]
    )
    steps = load(log.address.named, SCHEMA)["steps"]
    last = steps.groupby("id").last()
    assert last["name"].to_dict() == {"a": "limit", "b": "environment"}
    assert last["text"].to_dict() == {"a": "limit: length", "b": "error: Timeout: 30 s"}


def test_messages_that_no_form_has_are_named(log):
    bad = [{"role": "assistant", "content": None, "tool_calls": [{"function": {"name": 7}}]}]
    log.append([{"id": "a", "ts": START, "request": "Hi", "response": "x", "model": "m", "stages": {"messages": bad}}])
    with pytest.raises(BadInput, match="row 1: messages.0.: a call whose name is not a text"):
        load(log.address.named, SCHEMA)
