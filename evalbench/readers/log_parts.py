"""A log store part by part, as :mod:`evalbench.readers.partitions` has Parquet files: windows of time, read in batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalbench.readers.log_store.log import COLUMNS, Log
from evalbench.readers.log_store.tables import IN_FRAMES
from evalbench.readers.log_store.times import EVERYTHING, Window
from evalbench.readers.partitions import BATCH_ROWS, PART_ROWS, Where

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class LogPart:
    """The interactions of a window of time.

    - ``names``: Column of the store → its name in the part.
    """

    store: str
    window: Window
    rows: int
    names: Mapping[str, str] = field(default_factory=lambda: IN_FRAMES)

    def columns(self) -> list[str]:
        """The names of its columns."""
        return [self.names.get(name, name) for name in COLUMNS["interactions"]]

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Where, pa.RecordBatch]]:
        """See :class:`evalbench.readers.partitions.Part`; rows are counted within the window."""
        import pyarrow as pa

        own = {name: stored for stored, name in self.names.items()}
        asked = [own.get(name, name) for name in columns]
        with Log(self.store) as log:
            start = 1
            for batch in log.batches(self.window, columns=asked, rows=BATCH_ROWS):
                yield (
                    Where(f"{log.address} ({self.window})", start),
                    pa.RecordBatch.from_arrays(batch.columns, [*columns]),
                )
                start += len(batch)


def log_parts(store: str, window: Window = EVERYTHING, names: Mapping[str, str] = IN_FRAMES) -> tuple[LogPart, ...]:
    """The interactions of a window of time in parts of about a million, which end with the newest one that there is now.

    - ``store``: See :class:`evalbench.readers.log_store.log.Log`.
    - ``names``: Column of the store → its name in the parts.

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
        found = [LogPart(log.address.named, span, log.count(span), names) for span in spans]
    return tuple(part for part in found if part.rows)
