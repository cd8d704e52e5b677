"""Exports of LangSmith and Langfuse: the same trace as nested runs, as a list of runs, as observations."""

import json

import pytest
from trajectory_files import ANSWER, ASKED, FOUND, POLICY, QUESTION, told, write

from evalbench.errors import BadInput
from evalbench.readers.trajectories import read_trajectories, recognised


def lc(kind, **kwargs):
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


CALL = lc("AIMessage", content="", tool_calls=[{"name": ASKED["name"], "args": ASKED["arguments"], "id": "c1"}])
FIRST = [lc("SystemMessage", content=POLICY), lc("HumanMessage", content=QUESTION)]
BACK = lc("ToolMessage", content=FOUND, tool_call_id="c1", status="success")


def run(number, kind, start, end, inputs, outputs, **further):
    return {
        "id": f"r{number}", "trace_id": "t1", "run_type": kind, "name": f"run {number}", "parent_run_id": None if number == 0 else "r0",
        "start_time": f"2031-01-01T10:00:0{start}", "end_time": f"2031-01-01T10:00:0{end}", "inputs": inputs, "outputs": outputs, **further,
    }  # fmt: skip


def runs():
    model = {"extra": {"metadata": {"ls_model_name": "fern-1b"}}, "total_tokens": 12, "total_cost": 0.5}
    return [
        run(0, "chain", 0, 8, {"input": QUESTION}, {"output": ANSWER}, reference_example_id="e1", feedback_stats={"right": {"n": 1, "avg": 1.0}}),
        run(3, "llm", 5, 8, {"messages": [[*FIRST, CALL, BACK]]}, {"generations": [[{"text": ANSWER, "message": lc("AIMessage", content=ANSWER)}]]}, **model),
        run(1, "llm", 1, 3, {"messages": [FIRST]}, {"generations": [[{"text": "", "message": CALL}]]}, **model),
        run(2, "tool", 3, 5, {"input": "{'book': 7}"}, {"output": BACK}, name=ASKED["name"]),
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["jsonl", "list", "nested"])
def test_langsmith(tmp_path, form):
    given = runs()
    if form == "nested":
        given = [{**given[0], "child_runs": given[1:]}]
    path = write(tmp_path / f"runs.{'jsonl' if form == 'jsonl' else 'json'}", given)
    assert recognised(path) == "langsmith"
    read = read_trajectories(path)
    assert read.steps["kind"].tolist() == ["message", "message", "call", "result", "message"]
    assert told(read.steps["text"]) == [POLICY, QUESTION, None, FOUND, ANSWER]
    assert read.steps["name"].tolist() == ["", "", "find_loan", "find_loan", ""]
    assert read.steps["tokens"].dropna().tolist() == [12.0, 12.0]
    assert read.steps["seconds"].dropna().tolist() == [2.0, 2.0, 3.0]
    assert read.steps["error"].dropna().tolist() == [0.0]
    assert {*read.steps["model"]} == {"fern-1b"}
    assert read.outcomes[["id", "trial", "mark"]].values.tolist() == [["e1", "t1", 1.0]]


def observation(number, kind, start, end, given, came, **further):
    return {"id": f"o{number}", "traceId": "t1", "type": kind, "name": f"step {number}", "startTime": f"2031-01-01T10:00:0{start}Z", "endTime": f"2031-01-01T10:00:0{end}Z", "parentObservationId": None if number == 0 else "o0", "input": given, "output": came, "level": "DEFAULT", **further}  # fmt: skip


def observations():
    first = [{"role": "system", "content": POLICY}, {"role": "user", "content": QUESTION}]
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": ASKED["name"], "arguments": json.dumps(ASKED["arguments"])},
            }
        ],
    }
    back = {"role": "tool", "tool_call_id": "c1", "content": FOUND}
    model = {"model": "fern-1b", "usageDetails": {"input": 9, "output": 3, "total": 12}, "calculatedTotalCost": 0.5}
    return [
        observation(0, "SPAN", 0, 8, QUESTION, ANSWER),
        observation(1, "GENERATION", 1, 3, first, call, **model),
        observation(2, "TOOL", 3, 5, ASKED["arguments"], FOUND, name=ASKED["name"]),
        observation(3, "GENERATION", 5, 8, {"messages": [*first, call, back]}, {"role": "assistant", "content": ANSWER}, **model),
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["observations", "traces"])
def test_langfuse(tmp_path, form):
    trace = {"id": "t1", "sessionId": None, "observations": observations(), "scores": [{"name": "right", "value": 0.5}]}
    path = write(tmp_path / "export.json", observations() if form == "observations" else [trace])
    assert recognised(path) == "langfuse"
    read = read_trajectories(path)
    assert read.steps["kind"].tolist() == ["message", "message", "call", "result", "message"]
    assert told(read.steps["text"]) == [POLICY, QUESTION, None, FOUND, ANSWER]
    assert read.steps["cost"].dropna().tolist() == [0.5, 0.5]
    assert read.steps["time"].iloc[-1] == "2031-01-01T10:00:08+00:00"
    assert {*read.steps["id"]} == {"t1"}
    assert read.outcomes.get("mark", read.steps["step"][:0]).tolist() == ([] if form == "observations" else [0.5])


def test_a_tool_that_raised(tmp_path):
    given = observations()
    given[2] |= {"level": "ERROR", "statusMessage": "no such loan", "output": None}
    read = read_trajectories(write(tmp_path / "o.json", given))
    assert read.steps["error"].dropna().tolist() == [1.0]


def test_runs_without_ids_and_runs_nested_too_deeply(tmp_path):
    with pytest.raises(BadInput, match="row 2: a run without an id"):
        read_trajectories(write(tmp_path / "a.jsonl", [runs()[0], {**runs()[1], "id": None}]))
    deep = runs()[0]
    for i in range(40):
        deep = {**runs()[0], "id": f"d{i}", "child_runs": [deep]}
    with pytest.raises(BadInput, match="row 1: runs are nested too deeply"):
        read_trajectories(write(tmp_path / "b.json", [deep]))
