"""A study that takes one right answer, and a table that lists several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalbench.readers.role_values import first_cells
from evalbench.readers.roles import READ_AS, noted

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Table


def one_reference(frames: Mapping[str, pd.DataFrame], schema: Mapping[str, Table]) -> dict[str, pd.DataFrame]:
    """The raw frames of a study without a column ``reference`` of lists, where the study takes one text and can do without.

    A column of another name that was read as it is left alone: it is refused.
    """
    return {name: _without(frame, schema[name]) if name in schema else frame for name, frame in frames.items()}


def _without(frame: pd.DataFrame, table: Table) -> pd.DataFrame:
    column = table.column("reference")
    if column is None or column.type != "text" or column.required or "reference" not in frame:
        return frame
    if "reference" in frame.attrs.get(READ_AS, {}).values():
        return frame
    if not any(isinstance(cell, list) for cell in first_cells(frame["reference"])):
        return frame
    said = "column reference lists right answers, where the study takes one text: it is not used"
    return noted(frame.drop(columns="reference"), frame, {}, [said])
