"""A log store as Parquet, a folder per month: for the cluster, and for whoever has no database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.log_store.log import COLUMNS, Log
from evalbench.readers.log_store.times import EVERYTHING, Window, as_datetime

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_ROWS = 50_000
_FILE = "part-0.parquet"
_UNFINISHED = f".{_FILE}.unfinished"


class Exported(NamedTuple):
    """What an export wrote: rows by table, files, files of months that have no rows any more, texts that lost half characters."""

    rows: dict[str, int]
    files: int
    removed: int
    cut: int


def export(log: Log, folder: Path, window: Window = EVERYTHING) -> Exported:
    """Write the rows of a window into ``folder/TABLE/month=YYYY-MM/part-0.parquet``.

    Row groups of at most 50 000 rows or 64 MB, one at a time in memory.  A month that is there already is replaced at
    once; a month of the window without rows, since they were forgotten, is removed.

    - ``window``: Its months in UTC. A month that it covers only in part must not exist yet.

    Raises ``BadInput`` if a month that is there would be replaced by a part of it.
    """
    partly = _partly_covered(window)
    clash = [str(path) for table in COLUMNS for month in partly if (path := _place(folder, table, month)).exists()]
    if clash:
        raise BadInput.listing(
            f"{window} covers months that are exported already only in part; begin and end with a month, or name a new folder:",
            clash,
        )
    rows, files, removed, cut = dict.fromkeys(COLUMNS, 0), 0, 0, log.cut
    for table in COLUMNS:
        written = set()
        for month, part, n in _written(log, folder, table, window):
            rows[table] += n
            written.add(month)
            os.replace(part, _place(folder, table, month))
        files += len(written)
        for path in sorted((folder / table).glob(f"month=*/{_FILE}")):
            month = path.parent.name.removeprefix("month=")
            if month not in written and _covers(window, month):
                path.unlink()
                removed += 1
    return Exported(rows, files, removed, log.cut - cut)


def _place(folder: Path, table: str, month: str) -> Path:
    return folder / table / f"month={month}" / _FILE


def _written(log: Log, folder: Path, table: str, window: Window) -> Iterator[tuple[str, Path, int]]:
    """Each month with its finished file, still under another name, and its rows."""
    import pyarrow.parquet as pq

    month, writer, part, n = "", None, Path(), 0
    try:
        for batch in log.batches(window, table=table, rows=GROUP_ROWS):
            for found, rows in _by_month(batch):
                if found != month:
                    if writer is not None:
                        writer.close()
                        writer = None
                        yield month, part, n
                    month, n = found, 0
                    part = _place(folder, table, month).with_name(_UNFINISHED)
                    part.parent.mkdir(parents=True, exist_ok=True)
                    writer = pq.ParquetWriter(part, batch.schema, compression="zstd")
                assert writer is not None
                writer.write_batch(rows)
                n += rows.num_rows
        if writer is not None:
            writer.close()
            writer = None
            yield month, part, n
    finally:
        if writer is not None:
            writer.close()
            part.unlink(missing_ok=True)


def _by_month(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """A batch in the order of time, cut where a month ends."""
    import numpy as np

    months = batch["ts"].to_numpy(zero_copy_only=False).astype("datetime64[M]")
    starts = np.flatnonzero(np.r_[True, months[1:] != months[:-1]])
    for start, end in zip(starts, [*starts[1:], len(months)], strict=True):
        yield str(months[start]), batch.slice(start, end - start)


def _month_of(time: int) -> tuple[str, bool]:
    """The month that a time is in, and whether it begins with it."""
    date = as_datetime(time)
    return f"{date:%Y-%m}", date == date.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _partly_covered(window: Window) -> list[str]:
    found = [_month_of(time) for time in window if time is not None]
    return sorted({month for month, begins in found if not begins})


def _covers(window: Window, month: str) -> bool:
    if month in _partly_covered(window):
        return False
    first = window.start is None or _month_of(window.start)[0] <= month
    return first and (window.end is None or month < _month_of(window.end)[0])
