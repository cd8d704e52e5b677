"""Tables of which only a sample is read, since all of their rows would not fit: the sample does not depend on the order of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.seeds import keys
from evalbench.core.wording import count
from evalbench.errors import BadInput
from evalbench.readers.frames import more_than_once
from evalbench.readers.parquet import cells_of, first_line
from evalbench.readers.partitions import BATCH_ROWS, Part, Where, home_of, ids_of, parquet_files, parquet_parts
from evalbench.readers.role_names import fit
from evalbench.readers.schema import PART_ROWS
from evalbench.readers.schema import STREAM as STREAM
from evalbench.readers.wide import may_be_of_several

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from evalbench.readers.schema import Table

LARGE_ROWS = 200_000
"""Above so many rows a table is sampled, in studies that can stream it."""
_HASHED = 1 << 20


@dataclass(frozen=True)
class Large:
    """A table of which only a sample was read.

    - ``name``: Of the file, folder or database.
    - ``renamed``: Column as the study calls it → as the parts call it; others have one name.
    - ``dealt``: Whether the study reads all rows, in parts, and the sample stands for them only where it says so.
    - ``bound``: The largest hash of an id of the sample.
    - ``part_rows``: About so many rows are made into items at once.
    - ``nameless``: What rows without a model are, see :mod:`evalbench.readers.nameless`; None where that was not looked at.
    """

    name: str
    parts: tuple[Part, ...] = field(repr=False)
    rows: int
    sampled: int
    renamed: Mapping[str, str] = field(default_factory=dict)
    dealt: bool = False
    bound: int = 2**64 - 1
    part_rows: int = PART_ROWS
    nameless: str | None = None

    def sampled_of(self, ids: Iterable[str]) -> np.ndarray[Any, Any]:
        """Which ids are those of the sample."""
        return np.asarray(keys(0, "rows", ids) <= np.uint64(self.bound))

    def of(self, ids: Sequence[str]) -> Large:
        """The rows of some ids, with a sample of as many rows, or of all."""
        bound = int(np.sort(keys(0, "rows", ids))[min(len(ids), self.sampled) - 1])
        return replace(self, rows=len(ids), bound=bound)

    def __deepcopy__(self, memo: object) -> Large:
        return self  # pandas copies attrs with every frame

    def __str__(self) -> str:
        if self.dealt:
            return (
                f"all {count(self.rows)} rows were read, in parts; notes on how cells and texts are written are of {count(self.sampled)} of "
                "them, those whose hash of the id is smallest (seed 0)"
            )
        return (
            f"{count(self.sampled)} of {count(self.rows)} rows were read, those whose hash of the id is smallest (seed 0): "
            "figures are of these, unless they are said to be of all rows"
        )


@dataclass(frozen=True)
class FramePart:
    """A table that was read whole, beside one of which only a sample was."""

    name: str
    frame: pd.DataFrame = field(repr=False)

    @property
    def rows(self) -> int:
        return len(self.frame)

    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(map(str, self.frame.columns))

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Where, pa.RecordBatch]]:
        """See :class:`evalbench.readers.partitions.Part`."""
        import pyarrow as pa

        for start in range(0, len(self.frame), BATCH_ROWS):
            rows = self.frame[start : start + BATCH_ROWS]
            cells = {name: pa.array(rows[name].array, from_pandas=True) for name in columns}
            cells = {name: c.combine_chunks() if isinstance(c, pa.ChunkedArray) else c for name, c in cells.items()}
            yield Where(self.name, start + 1), pa.RecordBatch.from_pydict(cells)


def whole(name: str, frame: pd.DataFrame) -> Large:
    """A table that was read whole as one that can be streamed."""
    return Large(name, (FramePart(name, frame),), len(frame), len(frame))


def large_files(path: Path, table: Table, columns: Mapping[str, str]) -> list[Path]:
    """The Parquet files of a table that is sampled; empty where it is read whole: it is small, the study has no use for a sample, or wants
    parts and the table has another shape than they are read in.

    - ``columns``: Column in the files → column that the study expects.
    """
    parts = parquet_parts(files := parquet_files(path)) if table.sampled else ()
    if sum(part.rows for part in parts) <= max(min(LARGE_ROWS, 2 * table.part_rows), table.sampled):
        return []
    return files if not table.dealt or has_rows_of(table, parts[0].columns(), columns) else []


def has_rows_of(table: Table, names: Iterable[str], columns: Mapping[str, str]) -> bool:
    """Whether the names of a file's columns are plainly those of a table's rows, which depend on no others: an id, all else that it needs,
    and one for what is judged.
    """
    own = {str(name).strip() for name in names}
    known = {columns.get(name, name) for name in own}
    if any({*across} <= known for across in table.across):
        return False
    needed = {column.name for column in table.columns if column.required}
    without = table.scored and not any(map(may_be_of_several, own))
    judged = [column for column in table.columns if column.keep_null and not without]
    is_there = needed <= own | ({"id"} & known)
    return is_there and all(any(fit(name, column) in (0, 1) for name in known) for column in judged)


def is_dealt(frame: pd.DataFrame) -> bool:
    """Whether a table is a sample of one that is read part by part."""
    large = frame.attrs.get(STREAM)
    return large is not None and large.dealt


def is_reshaped(
    before: Mapping[str, pd.DataFrame], after: Mapping[str, pd.DataFrame], schema: Mapping[str, Table]
) -> bool:
    """Whether a table that is dealt became another one, or several: only all of its rows say how, but of scores beside what they are of."""
    dealt = [name for name, frame in before.items() if is_dealt(frame)]
    kept = all(name in after and is_dealt(after[name]) for name in dealt)
    further = [name for name in after if name not in before and not (schema[name].scored and is_dealt(after[name]))]
    return bool(dealt) and not (kept and not further)


def refuse_reshaped(
    before: Mapping[str, pd.DataFrame], after: Mapping[str, pd.DataFrame], schema: Mapping[str, Table]
) -> None:
    """Raises ``BadInput`` where a table that is dealt became another one, see :func:`is_reshaped`."""
    if is_reshaped(before, after, schema):
        made = ", ".join(name for name in after if name not in before)
        raise BadInput(f"rows of {', '.join(before)} hold those of {made}: give {made} as a table of its own")


def read_whole(schema: Mapping[str, Table]) -> dict[str, Table]:
    """Tables of which all rows are read at once."""
    return {name: replace(table, sampled=0, dealt=False) if table.dealt else table for name, table in schema.items()}


def has_texts(frame: pd.DataFrame, column: str, read_as: Mapping[str, str] = {}) -> bool:
    """Whether any cell of a column of texts is not empty; of a table that is read in parts, any cell of all rows.

    - ``read_as``: Column in the files → column of the frame, where they differ.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if column not in frame:
        return False
    if bool((frame[column].fillna("") != "").any()):
        return True
    if not is_dealt(frame):
        return False
    large: Large = frame.attrs[STREAM]
    name = {own: source for source, own in read_as.items()}.get(column) or large.renamed.get(column, column)
    batches = (batch.column(0) for part in large.parts for _, batch in part.batches([name]))
    return any(
        pc.any(pc.not_equal(cells.cast(pa.string()), "") if cells.type != pa.null() else cells.is_valid()).as_py()
        for cells in batches
    )


def missing_of_all(large: Large, column: str) -> int:
    """In how many of all rows a column has an empty cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n = 0
    for part in large.parts:
        for _, batch in part.batches([column]):
            cells = batch.column(0)
            texts = pa.nulls(len(cells), pa.string()) if cells.type == pa.null() else cells.cast(pa.string())
            n += pc.sum(pc.equal(pc.fill_null(texts, ""), "")).as_py() or 0
    return n


def large_frame(
    path: Path,
    files: Sequence[Path],
    sampled: int,
    columns: Mapping[str, str],
    *,
    dealt: bool = False,
    part_rows: int = PART_ROWS,
) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    """The sample of a large table, a note on it, and SHA-256 values by file.

    - ``path``: The file, or the folder of the files.
    - ``sampled``: How many rows.
    - ``columns``: Column in the files → column that the study expects.
    - ``dealt``, ``part_rows``: See :class:`Large`.

    Raises ``BadInput``: See :func:`sample_of`, and for damaged files.
    """
    frame = sample_of(path.name, parquet_parts(files), sampled, columns, dealt=dealt, part_rows=part_rows)
    return frame, [str(frame.attrs[STREAM])], digests_of(path, files)


def sample_of(
    name: str,
    parts: Sequence[Part],
    sampled: int,
    columns: Mapping[str, str],
    *,
    dealt: bool = False,
    part_rows: int = PART_ROWS,
) -> pd.DataFrame:
    """A sample of a table's rows as a raw frame that says in its ``attrs`` what it is a sample of.

    Raises ``BadInput`` for columns that are doubled, ids that are missing or are neither texts nor whole numbers,
    cells that no text, number or date can hold.
    """
    renamed = {expected: own for own, expected in columns.items()}
    names = parts[0].columns()
    if doubled := more_than_once(names):
        raise BadInput(f"{name}: column {', '.join(doubled)} appears more than once")
    if (key := renamed.get("id", "id")) not in names:
        raise BadInput(
            f"{name}: column {key} is missing: of a table of so many rows ids say which are read together; there are {', '.join(names[:30])}"
        )
    table, rows = sample_rows(parts, sampled, names, key)
    frame = cells_of(name, table).set_axis(rows)
    bound = int(keys(0, "rows", map(str, table.column(key).to_pylist())).max())
    n = sum(part.rows for part in parts)
    frame.attrs[STREAM] = Large(name, tuple(parts), n, len(frame), renamed, dealt, bound, part_rows)
    return frame


def sample_rows(
    parts: Sequence[Part], n: int, columns: Sequence[str], id_column: str = "id"
) -> tuple[pa.Table, list[str]]:
    """The n rows whose ids have the smallest hash, in the order of these, and where they are: the same in any order of rows and parts.

    Raises ``BadInput`` for ids that are missing or are neither texts nor whole numbers, and where there are no rows.
    """
    import pyarrow as pa

    kept: list[tuple[pa.Table, Any, Any]] = []
    bound = np.uint64(2**64 - 1)
    for part in parts:
        for where, batch in part.batches(columns):
            key = keys(0, "rows", ids_of(where, batch.column(columns.index(id_column)), id_column))
            small = np.flatnonzero(key <= bound)
            if len(small):
                named = np.array([f"{Path(where.source).name}:{where.row + i}" for i in small], dtype=object)
                kept.append((pa.Table.from_batches([batch]).take(small), key[small], named))
            if sum(len(own) for _, own, _ in kept) > 2 * n:
                kept = [_smallest(kept, n)]
                bound = kept[0][1][-1]
    if not kept:
        raise BadInput("no rows")
    table, _, rows = _smallest(kept, n)
    return table, rows.tolist()


def _smallest(kept: Sequence[tuple[pa.Table, Any, Any]], n: int) -> tuple[pa.Table, Any, Any]:
    import pyarrow as pa

    tables, own, named = zip(*kept, strict=True)
    key = np.concatenate(own)
    order = np.argsort(key, kind="stable")[:n]
    try:
        together = pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise BadInput(f"a column has other types in some files than in others ({first_line(error)})") from error
    return together.take(order).combine_chunks(), key[order], np.concatenate(named)[order]


def digests_of(path: Path, files: Sequence[Path]) -> dict[str, str]:
    """SHA-256 of each file, read piece by piece."""
    found = {}
    for file_path in files:
        sha = hashlib.sha256()
        with file_path.open("rb") as file:
            while piece := file.read(_HASHED):
                sha.update(piece)
        found[file_path.relative_to(home_of(path)).as_posix() if file_path != path else path.name] = sha.hexdigest()
    return found
