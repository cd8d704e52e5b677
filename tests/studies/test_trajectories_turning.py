"""Where failed trials leave the way: arguments that are new in every trial do not count."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core, load
from evalbench.studies import trajectories

Calls = Sequence[tuple[str, Mapping[str, Any]]]


def judged(trials: Mapping[tuple[str, int], tuple[int, Calls]]) -> core.Result:
    """Task and trial → mark and calls."""
    rows = [
        {"id": task, "trial": trial, "step": i, "kind": "call", "name": name, "arguments": json.dumps(given), "mark": mark}
        for (task, trial), (mark, calls) in trials.items()
        for i, (name, given) in enumerate(calls)
    ]  # fmt: skip
    return trajectories.evaluate(load({"steps": pd.DataFrame(rows)}, study="trajectories"), n_resamples=50)


def ordered(task: str, trial: int, seat: str) -> Calls:
    return [("find", {"order": task, "request": f"{task}-{trial}"}), ("book", {"seat": seat}), ("pay", {})]


def test_an_argument_that_is_new_in_every_trial_is_not_where_a_failed_one_leaves_the_way() -> None:
    trials = {(task, trial): (1, ordered(task, trial, "1A")) for task in ("a", "b", "c") for trial in (1, 2)}
    trials |= {(task, 3): (0, ordered(task, 3, "9Z")) for task in ("a", "b", "c")}
    result = judged(trials)
    turns = result.tables["turning_points"]
    assert turns["name"].tolist() == ["book"] * 3
    assert turns["kind"].tolist() == ["other arguments"] * 3
    assert turns["at"].tolist() == [2] * 3
    assert any("do not count where failed ones leave the way: find(request)." in note for note in result.notes)


def test_an_argument_that_successful_trials_share_counts() -> None:
    trials = {(task, trial): (1, ordered("x", 0, "1A")) for task in ("a", "b") for trial in (1, 2)}
    trials |= {(task, 3): (0, ordered("y", 0, "1A")) for task in ("a", "b")}
    result = judged(trials)
    assert result.tables["turning_points"]["name"].tolist() == ["find"] * 2
    assert not any("are new in every trajectory" in note for note in result.notes)


def test_one_successful_trial_a_task_does_not_show_that_an_argument_is_new_in_every_one() -> None:
    trials = {(task, 1): (1, ordered(task, 1, "1A")) for task in ("a", "b", "c")}
    trials |= {(task, 2): (0, ordered(task, 2, "1A")) for task in ("a", "b", "c")}
    assert judged(trials).tables["turning_points"]["name"].tolist() == ["find"] * 3


def test_failed_calls_made_good_are_of_the_tasks_with_a_failed_call() -> None:
    rows = [("a", 1, "call", "find", "late"), ("a", 2, "call", "find", ""), ("b", 1, "call", "find", ""), ("c", 1, "call", "find", "")]  # fmt: skip
    steps = pd.DataFrame(rows, columns=["id", "step", "kind", "name", "error"])
    found = trajectories.evaluate(load({"steps": steps}, study="trajectories"), n_resamples=50)
    made_good = found.estimate("recovered_errors", model="model not named")
    assert (made_good.value, made_good.n, made_good.n_undefined) == (1.0, 1, 2)
