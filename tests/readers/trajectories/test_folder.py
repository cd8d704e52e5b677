"""A file of trajectories brought into a data set folder, from Python and from the command line."""

import json

import pytest
from click.testing import CliRunner
from inspect_log import header, sample, score
from trajectory_files import openai, tau, write

from evalbench.commands.data import data
from evalbench.errors import BadInput
from evalbench.readers.trajectories import read_trajectories
from evalbench.readers.trajectories.folder import write as write_folder


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_folder_holds_what_the_tables_hold(tmp_path):
    path = write(tmp_path / "runs.json", [tau(0), tau(1, None), tau(0, 0.0, task=4)])
    counts = write_folder(path, tmp_path / "out", "fern-1b")
    read = read_trajectories(path, "fern-1b")
    steps = rows(tmp_path / "out" / "steps.jsonl")
    assert len(steps) == len(read.steps) == 21
    for name in read.steps:
        given = [row.get(name, "" if name in ("role", "name", "call_id") else None) for row in steps]
        assert given == [None if value != value else value for value in read.steps[name]]
    assert [row["mark"] for row in rows(tmp_path / "out" / "outcomes.jsonl")] == [1.0, None, 0.0]
    assert [row["id"] for row in rows(tmp_path / "out" / "tasks.jsonl")] == ["3", "4"]
    assert (counts.trials, counts.marked, counts.failed) == (3, 2, 3)
    assert "of the form tau-bench" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_a_file_that_is_refused_leaves_nothing_behind(tmp_path):
    path = write(tmp_path / "runs.json", [tau(0), tau(0)])
    with pytest.raises(BadInput, match="twice"):
        write_folder(path, tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["runs.json"]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    with pytest.raises(BadInput, match="not empty"):
        write_folder(path, tmp_path / "full")


def said(*arguments):
    done = CliRunner().invoke(data, ["import", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_knows_trajectories_by_their_content(tmp_path):
    path = write(tmp_path / "runs.json", [tau(0), tau(1, None)])
    shown = said(path, "--to", tmp_path / "out")
    assert "tau-bench: 1 task, 2 trials" in shown
    assert "marks: 1 scored, 1 unscored; mean 1" in shown
    assert "14 steps: 6 messages, 4 calls, 4 results" in shown
    assert (tmp_path / "out" / "steps.jsonl").is_file()
    assert "no mark is in the file" in said(write(tmp_path / "chat.json", openai()))


def test_a_folder_of_chats(tmp_path):
    (tmp_path / "chats").mkdir()
    for name in "ab":
        write(tmp_path / "chats" / f"{name}.json", openai())
    assert "openai-messages: 2 tasks, 2 trials" in said(tmp_path / "chats", "--to", tmp_path / "out")
    assert [row["id"] for row in rows(tmp_path / "out" / "tasks.jsonl")] == ["a", "b"]


def test_a_log_of_inspect_stays_a_log_of_scores_unless_agents_are_asked_for(tmp_path):
    log = {**header(("right",)), "samples": [sample("a", {"right": score("C")}, messages=openai())]}
    path = write(tmp_path / "log.json", log)
    assert "right: 1 scored" in said(path)
    assert "inspect: 1 task, 1 trial" in said(path, "--format", "agents")
