"""Planted tables of agents' trajectories."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from planted import ABSENT, IDS, TWO, Frames, Planted, Tables, ids, lights, otherwise, with_late

LIT = {"lights": {"success": {"green_from": 0.8, "yellow_from": 0.5}}}
BY_CALLS = {"success_by": "calls", **LIT}
FIND = '{"parcel_id": "%s"}'


def trajectories(
    n: int = 40, mark: Callable[[int], str] = lambda i: "1", argument: Callable[[str], str] = str
) -> Frames:
    """A question, one call with its result and an answer to each task; the call is the expected one unless ``argument`` changes it."""
    rows = []
    for task in ids(n):
        steps = [
            {"kind": "message", "role": "user", "text": f"Where is {task}?"},
            {"kind": "call", "name": "find_parcel", "arguments": FIND % argument(task)},
            {"kind": "result", "name": "find_parcel", "text": "in the depot"},
            {"kind": "message", "role": "assistant", "text": f"{task} is in the depot."},
        ]
        rows += [{"id": task, "model": "sound", "step": i, **step} for i, step in enumerate(steps)]
    expected = [[{"name": "find_parcel", "arguments": {"parcel_id": task}}] for task in ids(n)]
    outcomes = pd.DataFrame({"id": ids(n), "model": "sound", "mark": [mark(i) for i in range(n)]})
    tasks = pd.DataFrame({"id": ids(n), "expected": expected})
    return {"steps": pd.DataFrame(rows).fillna(""), "tasks": tasks, "outcomes": outcomes}


def late() -> Frames:
    own = trajectories()
    return {
        **own,
        "steps": with_late(own["steps"].drop(columns="model"), "model", "id"),
        "outcomes": with_late(own["outcomes"].drop(columns="model"), "model", "id"),
    }


def other_tasks() -> Frames:
    own = trajectories()
    return {**own, "tasks": otherwise(own["tasks"], "id")}


TABLES: Tables = {
    "trajectories": {
        "nothing_right": Planted(lambda: trajectories(mark=lambda i: "0"), r"success 0\.00", LIT),
        "all_right": Planted(trajectories, r"success 1\.00", LIT),
        "one_absent": Planted(late, ABSENT, LIT),
        "two_units": Planted(lambda: trajectories(2), TWO, LIT),
        "off_by_one": Planted(
            lambda: trajectories(argument=lambda task: f"q{int(task[1:]) + 1:02}"), r"success 0\.00", BY_CALLS,
            because="every call names the next parcel: by calls nothing is reached",
        ),
        "other_ids": Planted(other_tasks, IDS, LIT, lights("green", "yellow", "grey")),
        "all_equal": Planted(lambda: trajectories(mark=lambda i: "0.5"), r"success 0\.00", LIT),
    }
}  # fmt: skip
