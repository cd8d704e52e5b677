"""Tables of steps under the names that people give to columns."""

import json

import pandas as pd
import pytest
from trajectory_files import ANSWER, FAILED, FOUND, QUESTION, told, write

from evalbench.errors import BadInput
from evalbench.readers.trajectories import is_own, read_trajectories, recognised

ROWS = [
    {"task_id": "b7", "run_id": "r1", "step": 2, "tool": "find_loan", "args": '{"book": 7}', "output": FOUND, "error": "", "latency_ms": 500, "reward": None},
    {"task_id": "b7", "run_id": "r1", "step": 1, "tool": "find_shelf", "args": '{"shelf": 9}', "output": FAILED, "error": "no such shelf", "latency_ms": 250, "reward": None},
    {"task_id": "b7", "run_id": "r1", "step": 10, "tool": "finish", "args": json.dumps({"answer": ANSWER}), "output": None, "error": None, "latency_ms": None, "reward": 1},
    {"task_id": "b7", "run_id": "r2", "step": 1, "tool": "find_loan", "args": "{}", "output": FOUND, "error": None, "latency_ms": 100, "reward": None},
]  # fmt: skip


def table(path, rows=ROWS):
    frame = pd.DataFrame(rows)
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix in (".json", ".jsonl"):
        return write(path, rows)
    else:
        frame.to_csv(path, index=False, sep=";" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("name", ["runs.csv", "runs.tsv", "runs.parquet", "runs.json", "runs.jsonl"])
def test_a_row_with_tool_arguments_and_output_is_call_and_result(tmp_path, name):
    path = table(tmp_path / name)
    assert recognised(path) == "steps"
    assert not is_own(path)
    read = read_trajectories(path, "fern-1b")
    first = read.steps[read.steps["trial"] == "r1"]
    assert first[["kind", "name"]].values.tolist() == [
        ["call", "find_shelf"], ["result", "find_shelf"], ["call", "find_loan"], ["result", "find_loan"], ["call", "finish"],
    ]  # fmt: skip
    assert told(first["text"]) == [None, f"no such shelf\n{FAILED}", None, FOUND, None]
    assert first["error"].dropna().tolist() == [1.0, 0.0]
    assert first["seconds"].dropna().tolist() == [0.25, 0.5]
    assert [json.loads(a) for a in first["arguments"].dropna()][1] == {"book": 7}
    assert read.outcomes["mark"].fillna(-1).tolist() == [1.0, -1.0]
    assert {*read.steps["id"]} == {"b7"}


def test_kinds_of_steps(tmp_path):
    rows = [
        {"trajectory_id": "x", "step_index": 0, "type": "user", "content": QUESTION},
        {"trajectory_id": "x", "step_index": 1, "type": "thought", "content": "Look."},
        {
            "trajectory_id": "x",
            "step_index": 2,
            "type": "tool_call",
            "tool_name": "find_loan",
            "content": "",
            "arguments": {"book": 7},
        },
        {"trajectory_id": "x", "step_index": 3, "type": "observation", "content": FOUND},
        {"trajectory_id": "x", "step_index": 4, "type": "handoff", "tool_name": "archivist"},
        {"trajectory_id": "x", "step_index": 5, "type": "assistant", "content": ANSWER},
    ]
    read = read_trajectories(write(tmp_path / "s.jsonl", rows))
    assert read.steps["kind"].tolist() == ["message", "note", "call", "result", "handover", "message"]
    assert read.steps["role"].tolist() == ["user", "", "assistant", "tool", "assistant", "assistant"]
    assert read.steps["name"].tolist() == ["", "", "find_loan", "find_loan", "archivist", ""]
    assert read.tasks["question"].tolist() == [QUESTION]


def test_unknown_kinds_and_rows_without_a_task_are_faults(tmp_path):
    rows = [{"id": "x", "step": i, "kind": kind} for i, kind in enumerate(["call", "dance", "message", "sing"])]
    rows.append({"id": {"a": 1}, "step": 9, "kind": "call"})
    with pytest.raises(BadInput) as found:
        read_trajectories(write(tmp_path / "s.jsonl", rows))
    message = str(found.value)
    assert "row 2: the kind 'dance' is not known" in message
    assert "row 4: the kind 'sing'" in message
    assert "row 5: column id: expected an identifier" in message


def test_a_table_under_its_own_names_is_left_to_the_study(tmp_path):
    path = table(tmp_path / "own.csv", [{"id": "a", "step": 0, "kind": "call", "name": "f"}])
    assert is_own(path)
    assert read_trajectories(path).steps["name"].tolist() == ["f"]


def test_tables_of_other_things_are_not_recognised(tmp_path):
    for i, rows in enumerate([[{"id": "a", "step": 1, "output": "x"}] * 2, [{"session_id": "a", "turn": 1, "role": "user", "text": "Hi"}] * 2, [{"question": "a", "tool": "b"}] * 2]):  # fmt: skip
        for ending in (".csv", ".json", ".parquet"):
            assert recognised(table(tmp_path / f"{i}{ending}", rows)) is None


def test_records_with_their_steps_as_a_list_are_trials(tmp_path):
    def trial(task, number, success):
        return {
            "task": task,
            "agent": "planner",
            "trial": number,
            "success": success,
            "steps": [
                {"kind": "message", "role": "user", "text": QUESTION},
                {"kind": "tool call", "name": "find_loan", "arguments": {"book": 7}},
                {"kind": "result", "name": "find_loan", "text": FOUND},
                {"kind": "message", "role": "assistant", "text": ANSWER},
            ],
        }

    runs = [trial("flight-0", 1, False), trial("flight-0", 2, True), trial("flight-1", 1, True)]
    for name, content in (("a.json", {"runs": runs}), ("b.json", runs), ("c.jsonl", runs)):
        path = write(tmp_path / name, content)
        assert recognised(path) == "steps-of-trials"
        read = read_trajectories(path)
        assert read.steps["step"].tolist() == [0, 1, 2, 3] * 3
        assert read.steps["kind"].tolist()[:4] == ["message", "call", "result", "message"]
        assert read.steps["arguments"].tolist()[1] == '{"book": 7}'
        assert read.outcomes.drop(columns="mark").values.tolist() == [
            ["flight-0", "planner", "1"], ["flight-0", "planner", "2"], ["flight-1", "planner", "1"],
        ]  # fmt: skip
        assert read.outcomes["mark"].tolist() == [0, 1, 1]
        assert read.tasks["question"].tolist() == [QUESTION] * 2
    broken = {**runs[0], "trial": 9, "steps": [{"kind": "dance"}]}
    with pytest.raises(BadInput, match=r"row 7: steps\[0\]: the kind 'dance' is not known"):
        read_trajectories(write(tmp_path / "d.jsonl", [*runs, *({**runs[0], "trial": i} for i in (3, 4, 5)), broken]))


def test_answers_beside_outputs_are_what_the_agent_says_and_errors_keep_their_words(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text(
        "task_id,agent,attempt,step,tool,args,output,error,answer,colour\n"
        'a,fern,1,1,find,"{""n"": 1}",found 3,,The order is O-17.,red\n'
        "a,fern,1,2,pay,{},,TimeoutError: upstream 504,The order is O-17.,red\n"
        "a,fern,2,1,pay,{},partial body,Card declined,,red\n"
        "a,fern,2,2,,,,,It costs 40.,red\n"
        "a,fern,3,1,pay,{},done,true,,red\n"
    )
    read = read_trajectories(path)
    said = [own[["kind", "text"]].fillna("").values.tolist() for _, own in read.steps.groupby("trial")]
    assert said[0] == [["call", ""], ["result", "found 3"], ["call", ""], ["result", "TimeoutError: upstream 504"], ["message", "The order is O-17."]]  # fmt: skip
    assert said[1] == [["call", ""], ["result", "Card declined\npartial body"], ["message", "It costs 40."]]
    assert said[2] == [["call", ""], ["result", "done"]]
    assert read.steps.loc[read.steps["kind"] == "result", "error"].tolist() == [0, 1, 1, 1]
    assert "fields that were not read: colour" in read.notes


def test_trials_told_apart_by_a_seed_and_those_that_nothing_tells_apart(tmp_path):
    rows = "".join(f"a,fern,{seed},{step},find,{{}},ok\n" for seed in (1, 2) for step in (1, 2, 3))
    path = tmp_path / "steps.csv"
    path.write_text("task_id,agent,seed,step,tool,args,output\n" + rows)
    read = read_trajectories(path)
    assert read.steps["trial"].unique().tolist() == ["1", "2"]
    path.write_text("task_id,agent,number,step,tool,args,output\n" + rows)
    read = read_trajectories(path)
    assert any(note.startswith("1 trajectory with each number of a step as often as any other") for note in read.notes)
