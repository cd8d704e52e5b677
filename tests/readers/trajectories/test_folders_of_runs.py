"""Folders of files that each hold some trials, and how replies ended."""

import pytest
from trajectory_files import QUESTION, openai, tau, write

from evalbench.errors import BadInput
from evalbench.readers.trajectories import read_trajectories, recognised, sha256_of_runs


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "first.json", openai())
    write(tmp_path / "second.json", openai()[:3])
    write(tmp_path / "third.json", [tau(0), tau(1)])
    write(tmp_path / "settings.json", {"a": 1})
    (tmp_path / ".hidden").write_text("x")
    return tmp_path


def test_files_of_one_trial_give_it_their_names(folder):
    assert recognised(folder) == "openai-messages"
    read = read_trajectories(folder, "fern-1b")
    assert read.steps.groupby("id", sort=False).size().to_dict() == {"first": 7, "second": 3, "3": 14}
    assert read.form == "openai-messages, tau-bench"
    assert "files that are not trajectories were left out: settings.json" in read.notes
    assert {*read.steps["model"]} == {"fern-1b"}
    before = sha256_of_runs(folder)
    write(folder / "settings.json", {"a": 2})
    assert sha256_of_runs(folder) == before
    write(folder / "second.json", openai()[:2])
    assert sha256_of_runs(folder) != before


def test_faults_name_the_file_and_the_row(folder):
    write(
        folder / "fourth.jsonl",
        [{"task_id": "3", "trial": 1, "messages": openai()}, {"id": "b", "messages": [openai()[0], 5]}],
    )
    with pytest.raises(BadInput) as found:
        read_trajectories(folder)
    message = str(found.value)
    assert "fourth.jsonl: row 2: messages[1]: expected an object, found int" in message
    assert "the id '3' has the trial '1' twice, first in fourth.jsonl, row 1" in message


def test_a_folder_of_the_tables_of_a_study_is_left_to_it(folder):
    (folder / "steps.csv").write_text("id,step,kind\na,0,call\n")
    assert recognised(folder) is None


def test_a_folder_without_trajectories(tmp_path):
    assert recognised(tmp_path) is None
    with pytest.raises(BadInput, match="no trajectories"):
        read_trajectories(tmp_path)


@pytest.mark.parametrize(
    ("reason", "ended"), [("stop", None), ("length", "limit: length"), ("content_filter", "content_filter")]
)
def test_a_reply_that_was_cut_did_not_give_up(tmp_path, reason, ended):
    record = {"id": "a", "messages": [{"role": "user", "content": QUESTION}], "choices": [{"message": {"role": "assistant", "content": "On"}, "finish_reason": reason}]}  # fmt: skip
    read = read_trajectories(write(tmp_path / "a.jsonl", [record, {**record, "id": "b"}]))
    assert read.outcomes.get("ended", read.steps["kind"][:0]).tolist() == [ended] * (2 if ended else 0)
    assert (read.steps["kind"] == "note").sum() == (2 if ended and ended.startswith("limit") else 0)
