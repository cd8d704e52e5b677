"""A folder with a JSON file per row to a raw frame, whose index holds the names of the files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalbench.errors import BadInput
from evalbench.readers.decoded import decoded
from evalbench.readers.files import parsed_json, read_bytes, records_frame, sha256

if TYPE_CHECKING:
    import pandas as pd


def row_files(folder: Path) -> list[Path]:
    """The JSON files of a folder, in the order of their names."""
    return sorted(p for p in folder.glob("*.json") if p.is_file() and not p.name.startswith("."))


def folder_frame(folder: Path) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    """A row per JSON file, the note of it, and SHA-256 values by file.

    Raises
    ------
    BadInput
        For files that are not JSON or hold anything but one object: all of them.
    """
    records, faults, digests = [], [], {}
    files = row_files(folder)
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
