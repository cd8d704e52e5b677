"""Several calls in one message: all are kept in their order, each has its own result, whatever the order of these; tools are found where logs list them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalbench import load
from evalbench.readers.trajectories import read_trajectories
from evalbench.studies import trajectories

SCHEMA = {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}
FUNCTION = {"type": "function", "function": {"name": "w", "parameters": SCHEMA}}
ASKED = {"role": "user", "content": "q"}


def texts(held: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}
        for key, value in held.items()
    ]


def span(name: str, at: int, **held: Any) -> dict[str, Any]:
    start = 1_700_000_000_000_000_000 + at * 10**9
    own = texts({key.replace("__", "."): value for key, value in held.items()})
    return {
        "traceId": "t",
        "spanId": name,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 1),
        "attributes": own,
    }


def openai() -> Any:
    calls = [
        {"id": i, "type": "function", "function": {"name": "w", "arguments": json.dumps({"c": c})}}
        for i, c in ("1A", "2B")
    ]
    back = [{"role": "tool", "tool_call_id": i, "content": f"r{c}"} for i, c in ("2B", "1A")]
    return [
        {
            "id": "a",
            "tools": [FUNCTION],
            "messages": [ASKED, {"role": "assistant", "content": None, "tool_calls": calls}, *back],
        }
    ]


def openai_request() -> Any:
    (record,) = openai()
    return [{"id": "a", "request": {"messages": record["messages"], "tools": record["tools"]}}]


def anthropic() -> Any:
    calls = [{"type": "tool_use", "id": i, "name": "w", "input": {"c": c}} for i, c in ("1A", "2B")]
    back = [{"type": "tool_result", "tool_use_id": i, "content": f"r{c}"} for i, c in ("2B", "1A")]
    tools = [{"name": "w", "input_schema": SCHEMA}]
    return [
        {
            "id": "a",
            "tools": tools,
            "messages": [ASKED, {"role": "assistant", "content": calls}, {"role": "user", "content": back}],
        }
    ]


def gemini() -> Any:
    calls = [{"functionCall": {"name": "w", "args": {"c": c}}} for c in "AB"]
    back = [{"functionResponse": {"name": "w", "response": {"r": f"r{c}"}}} for c in "AB"]
    declared = {
        "name": "w",
        "parameters": {"type": "OBJECT", "properties": {"c": {"type": "STRING"}}, "required": ["c"]},
    }
    said = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": back},
    ]
    return [{"id": "a", "tools": [{"functionDeclarations": [declared]}], "contents": said}]


def bedrock() -> Any:
    calls = [{"toolUse": {"toolUseId": i, "name": "w", "input": {"c": c}}} for i, c in ("1A", "2B")]
    back = [
        {"toolResult": {"toolUseId": i, "content": [{"text": f"r{c}"}], "status": "success"}} for i, c in ("2B", "1A")
    ]
    said = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": back},
    ]
    return [{"id": "a", "tools": [{"toolSpec": {"name": "w", "inputSchema": {"json": SCHEMA}}}], "messages": said}]


def ai_sdk() -> Any:
    calls = [{"type": "tool-call", "toolCallId": i, "toolName": "w", "input": {"c": c}} for i, c in ("1A", "2B")]
    back = [
        {"type": "tool-result", "toolCallId": i, "toolName": "w", "output": {"type": "text", "value": f"r{c}"}}
        for i, c in ("2B", "1A")
    ]
    return [
        {
            "id": "a",
            "tools": [FUNCTION],
            "messages": [ASKED, {"role": "assistant", "content": calls}, {"role": "tool", "content": back}],
        }
    ]


def responses() -> Any:
    calls = [
        {"type": "function_call", "call_id": i, "name": "w", "arguments": json.dumps({"c": c})} for i, c in ("1A", "2B")
    ]
    back = [{"type": "function_call_output", "call_id": i, "output": f"r{c}"} for i, c in ("2B", "1A")]
    done = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}]
    tools = [{"type": "function", "name": "w", "parameters": SCHEMA}]
    return [
        {"object": "response", "id": "r1", "tools": tools, "input": "q", "output": calls},
        {"object": "response", "id": "r2", "previous_response_id": "r1", "tools": tools, "input": back, "output": done},
    ]


def langchain() -> Any:
    calls = [{"name": "w", "args": {"c": c}, "id": i} for i, c in ("1A", "2B")]
    back = [{"type": "tool", "tool_call_id": i, "content": f"r{c}"} for i, c in ("2B", "1A")]
    return [
        {
            "id": "a",
            "tools": [FUNCTION],
            "messages": [{"type": "human", "content": "q"}, {"type": "ai", "content": "", "tool_calls": calls}, *back],
        }
    ]


def atif() -> Any:
    calls = [{"tool_call_id": i, "function_name": "w", "arguments": {"c": c}} for i, c in ("1A", "2B")]
    back = [{"source_call_id": i, "content": f"r{c}"} for i, c in ("2B", "1A")]
    agent = {"name": "x", "model_name": "m", "tool_definitions": [FUNCTION]}
    steps = [
        {"source": "user", "message": "q"},
        {"source": "agent", "message": "", "tool_calls": calls, "observation": {"results": back}},
    ]
    return {"schema_version": "ATIF-v1.5", "session_id": "s", "agent": agent, "steps": steps}


def otlp(with_ids: bool = True) -> Any:
    calls = [
        {"type": "tool_call", "name": "w", "arguments": {"c": c}} | ({"id": i} if with_ids else {})
        for i, c in ("1A", "2B")
    ]
    said = {
        "gen_ai__operation__name": "chat",
        "gen_ai__tool__definitions": [{"type": "function", "name": "w", "parameters": SCHEMA}],
    }
    said |= {"gen_ai__output__messages": [{"role": "assistant", "parts": calls}]}
    done = [
        span(f"s{i}", 3, gen_ai__operation__name="execute_tool", gen_ai__tool__name="w", gen_ai__tool__call__result=f"r{c}",
             **({"gen_ai__tool__call__id": i} if with_ids else {}))
        for i, c in (("2B", "1A") if with_ids else ("1A", "2B"))
    ]  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span("m", 1, **said), *done]}]}]}


def inspect() -> Any:
    calls = [{"id": i, "function": "w", "arguments": {"c": c}} for i, c in ("1A", "2B")]
    back = [{"role": "tool", "tool_call_id": i, "function": "w", "content": f"r{c}"} for i, c in ("2B", "1A")]
    asked = {"event": "model", "tools": [{"name": "w", "parameters": SCHEMA}]}
    sample = {
        "id": "a",
        "epoch": 1,
        "input": "q",
        "messages": [ASKED, {"role": "assistant", "content": "", "tool_calls": calls}, *back],
        "events": [asked],
    }
    return {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample]}


FORMS = {
    f.__name__: f()
    for f in (openai, openai_request, anthropic, gemini, bedrock, ai_sdk, responses, langchain, atif, otlp, inspect)
}
FORMS["otlp_without_ids"] = otlp(with_ids=False)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_calls_of_one_message_keep_their_order_and_have_their_own_results(tmp_path: Path, form: str) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(FORMS[form]))
    found = trajectories.evaluate(load(path, study="trajectories"), n_resamples=20)
    calls = found.tables["tool_calls"]
    assert calls["name"].tolist() == ["w", "w"]
    assert [json.loads(text) for text in calls["arguments"]] == [{"c": "A"}, {"c": "B"}]
    assert ["rA" in calls["result"][0], "rB" in calls["result"][1]] == [True, True]
    assert calls["answered"].all()
    assert calls["schema"].tolist() == ["held against"] * 2
    assert found.items["n_misfit"].tolist() == [0]


def test_a_tool_of_the_endpoint_stands_for_all_calls_that_are_not_listed(tmp_path: Path) -> None:
    (record, more) = responses()
    searched = {"type": "web_search_call", "id": "s", "action": {"query": "x"}}
    record = {
        **record,
        "tools": [*record["tools"], {"type": "web_search_preview"}],
        "output": [*record["output"], searched],
    }
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([record, {**more, "tools": record["tools"]}]))
    read = read_trajectories(path)
    assert read.tools["name"].tolist() == ["w", "web_search"]
    assert json.loads(read.tools["parameters"][0]) == SCHEMA
    assert read.tools["parameters"][1] is None


def test_a_tool_with_several_schemas_has_none_and_trials_without_a_list_add_what_they_call(tmp_path: Path) -> None:
    (first,) = openai()
    other = {"type": "function", "function": {"name": "w", "parameters": {"type": "object"}}}
    bare = {
        "id": "c",
        "messages": [
            ASKED,
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "9", "function": {"name": "z", "arguments": "{}"}}],
            },
        ],
    }
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([first, {**first, "id": "b", "tools": [other]}, bare]))
    read = read_trajectories(path)
    assert read.tools.to_numpy().tolist() == [["w", None], ["z", None]]
    assert any("the tool w has several schemas" in note for note in read.notes)


@pytest.mark.parametrize("odd", [None, 0, "", "x", [], {}, [None], [[]], [{}], [{"name": 1}], [{"function": "f"}], {"w": 1}, '{"', ["{"], [{"name": "w", "parameters": "{"}], [{"functionDeclarations": {}}], [{"name": "w", "parameters": [1]}]])  # fmt: skip
def test_lists_of_tools_that_are_none_are_no_harm(tmp_path: Path, odd: Any) -> None:
    (record,) = openai()
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([{**record, "tools": odd}]))
    read = read_trajectories(path)
    assert len(read.steps) == 5
    assert all(parameters is None for parameters in read.tools["parameters"])
