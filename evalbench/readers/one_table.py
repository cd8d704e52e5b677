"""One table out of what a path names: a file, a folder of files, or a sample of either where it is large."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evalbench.readers.files import digest, raw_table, read_bytes, sha256
from evalbench.readers.folder import folder_frame, row_files
from evalbench.readers.large import large_files, large_frame
from evalbench.readers.partitions import is_pattern
from evalbench.readers.trec import trec_files, trec_frames

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Table


def one_table(path: Path, name: str, table: Table, columns: Mapping[str, str]) -> tuple[pd.DataFrame, list[str], str]:
    """The raw frame of a table, notes on how it was read, and the SHA-256 of its files.

    Raises ``BadInput`` for files that cannot be read.
    """
    if path.is_dir() and (several := trec_files(path, name, table.trec)):
        frame, notes, parts = trec_frames(several, table.trec)
    elif files := large_files(path, table, columns):
        frame, notes, parts = large_frame(path, files, table.sampled, columns, dealt=table.dealt)
    elif (path.is_dir() or is_pattern(path)) and row_files(path):
        frame, notes, parts = folder_frame(path)
    else:
        raw = read_bytes(path)
        frame, notes = raw_table(path, raw, table.trec)
        return frame, notes, sha256(raw)
    return frame, notes, digest(parts)
