"""Logs of inspect_ai: messages of samples, epochs, the first scorer, limits, times of events."""

import json
import zipfile

import pytest
from inspect_log import header, put, sample, score
from trajectory_files import ANSWER, ASKED, FOUND, POLICY, QUESTION, SHELF, write

from evalbench.errors import BadInput
from evalbench.readers.tools.known import imported
from evalbench.readers.trajectories import read_trajectories, recognised


def messages():
    return [
        {"role": "system", "content": POLICY},
        {"role": "user", "content": QUESTION, "source": "input"},
        {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "Look."}], "tool_calls": [{"id": "c1", "function": SHELF["name"], "arguments": SHELF["arguments"], "type": "function"}]},
        {"role": "tool", "content": "attachment://aa", "tool_call_id": "c1", "function": SHELF["name"], "error": {"type": "unknown", "message": "no"}},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c2", "function": ASKED["name"], "arguments": ASKED["arguments"]}]},
        {"role": "tool", "content": FOUND, "tool_call_id": "c2", "function": ASKED["name"]},
        {"role": "assistant", "content": ANSWER},
    ]  # fmt: skip


def samples():
    events = [
        {"event": "model", "timestamp": "2031-01-01T10:00:00+00:00", "working_time": 2.0, "output": {"usage": {"total_tokens": 40}}},
        {"event": "tool", "id": "c1", "timestamp": "2031-01-01T10:00:02+00:00", "working_time": 0.5},
    ]  # fmt: skip
    further = {
        "messages": messages(),
        "attachments": {"aa": "no shelf 9"},
        "events": events,
        "metadata": {"expected_calls": [ASKED]},
    }
    return [
        sample("a", {"right": score("C"), "manner": score(0.2)}, **further),
        sample("a", {"right": score("I")}, epoch=2, **further),
        sample("b", {}, limit={"type": "context", "limit": 1}, messages=messages()[:4]),
        sample("c", {"right": score(float("nan"))}, messages=messages()[:2]),
    ]


def log(tmp_path, form):
    head = header(("right", "manner"), epochs=2)
    if form == "json":
        return write(tmp_path / "log.json", {**head, "samples": samples()})
    path = tmp_path / "archive"
    with zipfile.ZipFile(path, "w") as archive:
        put(archive, "header.json", json.dumps(head).encode())
        for each in samples():
            put(archive, f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each).encode())
    return path


@pytest.mark.parametrize("form", ["json", "eval"])
def test_a_log(tmp_path, form):
    path = log(tmp_path, form)
    assert recognised(path) == "inspect"
    read = read_trajectories(path)
    first = read.steps[(read.steps["id"] == "a") & (read.steps["trial"] == "1")]
    assert first["kind"].tolist() == ["message", "message", "note", "call", "result", "call", "result", "message"]
    assert first["text"].tolist()[4] == "no shelf 9"
    assert first["error"].dropna().tolist() == [1.0, 0.0]
    assert first["name"].tolist()[3:7] == ["find_shelf"] * 2 + ["find_loan"] * 2
    assert first["seconds"].dropna().tolist() == [2.0, 0.5]
    assert first["tokens"].dropna().tolist() == [40.0]
    assert read.outcomes[["id", "trial"]].values.tolist() == [["a", "1"], ["a", "2"], ["b", "1"], ["c", "1"]]
    assert read.outcomes["mark"].fillna(-1).tolist() == [1.0, 0.0, -1.0, -1.0]
    assert read.outcomes["ended"].tolist() == ["", "", "limit: context", ""]
    assert json.loads(read.tasks["expected"][0]) == [ASKED]
    assert any("of several scorers (" in note and "the first, right, is the mark" in note for note in read.notes)


def test_a_log_that_inspect_wrote_has_the_marks_of_its_first_scorer(root):
    path = root / "tests" / "data" / "imports" / "inspect.eval"
    scores = imported(path).frames["scores"]
    first = scores[scores["metric"] == "includes"].set_index(["id", "trial"])["value"]
    marks = read_trajectories(path).outcomes
    assert len(marks) == len(first) == 6
    assert [first[row.id, int(row.trial)] for row in marks.itertuples()] == marks["mark"].tolist()


def test_other_versions_and_logs_without_samples(tmp_path):
    with pytest.raises(BadInput, match="version 3"):
        read_trajectories(write(tmp_path / "a.json", {**header(("right",)), "version": 3, "samples": samples()}))
    with pytest.raises(BadInput, match="without samples"):
        read_trajectories(write(tmp_path / "b.json", {**header(("right",)), "samples": []}))


def test_other_archives_are_not_recognised(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.eval", "w") as archive:
        archive.writestr("a.txt", "a")
    assert recognised(tmp_path / "x.eval") is None
