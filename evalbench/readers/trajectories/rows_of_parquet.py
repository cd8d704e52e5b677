"""The rows of a Parquet file that hold lists, such as the messages of a trial, as records; in pieces, never as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.readers.tools.safe import finite, parsed

if TYPE_CHECKING:
    import pyarrow as pa

PIECE, PIECE_BYTES = 256, 32_000_000
"""Rows that are held at once, and how much of them the file says there is."""
MOST_VALUES = 50_000_000
"""A file of a few megabytes can hold any number of equal values; so many in one group of rows are refused."""
HELD = frozenset(
    (
        *("messages", "traj", "trajectory", "conversation", "conversations", "history", "transcript", "chat", "items"),
        *("contents", "steps", "tools", "functions", "metadata", "info", "expected", "expected_calls", "score"),
    )
)
"""Columns whose texts may be JSON."""


def holds_lists(path: Path) -> bool:
    """Whether a column of a Parquet file has lists in it, or may have them as JSON: never raises."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError):
        return False
    return any(field.name in HELD and (_is_list(field.type) or _is_text(field.type)) for field in schema)


def records_of_parquet(path: Path) -> Iterator[tuple[int, Any]]:
    """The rows of a Parquet file from 1 on: lists and structures as JSON has them, texts of :data:`HELD` that are JSON opened, nulls left out.

    Raises ``BadInput`` for a damaged file, for a group of rows with more than :data:`MOST_VALUES` values, and for cells that JSON
    cannot hold.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    damaged = (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError)
    row = 0
    try:
        with pq.ParquetFile(path) as file:
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            most = max((group.column(j).num_values for group in groups for j in range(group.num_columns)), default=0)
            if most > MOST_VALUES:
                raise BadInput(
                    f"{path}: {most:,} values in one group of rows, at most {MOST_VALUES:,} are read; write smaller groups"
                )
            names = file.schema_arrow.names
            if len({*names}) < len(names):
                raise BadInput(f"{path}: a column appears more than once")
            held = sum(group.total_byte_size for group in groups) / max(file.metadata.num_rows, 1)
            for piece in file.iter_batches(max(1, min(PIECE, int(PIECE_BYTES / max(held, 1))))):
                for record in _rows(piece):
                    row += 1
                    yield row, record
    except BadInput as error:
        raise error if str(error).startswith(str(path)) else BadInput(f"{path}: row {row + 1}: {error}") from None
    except damaged as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise BadInput(f"{path}: after row {row}: the Parquet file cannot be read ({said})") from error


def _rows(piece: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    for record in piece.to_pylist():
        yield {key: _opened(key, cell) for key, cell in record.items() if cell is not None}


def _opened(key: str, cell: Any) -> Any:
    """A cell as JSON has it; where a text of a column that may hold JSON is none, as it is."""
    if isinstance(cell, str):
        if key in HELD and cell.lstrip()[:1] in ("[", "{"):
            try:
                return finite(parsed(cell, key))
            except BadInput:
                return cell
        return cell
    return plain(cell, key)


def plain(cell: Any, key: str) -> Any:
    """A value of Arrow as JSON has it: no nulls in structures, dates as ISO 8601, numbers that are not finite as nothing.

    Examples
    --------
    >>> plain({"role": "user", "name": None, "at": date(2031, 5, 1), "score": math.nan}, "messages")
    {'role': 'user', 'at': '2031-05-01', 'score': None}
    """
    if isinstance(cell, dict):
        return {name: plain(value, key) for name, value in cell.items() if value is not None}
    if isinstance(cell, list):
        return [plain(value, key) for value in cell]
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, (datetime, date, time)):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return float(cell) if cell.is_finite() else None
    if cell is None or isinstance(cell, (str, int)):
        return cell
    raise BadInput(f"column {key}: a cell of type {type(cell).__name__} cannot be read")


def _is_list(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_struct(kind))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
