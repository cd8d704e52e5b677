"""OTLP exports: new messages, old events and log records, numbered attributes; each step once, in time order; agents and failures."""

import json
import time

import pytest
from trajectory_files import ANSWER, ASKED, FOUND, POLICY, QUESTION, told, write

from evalbench.errors import BadInput
from evalbench.readers.trajectories import read_trajectories, recognised

SECOND = 1_000_000_000
BEGAN = 1_900_000_000 * SECOND


def value(plain):
    if isinstance(plain, bool):
        return {"boolValue": plain}
    if isinstance(plain, int):
        return {"intValue": str(plain)}
    if isinstance(plain, float):
        return {"doubleValue": plain}
    if isinstance(plain, list):
        return {"arrayValue": {"values": [value(entry) for entry in plain]}}
    if isinstance(plain, dict):
        return {"kvlistValue": {"values": attributes(plain)}}
    return {"stringValue": plain}


def attributes(plain):
    return [{"key": key, "value": value(entry)} for key, entry in plain.items()]


def span(number, start, end, held, parent="", trace="t1", events=(), **further):
    return {
        "traceId": trace, "spanId": f"s{number}", "parentSpanId": parent, "name": f"span {number}", "attributes": attributes(held),
        "startTimeUnixNano": str(BEGAN + start * SECOND), "endTimeUnixNano": str(BEGAN + end * SECOND),
        "events": [{"name": name, "timeUnixNano": str(BEGAN), "attributes": attributes(given)} for name, given in events], **further,
    }  # fmt: skip


def export(*spans):
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def text(role, content):
    return {"role": role, "parts": [{"type": "text", "content": content}]}


CALL = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", **ASKED}], "finish_reason": "tool_calls"}
BACK = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": FOUND}]}


def model(number, start, end, asked, came, as_text=True, **further):
    written = json.dumps if as_text else list
    held = {
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "fern-1b", "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 1,
        "gen_ai.system_instructions": written([{"type": "text", "content": POLICY}]), "gen_ai.input.messages": written(asked),
        "gen_ai.output.messages": written(came),
    }  # fmt: skip
    return span(number, start, end, held, "s0", **further)


def spans(as_text=True):
    agent = span(0, 0, 9, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "librarian"})
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find_loan", "gen_ai.tool.call.id": "c1"}
    final = {**text("assistant", ANSWER), "finish_reason": "stop"}
    return [
        model(3, 5, 8, [text("user", QUESTION), {k: v for k, v in CALL.items() if k != "finish_reason"}, BACK], [final], as_text),
        span(2, 3, 5, tool, "s0"),
        model(1, 1, 3, [text("user", QUESTION)], [CALL], as_text),
        agent,
    ]  # fmt: skip


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("name", ["spans.json", "spans.jsonl"])
def test_messages_of_the_new_conventions_are_taken_once(tmp_path, name, as_text):
    given = spans(as_text)
    whole = [export(*given[:2]), export(*given[2:])] if name.endswith("l") else export(*given)
    path = write(tmp_path / name, whole)
    assert recognised(path) == "otlp"
    read = read_trajectories(path)
    assert read.steps["kind"].tolist() == ["message", "message", "call", "result", "message"]
    assert read.steps["role"].tolist() == ["system", "user", "assistant", "tool", "assistant"]
    assert told(read.steps["text"]) == [POLICY, QUESTION, None, FOUND, ANSWER]
    assert read.steps["name"].tolist() == ["", "", "find_loan", "find_loan", "librarian"]
    assert read.steps["seconds"].fillna(-1).tolist() == [-1, -1, 2, 2, 3]
    assert read.steps["tokens"].fillna(-1).tolist() == [-1, -1, 10, -1, 10]
    assert read.steps["time"].tolist() == [f"2030-03-17T17:46:4{s}+00:00" for s in (1, 1, 3, 5, 8)]
    assert read.steps["error"].dropna().tolist() == [0.0]
    assert {*read.steps["id"]} == {"t1"}
    assert {*read.steps["model"]} == {"fern-1b"}
    assert read.outcomes.empty


def test_a_tool_that_failed_and_a_mark(tmp_path):
    given = spans()
    given[1] |= {"status": {"code": 2, "message": "no such loan"}}
    given[3]["events"] = [{"name": "gen_ai.evaluation.result", "attributes": attributes({"gen_ai.evaluation.name": "goal", "gen_ai.evaluation.score.value": 0.5})}]  # fmt: skip
    read = read_trajectories(write(tmp_path / "s.json", export(*given)))
    assert read.steps["error"].dropna().tolist() == [1.0]
    assert read.outcomes["mark"].tolist() == [0.5]


def test_traces_of_one_conversation_are_one_trial(tmp_path):
    one = model(1, 0, 1, [text("user", "Hi")], [text("assistant", "Hello")])
    two = model(
        2,
        5,
        6,
        [text("user", "Hi"), text("assistant", "Hello"), text("user", "Bye")],
        [text("assistant", "Bye")],
        trace="t2",
    )
    for each in (one, two):
        each["attributes"] += attributes({"gen_ai.conversation.id": "talk"})
    read = read_trajectories(write(tmp_path / "s.json", export(two, one)))
    assert told(read.steps["text"]) == [POLICY, "Hi", "Hello", "Bye", "Bye"]
    assert {*read.steps["id"]} == {"talk"}


def test_the_same_words_said_twice_are_two_steps(tmp_path):
    asked = [text("user", "Again"), text("assistant", "No"), text("user", "Again")]
    read = read_trajectories(
        write(tmp_path / "s.json", export(model(1, 0, 1, asked[:1], asked[1:2]), model(2, 2, 3, asked, asked[1:2])))
    )
    assert told(read.steps["text"]) == [POLICY, "Again", "No", "Again", "No"]


def old_events(choice):
    call = [{"id": "c1", "type": "function", "function": {"name": "find_loan", "arguments": '{"book": 7}'}}]
    first = [("gen_ai.system.message", {"content": POLICY}), ("gen_ai.user.message", {"content": QUESTION})]
    second = [
        *first,
        ("gen_ai.assistant.message", {"tool_calls": json.dumps(call)}),
        ("gen_ai.tool.message", {"id": "c1", "content": FOUND}),
    ]
    held = {"gen_ai.operation.name": "chat", "gen_ai.system": "x", "gen_ai.request.model": "fern-1b"}
    return export(
        span(1, 0, 1, held, events=[*first, ("gen_ai.choice", choice({"role": "assistant", "tool_calls": call}))]),
        span(2, 2, 3, held, events=[*second, ("gen_ai.choice", choice({"role": "assistant", "content": ANSWER}))]),
    )


@pytest.mark.parametrize("choice", [
    lambda message: {"index": 0, "finish_reason": "stop", "message": json.dumps(message)},
    lambda message: {"index": 0, "message": message},
    lambda message: {"index": 0, **{key: entry if isinstance(entry, str) else json.dumps(entry) for key, entry in message.items()}},
])  # fmt: skip
def test_old_events_of_messages(tmp_path, choice):
    read = read_trajectories(write(tmp_path / "s.json", old_events(choice)))
    assert read.steps["kind"].tolist() == ["message", "message", "call", "result", "message"]
    assert told(read.steps["text"]) == [POLICY, QUESTION, None, FOUND, ANSWER]
    assert told(read.steps["arguments"])[2] == '{"book": 7}'


def test_log_records_are_events_of_their_spans(tmp_path):
    held = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "fern-1b"}
    log = {"traceId": "t1", "spanId": "s1", "eventName": "gen_ai.user.message", "body": value({"content": QUESTION})}
    choice = {"traceId": "t1", "spanId": "s1", "attributes": attributes({"event.name": "gen_ai.choice"}), "body": value({"index": 0, "message": {"role": "assistant", "content": ANSWER}})}  # fmt: skip
    lost = {**log, "spanId": "s9"}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [log, choice, lost]}]}]}
    read = read_trajectories(write(tmp_path / "s.jsonl", [logs, export(span(1, 0, 1, held))]))
    assert told(read.steps["text"]) == [QUESTION, ANSWER]
    assert any("log records of spans that are not in the file" in note for note in read.notes)


@pytest.mark.parametrize("form", ["openllmetry", "openinference"])
def test_numbered_attributes(tmp_path, form):
    if form == "openllmetry":
        held = {"gen_ai.request.model": "fern-1b", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": QUESTION, "gen_ai.completion.0.tool_calls.0.name": "find_loan", "gen_ai.completion.0.tool_calls.0.arguments": '{"book": 7}', "gen_ai.completion.0.tool_calls.0.id": "c1"}  # fmt: skip
        tool = {"traceloop.span.kind": "tool", "traceloop.entity.name": "find_loan", "traceloop.entity.input": '{"book": 7}', "traceloop.entity.output": FOUND}  # fmt: skip
    else:
        held = {"openinference.span.kind": "LLM", "llm.model_name": "fern-1b", "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": QUESTION, "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "find_loan", "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"book": 7}', "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1"}  # fmt: skip
        tool = {
            "openinference.span.kind": "TOOL",
            "tool.name": "find_loan",
            "input.value": '{"book": 7}',
            "output.value": FOUND,
        }
    read = read_trajectories(write(tmp_path / "s.json", export(span(1, 0, 1, held), span(2, 1, 2, tool))))
    assert read.steps[["kind", "name", "call_id"]].values.tolist() == [
        ["message", "", ""],
        ["call", "find_loan", "c1"],
        ["result", "find_loan", "c1"],
    ]
    assert told(read.steps["text"]) == [QUESTION, None, FOUND]


def test_attributes_of_the_ai_sdk(tmp_path):
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": "find_loan", "args": {"book": 7}}
    back = {"type": "tool-result", "toolCallId": "c1", "toolName": "find_loan", "result": json.loads(FOUND)}
    asked = [{"role": "system", "content": POLICY}, {"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    later = [*asked, {"role": "assistant", "content": [call]}, {"role": "tool", "content": [back]}]
    one = {"ai.operationId": "ai.generateText.doGenerate", "gen_ai.request.model": "fern-1b", "ai.prompt.messages": json.dumps(asked), "ai.response.toolCalls": json.dumps([{k: v for k, v in call.items() if k != "type"}]), "gen_ai.response.finish_reasons": ["tool-calls"]}  # fmt: skip
    tool = {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "find_loan",
        "ai.toolCall.id": "c1",
        "ai.toolCall.args": '{"book": 7}',
        "ai.toolCall.result": FOUND,
    }
    two = {
        **one,
        "ai.prompt.messages": json.dumps(later),
        "ai.response.toolCalls": "[]",
        "ai.response.text": ANSWER,
        "gen_ai.response.finish_reasons": ["stop"],
    }
    whole = span(0, 0, 9, {"ai.operationId": "ai.generateText", "gen_ai.request.model": "fern-1b", "ai.prompt": "{}"})
    read = read_trajectories(
        write(tmp_path / "s.json", export(whole, span(1, 0, 1, one), span(2, 1, 2, tool), span(3, 2, 3, two)))
    )
    assert read.steps["kind"].tolist() == ["message", "message", "call", "result", "message"]
    assert told(read.steps["text"]) == [POLICY, QUESTION, None, FOUND, ANSWER]
    assert read.outcomes.empty


def test_spans_without_content_still_count(tmp_path):
    bare = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "fern-1b", "gen_ai.usage.input_tokens": 4}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find_loan", "gen_ai.tool.call.id": "c1"}
    read = read_trajectories(
        write(tmp_path / "s.json", export(span(1, 0, 1, bare), span(2, 1, 2, tool), span(3, 2, 3, bare)))
    )
    assert read.steps["kind"].tolist() == ["message", "call", "result", "message"]
    assert "text" not in read.steps


def test_a_last_reply_that_was_cut_by_its_length(tmp_path):
    given = spans()
    given[0]["attributes"] += attributes({"gen_ai.response.finish_reasons": ["length"]})
    given[2]["attributes"] += attributes({"gen_ai.response.finish_reasons": ["tool_calls"]})
    assert read_trajectories(write(tmp_path / "s.json", export(*given))).outcomes["ended"].tolist() == ["limit: length"]


def test_an_agent_below_another_is_a_handover(tmp_path):
    under = span(4, 4, 5, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "archivist"}, "s0")
    read = read_trajectories(write(tmp_path / "s.json", export(*spans(), under)))
    row = read.steps[read.steps["kind"] == "handover"]
    assert row["name"].tolist() == ["archivist"]


def test_attributes_that_were_cut_are_noted(tmp_path):
    cut = model(1, 0, 1, [text("user", QUESTION)], [text("assistant", ANSWER)])
    for held in cut["attributes"]:
        if held["key"] == "gen_ai.input.messages":
            held["value"]["stringValue"] = held["value"]["stringValue"][:20]
    read = read_trajectories(write(tmp_path / "s.json", export(cut)))
    assert told(read.steps["text"]) == [POLICY, ANSWER]
    assert any("not whole JSON" in note for note in read.notes)


@pytest.mark.parametrize("number", ["--5", "٣", "9" * 5000, "1e3", "", "-"])
def test_numbers_and_places_that_are_none(tmp_path, number):
    given = span(
        1,
        0,
        1,
        {
            "gen_ai.request.model": "fern-1b",
            "gen_ai.prompt.0.content": QUESTION,
            f"gen_ai.prompt.{number}.content": "x",
        },
    )
    given["attributes"].append({"key": "gen_ai.usage.input_tokens", "value": {"intValue": number}})
    read = read_trajectories(write(tmp_path / "s.json", export(given)))
    assert told(read.steps["text"]) == [QUESTION, None]


@pytest.mark.slow
def test_many_calls_without_ids_take_seconds(tmp_path):
    calls = [{"type": "tool_call", "name": f"t{i % 1000}", "arguments": {"i": i}} for i in range(20_000)]
    asked = model(1, 0, 1, [text("user", QUESTION)], [{"role": "assistant", "parts": calls}])
    tools = [
        span(i + 2, 2, 3, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": f"u{i}"}) for i in range(20_000)
    ]
    began = time.process_time()
    read = read_trajectories(write(tmp_path / "s.json", export(asked, *tools)))
    assert (read.steps["kind"] == "call").sum() == 40_000
    assert time.process_time() - began < 30


def test_spans_without_ids_and_traces_without_a_model_are_named(tmp_path):
    with pytest.raises(BadInput, match="row 1: a span without traceId and spanId"):
        read_trajectories(write(tmp_path / "a.json", export({**spans()[0], "traceId": 5})))
    with pytest.raises(BadInput, match="no trajectories"):
        read_trajectories(write(tmp_path / "b.json", export(span(1, 0, 1, {"http.method": "GET"}))))


GUESSED = "the format has no field for failures of tools"


def trace(number, agent="", of_model="fern-1b", result=FOUND, title="", **tool):
    """A trace of an agent that calls a tool, and answers."""
    held = {"gen_ai.operation.name": "invoke_agent", **({"gen_ai.agent.name": agent} if agent else {})}
    acted = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find_loan", "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.result": result, **tool.pop("held", {}),
    }  # fmt: skip
    back = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": result}]}
    whole = [
        span(0, 0, 9, held, **({"name": title} if title else {})),
        model(1, 1, 3, [text("user", QUESTION)], [CALL]),
        span(2, 3, 5, acted, "s0", **tool),
        model(3, 5, 8, [text("user", QUESTION), CALL, back], [text("assistant", ANSWER)]),
    ]
    for each in whole:
        each["traceId"] = f"t{number}"
        each["attributes"] = [
            {"key": a["key"], "value": {"stringValue": of_model}} if a["key"] == "gen_ai.request.model" else a
            for a in each["attributes"]
        ]
    return whole


def read(tmp_path, *traces):
    return read_trajectories(write(tmp_path / "s.json", export(*(one for whole in traces for one in whole))))


def models(found):
    return found.steps[["id", "model"]].drop_duplicates().values.tolist()


def test_agents_of_one_model_are_compared_by_their_names(tmp_path):
    found = read(tmp_path, trace(1, "sol"), trace(2, "luna"), trace(3, title="invoke_agent sol"))
    assert models(found) == [["t1", "sol"], ["t2", "luna"], ["t3", "sol"]]
    assert "the spans name several agents, which are compared in the place of their models: luna, sol. All are of the model fern-1b" in found.notes  # fmt: skip


def test_models_of_one_agent_are_compared_by_theirs(tmp_path):
    found = read(tmp_path, trace(1, "sol"), trace(2, "sol", "moss-7b"), trace(3))
    assert models(found) == [["t1", "fern-1b"], ["t2", "moss-7b"], ["t3", "fern-1b"]]
    assert not any("agent" in note for note in found.notes)


def test_an_agent_of_several_models_has_the_model_in_its_name(tmp_path):
    found = read(tmp_path, trace(1, "sol"), trace(2, "sol", "moss-7b"), trace(3, "luna"), trace(4))
    assert models(found) == [["t1", "sol, fern-1b"], ["t2", "sol, moss-7b"], ["t3", "luna"], ["t4", "fern-1b"]]
    assert any("The models are fern-1b, moss-7b" in note for note in found.notes)
    assert "traces that name no agent have the name of their model" in found.notes


def test_the_outermost_agent_is_the_one_that_is_compared(tmp_path):
    def below(number, *names):
        under = [span(5 + i, 4, 5, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}, "s0") for i, name in enumerate(names)]  # fmt: skip
        return [{**one, "traceId": f"t{number}"} for one in under]

    one, two = [*trace(1, "sol"), *below(1, "clerk")], [*trace(2, "luna"), *below(2, "clerk", "sol")]
    assert models(read(tmp_path, one, two)) == [["t1", "sol"], ["t2", "luna"]]
    same = [*trace(1, "sol"), *below(1, "clerk")], [*trace(2, "sol"), *below(2, "baker")]
    assert models(read(tmp_path, *same)) == [["t1", "fern-1b"], ["t2", "fern-1b"]]


@pytest.mark.parametrize(
    "failed", [{"held": {"error.type": "timeout"}}, {"status": {"code": 2, "message": "late"}}, {"status": {"code": "STATUS_CODE_ERROR"}}]
)  # fmt: skip
def test_spans_of_tools_say_what_failed_and_the_others_did_not(tmp_path, failed):
    found = read(
        tmp_path, trace(1, result="late", **failed), trace(2), trace(3, result="Error: not in a span's status")
    )
    assert found.steps["error"].dropna().tolist() == [1, 0, 0]
    assert not any(GUESSED in note for note in found.notes)
    assert any(note.startswith("1 result of tools reads as an error, without error.type") for note in found.notes)


def test_results_in_messages_alone_are_read_for_failures(tmp_path):
    back = json.loads(json.dumps(BACK))
    back["parts"][0]["response"] = "Error: no such loan"
    alone = [
        one for one in spans() if attributes({"gen_ai.operation.name": "execute_tool"})[0] not in one["attributes"]
    ]
    alone[0]["attributes"] = [
        {"key": a["key"], "value": {"stringValue": json.dumps([text("user", QUESTION), CALL, back])}} if a["key"] == "gen_ai.input.messages" else a
        for a in alone[0]["attributes"]
    ]  # fmt: skip
    found = read(tmp_path, alone)
    assert found.steps["error"].dropna().tolist() == [1]
    assert any(GUESSED in note for note in found.notes)
