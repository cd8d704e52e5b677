"""The tables of a file of trajectories as a study asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from evalbench.readers.nameless import UNNAMED
from evalbench.readers.schema import Table
from evalbench.readers.tools.shapes import clipped
from evalbench.readers.trajectories.frames import Trajectories

if TYPE_CHECKING:
    import pandas as pd


def fitted_tables(read: Trajectories, schema: Mapping[str, Table]) -> dict[str, pd.DataFrame]:
    """The tables that a study has, with rows, which are counted from 1; trials without a model have one named so, where others have one.

    Where the study's column ``error`` is a text, that of a failed result is the first line of what the tool said, and empty of any
    other step.  Outcomes without a single mark are left out; so is why a trial ended, which its last step says, where the study has no
    column for it.
    """
    steps, outcomes = read.steps, read.outcomes
    column = schema["steps"].column("error")
    if column is not None and column.type == "text" and "error" in steps:
        steps = steps.assign(error=_errors(steps))
    if "ended" in outcomes and "outcomes" in schema and schema["outcomes"].column("ended") is None:
        outcomes = outcomes.drop(columns="ended")
    every = {
        "steps": steps,
        "tasks": read.tasks,
        "tools": read.tools,
        "outcomes": outcomes if "mark" in outcomes else outcomes.iloc[:0],
    }
    return {
        name: _without_nulls(_named(frame)).set_axis(range(1, len(frame) + 1))
        for name, frame in every.items()
        if name in schema and len(frame)
    }


def _errors(steps: pd.DataFrame) -> pd.Series:
    import pandas as pd

    failed = np.flatnonzero(steps["error"].to_numpy() == 1)
    said = steps["text"].iloc[failed] if "text" in steps else [None] * len(failed)
    out = np.full(len(steps), "", dtype=object)
    out[failed] = [clipped(text) if isinstance(text, str) and text.strip() else "failed" for text in said]
    return pd.Series(out, steps.index, dtype="str")


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(model=frame["model"].where(frame["model"] != "", UNNAMED)) if "model" in frame else frame


def _without_nulls(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(
        **{str(name): frame[name].fillna("") for name in frame if frame[name].dtype == "str" and frame[name].hasnans}
    )
