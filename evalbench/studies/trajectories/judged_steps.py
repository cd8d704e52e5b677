"""A judge's marks of single calls, by criteria of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.judge.criteria import Criterion
from evalbench.studies.trajectories import judging
from evalbench.studies.trajectories.cases import Case, lacks
from evalbench.studies.trajectories.inputs import Given

STEPS = ["run", "id", "task", "step", "judge", "criterion", "mark", "highest", "tool", "reason", "unscored", "detail"]


class Marked(NamedTuple):
    """The marks of calls.

    - ``columns``: By criterion, in the order of ``run``: the sum of the marks, 0–1, of a trajectory's calls, and how many have one, in
      ``…_n``; why there is none, in ``…_unscored``.
    - ``verdicts``: A row per call and criterion; ``id`` names the call, ``task`` its task.
    """

    columns: dict[str, Any]
    verdicts: pd.DataFrame
    notes: tuple[str, ...] = ()


def marked_steps(given: Given, cases: Sequence[Case], by: judging.By, docket: kit.judging.Docket, judge: str) -> Marked:
    """Every call marked by every criterion of steps, each a question of its own; calls that the record leaves out are not asked about."""
    if not by.steps:
        return Marked({}, pd.DataFrame(columns=STEPS))
    calls = given.steps.loc[given.steps["kind"] == "call", ["run", "step", "name"]]
    of_run = {run: own.to_dict("records") for run, own in calls.groupby("run")}
    columns: dict[str, Any] = {}
    frames, notes = [], []
    for figure, criterion in by.step_figures.items():
        core.progress.at(f"judging steps by {criterion.name}")
        ready = [(case, row) for case in cases if not lacks(criterion, case) for row in of_run.get(case.run, ())]
        asked = [(case, row) for case, row in ready if row["step"] in case.record.shown]
        found = docket.ask(
            judging.criterion_task(criterion, of_steps=True),
            [case.asked(criterion.name, row["step"]) for case, row in asked],
        )
        rows = [_row(case, row, criterion, j, judge) for (case, row), j in zip(asked, found, strict=True)]
        own = pd.DataFrame(rows, columns=STEPS).astype({"run": int, "step": int, "mark": float})
        frames.append(own)
        columns |= _summed(given, own, figure, criterion)
        if gone := len(ready) - len(asked):
            notes.append(
                f"Calls that the judge was not shown, which {criterion.name} does not mark: {gone} of {len(ready)}."
            )
        if (lost := own["unscored"] != "").any():
            notes.append(
                f"Calls without a verdict by {criterion.name}: {int(lost.sum())} of {len(own)} ({core.unscored.counted(own['unscored'])})."
            )
    return Marked(columns, pd.concat(frames, ignore_index=True), tuple(notes))


def _row(case: Case, row: Any, criterion: Criterion, judgement: Any, judge: str) -> tuple[Any, ...]:
    said = (judgement.value, max(criterion.scale), row["name"], judgement.reason, judgement.unscored, judgement.detail)
    return (case.run, case.asked("", row["step"]).id, case.task, row["step"], judge, criterion.name, *said)


def _summed(given: Given, own: pd.DataFrame, figure: str, criterion: Criterion) -> dict[str, Any]:
    low, high = min(criterion.scale), max(criterion.scale)
    each = own.assign(share=(own["mark"] - low) / (high - low)).groupby("run")
    runs = range(len(given.runs))
    n = each["share"].count().reindex(runs).fillna(0).to_numpy(dtype=float)
    lost = each["unscored"].agg(lambda why: next(filter(None, why), "")).reindex(runs).fillna("").to_numpy(dtype=object)
    marked = n > 0
    return {
        figure: np.where(marked, each["share"].sum().reindex(runs).to_numpy(dtype=float), np.nan),
        f"{figure}_n": np.where(marked, n, np.nan),
        f"{figure}_unscored": np.where(marked, "", lost).astype(object),
    }
