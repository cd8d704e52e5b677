"""Files to raw frames: every cell as it stands, nothing guessed.

A raw frame holds text (CSV, TSV) or JSON values (JSON, JSON Lines, Parquet).  The index is the row
number that a person sees: in CSV and TSV the header is row 1, in JSON Lines it is the line, else the
first record is row 1.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.readers.frames import half_character, more_than_once

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = (",", ";", "\t", "|")
DELIMITED = (".csv", ".tsv")
ENDINGS = (*DELIMITED, ".json", ".jsonl", ".ndjson", ".parquet")
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that must exist and not be empty."""
    if not path.exists():
        raise BadInput(f"{path}: no such file")
    if path.is_dir():
        raise BadInput(f"{path}: is a folder, expected a file ending in {', '.join(ENDINGS)}")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    if not raw.strip():
        raise BadInput(f"{path}: the file is empty")
    return raw


def sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def raw_frame(path: Path, raw: bytes) -> pd.DataFrame:
    """One file's cells, unconverted.

    Raises
    ------
    BadInput
        Unknown ending, wrong encoding, broken CSV or JSON; the message names file and place.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"{path}: unknown file ending {ending!r}; expected one of {', '.join(ENDINGS)}")
    if ending == ".parquet":
        from evalbench.readers.parquet import parquet_frame

        return parquet_frame(path, raw)
    text = _decode(path, raw)
    if ending in DELIMITED:
        return _delimited(path, text, "\t" if ending == ".tsv" else ",")
    records, rows = _json_records(path, text) if ending == ".json" else _json_lines(path, text)
    return records_frame(records, rows)


def records_frame(records: list[dict[str, Any]], rows: list[Any]) -> pd.DataFrame:
    """A raw frame of JSON objects; a key that an object lacks becomes None."""
    import pandas as pd

    names = list(dict.fromkeys(key for record in records for key in record))
    return pd.DataFrame(
        {name: pd.Series([r.get(name) for r in records], dtype=object, index=rows) for name in names},
        index=pd.Index(rows),
    )


def _decode(path: Path, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BadInput(
            f"{path}: not UTF-8: byte 0x{raw[error.start]:02x} in line {line}; save the file with UTF-8 encoding"
        ) from error


def _delimited(path: Path, text: str, separator: str) -> pd.DataFrame:
    import pandas as pd

    header = _even_rows(path, text, separator)
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            index_col=False,
            skip_blank_lines=True,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise BadInput(f"{path}: not a table: {str(error).strip()}") from error
    doubled = more_than_once(header)
    if doubled:
        raise BadInput(f"{path}: column {', '.join(doubled)} appears more than once in the header")
    if frame.empty:
        raise BadInput(f"{path}: a header but no rows")
    frame.index = pd.RangeIndex(2, len(frame) + 2)
    return frame


def _even_rows(path: Path, text: str, separator: str) -> list[str]:
    """The header, once every row has as many cells; pandas cuts long rows off and fills up short ones."""
    import csv

    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    uneven: list[str] = []
    header: list[str] = []
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=separator), start=1):
            header = header or row
            if len(row) != len(header) and "".join(row).strip():
                uneven.append(f"row {number}: {len(row)}")
    except csv.Error as error:
        raise BadInput(f"{path}: not a table: {error}") from error
    other = next((s for s in SEPARATORS if len(header) == 1 and s in header[0]), None)
    if other:
        raise BadInput(
            f"{path}: the header is one cell, {header[0][:200]!r}: cells are separated by {other!r}, expected "
            f"{separator!r}; save the file with commas (.csv) or tabs (.tsv)"
        )
    if uneven:
        raise BadInput.listing(
            f"{path}: the header has {len(header)} cells, these rows have more or fewer (quote a cell that holds "
            f"{separator!r} or a line break):",
            uneven,
        )
    return header


def _json_lines(path: Path, text: str) -> tuple[list[dict[str, Any]], list[int]]:
    records, rows, faults = [], [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = parsed_json(line)
        except ValueError as error:
            faults.append(f"line {number}: not valid JSON ({error})")
            continue
        if isinstance(record, dict):
            records.append(record)
            rows.append(number)
        else:
            faults.append(f"line {number}: expected an object, found {type(record).__name__}")
    if faults:
        raise BadInput.listing(f"{path}: not JSON Lines:", faults)
    return records, rows


def _json_records(path: Path, text: str) -> tuple[list[dict[str, Any]], list[int]]:
    try:
        value = parsed_json(text)
    except ValueError as error:
        raise BadInput(f"{path}: not valid JSON ({error})") from error
    if not isinstance(value, list) or not value or not all(isinstance(r, dict) for r in value):
        raise BadInput(f"{path}: expected a JSON list of objects, one per row")
    return value, list(range(1, len(value) + 1))


def parsed_json(text: str) -> Any:
    """A JSON value whose texts a file can hold.

    Raises
    ------
    ValueError
        For no JSON, NaN and Infinity, a key that an object has twice, nesting beyond all bounds, and half a character,
        which JSON can spell and UTF-8 cannot.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_distinct)
        if _HALF_CHARACTER.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ValueError(half_character(error)) from error
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of a key that is there twice, either value could be meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        doubled = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the key {json.dumps(doubled, ensure_ascii=False)} more than once")
    return found
