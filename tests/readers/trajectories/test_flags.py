"""Tables of steps that say of each call whether it failed, and tables whose steps no column numbers."""

import pytest
from trajectory_files import write

from evalbench.readers.trajectories import columns_read, read_trajectories, recognised

GUESSED = "the format has no field for failures of tools"
HEAD = "task_id,agent,run,step,tool,args,output"


def steps(tmp_path, column, cells, head=HEAD):
    """Two trials of a task with half of the cells each, a call a row."""
    half = len(cells) // 2
    rows = [f"a,fern,{'rs'[i // half]},{i % half},find,{{}},found,{cell}" for i, cell in enumerate(cells)]
    path = tmp_path / "steps.csv"
    path.write_text("\n".join([f"{head},{column}", *rows]) + "\n")
    return path


def errors(read):
    return read.steps.loc[read.steps["kind"] == "result", "error"].fillna(-1).tolist()


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        *(("ok", ["True", "False", "True", "True"]), ("is_ok", [1, 0, 1, 1]), ("Succeeded", ["yes", "no", "yes", "yes"])),
        *(("success", ["true", "false", "true", "true"]), ("passed", ["pass", "fail", "pass", "pass"])),
        *(("status", ["success", "error", "ok", "completed"]), ("tool_status", ["OK", "timeout", "OK", "OK"])),
        *(("status", ["success", "Timed out", "success", "done"]), ("status_code", [200, 503, 200, 204])),
        ("status", ["ok", "RateLimitError", "ok", "ok"]),
    ],
)  # fmt: skip
def test_a_call_whose_row_says_that_it_did_not_work_failed(tmp_path, column, cells):
    read = read_trajectories(steps(tmp_path, column, cells))
    assert errors(read) == [0, 1, 0, 0]
    assert not any(GUESSED in note or "not read" in note for note in read.notes)
    assert read.outcomes.empty


def test_a_failed_call_without_an_output_has_a_result(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("run,step,tool,args,output,ok\nr,1,find,{},,False\nr,2,find,{},found,True\n")
    read = read_trajectories(path)
    assert read.steps["kind"].tolist() == ["call", "result", "call", "result"]
    assert errors(read) == [1, 0]


def test_a_column_success_that_differs_between_the_calls_of_a_trial_is_no_mark_of_it(tmp_path):
    read = read_trajectories(steps(tmp_path, "success", ["true", "false", "true", "true"]))
    assert any(note.startswith("column success differs between the steps of a trial: it was read as") for note in read.notes)  # fmt: skip
    read = read_trajectories(steps(tmp_path, "success", ["true", "true", "false", "false"]))
    assert read.outcomes["mark"].tolist() == [1, 0]
    assert any(GUESSED in note for note in read.notes)
    read = read_trajectories(steps(tmp_path, "score", [0.1, 0.2, 0.3, 0.4]))
    assert read.outcomes.empty
    assert "column score differs between the steps of a trial: it was not read as the mark of the trial" in read.notes


def test_values_that_say_neither_are_not_read(tmp_path):
    read = read_trajectories(steps(tmp_path, "status", ["ok", "failed", "pending", "ok"]))
    assert errors(read) == [0, 1, -1, 0]
    assert any(note.startswith("column status: 1 value such as “pending” says neither") for note in read.notes)
    read = read_trajectories(steps(tmp_path, "status", ["open", "shut", "open", "shut"]))
    assert any(note.startswith("column status says of no call whether it failed") for note in read.notes)
    assert any(GUESSED in note for note in read.notes)
    assert "fields that were not read: status" in read.notes


def test_a_status_that_is_that_of_the_trial_says_nothing_of_its_calls(tmp_path):
    read = read_trajectories(steps(tmp_path, "status", ["failed", "failed", "success", "success"]))
    assert errors(read) == [0, 0, 0, 0]
    assert any(note.startswith("column status is the same in all steps of each trial") for note in read.notes)


def test_calls_and_results_in_rows_of_their_own_fail_once(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text(
        "run,step,kind,tool,args,text,status\nr,1,call,find,{},,error\nr,2,result,find,,no such book,error\n"
        "r,3,call,find,{},,ok\nr,4,result,find,,found,ok\n"
    )
    read = read_trajectories(path)
    assert read.steps["kind"].tolist() == ["call", "result", "call", "result"]
    assert errors(read) == [1, 0]


def test_steps_within_records_say_it_too(tmp_path):
    calls = [{"tool": "find", "args": {}, "output": "x", "ok": i != 1} for i in range(3)]
    runs = [{"task_id": f"t{i}", "success": True, "steps": calls} for i in range(2)]
    read = read_trajectories(write(tmp_path / "runs.json", runs))
    assert recognised(tmp_path / "runs.json") == "steps-of-trials"
    assert errors(read) == [0, 1, 0] * 2
    assert not any(GUESSED in note for note in read.notes)


@pytest.mark.parametrize("name", ["conversation", "conversation_id", "dialogue_id", "chat_id", "session"])
def test_a_conversation_is_a_run_and_beside_a_task_the_trial(tmp_path, name):
    path = steps(tmp_path, "ok", [1, 0, 1, 1], HEAD.replace("run", name))
    read = read_trajectories(path)
    assert read.steps[["id", "model", "trial"]].drop_duplicates().values.tolist() == [["a", "fern", "r"], ["a", "fern", "s"]]  # fmt: skip
    assert columns_read("steps", [*HEAD.replace("run", name).split(","), "ok"])[name] == "trial"
    path.write_text(f"attempt,{name},step,tool,args,output\n1,b,1,find,{{}},x\n2,b,1,find,{{}},x\n")
    read = read_trajectories(path)
    assert read.steps[["id", "trial"]].drop_duplicates().values.tolist() == [["b", "1"], ["b", "2"]]


def test_steps_that_no_column_numbers_are_in_the_order_of_the_rows(tmp_path):
    path = tmp_path / "calls.csv"
    path.write_text(
        "conversation,tool_name,tool_input,tool_output,ok\nb,seek,{},x,true\na,find,{},x,true\nb,pay,{},x,false\n"
    )
    assert recognised(path) == "steps"
    read = read_trajectories(path)
    assert read.steps.loc[read.steps["kind"] == "call", ["id", "step", "name"]].values.tolist() == [["b", 0, "seek"], ["b", 2, "pay"], ["a", 0, "find"]]  # fmt: skip
    assert any("no column that numbers the steps" in note for note in read.notes)
    for head in ("id,name,input,output", "id,tool,input,output", "question,tool,args", "session,action,input", "run,tool,colour"):  # fmt: skip
        path.write_text(head + "\n" + ",".join("x" * len(head.split(","))) + "\n")
        assert recognised(path) is None, head


def test_a_number_of_each_row_is_no_task_and_an_assistant_with_few_names_is_the_agent(tmp_path):
    path = tmp_path / "calls.csv"
    path.write_text("id,session,assistant,tool,args,output\n" + "".join(f"{i},s{i // 4},m{i // 4},find,{{}},x\n" for i in range(8)))  # fmt: skip
    read = read_trajectories(path)
    assert read.steps[["id", "model"]].drop_duplicates().values.tolist() == [["s0", "m0"], ["s1", "m1"]]
    path.write_text("session,assistant,tool,args,output\n" + "".join(f"s{i // 4},I look up {i}.,find,{{}},x\n" for i in range(8)))  # fmt: skip
    read = read_trajectories(path)
    assert "model" not in read.steps
    assert "fields that were not read: assistant" in read.notes
