"""Parquet files, and folders of them, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from evalbench.errors import BadInput
from evalbench.readers.parquet import first_line

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BATCH_ROWS = 50_000
BATCH_BYTES = 64_000_000
PART_ROWS = 1_000_000


class Where(NamedTuple):
    """Where a batch is from: a file and the number of its first row there, from 1."""

    source: str
    row: int

    def at(self, place: int) -> str:
        """A row of the batch, for a message."""
        return f"{self.source}: row {self.row + place}"


class Part(Protocol):
    """Some of the rows; it can be sent to another process."""

    @property
    def rows(self) -> int: ...

    def columns(self) -> list[str]:
        """The names of its columns."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Where, pa.RecordBatch]]:
        """The columns in batches, in the same order every time."""
        ...


@dataclass(frozen=True)
class ParquetPart:
    """Row groups of a Parquet file, of which ``first`` is the first and ``last`` is behind the last one."""

    path: str
    first: int
    last: int
    rows: int

    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(_opened(self.path).schema_arrow.names)

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Where, pa.RecordBatch]]:
        """See :class:`Part`.

        Raises ``BadInput`` for a damaged file, and columns that it lacks.
        """
        file = _opened(self.path)
        lacking = [name for name in columns if name not in file.schema_arrow.names]
        if lacking:
            raise BadInput(f"{self.path}: column {', '.join(lacking)} is missing; there are {_named(file)}")
        start = 1 + sum(file.metadata.row_group(i).num_rows for i in range(self.first))
        batches = file.iter_batches(BATCH_ROWS, row_groups=range(self.first, self.last), columns=[*columns])
        while (batch := _next(batches, self.path)) is not None:
            batch = _decoded(batch)
            pieces = max(1, -(-batch.nbytes // BATCH_BYTES))
            size = max(1, -(-len(batch) // pieces))
            for at in range(0, len(batch), size):
                yield Where(self.path, start + at), batch.slice(at, size).select([*columns])
            start += len(batch)


def _decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Without dictionaries, which other files of the same table may do without."""
    import pyarrow as pa

    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def is_pattern(path: Path) -> bool:
    """Whether a path is a pattern of several files, such as ``logs/2026-*.parquet``.

    Examples
    --------
    >>> is_pattern(Path("logs/2026-*.parquet")), is_pattern(Path("logs/2026.parquet"))
    (True, False)
    """
    return any(letter in str(path) for letter in "*?[") and not path.exists()


def home_of(path: Path) -> Path:
    """The folder that the names of a table's files begin at.

    Examples
    --------
    >>> home_of(Path("logs/2026-*/a.parquet")).as_posix()
    'logs'
    """
    return next(p for p in path.parents if not is_pattern(p)) if is_pattern(path) else path


def parquet_files(path: Path) -> list[Path]:
    """A Parquet file, those of a folder and its folders, or of a pattern, in the order of their names; empty where there are none."""
    if is_pattern(path):
        home = home_of(path)
        try:
            found = [p for p in home.glob(str(path.relative_to(home))) if p.suffix == ".parquet" and p.is_file()]
        except ValueError as error:
            raise BadInput(f"{path}: not a pattern of files ({error})") from error
        return sorted(found)
    if path.is_dir():
        inside = (p for p in path.rglob("*.parquet") if p.is_file())
        return sorted(p for p in inside if not any(part.startswith((".", "_")) for part in p.relative_to(path).parts))
    return [path] if path.suffix == ".parquet" and path.is_file() else []


def parquet_parts(files: Sequence[Path]) -> tuple[ParquetPart, ...]:
    """Parts of about a million rows, never less than a row group.

    Raises ``BadInput`` for files that are not Parquet, or whose columns differ: all of them.
    """
    parts, faults, first = [], [], None
    for path in files:
        try:
            file = _opened(str(path))
        except BadInput as error:
            faults.append(str(error))
            continue
        names = sorted(file.schema_arrow.names)
        first = first or (path, names)
        if names != first[1]:
            apart = sorted({*names} ^ {*first[1]})
            faults.append(f"{path}: other columns than {first[0].name} has ({', '.join(apart)})")
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        start = 0
        for i in range(len(sizes)):
            if sum(sizes[start : i + 1]) >= PART_ROWS or i + 1 == len(sizes):
                parts.append(ParquetPart(str(path), start, i + 1, sum(sizes[start : i + 1])))
                start = i + 1
    if faults:
        raise BadInput.listing("Parquet files:", faults)
    return tuple(parts)


def ids_of(where: Where, column: pa.Array, name: str) -> list[str]:
    """A batch's ids as texts.

    Raises ``BadInput`` for ids that are missing or are neither texts nor whole numbers.
    """
    import pyarrow.types as types

    column = plain(where, column, name)
    cells = column.to_pylist()
    missing = next((i for i, cell in enumerate(cells) if cell is None or cell == ""), None)
    if missing is not None:
        raise BadInput(f"{where.at(missing)}: column {name}: an id is missing")
    return list(map(str, cells)) if types.is_integer(column.type) else cells


def plain(where: Where, column: Any, name: str) -> Any:
    """A batch's cells as an Arrow array of texts, or of whole numbers; nulls stay.

    Raises ``BadInput`` for cells of other types, and texts that are not UTF-8.
    """
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_null(column.type):
        return column.cast(pa.string())
    if types.is_integer(column.type):
        return column
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        raise BadInput(f"{where.source}: column {name}: expected texts, found {column.type}; write them as texts")
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        raise BadInput(
            f"{where.source}: column {name}: a text is not UTF-8 (rows {where.row} to {where.row + len(column) - 1}); write UTF-8"
        ) from error
    return column


def texts_of(where: Where, column: Any, name: str) -> Any:
    """A batch's cells as an Arrow array of texts; whole numbers as they are written."""
    import pyarrow as pa
    import pyarrow.types as types

    found = plain(where, column, name)
    return found.cast(pa.string()) if types.is_integer(found.type) else found


def times_of(where: Where, column: Any, name: str = "ts") -> pd.Series:
    """A batch's times in UTC, those without a zone taken as UTC; NaT where there is none.

    Raises ``BadInput`` for texts that are no times, and cells of other types.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_timestamp(column.type) or types.is_date(column.type) or types.is_null(column.type):
        return pd.to_datetime(
            pd.Series(column.cast(pa.timestamp("us", getattr(column.type, "tz", None))).to_pandas()), utc=True
        )
    cells = pd.Series(plain(where, column, name).to_pylist(), dtype=object)
    cells = cells.where(cells != "", None)
    times = pd.to_datetime(cells, errors="coerce", utc=True, format="ISO8601")
    wrong = np.flatnonzero((times.isna() & cells.notna()).to_numpy())
    if len(wrong):
        raise BadInput(
            f"{where.at(int(wrong[0]))}: column {name}: expected a time (ISO 8601), found {cells[wrong[0]]!r:.60}"
        )
    return times


def _opened(path: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except FileNotFoundError as error:
        raise BadInput(f"{path}: no such file") from error
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise BadInput(f"{path}: not a Parquet file ({first_line(error)})") from error


def _next(batches: Iterator[Any], path: str) -> Any:
    import pyarrow as pa

    try:
        return next(batches, None)
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise BadInput(f"{path}: the Parquet file is damaged ({first_line(error)})") from error


def _named(file: Any) -> str:
    return ", ".join(file.schema_arrow.names[:30])
