"""A log store part by part, as :mod:`evalbench.readers.partitions` has Parquet files: windows of time, read in batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalbench.readers.log_store.log import COLUMNS, Log
from evalbench.readers.log_store.marks import Marks, are_whole, marks_of
from evalbench.readers.log_store.tables import IN_FRAMES, INTERACTIONS
from evalbench.readers.log_store.times import EVERYTHING, Window
from evalbench.readers.nameless import MODEL, UNNAMED, a_group
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


@dataclass(frozen=True)
class DealtPart(LogPart):
    """A part with what a frame of the store has: no columns that are empty in all parts, marks, and a group of the rows that name no model.

    - ``stored``: The columns of the store.
    - ``marks``: ``label`` and ``score``, where anything was said: whether it is whole numbers alone.
    """

    stored: tuple[str, ...] = INTERACTIONS
    marks: Mapping[str, bool] = field(default_factory=dict)

    def columns(self) -> list[str]:
        """The names of its columns."""
        return [*(self.names.get(name, name) for name in self.stored), *self.marks]

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Where, pa.RecordBatch]]:
        """See :class:`evalbench.readers.partitions.Part`; rows are counted within the window."""
        import pyarrow as pa
        import pyarrow.compute as pc

        asked = list(dict.fromkeys(["id", *(name for name in columns if name not in self.marks)]))
        said = {}
        if {*columns} & {*self.marks}:
            with Log(self.store) as log:
                said = marks_of(log, self.window).named()
        for where, batch in super().batches(asked):
            cells = dict(zip(asked, batch.columns, strict=True))
            if MODEL in cells:
                named = pc.fill_null(cells[MODEL], "")
                cells[MODEL] = pc.if_else(pc.equal(named, ""), UNNAMED, named)
            for name, whole in self.marks.items():
                known: Any = said.get(name, {})
                marks = [known.get(id) for id in cells["id"].to_pylist()]
                cells[name] = pa.array(marks, pa.float64()).cast(pa.int64() if whole else pa.float64())
            yield where, pa.RecordBatch.from_arrays([cells[name] for name in columns], [*columns])


def dealt_parts(
    log: Log, window: Window, names: Mapping[str, str], said: Marks
) -> tuple[tuple[DealtPart, ...], list[str]]:
    """The parts of a store that is read part by part, and the note of rows that name no model beside others.

    - ``names``: Column of the store → its name in the parts.
    - ``said``: The marks of all interactions of the window.
    """
    filled = log.filled(window)
    stored = tuple(name for name in INTERACTIONS if filled[name] or name == "response")
    marks = {name: are_whole(values) for name, values in said.named().items()}
    of_model, n = filled[MODEL], filled["id"]
    notes = [a_group(n - of_model, n)] if 0 < of_model < n else []
    parts = log_parts(log.address.named, window, names)
    return tuple(DealtPart(part.store, part.window, part.rows, names, stored, marks) for part in parts), notes


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
