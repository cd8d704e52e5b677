"""Tables that do not fit, dealt into files by ranges of ids: rows of one id stay together, and the files follow each other as ids do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput
from evalbench.readers.large import STREAM, Large
from evalbench.readers.nameless import GROUP, MODEL, UNNAMED
from evalbench.readers.parquet import cells_of
from evalbench.readers.partitions import Where, ids_of, texts_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MOST_HANDS = 200
"""So many files are open at once."""
OF_ALL = "of all rows"
"""Where a frame of a part says what is known of all rows of its table, in its ``attrs``: :class:`Values`."""
_SOURCE, _ROW = "evalbench:source", "evalbench:row"
_NONE = -1
"""The range of rows that are not dealt."""
Columns = tuple[str, ...]
Ids = np.ndarray[Any, Any]


class Values(dict[Columns, list[Columns]]):
    """What some columns of a table hold together in all of its rows, each once, in ascending order."""

    def __deepcopy__(self, memo: object) -> Values:
        return self  # pandas copies attrs with every frame


def values_of(frame: pd.DataFrame, columns: Columns) -> list[Columns] | None:
    """What columns hold together, each once, ascending; of a part of a table what all of its rows hold; None where one is not there."""
    known: Values = frame.attrs.get(OF_ALL, Values())
    own = tuple(name for name in columns if name in frame)
    if own in known or not own:
        return known.get(own)
    rows = frame[list(own)].drop_duplicates()
    return sorted(set(zip(*(rows[name].astype(str).str.strip() for name in own), strict=True)))


@dataclass(frozen=True)
class Hand:
    """The rows whose ids lie within a range: a file, and the names of the files that they came from."""

    path: str
    sources: tuple[str, ...]
    rows: int

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


def ids_of_all(large: Large, key: str) -> list[str]:
    """The ids of all rows of a table, in their order.

    Raises ``BadInput`` for ids that are missing or are neither texts nor whole numbers.
    """
    return [
        one.strip()
        for part in large.parts
        for where, batch in part.batches([key])
        for one in ids_of(where, batch.column(0), key)
    ]


def deal(
    large: Large,
    ends: Ids,
    folder: Path,
    named: Mapping[str, str],
    of_all: Sequence[Columns] = (),
    only: Collection[str] | None = None,
) -> tuple[list[Hand], Values]:
    """Deal all rows of a table.

    - ``ends``: The first id of every range but the first.
    - ``folder``: A new one.
    - ``named``: Column as the study calls it → as the parts call it; others have one name.
    - ``of_all``: Columns of which the values of all rows are wanted.
    - ``only``: The ids whose rows are dealt; by default all.

    Returns: A hand for each range, and the values.

    Raises ``BadInput`` for ids that are missing or are neither texts nor whole numbers, and damaged files.
    """

    folder.mkdir(parents=True)
    key = named.get("id", "id")
    unnamed = {named.get(MODEL, MODEL): UNNAMED} if large.nameless == GROUP else {}
    values: dict[Columns, set[Columns]] = {}
    sources: dict[str, int] = {}
    written: dict[int, Any] = {}
    rows = [0] * (len(ends) + 1)
    names = large.parts[0].columns()
    schema = None
    try:
        for part in large.parts:
            for where, batch in part.batches(names):
                name = Path(where.source).name
                source = sources.setdefault(name, len(sources))
                own = [one.strip() for one in ids_of(where, batch.column(names.index(key)), key)]
                which = ranges_of(own, ends)
                looked_at = batch
                if only is not None:
                    which[[one not in only for one in own]] = _NONE
                    looked_at = batch.take(np.flatnonzero(which != _NONE))
                for columns in of_all:
                    here = tuple(column for column in columns if named.get(column, column) in names)
                    if here:
                        found = _values(where, looked_at, [named.get(c, c) for c in here], unnamed)
                        values.setdefault(here, set()).update(found)
                batch = _placed(batch, source, where.row)
                schema = schema or batch.schema
                batch = _cast(batch, schema, where)
                if not written:
                    written = {hand: _opened(folder / f"{hand:06}.arrow", schema) for hand in range(len(ends) + 1)}
                for hand in np.unique(which[which != _NONE]):
                    written[hand].write_batch(batch.take(np.flatnonzero(which == hand)))
                    rows[hand] += int((which == hand).sum())
    finally:
        for file in written.values():
            file.close()
    hands = [Hand(str(folder / f"{hand:06}.arrow"), tuple(sources), n) for hand, n in enumerate(rows)]
    return hands, Values({columns: sorted(found) for columns, found in values.items()})


def _opened(path: Path, schema: pa.Schema) -> Any:
    import pyarrow as pa

    return pa.ipc.new_file(path, schema, options=pa.ipc.IpcWriteOptions(compression="lz4"))


def _values(where: Where, batch: pa.RecordBatch, names: Sequence[str], instead: Mapping[str, str]) -> Iterable[Columns]:
    """What columns of a batch hold together; missing cells are left to those who read the rows.

    - ``instead``: Column → what its missing cells are.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = [texts_of(where, batch.column(name), name) for name in names]
    cells = [
        pc.if_else(pc.equal(pc.fill_null(own, ""), ""), instead[name], own) if name in instead else own
        for name, own in zip(names, cells, strict=True)
    ]
    rows = pa.table(cells, names=[*map(str, range(len(cells)))])
    found = rows.group_by(rows.column_names).aggregate([]).to_pydict()
    known = (row for row in zip(*(found[name] for name in rows.column_names), strict=True) if None not in row)
    return (tuple(cell.strip() for cell in row) for row in known)


def ranges_of(ids: Sequence[str], ends: Ids) -> np.ndarray[Any, np.dtype[np.intp]]:
    """The number of the range of each id."""
    return np.searchsorted(ends, np.array([*ids], dtype=object), side="right")


def ends_of(ids: Sequence[str], hands: int) -> Ids:
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
