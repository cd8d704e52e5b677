"""A log store part by part, as :mod:`evalbench.readers.partitions` has Parquet files: windows of time, read in batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalbench.readers.log_store.log import COLUMNS, Log
from evalbench.readers.log_store.times import EVERYTHING, Window
from evalbench.readers.partitions import BATCH_ROWS, PART_ROWS, Where

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class LogPart:
    """The interactions of a window of time."""

    store: str
    window: Window
    rows: int

    def columns(self) -> list[str]:
        """The names of its columns."""
        return [*COLUMNS["interactions"]]

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Where, pa.RecordBatch]]:
        """See :class:`evalbench.readers.partitions.Part`; rows are counted within the window."""
        with Log(self.store) as log:
            start = 1
            for batch in log.batches(self.window, columns=columns, rows=BATCH_ROWS):
                yield Where(f"{log.address} ({self.window})", start), batch
                start += len(batch)


def log_parts(store: str, window: Window = EVERYTHING) -> tuple[LogPart, ...]:
    """The interactions of a window of time in parts of about a million, which end with the newest one that there is now.

    - ``store``: See :class:`evalbench.readers.log_store.log.Log`.

    Returns: Equal spans of time; those without rows are left out.
    """
    with Log(store) as log:
        status = log.status()
        if status.first is None or status.last is None:
            return ()
        low = status.first if window.start is None else max(window.start, status.first)
        high = status.last + 1 if window.end is None else min(window.end, status.last + 1)
        n = -(-log.count(Window(low, high)) // PART_ROWS) if low < high else 0
        ends = [low + (high - low) * i // n for i in range(n + 1)] if n else []
        spans = [Window(a, b) for a, b in itertools.pairwise(ends)]
        found = [LogPart(log.address.named, span, log.count(span)) for span in spans]
    return tuple(part for part in found if part.rows)
