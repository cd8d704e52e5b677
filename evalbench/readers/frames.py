"""Frames made in Python to raw frames: every cell as a file would give it, or a fault that names column and rows."""

from __future__ import annotations

import datetime
import decimal
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from evalbench.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN = 5
KINDS = "texts, numbers, true or false, dates, lists and objects"


def by_table(data: Any, first: str, tables: Iterable[str] = ()) -> dict[str, Any]:
    """Frames by table: of a mapping of frames each; anything else is the one table ``first``, so also a dict of columns.

    - ``tables``: Names of tables: a mapping of these to lists of objects has a table each.

    Examples
    --------
    >>> list(by_table({"question": ["Why?"], "answer": ["So."]}, "items"))
    ['items']
    >>> list(by_table({"truth": [{"id": 1}], "predictions": [{"id": 1}]}, "truth", ["truth", "predictions"]))
    ['truth', 'predictions']
    """
    if not isinstance(data, Mapping):
        return {first: data}
    if data and all(
        isinstance(part, (list, tuple)) or (hasattr(part, "ndim") and part.ndim == 1) for part in data.values()
    ):
        known = {*tables}
        if not all(name in known and are_objects(rows) for name, rows in data.items()):
            return {first: data}
    return dict(data)


def are_objects(rows: Any) -> TypeGuard[list[dict[str, Any]]]:
    """Whether a value is a list of objects, and no empty one."""
    return isinstance(rows, (list, tuple)) and bool(rows) and all(isinstance(row, Mapping) for row in rows)


def raw_frames(data: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Frames by table, their cells as JSON values and their rows numbered from 1; what has ``to_pandas`` is a frame,
    and so are a list of objects and a dict of columns.

    None, NaN, NaT and NA become None; numpy's scalars and arrays, tuples, decimals and dates become what JSON has for them.

    Raises ``BadInput`` for anything but a DataFrame, frames without rows, names of columns that are doubled, half
    characters, and cells of other kinds, such as sets or bytes: all of them in one message.
    """
    frames, faults = {}, []
    for name, frame in data.items():
        frames[name], found = _raw_frame(frame)
        faults += [f"frame {name}: {fault}" for fault in found]
    if faults:
        raise BadInput.listing("the frames cannot be read:", faults)
    return frames


def _raw_frame(frame: Any) -> tuple[pd.DataFrame, list[str]]:
    import pandas as pd

    if not isinstance(frame, pd.DataFrame) and callable(getattr(frame, "to_pandas", None)):
        frame = frame.to_pandas()
    elif are_objects(frame):
        keys = dict.fromkeys(name for row in frame for name in row)
        frame = pd.DataFrame({name: pd.Series([row.get(name) for row in frame], dtype=object) for name in keys})
    elif isinstance(frame, Mapping):
        sizes = {str(name): len(cells) for name, cells in frame.items()}
        if len({*sizes.values()}) > 1:
            said = ", ".join(f"{name} {n}" for name, n in sizes.items())
            return pd.DataFrame(), [f"its columns have different numbers of cells: {said}"]
        frame = pd.DataFrame({name: pd.Series(list(cells), dtype=object) for name, cells in frame.items()})
    if not isinstance(frame, pd.DataFrame):
        return pd.DataFrame(), [
            f"expected a pandas DataFrame, a list of objects or a dict of columns, found {type(frame).__name__}"
        ]
    if frame.empty:
        return pd.DataFrame(), ["it has no rows" if len(frame.columns) else "it has no columns"]
    names = [str(column) for column in frame.columns]
    doubled = more_than_once(names)
    if doubled:
        return pd.DataFrame(), [f"column {', '.join(doubled)} appears more than once"]
    rows = pd.RangeIndex(1, len(frame) + 1)
    columns: dict[str, pd.Series] = {}
    faults: list[str] = []
    for i, name in enumerate(names):
        columns[name], found = raw_cells(frame.iloc[:, i].set_axis(rows))
        faults += [f"column {name}: {fault}" for fault in found]
        try:
            name.encode()
        except UnicodeEncodeError as error:
            faults.append(f"column {i + 1}: its name: {half_character(error)}")
    return pd.DataFrame(columns, index=rows), faults


def raw_cells(cells: pd.Series) -> tuple[pd.Series, list[str]]:
    """Cells as a file would give them: whole columns of texts or numbers as they are, else objects with None."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_complex_dtype(cells.dtype):
        missing = cells.isna()
        return cells.astype(object).where(~missing, None) if missing.any() else pd.Series(
            cells.to_numpy(), index=cells.index
        ), []
    if pd.api.types.infer_dtype(cells, skipna=False) == "string" and not cells.isna().any():
        faults = _unwritable(cells)
        return (cells if faults else cells.astype("str")), faults
    values: list[Any] = []
    odd: dict[str, list[Any]] = {}
    halves: dict[str, list[Any]] = {}
    for row, cell in cells.items():
        try:
            value = _plain(cell)
            _encoded(value)
        except _NotJson as error:
            value = None
            odd.setdefault(str(error), []).append(row)
        except UnicodeEncodeError as error:
            value = None
            halves.setdefault(half_character(error), []).append(row)
        values.append(value)
    faults = [f"expected {KINDS}, found {kind} {rows_text(rows)}" for kind, rows in odd.items()]
    faults += [f"{what} {rows_text(rows)}" for what, rows in halves.items()]
    return pd.Series(values, index=cells.index, dtype=object), faults


class _NotJson(ValueError):
    """A cell that JSON has nothing for; its text names the kind."""


def _plain(cell: Any, depth: int = 0) -> Any:
    import numpy as np
    import pandas as pd

    if cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, (str, bool, int, float)):
        return None if isinstance(cell, float) and math.isnan(cell) else cell
    if isinstance(cell, decimal.Decimal):
        return float(cell)
    if isinstance(cell, (datetime.datetime, datetime.date, datetime.time)):
        return cell.isoformat()
    if depth > 100:
        raise _NotJson("a value that is nested too deeply")
    if isinstance(cell, (list, tuple, np.ndarray)):
        items = cell.tolist() if isinstance(cell, np.ndarray) else cell
        return (
            [_plain(item, depth + 1) for item in items]
            if isinstance(items, (list, tuple))
            else _plain(items, depth + 1)
        )
    if isinstance(cell, dict):
        return {str(key): _plain(value, depth + 1) for key, value in cell.items()}
    raise _NotJson(f"a {type(cell).__name__}")


def _encoded(value: Any) -> None:
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, list):
        for item in value:
            _encoded(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            key.encode()
            _encoded(item)


def _unwritable(texts: pd.Series) -> list[str]:
    """What is wrong with a column of texts that UTF-8 cannot hold."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        rows = [row for row, text in texts.items() if any("\ud800" <= c <= "\udfff" for c in text)]
        return [f"{half_character(error)} {rows_text(rows)}"]
    return []


def rows_text(rows: Sequence[Any]) -> str:
    """The first of some rows, in brackets.

    Examples
    --------
    >>> rows_text([3]), rows_text(range(1, 8))
    ('(row 3)', '(rows 1, 2, 3, 4, 5 and 2 more)')
    """
    shown = ", ".join(map(str, rows[:ROWS_SHOWN]))
    more = f" and {len(rows) - ROWS_SHOWN} more" if len(rows) > ROWS_SHOWN else ""
    return f"({'row' if len(rows) == 1 else 'rows'} {shown}{more})"


def more_than_once(names: Iterable[str]) -> list[str]:
    """The names that are there twice or more."""
    return sorted(name for name, n in Counter(names).items() if n > 1)


def half_character(error: UnicodeEncodeError) -> str:
    """What is wrong with a text that UTF-8 cannot hold, in words."""
    half = ascii(error.object[error.start])[1:-1]
    return f"{half} is half a character, its other half is missing; write \\ufffd in its place"


def frame_hash(frame: pd.DataFrame) -> str:
    """The SHA-256 of a frame's columns and cells."""
    import pandas as pd

    plain = frame.map(lambda v: repr(v) if isinstance(v, (list, dict)) else v) if _has_lists(frame) else frame
    rows = pd.util.hash_pandas_object(plain, index=False).to_numpy()
    return hashlib.sha256("\0".join(map(str, frame.columns)).encode() + rows.tobytes()).hexdigest()


def _has_lists(frame: pd.DataFrame) -> bool:
    return any(c.dtype == object and c.map(lambda v: isinstance(v, (list, dict))).any() for _, c in frame.items())


def in_one_piece(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame that was joined of many, its texts of Arrow each in one piece, of which rows are taken without a copy of all; nothing else is held."""
    import pandas as pd
    import pyarrow as pa

    from evalbench.core.clusters import in_arrow

    pa.default_memory_pool().release_unused()
    for name in frame.columns:
        if in_arrow(column := frame[name]):
            texts = pa.chunked_array(pa.array(column)).combine_chunks()
            frame[name] = pd.Series(texts, index=frame.index, dtype=column.dtype)
    pa.default_memory_pool().release_unused()
    return frame
