"""Messages of chats: the same trial in each form gives the same steps."""

import gzip
import json

import pytest
from trajectory_files import ANSWER, FAILED, FOUND, POLICY, QUESTION, THOUGHT, anthropic, openai, response, told, write

from evalbench.readers.trajectories import columns_read, read_trajectories, recognised

SHAPE = [
    ("call", "find_shelf", 1.0),
    ("result", "find_shelf", 1.0),
    ("call", "find_loan", 0.0),
    ("result", "find_loan", 0.0),
]


def calls_and_results(steps):
    rows = steps[steps["kind"].isin(["call", "result"])]
    return list(zip(rows["kind"], rows["name"], rows["error"], strict=True))


def tools(steps):
    return [(kind, name, error) for kind, name, error in calls_and_results(steps) if kind == "result"]


def test_a_list_of_openai_messages_is_one_trial(tmp_path):
    path = write(tmp_path / "chat.json", openai())
    assert recognised(path) == "openai-messages"
    read = read_trajectories(path, "oak-7b")
    assert read.steps["kind"].tolist() == ["message", "message", "call", "result", "call", "result", "message"]
    assert read.steps["step"].tolist() == list(range(7))
    assert read.steps["role"].tolist() == ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert told(read.steps["text"]) == [POLICY, QUESTION, None, FAILED, None, FOUND, ANSWER]
    assert told(read.steps["arguments"])[2::2] == ['{"shelf": 9}', '{"book": 7}', None]
    assert read.steps["call_id"].tolist() == ["", "", "c1", "c1", "c2", "c2", ""]
    assert {*read.steps["model"]} == {"oak-7b"}
    assert tools(read.steps) == [("result", "find_shelf", 1.0), ("result", "find_loan", 0.0)]
    assert read.tasks.to_dict("records") == [{"id": "t0001", "question": QUESTION, "policy": POLICY}]
    assert read.outcomes.empty
    assert [note for note in read.notes if "no field for failures" in note]
    assert not {"time", "seconds", "tokens", "cost", "parent", "trial"} & {*read.steps.columns}


@pytest.mark.parametrize("name", ["records.jsonl", "records.json", "no ending"])
def test_records_with_messages(tmp_path, name):
    records = [
        {"task_id": "b7", "model": "fern-1b", "trial": trial, "reward": reward, "messages": openai(), "expected": [{"name": "find_loan", "arguments": {"book": 7}}]}
        for trial, reward in enumerate([1, 0.5, None, "often", 7])
    ]  # fmt: skip
    read = read_trajectories(write(tmp_path / name, records))
    assert read.outcomes["mark"].fillna(-1).tolist() == [1.0, 0.5, -1, -1, -1]
    assert read.outcomes["trial"].tolist() == ["0", "1", "2", "3", "4"]
    assert {*read.steps["id"]} == {"b7"}
    assert json.loads(read.tasks["expected"][0]) == [{"name": "find_loan", "arguments": {"book": 7}}]
    assert any(note.startswith("reward: ") and "is not a mark from 0 to 1" in note for note in read.notes)


def test_records_without_trials_are_numbered(tmp_path):
    read = read_trajectories(
        write(tmp_path / "r.jsonl", [{"id": "a", "messages": openai()}] * 2 + [{"messages": openai()}])
    )
    assert read.steps.drop_duplicates(["id", "trial"])[["id", "trial"]].values.tolist() == [
        ["a", "1"],
        ["a", "2"],
        ["t0003", "1"],
    ]
    assert any("numbered in its order" in note for note in read.notes)
    assert len(read.steps) == 21  # equal texts are all kept


def test_lists_of_messages_line_by_line_and_compressed(tmp_path):
    path = tmp_path / "chats.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(openai()) + "\n" for _ in range(3)).encode()))
    assert recognised(path) == "openai-messages"
    assert read_trajectories(path).steps["id"].unique().tolist() == ["t0001", "t0002", "t0003"]


def test_messages_line_by_line_are_grouped_by_their_conversation(tmp_path):
    lines = [{**message, "conversation_id": name} for name in ("x", "y") for message in openai()]
    read = read_trajectories(write(tmp_path / "m.jsonl", lines))
    assert read.steps.groupby("id").size().to_dict() == {"x": 7, "y": 7}
    assert read_trajectories(write(tmp_path / "n.jsonl", openai())).steps["id"].unique().tolist() == ["t0001"]


def test_requests_with_their_replies(tmp_path):
    record = {"request": {"messages": openai()[:2]}, "response": {"choices": [{"message": {"role": "assistant", "content": ANSWER}}], "usage": {"total_tokens": 9}}}  # fmt: skip
    read = read_trajectories(write(tmp_path / "log.jsonl", [record, record]))
    assert told(read.steps["text"]) == [POLICY, QUESTION, ANSWER] * 2
    assert read.steps["tokens"].dropna().tolist() == [9.0, 9.0]


def test_anthropic_messages(tmp_path):
    record = {
        "id": "b7",
        "system": [{"type": "text", "text": POLICY}],
        "messages": anthropic(),
        "stop_reason": "max_tokens",
    }
    path = write(tmp_path / "a.json", [record])
    assert recognised(path) == "anthropic-messages"
    read = read_trajectories(path)
    assert read.steps["kind"].tolist() == [
        "message",
        "message",
        "note",
        "call",
        "result",
        "call",
        "result",
        "message",
        "note",
    ]
    assert told(read.steps["text"]) == [
        POLICY,
        QUESTION,
        THOUGHT,
        None,
        "no shelf 9",
        None,
        FOUND,
        ANSWER,
        "limit: max_tokens",
    ]
    assert read.steps["name"].tolist()[-1] == "limit"
    assert tools(read.steps) == [("result", "find_shelf", 1.0), ("result", "find_loan", 0.0)]
    assert read.steps["tokens"].dropna().tolist() == [15.0]
    assert read.outcomes.to_dict("records") == [{"id": "b7", "ended": "limit: max_tokens"}]
    assert read.notes == ()


@pytest.mark.parametrize("many", [False, True])
def test_the_responses_api(tmp_path, many):
    value = [response(), {**response(), "id": "resp_9"}] if many else response()
    path = write(tmp_path / "r.json", value)
    assert recognised(path) == "openai-responses"
    read = read_trajectories(path)
    first = read.steps[read.steps["id"] == "resp_1"]
    assert first["kind"].tolist() == ["message", "note", "call", "result", "call", "result", "message"]
    assert told(first["text"]) == [QUESTION, THOUGHT, None, FAILED, None, FOUND, ANSWER]
    assert tools(first) == [("result", "find_shelf", 1.0), ("result", "find_loan", 0.0)]
    assert first["time"].tolist() == ["2030-03-17T17:46:40+00:00"] * 7
    assert first["tokens"].dropna().tolist() == [15.0]
    assert {*first["model"]} == {"fern-1b"}
    assert read.tasks["policy"][0] == POLICY
    assert read.steps["id"].nunique() == 1 + many


def test_a_response_that_goes_on_is_of_the_same_trial(tmp_path):
    further = {**response(), "id": "resp_2", "previous_response_id": "resp_1", "input": [{"type": "function_call_output", "call_id": "c1", "output": "late"}], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}  # fmt: skip
    read = read_trajectories(write(tmp_path / "r.jsonl", [response(), further]))
    assert read.steps["id"].unique().tolist() == ["resp_1"]
    assert len(read.steps) == 15
    assert read.outcomes["ended"].tolist() == ["limit: max_output_tokens"]


def test_calls_of_the_endpoints_own_tools_are_call_and_result(tmp_path):
    output = [
        {
            "type": "web_search_call",
            "id": "w1",
            "action": {"query": "loans"},
            "results": ["a page"],
            "status": "completed",
        }
    ]
    read = read_trajectories(write(tmp_path / "r.json", {**response(), "output": output}))
    rows = read.steps[["kind", "name", "call_id"]].values.tolist()[1:]
    assert rows == [["call", "web_search", "w1"], ["result", "web_search", "w1"]]


def test_langchain_gemini_and_legacy_functions(tmp_path):
    langchain = [
        {"type": "human", "content": QUESTION},
        {"type": "ai", "content": "", "tool_calls": [{"name": "find_loan", "args": {"book": 7}, "id": "c1"}]},
        {"type": "tool", "content": FOUND, "tool_call_id": "c1", "status": "success"},
        {"lc": 1, "id": ["langchain", "schema", "AIMessage"], "kwargs": {"content": ANSWER}},
    ]
    gemini = [
        {"role": "user", "parts": [{"text": QUESTION}]},
        {"role": "model", "parts": [{"functionCall": {"name": "find_loan", "args": {"book": 7}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find_loan", "response": json.loads(FOUND)}}]},
        {"role": "model", "parts": [{"text": ANSWER}]},
    ]
    legacy = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": None, "function_call": {"name": "find_loan", "arguments": '{"book": 7}'}},
        {"role": "function", "name": "find_loan", "content": FOUND},
        {"role": "assistant", "content": ANSWER},
    ]
    read = read_trajectories(write(tmp_path / "m.jsonl", [{"messages": m} for m in (langchain, gemini, legacy)]))
    for _, steps in read.steps.groupby("id"):
        assert steps["kind"].tolist() == ["message", "call", "result", "message"]
        assert steps["name"].tolist() == ["", "find_loan", "find_loan", ""]
        assert json.loads(steps["arguments"].tolist()[1]) == {"book": 7}
        assert told(steps["text"]) == [QUESTION, None, FOUND, ANSWER]


def test_a_trajectory_of_swe_agent(tmp_path):
    call = {"id": "c1", "index": 1, "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    history = [
        {"role": "system", "content": POLICY, "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": QUESTION, "agent": "main"},
        {
            "role": "assistant",
            "content": THOUGHT,
            "thought": THOUGHT,
            "action": "ls",
            "agent": "main",
            "tool_calls": [call],
        },
        {"role": "tool", "content": [{"type": "text", "text": FOUND}], "agent": "main", "tool_call_ids": ["c1"]},
    ]
    steps = [{"action": "ls", "observation": FOUND, "response": THOUGHT, "state": {}}]
    path = write(
        tmp_path / "a.traj",
        {"environment": "x", "trajectory": steps, "history": history, "info": {"exit_status": "exit_context"}},
    )
    read = read_trajectories(path)
    assert read.steps["kind"].tolist() == ["message", "message", "message", "call", "result", "note"]
    assert read.steps["call_id"].tolist()[3:5] == ["c1", "c1"]
    assert read.steps["name"].tolist()[3:5] == ["bash", "bash"]
    assert read.outcomes["ended"].tolist() == ["limit: exit_context"]


def test_arguments_that_do_not_parse_stay_as_they_were_written(tmp_path):
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"book": 7'}}
    read = read_trajectories(write(tmp_path / "m.json", [{"role": "assistant", "content": None, "tool_calls": [call]}]))
    assert told(read.steps["arguments"]) == ['{"book": 7']


@pytest.mark.parametrize("value", [{"a": 1}, [{"question": "a", "answer": "b"}], [1, 2], "x", [{"role": "user"}], []])
def test_other_files_are_not_recognised(tmp_path, value):
    assert recognised(write(tmp_path / "x.json", value)) is None
    assert recognised(tmp_path) is None


@pytest.mark.parametrize(
    ("said", "failed"),
    [
        ("Error: no seat", 1),
        ("Error rate is 3 %, all well", 0),
        ("Error-free run", 0),
        ('{"isError": true, "content": "bad"}', 1),
        ('{"is_error": true}', 1),
        ('{"status": "error", "detail": "late"}', 1),
        ('{"status": "delivered", "error": null}', 0),
        ('{"ok": false, "message": "not found"}', 1),
        ("HTTP 500 Internal Server Error", 1),
        ("HTTP 200 OK", 0),
        ("Traceback (most recent call last):", 1),
    ],
)
def test_results_that_read_as_failures(tmp_path, said, failed):
    read = read_trajectories(
        write(tmp_path / "m.json", [{"role": "user", "content": "Do it."}, {"role": "tool", "content": said}])
    )
    assert read.steps["error"].dropna().tolist() == [failed]
    assert any("HTTP with a status of 400 or more" in note for note in read.notes)


def test_results_that_are_pass_or_fail_are_marks_and_what_is_not_read_is_named(tmp_path):
    talk = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]
    rows = [
        {"id": f"t{i}", "result": word, "difficulty": "hard", "messages": talk}
        for i, word in enumerate(["pass", "fail"])
    ]
    read = read_trajectories(write(tmp_path / "m.jsonl", rows))
    assert read.outcomes["mark"].tolist() == [1, 0]
    assert "fields that were not read: difficulty" in read.notes
    rows = [{**row, "result": "12A"} for row in rows]
    read = read_trajectories(write(tmp_path / "n.jsonl", rows))
    assert read.outcomes.empty
    assert "fields that were not read: result, difficulty" in read.notes


def test_a_run_names_the_trial_where_it_differs_and_what_was_read_is_not_listed_as_unread(tmp_path):
    def record(task, run, **more):
        return {"task_id": task, "model": "mole", "run": run, "messages": openai(), **more}

    crashed = record("a", 1, error="Traceback: ConnectionError", success=None)
    read = read_trajectories(write(tmp_path / "runs.jsonl", [record("a", 0, success=1), crashed, record("b", 0, success=1, error="none")]))  # fmt: skip
    assert read.outcomes[["id", "trial", "ended"]].values.tolist() == [
        ["a", "0", ""], ["a", "1", "error: Traceback: ConnectionError"], ["b", "0", ""],
    ]  # fmt: skip
    last = read.steps[(read.steps["id"] == "a") & (read.steps["trial"] == "1")].iloc[-1]
    assert last[["kind", "name"]].tolist() == ["note", "environment"]
    assert not any("not read" in note or "no names" in note for note in read.notes)
    assert columns_read("openai-messages", [*crashed]) == {"task_id": "id", "model": "model", "run": "trial", "messages": "steps", "error": "ended", "success": "mark"}  # fmt: skip
    read = read_trajectories(write(tmp_path / "same.jsonl", [record("a", "nightly"), record("a", "nightly"), record("b", "nightly")]))  # fmt: skip
    assert read.steps[["id", "trial"]].drop_duplicates().values.tolist() == [["a", "nightly"], ["a", "nightly, 2"], ["b", "nightly"]]  # fmt: skip
    assert any("of one run were numbered" in note for note in read.notes)
