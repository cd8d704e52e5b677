"""Trials without a mark and trials that are not there: they count for what they show, and hold a light back."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from evalbench import core, load
from evalbench.studies import trajectories

LIT = {"success": {"green_from": 0.8, "yellow_from": 0.6}}


def steps_of(n: int = 24, model: str = "oak", mark: Any = 1, trials: tuple[int, ...] = (1, 2)) -> pd.DataFrame:
    """Each trial has one call, and an answer to it."""
    return pd.DataFrame(
        {"id": f"t{i:02}", "model": model, "trial": trial, "step": step, "kind": kind, "name": "find", "error": "", "mark": mark}
        for i in range(n)
        for trial in trials
        for step, kind in enumerate(("call", "result"))
    )  # fmt: skip


def judged(steps: pd.DataFrame, tasks: pd.DataFrame | None = None, **options: Any) -> core.Result:
    tables = {"steps": steps} if tasks is None else {"steps": steps, "tasks": tasks}
    return trajectories.evaluate(load(tables, study="trajectories"), n_resamples=100, **options)


def test_calls_of_trials_without_a_mark_count_and_their_marks_hold_the_light_back() -> None:
    steps = steps_of()
    second = steps["trial"] == 2
    steps.loc[second, "mark"] = None
    steps.loc[second & (steps["kind"] == "result"), "error"] = "boom"
    result = judged(steps, lights=LIT)
    assert result.estimate("failed_calls", model="oak").value == 0.5
    success = result.estimate("success", model="oak")
    assert (success.value, success.light, result.verdict.light, result.verdict.would_be) == (
        1.0,
        "grey",
        "grey",
        "green",
    )
    assert success.note == "24 of 48 trials have no mark; 0.5 if every unmarked trial had failed"
    assert result.answer.answer.startswith("Oak reaches the goal in 100% of trials (24 scored); 24 of 48 trials have no mark.")  # fmt: skip
    assert judged(steps, lights={"failed_calls": {"green_to": 0.6, "yellow_to": 0.9}}).verdict.light == "green"


def test_trials_that_are_not_there_hold_the_light_back_and_no_agent_is_named_better() -> None:
    both = pd.concat([steps_of(trials=(1, 2, 3)), steps_of(model="elm", trials=(1, 2, 3))], ignore_index=True)
    gone = (both["model"] == "oak") & (both["trial"] == 3) & (both["id"] < "t10")
    result = judged(both[~gone], lights=LIT)
    assert result.verdict.light == "grey"
    assert "10 of 72 trials of oak are absent" in result.estimate("success", model="oak").note + result.verdict.sentence
    assert "which is better is not known: 10 of 72 trials of oak are absent" in result.answer.answer
    alone = judged(steps_of(trials=(1, 2, 3)).drop(columns="model"), lights=LIT)
    assert alone.verdict.light == "green"


def test_agents_that_were_tried_a_different_number_of_times_lack_none() -> None:
    both = pd.concat([steps_of(trials=(1, 2, 3)), steps_of(model="elm", trials=(1,))], ignore_index=True)
    assert judged(both, lights=LIT).verdict.light == "green"


def test_a_forbidden_call_is_red_whatever_else_is_missing() -> None:
    steps = steps_of()
    steps.loc[steps["trial"] == 2, "mark"] = None
    steps.loc[(steps["id"] == "t03") & (steps["trial"] == 2), "name"] = "wire"
    elm = steps_of(model="elm")
    tasks = pd.DataFrame({"id": steps["id"].unique()}).assign(forbidden=json.dumps(["wire"]))
    result = judged(pd.concat([steps, elm], ignore_index=True), tasks, lights=LIT)
    assert result.verdict.light == "red"
    assert result.verdict.stability is None
    lights = {e.group["model"]: e.light for e in result.summary.estimates if e.metric == "forbidden_calls"}
    assert lights == {"oak": "red", "elm": "unlit"}
    assert result.estimate("forbidden_calls", model="oak").value == pytest.approx(1 / 48)


def test_tasks_that_expect_no_call_are_not_reached_by_making_none() -> None:
    steps = steps_of(n=3, trials=(1,))
    calls = [[{"name": "find", "arguments": {}}], [], []]
    tasks = pd.DataFrame({"id": ["t00", "t01", "t02"], "expected": [json.dumps(own) for own in calls]})
    result = judged(steps, tasks, success_by="calls")
    success = result.estimate("success", model="oak")
    assert (success.value, success.n, success.n_undefined) == (1.0, 1, 2)
    assert result.estimate("call_recall", model="oak").n == 1
    assert any(note.startswith("Tasks that expect no call: 2 of 3. Each of their 2 calls counts") for note in result.notes)  # fmt: skip


def test_a_limit_that_trajectories_exceed_has_ended_none() -> None:
    steps = steps_of(mark=0)
    tasks = pd.DataFrame({"id": steps["id"].unique(), "max_steps": 2})
    assert judged(steps, tasks).estimate("ended_by_limit", model="oak").value == 1.0
    beyond = judged(steps, tasks.assign(max_steps=1))
    assert not [e for e in beyond.summary.estimates if e.metric == "ended_by_limit"]
    assert any(note.startswith("Trajectories with more steps than max_steps: 48 of 48.") for note in beyond.notes)


def test_all_of_k_trials_of_few_tasks_have_an_interval_of_a_share() -> None:
    marks = pd.DataFrame(
        {"id": f"t{i:02}", "trial": t, "mark": int(i == 0 or t == 1)} for i in range(40) for t in (1, 2, 3)
    )
    result = trajectories.evaluate(load(marks, study="trajectories"), n_resamples=100)
    every = next(e for e in result.summary.estimates if e.metric == "pass_hat_k")
    assert (every.value, every.ci_low, every.ci_high) == pytest.approx((0.025, 0.0013, 0.1288), abs=1e-4)


@pytest.mark.parametrize("word", ["error", "Timeout", " crashed "])
def test_words_for_a_crash_are_no_failure(word: str) -> None:
    marks = pd.DataFrame({"task": [f"t{i}" for i in range(6)], "result": ["pass", "fail", word] * 2})
    result = trajectories.evaluate(load(marks, study="trajectories"), n_resamples=100)
    success = next(e for e in result.summary.estimates if e.metric == "success")
    assert (success.value, success.n, success.n_unscored) == (0.5, 4, 2)
    assert any("was read as empty" in note or "were read as empty" in note for note in result.notes)


def test_requirements_alone_have_a_page() -> None:
    rows = [("a", "R0", True, []), ("a", "R1", False, ["R0"]), ("b", "R0", True, [])]
    frame = pd.DataFrame(rows, columns=["id", "requirement", "met", "needs"])
    result = trajectories.evaluate(load(frame, study="trajectories"), success_by="requirements", n_resamples=100)
    assert next(e for e in result.summary.estimates if e.metric == "success").value == 0.5
