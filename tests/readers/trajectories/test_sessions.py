"""Logs of coding agents' sessions."""

import json

from trajectory_files import ANSWER, FAILED, FOUND, POLICY, QUESTION, SHELF, THOUGHT, anthropic, response, told, write

from evalbench.readers.trajectories import read_trajectories, recognised


def claude_code():
    """Each block of a reply is a line of its own; the program's own lines lie between."""
    lines = [
        {"type": "summary", "summary": "A loan", "leafUuid": "u9"},
        {"type": "file-history-snapshot", "messageId": "m"},
    ]
    for i, message in enumerate(anthropic()):
        role = message["role"]
        blocks = message["content"] if isinstance(message["content"], list) else [message["content"]]
        for j, block in enumerate(blocks):
            inner = {"role": role, "content": [block] if isinstance(block, dict) else block}
            if role == "assistant":
                inner |= {"id": f"msg_{i}", "model": "fern-1b", "usage": {"input_tokens": 10, "output_tokens": 1 + j}}
            lines.append({"type": role, "message": inner, "uuid": f"u{i}{j}", "parentUuid": f"p{i}", "sessionId": "s1", "timestamp": f"2031-01-01T10:00:0{i}Z", "isSidechain": False})  # fmt: skip
    meta = {
        "type": "user",
        "isMeta": True,
        "message": {"role": "user", "content": "<caveat>"},
        "sessionId": "s1",
        "timestamp": "2031-01-01T10:00:00Z",
    }
    return [lines[0], meta, *lines[1:]]


def test_claude_code(tmp_path):
    path = write(tmp_path / "session.jsonl", claude_code())
    assert recognised(path) == "claude-code"
    read = read_trajectories(path)
    assert read.steps["kind"].tolist() == ["note", "message", "note", "call", "result", "call", "result", "message"]
    assert told(read.steps["text"]) == ["<caveat>", QUESTION, THOUGHT, None, "no shelf 9", None, FOUND, ANSWER]
    assert read.steps["name"].tolist() == ["", "", "", "find_shelf", "find_shelf", "find_loan", "find_loan", ""]
    assert read.steps["error"].dropna().tolist() == [1.0, 0.0]
    assert read.steps["tokens"].dropna().tolist() == [12.0, 11.0, 11.0]  # once for each reply
    assert read.steps["time"].iloc[-1] == "2031-01-01T10:00:05+00:00"
    assert {*read.steps["id"]} == {"s1"}
    assert {*read.steps["model"]} == {"fern-1b"}
    assert read.tasks["question"].tolist() == [QUESTION]


def test_sessions_of_one_file_and_side_chains(tmp_path):
    lines = [line for line in claude_code() if "sessionId" in line]
    other = [{**line, "sessionId": "s2", "isSidechain": True} for line in lines]
    below = [{**line, "isSidechain": True, "agentId": "a7"} for line in lines]
    read = read_trajectories(write(tmp_path / "s.jsonl", [*claude_code(), *other, *below]))
    assert read.steps.groupby("id").size().to_dict() == {"s1": 8, "s1/a7": 8, "s2": 8}
    assert "sidechain" in {*read.steps["name"][read.steps["id"] == "s2"]}
    assert "a7" in {*read.steps["name"][read.steps["id"] == "s1/a7"]}


def test_codex(tmp_path):
    items = list(response()["output"])
    items[2] = {**items[2], "output": json.dumps({"output": FAILED, "metadata": {"exit_code": 2}})}
    items[4] = {**items[4], "output": json.dumps({"output": FOUND, "metadata": {"exit_code": 0}})}
    user = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": QUESTION}]}
    lines = [
        {"timestamp": "2031-01-01T10:00:00Z", "type": "session_meta", "payload": {"id": "x1", "instructions": POLICY}},
        {"timestamp": "2031-01-01T10:00:00Z", "type": "turn_context", "payload": {"model": "fern-1b"}},
        *({"timestamp": "2031-01-01T10:00:01Z", "type": "response_item", "payload": item} for item in (user, *items)),
        {"timestamp": "2031-01-01T10:00:02Z", "type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": {"total_tokens": 30}}}},
    ]  # fmt: skip
    path = write(tmp_path / "rollout.jsonl", lines)
    assert recognised(path) == "codex"
    read = read_trajectories(path)
    assert read.steps["kind"].tolist() == ["message", "message", "note", "call", "result", "call", "result", "message"]
    assert told(read.steps["text"]) == [POLICY, QUESTION, THOUGHT, None, FAILED, None, FOUND, ANSWER]
    assert read.steps["error"].dropna().tolist() == [1.0, 0.0]
    assert read.steps["tokens"].dropna().tolist() == [30.0]
    assert ({*read.steps["id"]}, {*read.steps["model"]}) == ({"x1"}, {"fern-1b"})


def atif():
    call = {"tool_call_id": "c1", "function_name": "find_shelf", "arguments": SHELF["arguments"]}
    back = {"results": [{"source_call_id": "c1", "content": FAILED}]}
    return {
        "schema_version": "ATIF-v1.4", "session_id": "s1", "agent": {"name": "librarian", "version": "1", "model_name": "fern-1b"},
        "steps": [
            {"step_id": 1, "source": "system", "message": POLICY},
            {"step_id": 2, "timestamp": "2031-01-01T10:00:00Z", "source": "user", "message": QUESTION},
            {"step_id": 3, "source": "agent", "message": "", "reasoning_content": THOUGHT, "tool_calls": [call], "observation": back, "metrics": {"prompt_tokens": 9, "completion_tokens": 2, "cost_usd": 0.5}},
            {"step_id": 4, "source": "agent", "message": ANSWER},
        ],
    }  # fmt: skip


def test_atif(tmp_path):
    for path in (
        write(tmp_path / "a.json", atif()),
        write(tmp_path / "b.jsonl", [atif(), {**atif(), "session_id": "s2"}]),
    ):
        assert recognised(path) == "atif"
        read = read_trajectories(path)
        first = read.steps[read.steps["id"] == "s1"]
        assert first["kind"].tolist() == ["message", "message", "note", "call", "result", "message"]
        assert told(first["text"]) == [POLICY, QUESTION, THOUGHT, None, FAILED, ANSWER]
        assert first["tokens"].dropna().tolist() == [11.0]
        assert first["cost"].dropna().tolist() == [0.5]
        assert first["error"].dropna().tolist() == [1.0]
        assert {*first["model"]} == {"fern-1b"}
    assert read.steps["id"].nunique() == 2
