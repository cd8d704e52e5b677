"""Outcomes of agents: alone, under other names, of unlike tasks, with marks that are missing."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from evalbench import load
from evalbench.errors import BadInput
from evalbench.studies import trajectories


def test_outcomes_alone_have_a_page_and_nothing_is_said_of_a_way_that_is_not_known(tmp_path: Path) -> None:
    outcomes = pd.DataFrame(
        {"id": f"t{i:02}", "model": model, "trial": trial, "success": (i + trial + len(model)) % 3 > 0}
        for i in range(20)
        for model in ("oak", "birch")
        for trial in (1, 2, 3)
    )
    outcomes.to_csv(tmp_path / "outcomes.csv", index=False)
    result = trajectories.evaluate(load(tmp_path / "outcomes.csv", study="trajectories"), n_resamples=50)
    assert {e.metric for e in result.summary.estimates} == {"success", "pass_hat_k", "pass_at_k"}
    rows = pd.read_csv(tmp_path / "outcomes.csv")
    for model, own in rows.groupby("model")["success"]:
        (found,) = (e.value for e in result.summary.estimates if e.metric == "success" and e.group["model"] == model)
        assert found == pytest.approx(own.mean())
    assert result.read_as == {"outcomes": {"success": "mark"}}
    assert not [note for note in result.notes if "same calls" in note]
    curve = next(one for one in result.trials["pass_k"] if one["model"] == "oak")["curve"]
    (all_three,) = (e for e in result.summary.estimates if e.metric == "pass_hat_k" and e.group["model"] == "oak")
    assert (curve[2]["hat_low"], curve[2]["hat_high"]) == (all_three.ci_low, all_three.ci_high)


def test_outcomes_under_names_that_only_may_be_meant_with_words_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.csv"
    path.write_text(
        "task_id,agent,attempt,success\na,fern,1,yes\na,fern,2,NULL\nb,fern,1,NaN\nb,oak,1,no\nb,oak,2,n/a\n"
    )
    result = trajectories.evaluate(load(path, study="trajectories"), n_resamples=50)
    assert result.items["success"].notna().sum() == 2
    assert result.read_as["outcomes"] == {"task_id": "id", "agent": "model", "attempt": "trial", "success": "mark"}
    assert any("column mark: 3 cells that say null, nan, n/a were read as empty" in note for note in result.notes)
    path.write_text("task_id,agent,attempt,success\na,fern,1,maybe\na,fern,2,2\n,oak,1,yes\n")
    with pytest.raises(BadInput) as refused:
        load(path, study="trajectories")
    for said in ('column success (read as mark): expected a finite number from 0 to 1 (may be empty), found "maybe" (row 2)', "found 2 (row 3)", "column task_id (read as id): empty"):  # fmt: skip
        assert said in str(refused.value)


def given_to(tasks: dict[str, range], good: dict[str, int]) -> pd.DataFrame:
    """Outcomes of agents on their tasks, each tried twice; of every ``good``-th task none is reached."""
    return pd.DataFrame(
        {"id": f"t{i:02}", "model": model, "trial": trial, "success": int(i % good[model] > 0)}
        for model, own in tasks.items()
        for i in own
        for trial in (1, 2)
    )


def test_agents_that_were_given_different_tasks_are_told_apart_on_those_of_both() -> None:
    rows = given_to({"oak": range(30), "fern": range(12)}, {"oak": 4, "fern": 5})
    rows.loc[(rows["model"] == "oak") & (rows["id"] >= "t12"), "success"] = 0
    found = trajectories.evaluate(load(rows, study="trajectories"), n_resamples=200).answer
    assert found
    assert found.answer.startswith("On the 12 tasks that both tried, ")
    assert "oak in 75%" in found.answer
    assert "on the 12 tasks of both" in found.decided_by.text
    three = pd.concat([rows, given_to({"ash": range(30)}, {"ash": 3})])
    assert "not all on the same tasks" in trajectories.evaluate(load(three, study="trajectories"), n_resamples=200).answer.answer  # fmt: skip


def test_fewer_scored_trials_than_tried_ones_are_why_pass_k_is_of_fewer() -> None:
    rows = given_to({"oak": range(24)}, {"oak": 4}).astype({"success": float})
    rows.loc[[0, 4, 8], "success"] = None
    result = trajectories.evaluate(load(rows, study="trajectories"), n_resamples=50)
    assert any(note.startswith("There is no pass^2: of 3 of 24 pairs of a task and an agent") for note in result.notes)


def test_nothing_is_said_of_calls_that_are_not_known() -> None:
    result = trajectories.evaluate(
        load(given_to({"oak": range(24)}, {"oak": 4}).assign(success=lambda t: t["trial"] % 2), study="trajectories"), n_resamples=50
    )  # fmt: skip
    assert trajectories.pictures._without_turns(result.tables["trials"]).endswith("Their steps are not known.")


def test_a_task_without_a_mark_of_one_agent_was_given_to_both() -> None:
    rows = given_to({"oak": range(30), "fern": range(30)}, {"oak": 4, "fern": 5}).astype({"success": float})
    rows.loc[(rows["model"] == "fern") & (rows["id"] == "t07"), "success"] = None
    found = trajectories.evaluate(load(rows, study="trajectories"), n_resamples=200).answer
    assert found
    assert "tasks that both tried" not in found.answer
    assert "tasks of both" not in found.decided_by.text


def test_a_column_task_is_the_task_and_of_an_agent_and_a_run_the_run_is_the_trial(tmp_path: Path) -> None:
    rows = given_to({"oak": range(20), "fern": range(20)}, {"oak": 4, "fern": 5})
    rows = rows.rename(columns={"id": "task", "model": "agent", "trial": "run", "success": "solved"})
    rows.assign(cost_usd=0.1).to_csv(tmp_path / "outcomes.csv", index=False)
    read = load(tmp_path / "outcomes.csv", study="trajectories")
    assert read.read_as["outcomes"] == {"task": "id", "agent": "model", "run": "trial", "solved": "mark"}
    oak = rows[rows["agent"] == "oak"].drop(columns="agent")
    alone = load(oak, study="trajectories")
    assert alone.read_as["outcomes"] == {"task": "id", "run": "trial", "solved": "mark"}
    named = load(oak.assign(run=["first", "second"] * 20), study="trajectories")
    assert named.read_as["outcomes"] == {"task": "id", "run": "model", "solved": "mark"}


def test_of_two_columns_that_may_be_the_trial_the_message_asks_which_is_meant(tmp_path: Path) -> None:
    rows = given_to({"oak": range(3)}, {"oak": 4}).rename(columns={"trial": "run"})
    rows.assign(attempt_number=rows["run"]).to_csv(tmp_path / "outcomes.csv", index=False)
    with pytest.raises(BadInput, match=r"which is meant: 'run' \(--map run=trial\) or 'attempt_number'"):
        load(tmp_path / "outcomes.csv", study="trajectories")


def test_a_table_with_one_bad_mark_is_told_apart_from_one_without_marks(tmp_path: Path) -> None:
    rows = given_to({"oak": range(20)}, {"oak": 4}).rename(columns={"id": "task", "success": "solved"})
    rows.loc[3, "solved"] = 7
    rows.to_csv(tmp_path / "outcomes.csv", index=False)
    found = load(tmp_path / "outcomes.csv")
    (offer,) = (one for one in found.offers if one.study == "trajectories")
    assert offer.missing == ()
    assert "column solved (read as mark): expected a finite number from 0 to 1" in offer.refused
    assert found.roles["solved"] == "outcome"


def test_marks_of_answers_are_no_outcomes_unless_an_agent_or_an_outcome_is_named() -> None:
    rows = pd.DataFrame({"id": [f"t{i}" for i in range(30)], "answer": "yes", "score": [0, 1] * 15})
    with pytest.raises(BadInput, match="step"):
        load(rows, study="trajectories")
    for named in (rows.assign(agent="oak"), rows.rename(columns={"score": "success"}), rows.drop(columns="answer")):
        assert load(named, study="trajectories")["outcomes"]["mark"].tolist() == [0, 1] * 15
