"""What a judge is asked of trajectories, and by what: criteria of the whole, a taxonomy of failures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from evalbench import errors, kit, readers
from evalbench.judge.criteria import Criterion, read_criteria, task_of_criterion
from evalbench.judge.entail import BASELINE
from evalbench.judge.tasks import Task
from evalbench.judge.verdicts import Recording
from evalbench.readers import Column, Table
from evalbench.studies.trajectories.taxonomy import NO_FAILURE, Taxonomy, read_taxonomy, slug

T = TypeVar("T")
Judge = str | Callable[[dict[str, Any]], object]
CRITERIA = Path(__file__).with_name("criteria.yaml")
FAILURE = "failure"
"""The criterion of verdicts that name a kind of failure."""
JUDGED, JUDGED_STEPS = "judged_", "judged_calls_"
CHARACTERS = 24_000
_GIVEN = ("question", "policy", "expected", "forbidden")
_STEP = "step"

VERDICTS = Table(
    (
        Column("id", "id", help="the task"),
        Column("model", "id", groups=True, required=False, help="which agent"),
        Column("criterion", "text", role="none", help=f"what was judged: the name of a criterion, or {FAILURE}"),
        Column(
            "mark", "text", role="none", empty_ok=True, help="the mark, or the kind of failure; empty: there is none"
        ),
        Column(
            "step",
            "int",
            role="none",
            required=False,
            empty_ok=True,
            help="at which a failure happened, or the call that is marked",
        ),
        Column("reason", "text", role="none", required=False, empty_ok=True),
    ),
    unique=("id", "model", "criterion", "step"),
    trials="model",
    required=False,
    help="one row per trajectory and criterion: verdicts that were given before, for judge=recorded",
)


class By(NamedTuple):
    """What a judge judges by.

    - ``criteria``: Of the whole, the goal first.
    - ``taxonomy``: Of failures.
    - ``steps``: Of single calls.
    """

    criteria: tuple[Criterion, ...]
    taxonomy: Taxonomy
    steps: tuple[Criterion, ...] = ()

    @property
    def figures(self) -> dict[str, Criterion]:
        """The figure of each criterion."""
        return {figure_of(one.name): one for one in self.criteria}

    @property
    def step_figures(self) -> dict[str, Criterion]:
        """The figure of each criterion of calls."""
        return {figure_of(one.name, of_steps=True): one for one in self.steps}

    def named(self) -> dict[str, list[str]]:
        """What the figures rest on, for the options of the result."""
        return {
            "criteria": [one.name for one in self.criteria],
            "kinds": list(self.taxonomy.names),
            "step_criteria": [one.name for one in self.steps],
        }


NOBODY: Mapping[str, list[str]] = {"criteria": [], "kinds": [], "step_criteria": []}
"""What the figures of no judge rest on."""


def figure_of(criterion: str, *, of_steps: bool = False) -> str:
    """The figure of a criterion, of the whole or of calls.

    Examples
    --------
    >>> figure_of("Policy kept")
    'judged_policy_kept'
    """
    return (JUDGED_STEPS if of_steps else JUDGED) + re.sub(r"\W+", "_", criterion.strip().casefold())


def by_of(
    checks: kit.Checks, judge: Judge, criteria_file: str, taxonomy_file: str, step_criteria_file: str
) -> By | None:
    """What a judge judges by; None without a judge.  What is wrong with the files goes to the checks."""
    if not judge:
        checks.that(
            not (criteria_file or taxonomy_file or step_criteria_file),
            "criteria_file, step_criteria_file and taxonomy_file are a judge's: name one (judge=NAME)",
        )
        return None
    checks.that(judge != BASELINE, f"judge: {BASELINE} compares texts and cannot read a trajectory: name a chat model")
    criteria = checks.tried(lambda: _of_file("criteria_file", criteria_file or str(CRITERIA), read_criteria))
    steps = (
        checks.tried(lambda: _of_file("step_criteria_file", step_criteria_file, read_criteria))
        if step_criteria_file
        else ()
    )
    taxonomy = checks.tried(lambda: _of_file("taxonomy_file", taxonomy_file, read_taxonomy))
    if criteria is None or taxonomy is None or steps is None:
        return None
    by = By(criteria, taxonomy, steps)
    names = [slug(one.name) for one in (*criteria, *steps)]
    figures = [
        *map(figure_of, names[: len(criteria)]),
        *(figure_of(name, of_steps=True) for name in names[len(criteria) :]),
    ]
    checks.that(FAILURE not in names, f"the criterion {FAILURE!r} is ours: it is that of failures")
    for same in (names, figures):
        twice = [name for name in dict.fromkeys(same) if same.count(name) > 1]
        checks.that(not twice, f"several criteria are called {', '.join(twice)}: name them apart")
    return by


def _of_file(option: str, file: str, read: Callable[[str], T]) -> T:
    """What a file holds; each of its faults with the name of option and file."""
    try:
        return read(file)
    except errors.BadInput as error:
        if not error.faults:
            raise
        raise errors.BadInput.listing(
            f"{option}:", [f"{option} {Path(file).name}: {fault}" for fault in error.faults]
        ) from error


def criterion_task(criterion: Criterion, *, of_steps: bool = False) -> Task:
    """What a judge is asked to mark a trajectory by a criterion, or one of its calls."""
    own = task_of_criterion(replace(criterion, needs_basis="none"))
    name = f"{_STEP if of_steps else 'trajectory'}/{slug(criterion.name)}"
    fields = ("record", _STEP) if of_steps else ("record",)
    optional = _GIVEN if of_steps else (*_GIVEN, _STEP)
    return replace(own, name=name, prompt="trajectory", fields=fields, optional=optional)


def failure_task(taxonomy: Taxonomy) -> Task:
    """What a judge is asked to name the failure of a trajectory, and its step."""
    groups = [(group, [(kind.name, kind.definition) for kind in kinds]) for group, kinds in taxonomy.groups]
    return Task(
        FAILURE,
        ("record",),
        {NO_FAILURE: 1.0, **dict.fromkeys(taxonomy.names, 0.0)},
        optional=_GIVEN,
        context={"groups": groups, "nothing": NO_FAILURE},
        parts={
            "steps": (
                list[int],
                "the numbers of the steps at which it happened, the first one first; empty where nothing failed",
            )
        },
    )


def judge_of(
    judge: Judge, data: readers.Dataset, runs: pd.DataFrame, names: Sequence[str], by: By
) -> Judge | Recording:
    """The judge that is asked: for ``recorded`` the verdicts of the data set.

    Parameters
    ----------
    runs : DataFrame
        The names of the trajectories.
    names : sequence of str
        What each is called where a judge is asked.

    Raises
    ------
    BadInput
        If the data set has none, or lists verdicts on trajectories that are not there.
    """
    if judge != kit.judging.OWN_TABLE:
        return judge
    table = kit.judging.own_verdicts(data, "agent:MODEL or recorded:FILE")
    keys = ["id", "model", readers.schema.TRIAL]
    known: dict[str, Any] = {"model": kit.collecting.UNNAMED, readers.schema.TRIAL: "", "step": pd.NA, "reason": ""}
    own = table.assign(**{name: value for name, value in known.items() if name not in table})
    called = dict(zip(runs[keys].itertuples(index=False, name=None), names, strict=True))
    own = own.assign(name=[called.get(key, "") for key in own[keys].astype(str).itertuples(index=False, name=None)])
    if lost := own.loc[own["name"] == "", "id"].unique().tolist():
        raise errors.BadInput.listing("verdicts:", [f"{task}: no step and no outcome" for task in lost])
    tasks = {slug(one.name): criterion_task(one).name for one in by.criteria} | {FAILURE: FAILURE}
    tasks |= {slug(one.name): criterion_task(one, of_steps=True).name for one in by.steps}
    return Recording([_row(row, tasks) for row in own.to_dict("records") if row["mark"] != ""], kit.judging.OWN_TABLE)


def _row(row: Mapping[Any, Any], tasks: Mapping[str, str]) -> dict[str, Any]:
    """A verdict as :func:`evalbench.judge.recorded.read_recorded` takes it; one by a criterion that is not asked for is passed over."""
    task = tasks.get(slug(row["criterion"]), "of another criterion")
    steps = [] if pd.isna(row["step"]) else [int(row["step"])]
    name = step_name(row["name"], steps[0]) if task.startswith(f"{_STEP}/") and steps else row["name"]
    more = {"steps": steps} if task == FAILURE else {}
    return {"id": name, "task": task, "label": _whole(row["mark"]), "reason": row["reason"], **more}


def step_name(trajectory: str, step: int) -> str:
    """What a step is called where a judge is asked of it."""
    return f"{trajectory} / step {step}"


def _whole(mark: str) -> str:
    """A mark as scales have it: 1 for 1.0."""
    try:
        return f"{float(mark):g}"
    except ValueError:
        return mark


def names_of(runs: pd.DataFrame, repeated: bool) -> list[str]:
    """What each trajectory is called where a judge is asked: task, agent and trial, each once.

    Examples
    --------
    >>> names_of(pd.DataFrame({"id": ["a", "a"], "model": ["oak", "oak"], "trial": ["1", "2"]}), True)
    ['a / oak / 1', 'a / oak / 2']
    """
    out: dict[str, None] = {}
    for task, model, trial in runs[["id", "model", readers.schema.TRIAL]].itertuples(index=False, name=None):
        name = " / ".join([task, *([] if model == kit.collecting.UNNAMED else [model]), *([trial] if repeated else [])])
        while name in out:
            name += "′"
        out[name] = None
    return list(out)
