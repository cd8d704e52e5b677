"""The tables of data as they are, and a sample of their rows where they are many."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.readers import catalog
from evalbench.readers.dataset import read
from evalbench.readers.files import ENDINGS, read_bytes
from evalbench.readers.frames import by_table
from evalbench.readers.log_store.address import is_log_store
from evalbench.readers.model_files import model_files
from evalbench.readers.partitions import is_pattern, parquet_files
from evalbench.readers.sample_rows import sample_of_rows, small_file
from evalbench.readers.schema import Table

if TYPE_CHECKING:
    import pandas as pd


def raw_tables(data: Any, root: Path | None) -> tuple[dict[str, pd.DataFrame], BadInput | None]:
    """The frames that data hold as they are, and why they cannot be read.

    Raises ``BadInput`` for what is not there.
    """
    if isinstance(data, (str, Path)) and (files := _files(data, root)) is not None:
        frames: dict[str, pd.DataFrame] = {}
        fault = None
        for name, path in files.items():
            try:
                frames |= {name: read(path, {name: Table(())}).frames[name]}
            except BadInput as error:
                fault = error
        return frames, fault
    return dict(read(data, _any_table(data), root=root).frames), None


def _any_table(data: Any) -> dict[str, Table]:
    """A schema that takes the data as they are."""
    if isinstance(data, (str, Path)):
        return {"rows": Table(())}
    known = {table for name in studies.names() for table in studies.study(name).SCHEMA}
    return {name: Table(()) for name in by_table(data, "rows", known)}


def _files(data: str | Path, root: Path | None) -> dict[str, Path] | None:
    """Files by the names of their tables; None for a log store."""
    path = Path(data).expanduser()
    if is_log_store(data):
        return None
    if catalog.NAME.match(str(data)) and not path.exists():
        return catalog.entry_files(catalog.entry(str(data), root), root)
    if path.is_dir() and model_files(path):
        return {"rows": path}
    if path.is_dir():
        return {p.name.split(".")[0]: p for p in sorted(path.iterdir()) if p.is_file() and p.name.endswith(ENDINGS)}
    if not (is_pattern(path) and parquet_files(path)):
        read_bytes(path)
    return {"rows": path}


def looked_at(data: Any, frames: Mapping[str, pd.DataFrame], folder: Path) -> tuple[Any, int]:
    """The data, or a sample of their rows where they are many; and how many rows these are."""
    rows = len(next(iter(frames.values()))) if frames else 0
    if len(frames) != 1:
        return data, rows
    name, frame = next(iter(frames.items()))
    sample = sample_of_rows(frame)
    if len(sample) == len(frame):
        return data, rows
    if not isinstance(data, (str, Path)):
        return {name: sample} if isinstance(data, Mapping) and name in data else sample, len(sample)
    small = small_file(Path(data), sample, folder)
    return (data, rows) if small is None else (small, len(sample))
