"""Tables out of what paths name: a file, a folder of files, or a sample of either where it is large."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evalbench.readers.files import digest, raw_table, read_bytes, sha256
from evalbench.readers.folder import folder_frame, row_files
from evalbench.readers.large import has_rows_of, large_files, large_frame
from evalbench.readers.partitions import is_pattern
from evalbench.readers.trec import trec_files, trec_frames

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Table


Read = tuple["pd.DataFrame", list[str], str]
"""The raw frame of a table, notes on how it was read, and the SHA-256 of its files."""


def tables_of(paths: Mapping[str, Path], schema: Mapping[str, Table], columns: Mapping[str, str]) -> dict[str, Read]:
    """Every table; of large ones a sample, of those that are dealt only where all that go with them have plain rows with ids.

    - ``columns``: Column in the files → column that the study expects.

    Raises ``BadInput`` for files that cannot be read.
    """
    own = {name: path for name, path in paths.items() if not _is_trec(path, name, schema[name])}
    large = {name: files for name, path in own.items() if (files := large_files(path, schema[name], columns))}
    found = {name: _whole(path, name, schema[name]) for name, path in paths.items() if name not in large}
    beside = [name for name in found if schema[name].dealt and schema[name].by_ids]
    plain = all(has_rows_of(schema[name], found[name][0].columns, columns) for name in beside)
    for name, files in large.items():
        table = schema[name]
        if table.dealt and not plain:
            found[name] = _whole(paths[name], name, table)
        else:
            asked = paths[name], files, table.sampled, columns
            frame, notes, digests = large_frame(*asked, dealt=table.dealt, part_rows=table.part_rows)
            found[name] = frame, notes, digest(digests)
    return {name: found[name] for name in paths}


def _is_trec(path: Path, name: str, table: Table) -> bool:
    return path.is_dir() and bool(trec_files(path, name, table.trec))


def _whole(path: Path, name: str, table: Table) -> Read:
    if _is_trec(path, name, table):
        frame, notes, parts = trec_frames(trec_files(path, name, table.trec), table.trec)
    elif (path.is_dir() or is_pattern(path)) and row_files(path):
        frame, notes, parts = folder_frame(path)
    else:
        raw = read_bytes(path)
        frame, notes = raw_table(path, raw, table.trec)
        return frame, notes, sha256(raw)
    return frame, notes, digest(parts)
