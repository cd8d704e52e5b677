"""A judge's verdicts on trajectories: marks of the whole by criteria, the kind of a failure and its step, which is looked up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit, readers
from evalbench.judge.criteria import Criterion
from evalbench.judge.verdicts import Judgement, judge_name
from evalbench.studies.trajectories import judging
from evalbench.studies.trajectories.cases import Case, cases_of, lacks
from evalbench.studies.trajectories.inputs import RUN, Given
from evalbench.studies.trajectories.judged_steps import marked_steps
from evalbench.studies.trajectories.record import Record
from evalbench.studies.trajectories.taxonomy import NO_FAILURE

NO_STEP: core.unscored.Unscored = "no-such-step"

FAILURES, KIND = "failures", "failure_"
VERDICTS = ["run", "judge", "criterion", "mark", "reason", "question", "unscored", "detail"]
FAULTS = [*VERDICTS[:4], "group", "step", *VERDICTS[4:]]


class Judged(NamedTuple):
    """What a judge said of trajectories.

    - ``columns``: In the order of ``run``: the mark of each criterion, 0–1, ``failures`` and ``failure_KIND``, 0 or 1, each without a
      value where there is no verdict; of criteria and failures why, in ``…_unscored``.
    - ``verdicts``, ``faults``, ``steps``: A row per trajectory and criterion, per trajectory, and per call and criterion of steps; as
      ``judge_audit`` reads them, with ``run``.
    """

    columns: pd.DataFrame
    verdicts: pd.DataFrame
    faults: pd.DataFrame
    steps: pd.DataFrame = pd.DataFrame({"run": []})
    heard: tuple[kit.judging.Heard, ...] = ()
    notes: tuple[str, ...] = ()
    by: judging.By | None = None

    @property
    def goal(self) -> str:
        """The figure of the goal: that of the first criterion; empty without a judge."""
        return next(iter(self.by.figures), "") if self.by else ""


def judged(
    given: Given,
    data: readers.Dataset,
    by: judging.By | None,
    judge: judging.Judge,
    most: int,
    success_from: float,
    **settings: Any,
) -> Judged:
    """Ask a judge of every trajectory that has a step.

    Parameters
    ----------
    by : By or None
        None: nobody is asked.
    most : int
        Characters of a record, see :func:`~evalbench.studies.trajectories.record.record_of`.
    success_from : float
        Least mark (0–1) of a success.
    **settings
        ``prompt``, ``seed``, ``max_tokens`` of the judge.

    Raises
    ------
    BadInput
        As :func:`evalbench.judge.verdicts.judge` does, and for a data set without the verdicts that ``recorded`` reads.
    """
    if by is None:
        nothing = pd.DataFrame(index=range(len(given.runs)))
        return Judged(nothing, pd.DataFrame(columns=VERDICTS), pd.DataFrame(columns=FAULTS))
    names = judging.names_of(given.runs[list(RUN)], given.repeated)
    asked = judging.judge_of(judge, data, given.runs[list(RUN)], names, by)
    core.progress.at("records for the judge")
    cases = cases_of(given, names, most)
    docket = kit.judging.Docket(asked, **settings)
    columns: dict[str, Any] = {}
    frames, notes = [], [*_cut(cases, len(given.runs), most)]
    for figure, criterion in by.figures.items():
        core.progress.at(f"judging {criterion.name}")
        ready = [case for case in cases if not lacks(criterion, case)]
        found = docket.ask(judging.criterion_task(criterion), [case.asked(criterion.name) for case in ready])
        columns[figure], columns[f"{figure}_unscored"] = _marks(given, criterion, ready, cases, found)
        frames.append(_verdicts(ready, criterion, found, judge_name(asked)))
        if lacking := len(cases) - len(ready):
            what = "expected calls" if criterion.needs_basis == "ground_truth" else "a policy"
            notes.append(
                f"Trajectories without {what}, which are not marked by {criterion.name}: {lacking} of {len(cases)}."
            )
    core.progress.at("judging failures")
    faults = _faults(
        cases,
        docket.ask(judging.failure_task(by.taxonomy), [case.asked(judging.FAILURE) for case in cases]),
        by,
        judge_name(asked),
    )
    columns |= _kinds(given, faults, by)
    steps = marked_steps(given, cases, by, docket, judge_name(asked))
    columns |= steps.columns
    verdicts = pd.concat(frames, ignore_index=True)[VERDICTS]
    notes += [*_missing(verdicts, faults), *_beside_marks(given, columns[next(iter(by.figures))], success_from)]
    notes += steps.notes
    return Judged(pd.DataFrame(columns), verdicts, faults, steps.verdicts, (docket.heard(),), tuple(notes), by)


# -- what was said ----------------------------------------------------------------------------------


def _marks(
    given: Given, criterion: Criterion, ready: Sequence[Case], cases: Sequence[Case], found: Sequence[Judgement]
) -> tuple[core.Floats, np.ndarray[Any, Any]]:
    """The mark of each trajectory, from 0 to 1, and why it should have one and has none."""
    low, high = min(criterion.scale), max(criterion.scale)
    marks, lost = np.full(len(given.runs), np.nan), np.full(len(given.runs), kit.answers.NO_OUTPUT, dtype=object)
    lost[[case.run for case in cases]] = ""
    for case, judgement in zip(ready, found, strict=True):
        lost[case.run] = judgement.unscored
        if not judgement.unscored:
            marks[case.run] = (judgement.value - low) / (high - low)
    return marks, lost


def _verdicts(cases: Sequence[Case], criterion: Criterion, found: Sequence[Judgement], judge: str) -> pd.DataFrame:
    rows = [
        (case.run, judge, criterion.name, j.value, j.reason, case.fields["question"], j.unscored, j.detail)
        for case, j in zip(cases, found, strict=True)
    ]
    return pd.DataFrame(rows, columns=VERDICTS).astype({"run": int, "mark": float})


def _faults(cases: Sequence[Case], found: Sequence[Judgement], by: judging.By, judge: str) -> pd.DataFrame:
    group = {kind.name: kind.group for kind in by.taxonomy.kinds}
    rows = []
    for case, j in zip(cases, found, strict=True):
        step, why, detail = _step_of(case.record, j)
        kind = "" if why else j.label
        rows.append(
            (
                case.run,
                judge,
                judging.FAILURE,
                kind,
                group.get(kind, ""),
                step,
                j.reason,
                case.fields["question"],
                why,
                detail,
            )
        )
    return pd.DataFrame(rows, columns=FAULTS).astype({"run": int, "step": "Int64"})


def _step_of(record: Record, judgement: Judgement) -> tuple[int | None, str, str]:
    """The step at which a failure happened; why a verdict that names none, or one that the judge was not shown, does not count."""
    if judgement.unscored or judgement.label == NO_FAILURE:
        return None, judgement.unscored, judgement.detail
    steps = [int(step) for step in judgement.parts["steps"]]
    if not steps:
        return None, NO_STEP, f"{judgement.label} at no step"
    if strange := [step for step in steps if step not in record.shown]:
        return (
            None,
            NO_STEP,
            f"{judgement.label} at step {strange[0]}, which the record that the judge was given has not",
        )
    return steps[0], "", ""


def _kinds(given: Given, faults: pd.DataFrame, by: judging.By) -> dict[str, Any]:
    kinds = faults.set_index("run")["mark"].reindex(range(len(given.runs)))
    lost = faults.set_index("run")["unscored"].reindex(range(len(given.runs))).fillna(kit.answers.NO_OUTPUT)
    known = (lost == "").to_numpy()
    said = {FAILURES: kinds != NO_FAILURE, **{f"{KIND}{name}": kinds == name for name in by.taxonomy.names}}
    columns: dict[str, Any] = {name: np.where(known, own.to_numpy(dtype=float), np.nan) for name, own in said.items()}
    return {**columns, f"{FAILURES}_unscored": lost.to_numpy(dtype=object)}


# -- what a reader should know ----------------------------------------------------------------------


def _cut(cases: Sequence[Case], n: int, most: int) -> list[str]:
    cut = [case.record for case in cases if case.record.left_out or case.record.shortened]
    if not cut:
        return []
    steps, letters = sum(one.left_out for one in cut), sum(one.shortened for one in cut)
    return [
        f"Trajectories longer than the {most:,} characters that the judge is given (judge_max_characters): {len(cut)} of {n}. Left out of their "
        f"middle: {core.counted(steps, 'step')}, and {letters:,} characters of others, as the prompt says."
    ]


def _missing(verdicts: pd.DataFrame, faults: pd.DataFrame) -> list[str]:
    every = pd.concat([verdicts, faults], ignore_index=True)
    said = [
        f"{criterion} {int((own != '').sum())} of {len(own)} ({core.unscored.counted(own)})"
        for criterion, own in every.groupby("criterion", sort=False)["unscored"]
        if (own != "").any()
    ]
    return [f"Trajectories without a verdict of the judge: {'; '.join(said)}."] if said else []


def _beside_marks(given: Given, goal: core.Floats, success_from: float) -> list[str]:
    """How often the judge and the marks of the tables say the same of the goal."""
    marks = given.runs["mark"].to_numpy(dtype=float)
    both = np.isfinite(marks) & np.isfinite(goal)
    if not both.any():
        return []
    least = success_from - kit.verdicts.ROUNDING
    same = int(((marks[both] >= least) == (goal[both] >= least)).sum())
    return [
        f"Judge and marks of the tables say the same of the goal in {same} of {int(both.sum())} trajectories that have both."
    ]
