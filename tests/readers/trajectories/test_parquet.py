"""Parquet files whose rows hold messages: the database of inspect_scout, and tables with a column of messages; the files are ours."""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from generated import one_in_twenty
from trajectory_files import openai

from evalbench import load
from evalbench.cli import group
from evalbench.errors import BadInput
from evalbench.readers.trajectories import read_trajectories, recognised, rows_of_parquet
from evalbench.studies import trajectories


def talk(i: int, error: str | None = None) -> list[dict[str, Any]]:
    """Messages as inspect has them."""
    call = {
        "id": f"c{i}",
        "function": "find_loan",
        "arguments": {"book": i},
        "parse_error": None,
        "view": None,
        "type": "function",
    }
    failed = {"type": "timeout", "message": error} if error else None
    return [
        {"id": "m0", "content": "You help with loans.", "source": None, "metadata": None, "role": "system"},
        {"id": "m1", "content": f"May I keep book {i}?", "source": None, "metadata": None, "role": "user", "tool_call_id": None},
        {"id": "m2", "content": "", "source": None, "metadata": None, "role": "assistant", "tool_calls": [call], "model": None},
        {"id": "m3", "content": "due 1 May", "metadata": None, "role": "tool", "tool_call_id": f"c{i}", "function": "find_loan", "error": failed},
        {"id": "m4", "content": "Until 8 May.", "source": None, "metadata": None, "role": "assistant", "tool_calls": None, "model": None},
    ]  # fmt: skip


def transcript(i: int, **more: Any) -> dict[str, Any]:
    row = {
        "transcript_id": f"tr{i}", "source_type": "eval_log", "source_id": "s1", "source_uri": None, "date": "2031-05-01T10:00:00", "task_set": "loans",
        "task_id": f"q{i // 2}", "task_repeat": i % 2 + 1, "agent": "react", "agent_args": None, "model": "fern-1b", "model_options": None,
        "score": json.dumps(i % 4 != 0), "success": i % 4 != 0, "message_count": 5, "total_time": 3.5, "total_tokens": 120, "error": None, "limit": None,
        "messages": json.dumps(talk(i)), "events": "[]", "timelines": None, "events_data": "{}", "colour": "red",
    }  # fmt: skip
    return {**row, **more}


def said(path) -> str:
    """What a file is refused with; empty where it is read."""
    try:
        read_trajectories(path)
    except BadInput as error:
        return str(error)
    return ""


def written(path, rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in names}), path)
    return path


def test_a_database_of_inspect_scout(tmp_path):
    rows = [transcript(i) for i in range(6)]
    rows[3]["messages"] = json.dumps(talk(3, "timed out"))
    rows[4]["limit"], rows[5]["error"] = "messages", "the sandbox is gone"
    tool = {"event": "tool", "id": "c0", "completed": "2031-05-01T10:00:04+00:00", "working_time": 1.5}
    reply = {
        "event": "model",
        "completed": "2031-05-01T10:00:02+00:00",
        "working_time": 2.0,
        "output": {"usage": {"total_tokens": 40}},
    }
    rows[0]["events"] = json.dumps([reply, tool])
    written(tmp_path / "db.parquet", rows)
    assert recognised(tmp_path / "db.parquet") == "inspect-scout"
    read = read_trajectories(tmp_path / "db.parquet")
    assert read.outcomes["mark"].tolist() == [0, 1, 1, 1, 0, 1]
    assert read.outcomes["trial"].tolist() == ["1", "2"] * 3
    assert read.outcomes["ended"].tolist() == ["", "", "", "", "limit: messages", "error: the sandbox is gone"]
    first = read.steps[(read.steps["id"] == "q0") & (read.steps["trial"] == "1")]
    assert first["kind"].tolist() == ["message", "message", "call", "result", "message"]
    assert first["seconds"].tolist()[2:4] == [2.0, 1.5]
    assert first["tokens"].tolist()[2] == 40
    assert read.steps[read.steps["kind"] == "result"]["error"].tolist() == [0, 0, 0, 1, 0, 0]
    assert read.tasks["policy"].tolist() == ["You help with loans."] * 3


@pytest.mark.slow
def test_its_folder_is_a_page(tmp_path):
    folder = tmp_path / "db"
    (folder / "_index").mkdir(parents=True)
    (folder / "_index" / "manifest.idx").write_bytes(b"x")
    written(folder / "transcripts_a.parquet", [transcript(i) for i in range(4)])
    written(folder / "transcripts_b.parquet", [transcript(i) for i in range(4, 8)])
    result = trajectories.evaluate(load(folder, study="trajectories"))
    assert result.estimate("success", model="fern-1b").value == 0.75
    said = CliRunner().invoke(group, ["data", "check", str(folder)])
    assert said.exit_code == 0
    assert "read as trajectories of the form inspect-scout" in said.output
    assert "8 of 8 have a mark" in said.output
    unread = {line.split()[0] for line in said.output.splitlines() if line.endswith("– not read")}
    assert {"colour", "total_tokens", "timelines"} <= unread
    assert not {"task_id", "task_repeat", "model", "success", "messages", "events", "limit"} & unread


def test_sets_agents_and_repeats_that_are_not_told_apart_by_their_task(tmp_path):
    rows = [transcript(i) for i in range(4)] + [transcript(i, task_set="fees", agent="plan") for i in range(4)]
    read = read_trajectories(written(tmp_path / "db.parquet", rows))
    assert read.tasks["id"].tolist() == ["loans/q0", "loans/q1", "fees/q0", "fees/q1"]
    assert set(read.outcomes["model"]) == {"react, fern-1b", "plan, fern-1b"}
    again = [transcript(i) for i in range(4)] + [transcript(i, source_id="s2") for i in range(4)]
    read = read_trajectories(written(tmp_path / "twice.parquet", again))
    assert read.outcomes["trial"].tolist() == ["1", "2", "1", "2", "3", "4", "3", "4"]
    assert any("were numbered in its order" in note for note in read.notes)


def test_scores_that_are_no_marks_and_rows_without_messages(tmp_path):
    rows = [
        transcript(i, success=None, score=score)
        for i, score in enumerate(["0.5", '"C"', '{"a": 1}', "7", None, "no JSON"])
    ]
    rows[5]["messages"] = None
    read = read_trajectories(written(tmp_path / "db.parquet", rows))
    assert read.outcomes["mark"].tolist()[0] == 0.5
    assert read.outcomes["mark"].isna().tolist()[2:] == [True, True, True]
    assert any("1 of the transcripts" in note for note in read.notes)
    assert any("not marks from 0 to 1" in note for note in read.notes)


def test_messages_as_structures(tmp_path):
    rows = [{"id": f"a{i}", "model": "oak", "success": i > 0, "messages": openai()} for i in range(3)]
    structured = written(tmp_path / "structures.parquet", rows)
    as_text = written(tmp_path / "texts.parquet", [{**row, "messages": json.dumps(row["messages"])} for row in rows])
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    wanted = read_trajectories(lines)
    for path in (structured, as_text):
        assert recognised(path) == "openai-messages"
        read = read_trajectories(path)
        kept = [name for name in wanted.steps if name != "arguments"]
        assert read.steps[kept].equals(wanted.steps[kept])
        assert read.outcomes.equals(wanted.outcomes)
        assert read.tasks.equals(wanted.tasks)


def test_a_table_without_lists_is_for_others(tmp_path):
    rows = [{"id": "a", "transcript": "Good morning.", "metadata": "{}"}]
    assert recognised(written(tmp_path / "t.parquet", rows)) is None


@pytest.mark.generated
@pytest.mark.parametrize("at", one_in_twenty(range(200)))
def test_a_damaged_file_is_one_message(tmp_path, at):
    path = written(tmp_path / "db.parquet", [transcript(i) for i in range(4)])
    raw, draw = bytearray(path.read_bytes()), random.Random(at)
    for _ in range(draw.randint(1, 8)):
        raw[draw.randrange(len(raw))] = draw.randrange(256)
    path.write_bytes(bytes(raw[: draw.randrange(len(raw))] if at % 5 == 0 else raw))
    message = said(path)
    assert not message or str(path) in message


def test_a_row_that_is_malformed_is_named_and_so_are_too_many_values(tmp_path, monkeypatch):
    rows = [transcript(i) for i in range(3)]
    rows[1]["messages"] = json.dumps([{"role": "wizard", "content": "x"}])
    path = written(tmp_path / "db.parquet", rows)
    with pytest.raises(BadInput, match=r"db\.parquet: row 2: .*the role 'wizard' is not known"):
        read_trajectories(path)
    monkeypatch.setattr(rows_of_parquet, "MOST_VALUES", 2)
    with pytest.raises(BadInput, match="values in one group of rows, at most 2 are read"):
        list(rows_of_parquet.records_of_parquet(path))


def test_cells_that_no_text_holds_are_named(tmp_path):
    path = written(tmp_path / "b.parquet", [{"id": "a", "messages": [{"role": "user", "content": b"\xff"}]}])
    with pytest.raises(BadInput, match=r"row 1: column messages: a cell of type bytes"):
        list(rows_of_parquet.records_of_parquet(path))
