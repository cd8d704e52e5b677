"""The tables of a file of trajectories as a study asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalbench.readers.nameless import UNNAMED
from evalbench.readers.schema import Table
from evalbench.readers.tools.shapes import clipped
from evalbench.readers.trajectories.frames import Trajectories

if TYPE_CHECKING:
    import pandas as pd


def fitted_tables(read: Trajectories, schema: Mapping[str, Table]) -> dict[str, pd.DataFrame]:
    """The tables that a study has, with rows, which are counted from 1; trials without a model have one named so, where others have one.

    Where the study's column ``error`` is a text, that of a failed result is the first line of what the tool said, and empty of any
    other step.  Outcomes without a single mark are left out.
    """
    steps, outcomes = read.steps, read.outcomes
    column = schema["steps"].column("error")
    if column is not None and column.type == "text" and "error" in steps:
        steps = steps.assign(error=_errors(steps))
    every = {"steps": steps, "tasks": read.tasks, "outcomes": outcomes if "mark" in outcomes else outcomes.iloc[:0]}
    return {
        name: _named(frame).set_axis(range(1, len(frame) + 1))
        for name, frame in every.items()
        if name in schema and len(frame)
    }


def _errors(steps: pd.DataFrame) -> list[str]:
    said = steps["text"] if "text" in steps else [None] * len(steps)
    return [
        (clipped(text) if isinstance(text, str) and text.strip() else "failed") if failed == 1 else ""
        for failed, text in zip(steps["error"], said, strict=True)
    ]


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(model=frame["model"].where(frame["model"] != "", UNNAMED)) if "model" in frame else frame
