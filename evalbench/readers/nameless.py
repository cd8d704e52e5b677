"""Rows that name no model in a table whose other rows name one: a group of its own, with a note of their number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from evalbench.core.notes import Note
from evalbench.core.wording import count, counted, listed
from evalbench.readers.cells import absent_cells
from evalbench.readers.frames import raw_cells
from evalbench.readers.large import Large, is_dealt, missing_of_all
from evalbench.readers.roles import READ_AS
from evalbench.readers.schema import STREAM

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Table

MODEL, UNNAMED = "model", "model not named"
GROUP, LEFT_OUT = "a group", "left out"
"""What rows without a model are in a table of which only a part is at hand."""
A_FEW = 0.05
"""Up to this share of rows without a model are no group beside those that name one."""


def with_models(frame: pd.DataFrame, column: str = MODEL) -> tuple[pd.DataFrame, list[str]]:
    """A raw frame with the group :data:`UNNAMED` where a row names no model, and a note of it.

    A column without any name is left out.

    Examples
    --------
    >>> import pandas as pd
    >>> frame, notes = with_models(pd.DataFrame({"id": [1, 2], "model": ["tiny", None]}))
    >>> frame["model"].tolist(), notes
    (['tiny', 'model not named'], ['1 of 2 rows names no model; it is the group “model not named”'])
    """
    empty = absent_cells(frame[column])
    if not empty.any():
        return frame, []
    how = "" if empty.all() else GROUP
    return _with(frame, column, how), [_said(how, int(empty.sum()), len(frame), column)]


def a_group(n: int, of: int) -> str:
    """The note of rows without a model beside others."""
    name, they = ("names", "it is") if n == 1 else ("name", "they are")
    return f"{n} of {counted(of, 'row')} {name} no model; {they} the group “{UNNAMED}”"


def _with(frame: pd.DataFrame, column: str, how: str) -> pd.DataFrame:
    """A raw frame whose rows without a model are a group, or left out; without the column where no row names one."""
    empty = absent_cells(frame[column])
    if how == GROUP:
        kept = frame.assign(**{column: raw_cells(frame[column].astype(object).where(~empty, UNNAMED))[0]})
    elif how == LEFT_OUT:
        kept = frame[~empty]
    else:
        kept = frame.drop(columns=column) if empty.all() else frame
    kept.attrs |= frame.attrs
    return kept


def _said(how: str, n: int, of: int, column: str, rows: str = "") -> str:
    """The note of it.

    - ``rows``: Which are left out, in words.
    """
    if how == GROUP:
        return a_group(n, of)
    if how != LEFT_OUT:
        return f"no row names a model: the empty column {column} is not used"
    name, they = ("names", "it is") if n == 1 else ("name", "they are")
    short = f"{count(n)} of {counted(of, 'row')} {name} no model{rows}, so that {they} left out"
    return Note("sample", short, f"{short}: a total? A name in column {column} keeps a row")


def _without_few(frame: pd.DataFrame, column: str) -> tuple[pd.DataFrame, list[str]]:
    """A raw frame without the few rows that name no model, such as a row of totals, and a note with their numbers; else as it is."""
    empty = absent_cells(frame[column])
    n = int(empty.sum())
    if not 0 < n <= A_FEW * len(frame) or STREAM in frame.attrs:
        return frame, []
    rows = f" (row{'s' * (n > 1)} {listed([str(row) for row in frame.index[empty]])})"
    return _with(frame, column, LEFT_OUT), [_said(LEFT_OUT, n, len(frame), column, rows)]


def _of_all(frame: pd.DataFrame, column: str) -> tuple[pd.DataFrame, list[str]]:
    """A raw frame of a table that is dealt: what rows without a model are is decided of all its rows, for the sample and for every part.

    The note is with the sample, of which it is decided.
    """
    large: Large = frame.attrs[STREAM]
    notes: list[str] = []
    if large.nameless is None:
        own = {name: source for source, name in frame.attrs.get(READ_AS, {}).items()}.get(column)
        n = missing_of_all(large, own or large.renamed.get(column, column))
        how = "" if n in (0, large.rows) else LEFT_OUT if n <= A_FEW * large.rows else GROUP
        large = replace(large, nameless=how)
        notes = [_said(how, n, large.rows, column)] if n else []
    kept = _with(frame, column, str(large.nameless))
    kept.attrs[STREAM] = large
    return kept, notes


def of_tables(
    frames: Mapping[str, pd.DataFrame], schema: Mapping[str, Table], renames: Mapping[str, str]
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Tables after :func:`with_models`, without the rows where these are few, and the notes, by table: those whose rows are answers, of models that they may name.

    A row of a span or a score without a model is refused by the schema: a group of its own would lack all the others.
    """
    out = dict(frames)
    notes: dict[str, str] = {}
    for name, frame in frames.items():
        column = schema[name].column(MODEL) if name in schema and not schema[name].lists else None
        if column is None or column.required or column.empty_ok or MODEL not in schema[name].unique or frame.empty:
            continue
        meant = [str(c) for c in frame.columns if renames.get(str(c), str(c)) == MODEL]
        if len(meant) == 1 and is_dealt(frame):
            out[name], said = _of_all(frame, meant[0])
            notes |= {name: said[0]} if said else {}
        elif len(meant) == 1:
            out[name], said = _without_few(frame, meant[0])
            if not said:
                out[name], said = with_models(frame, meant[0])
            if said:
                notes[name] = said[0]
    return out, notes
