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
OWN_TABLE = "recorded"
CRITERIA = Path(__file__).with_name("criteria.yaml")
FAILURE = "failure"
"""The criterion of verdicts that name a kind of failure."""
JUDGED = "judged_"
CHARACTERS = 24_000
_GIVEN = ("question", "policy", "expected", "forbidden")

VERDICTS = Table(
    (
        Column("id", "id", help="the task"),
        Column("model", "id", groups=True, required=False, help="which agent"),
        Column("criterion", "text", role="none", help=f"what was judged: the name of a criterion, or {FAILURE}"),
        Column(
            "mark", "text", role="none", empty_ok=True, help="the mark, or the kind of failure; empty: there is none"
        ),
        Column("step", "int", role="none", required=False, empty_ok=True, help="at which a failure happened"),
        Column("reason", "text", role="none", required=False, empty_ok=True),
    ),
    unique=("id", "model", "criterion"),
    trials="model",
    required=False,
    help="one row per trajectory and criterion: verdicts that were given before, for judge=recorded",
)


class By(NamedTuple):
    """What a judge judges by.

    - ``criteria``: Of the whole, the goal first.
    - ``taxonomy``: Of failures.
    """

    criteria: tuple[Criterion, ...]
    taxonomy: Taxonomy

    @property
    def figures(self) -> dict[str, Criterion]:
        """The figure of each criterion."""
        return {figure_of(one.name): one for one in self.criteria}

    def named(self) -> dict[str, list[str]]:
        """What the figures rest on, for the options of the result."""
        return {"criteria": [one.name for one in self.criteria], "kinds": list(self.taxonomy.names)}


def figure_of(criterion: str) -> str:
    """The figure of a criterion.

    Examples
    --------
    >>> figure_of("Policy kept")
    'judged_policy_kept'
    """
    return JUDGED + re.sub(r"\W+", "_", criterion.strip().casefold())


def by_of(checks: kit.Checks, judge: Judge, criteria_file: str, taxonomy_file: str) -> By | None:
    """What a judge judges by; None without a judge.  What is wrong with the files goes to the checks."""
    if not judge:
        checks.that(
            not (criteria_file or taxonomy_file), "criteria_file and taxonomy_file are a judge's: name one (judge=NAME)"
        )
        return None
    checks.that(judge != BASELINE, f"judge: {BASELINE} compares texts and cannot read a trajectory: name a chat model")
    criteria = checks.tried(lambda: _of_file("criteria_file", criteria_file, _criteria))
    taxonomy = checks.tried(lambda: _of_file("taxonomy_file", taxonomy_file, read_taxonomy))
    return None if criteria is None or taxonomy is None else By(criteria, taxonomy)


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


def _criteria(file: str) -> tuple[Criterion, ...]:
    found = read_criteria(file or CRITERIA)
    figures = [figure_of(one.name) for one in found]
    faults = [
        f"the criterion {one.name!r} is ours: it is that of failures" for one in found if slug(one.name) == FAILURE
    ]
    faults += [
        f"several criteria have the figure {name}: name them apart"
        for name in dict.fromkeys(figures)
        if figures.count(name) > 1
    ]
    if faults:
        raise errors.BadInput.listing(f"{file}: these criteria cannot be used:", faults)
    return found


def criterion_task(criterion: Criterion) -> Task:
    """What a judge is asked to mark a trajectory by a criterion."""
    own = task_of_criterion(replace(criterion, needs_basis="none"))
    return replace(
        own, name=f"trajectory/{slug(criterion.name)}", prompt="trajectory", fields=("record",), optional=_GIVEN
    )


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
    if judge != OWN_TABLE:
        return judge
    table = data.get("verdicts")
    if table is None:
        raise errors.BadInput(
            "judge='recorded' reads the verdicts of the data set, which has no table verdicts: give one, or another judge: a chat model "
            "(openai/MODEL, local/smollm2-135m), agent:MODEL or recorded:FILE"
        )
    keys = ["id", "model", readers.schema.TRIAL]
    known = {"model": kit.collecting.UNNAMED, readers.schema.TRIAL: "", "step": pd.NA, "reason": ""}
    own = table.assign(**{name: value for name, value in known.items() if name not in table})
    called = dict(zip(runs[keys].itertuples(index=False, name=None), names, strict=True))
    own = own.assign(name=[called.get(key, "") for key in own[keys].astype(str).itertuples(index=False, name=None)])
    if lost := own.loc[own["name"] == "", "id"].unique().tolist():
        raise errors.BadInput.listing("verdicts:", [f"{task}: no step and no outcome" for task in lost])
    tasks = {slug(one.name): criterion_task(one).name for one in by.criteria} | {FAILURE: FAILURE}
    return Recording([_row(row, tasks) for row in own.to_dict("records") if row["mark"] != ""], OWN_TABLE)


def _row(row: Mapping[Any, Any], tasks: Mapping[str, str]) -> dict[str, Any]:
    """A verdict as :func:`evalbench.judge.recorded.read_recorded` takes it; one by a criterion that is not asked for is passed over."""
    task = tasks.get(slug(row["criterion"]), "of another criterion")
    steps = {"steps": [] if pd.isna(row["step"]) else [int(row["step"])]} if task == FAILURE else {}
    return {"id": row["name"], "task": task, "label": _whole(row["mark"]), "reason": row["reason"], **steps}


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
