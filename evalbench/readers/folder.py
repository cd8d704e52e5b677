"""A folder whose files make up one table: a JSON file per row, brat's annotations, a CoNLL file or a table per model, or Parquet files of its rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalbench.errors import BadInput
from evalbench.readers.brat import brat_files, brat_frame
from evalbench.readers.decoded import decoded
from evalbench.readers.files import parsed_json, raw_table, read_bytes, records_frame, sha256
from evalbench.readers.model_files import model_files, model_frame
from evalbench.readers.parquet import MOST_CELLS
from evalbench.readers.partitions import home_of, is_pattern, parquet_files, parquet_parts
from evalbench.readers.tagged import TAGGED

if TYPE_CHECKING:
    import pandas as pd


def row_files(folder: Path) -> list[Path]:
    """The files of a folder, or of a pattern, that make up a table, in the order of their names."""
    if is_pattern(folder):
        return parquet_files(folder)
    of_rows = model_files(folder) or _json_files(folder) or brat_files(folder) or _tagged_files(folder)
    return of_rows or parquet_files(folder)


def _json_files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.glob("*.json") if p.is_file() and not p.name.startswith("."))


def _tagged_files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.suffix in TAGGED and p.is_file() and not p.name.startswith("."))


def folder_frame(folder: Path) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    """The table of a folder, notes on how it was read, and SHA-256 values by file.

    The rows of a table per model, see :func:`evalbench.readers.model_files.model_files`; else a row per JSON file; else a row per document of brat; else the tokens of CoNLL files, each with its file's name as ``model``;
    else the rows of all Parquet files.  Of a pattern the rows of the Parquet files that it names.

    Raises ``BadInput`` for files that are not what their names say: all of them.
    """
    if is_pattern(folder):
        return _partitions(folder)
    if files := model_files(folder):
        return model_frame(files)
    if _json_files(folder):
        return _json_rows(folder)
    if brat_files(folder):
        return brat_frame(folder)
    return _tagged_models(folder) if _tagged_files(folder) else _partitions(folder)


def _tagged_models(folder: Path) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    import pandas as pd

    frames, faults, digests, notes = [], [], {}, []
    for file in _tagged_files(folder):
        try:
            raw = read_bytes(file)
            digests[file.name] = sha256(raw)
            frame, found = raw_table(file, raw)
        except BadInput as error:
            faults.append(str(error).removeprefix(f"{folder}/"))
            continue
        frames.append(frame.set_axis([f"{file.name}:{row}" for row in frame.index]).assign(model=file.stem))
        notes += [f"{file.name}: {note}" for note in found]
    if faults:
        raise BadInput.listing(f"{folder}: expected tokens with tags:", faults)
    return pd.concat(frames), [f"its {len(frames)} files were read as a model each", *notes], digests


def _partitions(folder: Path) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    import pandas as pd

    files, home = parquet_files(folder), home_of(folder)
    parts = parquet_parts(files)
    if (cells := sum(part.rows * len(part.columns()) for part in parts)) > MOST_CELLS:
        raise BadInput(
            f"{folder}: {cells} cells in {len(files)} Parquet files, at most {MOST_CELLS} are read: take a sample of the rows"
        )
    frames, faults, digests = [], [], {}
    for file in files:
        name = file.relative_to(home).as_posix()
        try:
            raw = read_bytes(file)
            digests[name] = sha256(raw)
            frame = raw_table(file, raw)[0]
        except BadInput as error:
            faults.append(str(error).removeprefix(f"{folder}/"))
            continue
        frames.append(frame.set_axis([f"{name}:{row}" for row in frame.index]))
    if faults:
        raise BadInput.listing(f"{folder}: expected Parquet files:", faults)
    notes = [f"its {len(files)} Parquet files were read as one table"] if len(files) > 1 else []
    if any("=" in part for file in files for part in file.relative_to(home).parts[:-1]):
        notes.append("columns that are in the names of folders (month=…) are not read")
    return pd.concat(frames), notes, digests


def _json_rows(folder: Path) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    """A row per JSON file, the note of it, and SHA-256 values by file.

    Raises ``BadInput`` for files that are not JSON or hold anything but one object: all of them.
    """
    records, faults, digests = [], [], {}
    files = _json_files(folder)
    for file in files:
        try:
            raw = read_bytes(file)
            digests[file.name] = sha256(raw)
            record = parsed_json(decoded(file, raw)[0])
        except BadInput as error:
            faults.append(str(error).removeprefix(f"{folder}/"))
            continue
        except ValueError as error:
            faults.append(f"{file.name}: not valid JSON ({error})")
            continue
        if isinstance(record, dict):
            records.append(record)
        else:
            faults.append(f"{file.name}: expected one object, found {type(record).__name__}")
    if faults:
        raise BadInput.listing(f"{folder}: expected a JSON object per file:", faults)
    note = f"its {len(files)} JSON files were read as a row each, in the order of their names"
    return records_frame(records, [file.name for file in files]), [note], digests
