"""Files from strangers, read within bounds: JSON documents, JSON Lines, CSV, and SHA-256 values.

NaN and Infinity, which tools in Python write, are read as such: what they mean is for the reader of the tool to say.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from evalbench.errors import BadInput
from evalbench.readers.decoded import decoded
from evalbench.readers.files import distinct_keys

MOST_DOCUMENT = 250_000_000
"""A JSON document becomes objects of about ten times its size."""
MOST_LINE = 50_000_000
HEAD = 262_144


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, read piece by piece."""
    digest = hashlib.sha256()
    with _opened(path) as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def head_of(path: Path, size: int = HEAD) -> bytes:
    """The first bytes of a file."""
    with _opened(path) as file:
        return file.read(size)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error


def bounded(path: Path, most: int | None = None) -> bytes:
    """All bytes of a file that is small enough to be one document.

    Raises ``BadInput`` for a larger file, and for an empty one.
    """
    most = MOST_DOCUMENT if most is None else most
    size = path.stat().st_size
    if size > most:
        raise BadInput(
            f"{path}: {size:,} bytes, of one document at most {most:,} are read; "
            "divide the run, or write JSON Lines (inspect: the .eval form), which is read line by line"
        )
    with _opened(path) as file:
        raw = file.read(most + 1)
    if not raw.strip():
        raise BadInput(f"{path}: the file is empty")
    return raw


def parsed(text: str | bytes, where: str) -> Any:
    """A JSON value; NaN and Infinity are numbers.

    Raises ``BadInput`` for anything else than one JSON value, a key that an object has twice, nesting beyond all
    bounds, and numbers of more digits than Python converts.

    Examples
    --------
    >>> parsed('{"a": NaN}', "file")["a"]
    nan
    >>> parsed('{"a": 1, "a": 2}', "file")
    Traceback (most recent call last):
    evalbench.errors.BadInput: file: not valid JSON (an object has the key "a" more than once)
    """
    try:
        return json.loads(text, object_pairs_hook=distinct_keys)
    except RecursionError:
        raise BadInput(f"{where}: not valid JSON (nested too deeply)") from None
    except ValueError as error:
        end = (text if isinstance(text, str) else text[-50:].decode("utf-8", "replace")).rstrip()[-1:]
        raise BadInput(
            f"{where}: not valid JSON ({error}{'' if end in ('}', ']') else '; is the file cut?'})"
        ) from error


def document(path: Path) -> Any:
    """The one JSON value of a file."""
    return parsed(decoded(path, bounded(path))[0], str(path))


def lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file with their line numbers, one at a time.

    Raises ``BadInput`` for a line that is not an object, or longer than :data:`MOST_LINE`.
    """
    with _opened(path) as file:
        number = 0
        while line := file.readline(MOST_LINE + 1):
            number += 1
            where = f"{path}: line {number}"
            if len(line) > MOST_LINE:
                raise BadInput(f"{where}: longer than {MOST_LINE:,} bytes")
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.strip():
                continue
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                raise BadInput(f"{where}: not UTF-8 (byte 0x{line[error.start]:02x})") from error
            value = parsed(text, where)
            if not isinstance(value, dict):
                raise BadInput(f"{where}: expected an object, found {type(value).__name__}")
            yield number, value


def first_line(path: Path) -> dict[str, Any] | None:
    """The object in the first line of JSON Lines; None for a file of another form."""
    with _opened(path) as file:
        line = file.readline(MOST_LINE + 1).removeprefix(b"\xef\xbb\xbf").strip()
    if not line.startswith(b"{") or not line.endswith(b"}"):
        return None
    try:
        value = parsed(line.decode(), str(path))
    except (BadInput, UnicodeDecodeError):
        return None
    return value if isinstance(value, dict) else None


def csv_rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Header and rows of a CSV file, every cell a text.

    Raises ``BadInput`` for rows that are longer or shorter than the header.
    """
    text, _ = decoded(path, bounded(path))
    csv.field_size_limit(max(MOST_LINE, csv.field_size_limit()))
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error as error:
        raise BadInput(f"{path}: not a table: {error}") from error
    header = rows[0]
    uneven = [f"row {n}: {len(row)}" for n, row in enumerate(rows[1:], start=2) if len(row) != len(header)]
    if uneven:
        raise BadInput.listing(f"{path}: the header has {len(header)} cells, these rows have more or fewer:", uneven)
    return header, [dict(zip(header, row, strict=True)) for row in rows[1:]]


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> Sequence[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [entry for entry in sequence(value) if isinstance(entry, dict)]


def finite(value: Any) -> Any:
    """A value that a file can hold: NaN and Infinity become null, half characters the sign for what is missing.

    Examples
    --------
    >>> finite({"a": [float("nan"), 1.5, "x"]})
    {'a': [None, 1.5, 'x']}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [finite(entry) for entry in value]
    if isinstance(value, dict):
        return {finite(key): finite(entry) for key, entry in value.items()}
    return value
