"""Parquet to raw frames: what the footer says is looked at first, and every cell becomes what JSON has for it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.readers.frames import more_than_once, raw_cells, rows_text

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MOST_CELLS = 100_000_000
"""A file of a few megabytes can hold any number of equal cells; so many take a minute and ten gigabytes."""


def parquet_frame(path: Path, raw: bytes) -> pd.DataFrame:
    """The cells of a Parquet file, as JSON would have them; rows are counted from 1.

    Raises ``BadInput`` for what is no Parquet file, more than :data:`MOST_CELLS` cells, columns that are doubled, and
    cells that no text, number or date can hold: invalid UTF-8, an unknown time zone, a date beyond the calendar, bytes.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    # What a damaged file raises depends on where the damage is; ArrowMemoryError is a length that cannot be true.
    damaged = (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError)
    try:
        file = pq.ParquetFile(io.BytesIO(raw))
        names, rows = list(file.schema_arrow.names), file.metadata.num_rows
        cells = max(rows * len(names), _leaves(file.metadata))
    except damaged as error:
        raise BadInput(f"{path}: not a Parquet file ({first_line(error)})") from error
    if not names or not rows:
        raise BadInput(f"{path}: no rows" if names else f"{path}: no columns")
    if cells > MOST_CELLS:
        raise BadInput(
            f"{path}: {cells} cells ({rows} rows, {len(names)} columns), at most {MOST_CELLS} are read: leave out the columns "
            "that the study does not use, take a sample of the rows, or divide the file among several runs"
        )
    if doubled := more_than_once(names):
        raise BadInput(f"{path}: column {', '.join(doubled)} appears more than once")
    try:
        table = file.read()
    except damaged as error:
        raise BadInput(f"{path}: the Parquet file is damaged ({first_line(error)})") from error
    return cells_of(str(path), table)


def cells_of(source: str, table: pa.Table) -> pd.DataFrame:
    """The cells of a table as JSON would have them; rows are counted from 1.

    Raises ``BadInput`` for cells that no text, number or date can hold: invalid UTF-8, an unknown time zone, a date
    beyond the calendar, bytes.
    """
    import pandas as pd

    index = pd.RangeIndex(1, table.num_rows + 1)
    columns, faults = {}, []
    for name in table.column_names:
        values, unreadable = _values(table.column(name))
        columns[name], found = raw_cells(values.set_axis(index))
        faults += [f"column {name}: {fault}" for fault in [*unreadable, *found]]
    if faults:
        raise BadInput.listing(f"{source}: the Parquet file cannot be read:", faults)
    return pd.DataFrame(columns, index=index)


def _leaves(metadata: Any) -> int:
    """How many values the columns hold, those of lists item by item."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    return sum(group.column(j).num_values for group in groups for j in range(group.num_columns))


def _values(column: Any) -> tuple[pd.Series, list[str]]:
    """The cells as Python values; where one has none, its rows and why."""
    import pandas as pd
    import pyarrow as pa

    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return pd.Series(column.to_numpy()), []
    unreadable = (pa.ArrowException, ValueError, KeyError, TypeError, OverflowError)
    try:
        return pd.Series(column.to_pylist(), dtype=object), []
    except unreadable:
        pass  # one cell at a time says which
    values: list[Any] = []
    faults: dict[str, list[int]] = {}
    for row, cell in enumerate(column, start=1):
        try:
            values.append(cell.as_py())
        except unreadable as error:
            values.append(None)
            faults.setdefault(_why(error, column.type), []).append(row)
    return pd.Series(values, dtype=object), [f"{why} {rows_text(rows)}" for why, rows in faults.items()]


def _why(error: Exception, kind: Any) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "a text is not UTF-8; write the file with UTF-8 texts"
    return f"a cell of type {kind} cannot be read ({first_line(error)})"


def first_line(error: BaseException) -> str:
    """What an error says, its first line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
