"""What is made of the steps of trajectories, of whole tasks at a time, before anything is counted or judged over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit, readers
from evalbench.studies.trajectories import calls as called
from evalbench.studies.trajectories import inputs, requirements, said

RUN = "run"
CALLS, MISSED, CLAIMS, UNGROUNDED, REQUIRED, COUNTS = "calls", "missed", "claims", "ungrounded", "required", "counts"
_STEPS, _RUNS, _EXPECTED, _TASKS, _BLAMES = "steps", "runs", "expected", "tasks", "blames"
OPTIONS = ("ignore_arguments", "argument_similarity")


def made_of(data: readers.Dataset, options: Mapping[str, Any]) -> kit.parts.Made:
    """The tables joined, with their calls, claims and requirements; trajectories are numbered in ``run``.

    - ``options``: :data:`OPTIONS`, and ``has_steps``: whether any table has a step.

    Raises ``BadInput``: See :func:`inputs.check`, :func:`inputs.given`, :func:`requirements.counted`.
    """
    inputs.check(data)
    given = inputs.given(data, has_steps=options["has_steps"])
    core.progress.at("calls")
    calls, missed = called.calls_of(given, *(options[name] for name in OPTIONS))
    core.progress.at("claims")
    claims, ungrounded = said.claims_of(given)
    required, counts = requirements.counted(given.requirements, given.runs)
    tables = {
        _STEPS: given.steps,
        _RUNS: given.runs,
        _EXPECTED: given.expected,
        _TASKS: pd.DataFrame({"id": sorted(given.tasks_known)}),
        CALLS: calls,
        MISSED: missed,
        CLAIMS: claims,
        UNGROUNDED: ungrounded,
        REQUIRED: required,
        COUNTS: counts,
    }
    return kit.parts.Made(
        given.runs[["id", "model"]],
        tables=tables if given.blames is None else {**tables, _BLAMES: given.blames},
        n=len(given.runs),
        numbered=RUN,
        nested={_RUNS: ["forbidden"], _EXPECTED: ["arguments"], MISSED: ["arguments"]},
    )


def given_of(made: kit.parts.Made, data: readers.Dataset) -> inputs.Given:
    """The tables of all tasks joined."""
    tables = made.tables
    return inputs.Given(
        tables[_STEPS],
        tables[_RUNS],
        tables[_EXPECTED],
        readers.schema.TRIAL in data["steps"],
        frozenset(tables[_TASKS]["id"]),
        blames=tables.get(_BLAMES),
        tools=inputs.checks_of(data),
    )
