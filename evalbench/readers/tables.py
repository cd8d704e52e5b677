"""Raw frames to typed, checked tables; all faults of a table in one message.

Types first (every cell was read as text or JSON), then pandera checks values lazily; the faults are
told in our wording, with column and rows.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.readers.files import parsed_json
from evalbench.readers.renames import meant, renamed_columns, usual
from evalbench.readers.schema import MOST_GROUPS, TRIAL, Column, Table
from evalbench.readers.written import NUMBERED, QUESTIONS

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN = 5
MOST_NAMED = 15
FAULTS_SHOWN = 30
_TRUE = {"1", "true", "yes", "1.0", "да", "是"}
_FALSE = {"0", "false", "no", "0.0", "нет", "否"}
_DAY_FIRST = r"\d{1,2}\.\d{1,2}\.\d{4}(?:[ T]+\d{1,2}:\d{2}(?::\d{2})?)?"
"""Dates as they are written with points, of which the day is always first."""


@dataclass(frozen=True)
class Fault:
    """One fault of one column and the rows that have it."""

    column: str
    what: str
    rows: tuple[int, ...] = ()
    sample: str = ""
    hint: str = ""

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.rows[:ROWS_SHOWN]))
        more = f" and {len(self.rows) - ROWS_SHOWN} more" if len(self.rows) > ROWS_SHOWN else ""
        where = f" ({'row' if len(self.rows) == 1 else 'rows'} {shown}{more})" if self.rows else ""
        found = f", found {self.sample}" if self.sample else ""
        return f"column {self.column}: {self.what}{found}{where}{self.hint and f'; {self.hint}'}"


def checked(raw: pd.DataFrame, table: Table, source: str, columns: Mapping[str, str] | None = None) -> pd.DataFrame:
    """A typed copy of a raw frame that keeps the schema.

    - ``raw``: From :func:`evalbench.readers.files.raw_frame`; the index holds the row numbers shown in messages.
    - ``source``: Named in the message.
    - ``columns``: Renames: column in the file → column that we expect.

    Returns: Schema columns first, typed; columns that the schema does not name stay as text. Index 0, 1, ….

    Raises ``BadInput``: Lists every fault with its column and first rows.
    """
    frame, faults = check(raw, table, columns)
    if faults:
        raise BadInput.listing(f"{source}: {_count(len(faults), 'fault')}:", map(str, faults), FAULTS_SHOWN)
    return frame


def check(
    raw: pd.DataFrame, table: Table, columns: Mapping[str, str] | None = None
) -> tuple[pd.DataFrame, list[Fault]]:
    """As :func:`checked`, but the faults are returned."""
    import pandas as pd

    renamed, clashes = renamed_columns(raw, columns or {})
    faults = [Fault(name, what) for name, what in clashes.items()]
    out: dict[str, Any] = {}
    unknown = False
    for column in table.columns:
        if column.name not in renamed:
            if column.required:
                free = [str(c) for c in renamed.columns if table.column(str(c)) is None]
                near = usual(column.name, free) or _near(column.name, free) or _shared(column, table, renamed.columns)
                near = near or _asked(column.name, free, first=not unknown)
                unknown = unknown or "--map COLUMN=" in near
                faults.append(Fault(column.name, f"is missing; expected {column.expected()}{near}"))
            continue
        out[column.name], found = typed(renamed[column.name], column)
        faults += found
    for name in renamed.columns:
        if name not in out and table.column(str(name)) is None:
            out[str(name)] = [_as_text(v) for v in renamed[name]]
    frame = pd.DataFrame(out, index=raw.index)
    faults += _value_faults(frame, table)
    return frame.reset_index(drop=True), faults


def typed(cells: pd.Series, column: Column) -> tuple[pd.Series, list[Fault]]:
    """Cells as the column's type, and the cells that are not of it (left empty)."""
    import pandas as pd

    absent = absent_cells(cells)
    faults = []
    if not column.empty_ok and absent.any():
        faults.append(Fault(column.name, f"empty; expected {column.expected()}", tuple(cells.index[absent])))
    values, wrong = _CONVERT[column.type](cells, absent)
    if column.keep_null and cells.isna().any():
        values = pd.Series(values, index=cells.index, dtype=object).where(cells.notna(), None)
    if wrong.any():
        sample = _clip(_as_text(cells[wrong].iloc[0]))
        faults.append(
            Fault(
                column.name,
                f"expected {column.expected()}",
                tuple(cells.index[wrong]),
                json.dumps(sample, ensure_ascii=False),
                column.hint,
            )
        )
    return pd.Series(values, index=cells.index), faults


def absent_cells(cells: pd.Series) -> pd.Series:
    """Which cells of a raw column are empty: null, ``""`` or not a number."""
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        return (cells.isna() | (cells == "")).astype(bool)
    return cells.isna() if _numeric(cells) else cells.map(_absent).astype(bool)


def _numeric(cells: pd.Series) -> bool:
    import pandas as pd

    return pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_bool_dtype(cells.dtype)


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value == "") or (isinstance(value, float) and math.isnan(value))


def _as_text(value: Any) -> str:
    """A JSON value as the text that a CSV cell would hold."""
    if _absent(value):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _texts_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        return cells, absent & False
    values = [_as_text(v) for v in cells]
    wrong = cells.map(lambda v: isinstance(v, (list, dict))) & ~absent
    return values, wrong


def _ids_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        return cells, (cells != cells.str.strip()).astype(bool)
    values = [_as_text(v) for v in cells]
    wrong = (
        cells.map(lambda v: isinstance(v, (list, dict, float, bool)) or (isinstance(v, str) and v != v.strip()))
        & ~absent
    )
    return values, wrong


def _numbers_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    import numpy as np
    import pandas as pd

    if _numeric(cells):
        plain = cells
    elif isinstance(cells.dtype, pd.StringDtype):
        plain = cells.where(~absent, None).astype(object)
    else:
        plain = cells.where(~cells.map(_no_number), "?").where(~absent, None)
    numbers = pd.to_numeric(plain, errors="coerce").astype(float)
    finite = pd.Series(np.isfinite(numbers.to_numpy()), index=numbers.index)
    return numbers.where(finite, np.nan), ~finite & ~absent


def _no_number(value: Any) -> bool:
    return isinstance(value, (bool, list, dict)) or (isinstance(value, int) and value.bit_length() > 1023)


def _integers_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    numbers, wrong = _numbers_of(cells, absent)
    # Beyond 2**53 a number that was read as a float may be its neighbour.
    wrong = wrong | (((numbers % 1 != 0) | (numbers.abs() > 2**53)) & ~absent)
    if absent.any() or wrong.any():
        return numbers.where(~wrong), wrong
    return numbers.astype("int64"), wrong


def _booleans_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    words = cells.map(lambda v: _as_text(v).strip().lower())
    values = words.map(lambda w: 1.0 if w in _TRUE else 0.0 if w in _FALSE else math.nan).astype(float)
    return values, values.isna() & ~absent


def _json_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    return _parsed(cells, absent, lambda _: True, None)


def _spans_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    return _parsed(cells, absent, is_spans, [])


def _lists_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    import pandas as pd

    values: list[Any] = []
    wrong = []
    for cell in cells:
        value = [_as_text(cell)] if isinstance(cell, (str, int, float)) and not _absent(cell) else cell
        bad = not _absent(value) and not (isinstance(value, list) and all(isinstance(v, str) for v in value))
        values.append([] if bad or _absent(value) else value)
        wrong.append(bad)
    return pd.Series(values, index=cells.index, dtype=object), pd.Series(wrong, index=cells.index, dtype=bool)


def _parsed(cells: pd.Series, absent: pd.Series, good: Any, empty: Any) -> tuple[Any, pd.Series]:
    import pandas as pd

    values: list[Any] = []
    wrong = []
    for cell, gone in zip(cells, absent, strict=True):
        value, bad = cell, False
        if isinstance(cell, str) and not gone:
            try:
                value = parsed_json(cell)
            except ValueError:
                bad = True
        bad = bad or (not gone and not good(value))
        values.append(empty if bad or gone else value)
        wrong.append(bad)
    return pd.Series(values, index=cells.index, dtype=object), pd.Series(wrong, index=cells.index, dtype=bool)


def is_spans(value: Any) -> bool:
    """Whether a JSON value is a list of ``[start, end]`` pairs of whole numbers, 0 ≤ start < end."""
    return isinstance(value, list) and all(
        isinstance(pair, Sequence)
        and len(pair) == 2
        and all(isinstance(x, int) and not isinstance(x, bool) for x in pair)
        and 0 <= pair[0] < pair[1]
        for pair in value
    )


def _times_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    import pandas as pd

    cells = cells.map(lambda v: _as_text(v) if isinstance(v, (bool, int, float)) else v)
    points = cells.map(lambda v: isinstance(v, str) and re.fullmatch(_DAY_FIRST, v.strip()) is not None).astype(bool)
    times = pd.to_datetime(cells.where(~absent & ~points, None), errors="coerce", utc=True, format="ISO8601")
    if points.any():
        pointed = pd.to_datetime(cells.where(points, None), errors="coerce", utc=True, format="mixed", dayfirst=True)
        times = times.where(~points, pointed)
    return times, times.isna() & ~absent


_CONVERT: Mapping[str, Any] = {
    "id": _ids_of,
    "text": _texts_of,
    "texts": _lists_of,
    "int": _integers_of,
    "float": _numbers_of,
    "bool": _booleans_of,
    "json": _json_of,
    "spans": _spans_of,
    "ts": _times_of,
}


def _value_faults(frame: pd.DataFrame, table: Table) -> list[Fault]:
    """Ranges, choices and uniqueness, by pandera."""
    import pandera.pandas as pa

    fields, wording = {}, {}
    faults: list[Fault] = []
    for column in table.columns:
        if column.name not in frame:
            continue
        rules = []
        if column.low is not None:
            rules.append(pa.Check.ge(column.low, name="range"))
        if column.high is not None:
            rules.append(pa.Check.le(column.high, name="range"))
        if column.choices:
            allowed = [*column.choices, *([""] if column.empty_ok else [])]
            rules.append(pa.Check.isin(allowed, name="choices"))
        if rules:
            fields[column.name] = pa.Column(None, rules, nullable=True)
            wording[column.name] = f"expected {column.expected()}"
        if column.groups and (n := frame[column.name].nunique()) > MOST_GROUPS:
            what = f"holds {n} different values, at most {MOST_GROUPS} are judged in one run: if each row has its own, "
            faults.append(Fault(column.name, what + "rename or drop the column; else divide the rows among runs"))
    faults += _pandera_faults(frame, pa.DataFrameSchema(fields), wording) if fields else []
    keys = [key for key in table.unique if key in frame]
    needed = {column.name for column in table.columns if column.required}
    if keys and not needed & set(table.unique) - set(keys):
        doubled = frame.duplicated(keys, keep=False) & ~(frame[keys] == "").any(axis=1)
        if doubled.any():
            first = json.dumps("|".join(map(str, frame.loc[doubled, keys].iloc[0])), ensure_ascii=False)
            what = "is duplicated" if len(keys) == 1 else "are duplicated together"
            others = [key for key in table.unique if key not in frame]
            if others:
                what += f"; a column {' or '.join(others)} would tell them apart"
            if table.no_trials and TRIAL in frame:
                what += f"; a column {TRIAL} does not: {table.no_trials}"
            faults.append(Fault(", ".join(keys), what, tuple(frame.index[doubled]), _clip(first)))
    return faults


def _pandera_faults(frame: pd.DataFrame, schema: Any, wording: Mapping[str, str]) -> list[Fault]:
    import pandera.errors

    try:
        schema.validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as errors:
        cases = errors.failure_cases
        return [
            Fault(
                str(name),
                wording[str(name)],
                tuple(sorted(set(rows["index"]))),
                _clip(_plain_number(rows["failure_case"].iloc[0])),
            )
            for name, rows in cases.groupby("column", sort=False)
        ]
    return []


def _plain_number(value: Any) -> str:
    """A whole number as the file has it, although a column with empty cells holds floats."""
    return _as_text(int(value) if isinstance(value, float) and value.is_integer() else value)


def _shared(column: Column, table: Table, present: Collection[Any]) -> str:
    """What an identifier is for, where rows of several groups were not numbered."""
    if column is not table.columns[0] or column.name not in NUMBERED:
        return ""
    asked = next((name for name in QUESTIONS[:2] if table.column(name)), "")
    shown = [name for name in QUESTIONS if name in present]
    questions = f", or the questions? (--map COLUMN={asked})" if asked and asked not in present else ""
    repeated = f"; {' and '.join(shown)} cannot show it: cells are empty, or repeat within a model" if shown else ""
    return (
        f"; outputs for the same input share one: which column has it? (--map COLUMN={column.name}){questions}{repeated}; "
        f"otherwise add a column {column.name} that is equal for rows of the same input"
    )


def _asked(name: str, free: Sequence[str], *, first: bool) -> str:
    """The option for a column that none is probably meant by; the first such fault lists those that there are."""
    if not free:
        return ""
    more = f" and {len(free) - MOST_NAMED} more" if len(free) > MOST_NAMED else ""
    listed = f"; which one has it: {', '.join(map(_clip, free[:MOST_NAMED]))}{more}?" if first else ""
    return f"{listed} (--map COLUMN={name})"


def _near(name: str, others: Sequence[Any]) -> str:
    from difflib import get_close_matches

    an_id = name.endswith("_id")
    lowered = {low: str(other) for other in others if (low := str(other).lower()).endswith("_id") == an_id}
    found = [lowered[near] for near in get_close_matches(name, lowered, n=1, cutoff=0.65)]
    return meant(found[0], name) if found else ""


def _clip(text: str, size: int = 60) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")
