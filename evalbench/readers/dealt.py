"""A table that does not fit, dealt into files by ranges of its ids: rows of one id stay together, and the files follow each other as ids do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count as numbers
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput
from evalbench.readers.large import STREAM, Large
from evalbench.readers.parquet import cells_of
from evalbench.readers.partitions import Where, ids_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MOST_HANDS = 200
"""So many files are open at once."""
_SOURCE, _ROW = "evalbench:source", "evalbench:row"


@dataclass(frozen=True)
class Hand:
    """The rows whose ids lie within a range: a file, and the names of the files that they came from."""

    path: str
    sources: tuple[str, ...]

    def frame(self, large: Large) -> pd.DataFrame:
        """Its rows as a raw frame of the table, named by the files and rows that they came from."""
        import pyarrow as pa

        try:
            with pa.memory_map(self.path) as file:
                table = pa.ipc.open_file(file).read_all()
        except FileNotFoundError as error:
            raise BadInput(
                f"{self.path}: no such file; workers need the folder of the run under the same path"
            ) from error
        source, row = (table.column(name).to_pylist() for name in (_SOURCE, _ROW))
        frame = cells_of(large.name, table.drop_columns([_SOURCE, _ROW]))
        frame.index = [f"{self.sources[s]}:{r}" for s, r in zip(source, row, strict=True)]
        frame.attrs[STREAM] = large
        return frame


def deal(large: Large, ids: Sequence[str], folder: Path, rows: int) -> list[Hand]:
    """Deal all rows of a table.

    - ``ids``: Of a sample of its rows, in any order: they say where ranges end.
    - ``folder``: A new one.
    - ``rows``: About so many in each hand.

    Raises ``BadInput`` for ids that are missing or are neither texts nor whole numbers, and damaged files.
    """
    import pyarrow as pa

    folder.mkdir(parents=True)
    ends = ends_of(ids, min(MOST_HANDS, math.ceil(large.rows / rows)))
    key = large.renamed.get("id", "id")
    sources: dict[str, int] = {}
    written: dict[int, Any] = {}
    file_of = numbers()
    names = large.parts[0].columns()
    schema = None
    try:
        for part in large.parts:
            for where, batch in part.batches(names):
                name = Path(where.source).name
                source = sources.setdefault(name, len(sources))
                own = [one.strip() for one in ids_of(where, batch.column(names.index(key)), key)]
                which = np.searchsorted(ends, np.array(own, dtype=object), side="right")
                batch = _placed(batch, source, where.row)
                schema = schema or batch.schema
                batch = _cast(batch, schema, where)
                for hand in np.unique(which):
                    if hand not in written:
                        path = folder / f"{next(file_of):06}.arrow"
                        options = pa.ipc.IpcWriteOptions(compression="lz4")
                        written[hand] = path, pa.ipc.new_file(path, batch.schema, options=options)
                    written[hand][1].write_batch(batch.take(np.flatnonzero(which == hand)))
    finally:
        for _, file in written.values():
            file.close()
    return [Hand(str(written[hand][0]), tuple(sources)) for hand in sorted(written)]


def ends_of(ids: Sequence[str], hands: int) -> np.ndarray[Any, Any]:
    """The first id of every range but the first, so that each holds about as many of the ids.

    Examples
    --------
    >>> ends_of(["d", "b", "a", "c"], 2).tolist(), ends_of(["a", "a", "a"], 3).tolist()
    (['c'], ['a'])
    """
    ordered = sorted(ids)
    at = [len(ordered) * k // hands for k in range(1, hands)]
    return np.array(list(dict.fromkeys(ordered[i] for i in at)), dtype=object)


def _cast(batch: pa.RecordBatch, schema: pa.Schema, where: Where) -> pa.RecordBatch:
    """With the types of the first batch.

    Raises ``BadInput`` where a column cannot have them.
    """
    import pyarrow as pa

    if batch.schema.equals(schema):
        return batch
    try:
        return batch.cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        apart = [f.name for f in schema if batch.schema.field(f.name).type != f.type]
        raise BadInput(
            f"{where.source}: column {', '.join(apart)}: other types than in the first file ({error})"
        ) from error


def _placed(batch: pa.RecordBatch, source: int, first: int) -> pa.RecordBatch:
    """With the file and the row of each row in columns of their own."""
    import pyarrow as pa

    n = len(batch)
    batch = batch.append_column(_SOURCE, pa.array(np.full(n, source, np.int32)))
    return batch.append_column(_ROW, pa.array(np.arange(first, first + n, dtype=np.int64)))
