"""A look at a file of trajectories: its form by its first bytes, its first records, and then all of them, one at a time."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from evalbench.errors import BadInput
from evalbench.readers.decoded import MOST_BYTES, decoded
from evalbench.readers.tools.safe import HEAD, MOST_DOCUMENT, MOST_LINE, finite, head_of, parsed
from evalbench.readers.trajectories.rows_of_parquet import HELD, holds_lists, records_of_parquet
from evalbench.readers.trajectories.shape import Source

FIRST = 20
"""So many records show what a file is."""
_MARKS = re.compile(
    rb'"(?:messages|traj|trajectory|conversations?|history|role|output|resourceSpans|resourceLogs|simulations|run_type|traceId'
    rb"|trace_id|sessionId|schema_version|payload|step|step_id|step_index|tool|tool_name|tool_calls|samples|observations"
    rb'|transcript|trajectories|chat|steps|eval|evaluation_criteria|user_scenario|action|observation|llm_message)"'
)
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_BOM = b"\xef\xbb\xbf"
_DAMAGED = (OSError, EOFError, zlib.error)


@dataclass(frozen=True)
class Look:
    """A file that was looked at.

    - ``form`` ({"lines", "document", "csv", "parquet", "zip"})
    - ``value``: Of a document all of it.
    - ``first``: The first records: of lines, of the list that a document is, or the document; of a Parquet file that holds lists, its rows.
    - ``packed``: Whether the file is compressed by gzip.
    """

    path: Path
    form: str
    value: Any = None
    first: list[Any] = field(default_factory=list)
    packed: bool = False

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Those of the first records that are objects."""
        return [record for record in self.first if isinstance(record, dict)]

    def records(self, source: Source) -> Iterator[tuple[int, Any]]:
        """All records with their rows: lines and rows of Parquet as they are read, entries of a list counted from 1.

        Lines that are not JSON are faults of the source.
        """
        if self.form == "lines":
            yield from lines(self.path, self.packed, source)
        elif self.form == "parquet":
            yield from records_of_parquet(self.path)
        elif isinstance(self.value, list):
            yield from enumerate(self.value, start=1)
        else:
            yield 1, self.value

    def inside(self, key: str) -> Look:
        """The list under a key of a document, as if the file were that list."""
        value = self.value[key]
        return Look(self.path, self.form, value, value[:FIRST], self.packed)


def looked(path: Path) -> Look | None:
    """A look at a file; None where it can hold no trajectories, is damaged, or is no file.

    Never raises: what is wrong with a file that is not known is for others to say.
    """
    try:
        return _looked(path)
    except (BadInput, *_DAMAGED):
        return None


def _looked(path: Path) -> Look | None:
    if not path.is_file():
        return None
    raw = head_of(path)
    packed = raw.startswith(b"\x1f\x8b")
    head = _unpacked_head(path) if packed else raw
    if head.startswith(b"PK") and not packed:
        return Look(path, "zip")
    if head.startswith(b"PAR1"):
        return Look(path, "parquet", first=[] if packed else _first_rows(path), packed=packed)
    start = head.removeprefix(_BOM).lstrip()[:1]
    if start in (b"{", b"["):
        return _json(path, head, packed) if _MARKS.search(head) else None
    if b"\0" in head or not start or not re.search(rb"[,;\t|]", head.split(b"\n", 1)[0]):
        return None
    return Look(path, "csv", packed=packed)


def _json(path: Path, head: bytes, packed: bool) -> Look:
    first = _first_lines(path, packed)
    if first is not None:
        return Look(path, "lines", first=first, packed=packed)
    value = parsed(decoded(path, whole(path, packed, MOST_DOCUMENT))[0], str(path))
    value = finite(value) if _HALF.search(head) else value
    return Look(path, "document", value, value[:FIRST] if isinstance(value, list) else [value], packed)


def _first_rows(path: Path) -> list[Any]:
    """The first rows of a Parquet file that holds lists; none of any other."""
    if not holds_lists(path):
        return []
    first = [record for _, record in islice(records_of_parquet(path), FIRST)]
    return first if any(isinstance(record.get(key), list) for record in first for key in HELD) else []


def _first_lines(path: Path, packed: bool) -> list[Any] | None:
    """The first records of JSON Lines; None where the first line is not a whole value, or no other line begins one."""
    source = Source(path)
    with opened(path, packed) as file:
        line = file.readline(MOST_LINE + 1).removeprefix(_BOM).strip()
        rest = next((more for _ in range(3) if (more := file.readline(64).strip())), b"")
    if line[:1] not in (b"{", b"[") or line[-1:] not in (b"}", b"]") or rest[:1] not in (b"{", b"["):
        return None
    first: list[Any] = []
    try:
        for _, value in islice(lines(path, packed, source), FIRST):
            first.append(value)
    except BadInput:
        pass  # it is said again when the file is read
    return None if not first or any(fault.startswith("row 1:") for fault in source.faults) else first


def opened(path: Path, packed: bool) -> BinaryIO:
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def whole(path: Path, packed: bool, most: int = MOST_BYTES) -> bytes:
    """All bytes of a file that is small enough, unpacked.

    Raises ``BadInput`` for a larger one, also where it only unpacks to more, and for a damaged one.
    """
    try:
        with opened(path, packed) as file:
            raw = file.read(most + 1)
    except _DAMAGED as error:
        raise BadInput(f"{path}: cannot be read ({error})") from error
    if len(raw) > most:
        raise BadInput(f"{path}: more than {most:,} bytes in one document; divide it, or write a trajectory a line")
    return raw


def lines(path: Path, packed: bool, source: Source) -> Iterator[tuple[int, Any]]:
    """The values of JSON Lines with their line numbers, one at a time; a line that is not JSON is a fault."""
    read = 0
    with opened(path, packed) as file:
        number = 0
        try:
            while line := file.readline(MOST_LINE + 1):
                number += 1
                read += len(line)
                if packed and read > 10 * MOST_BYTES:
                    raise BadInput(f"{path}: unpacks to more than {10 * MOST_BYTES:,} bytes; divide the file")
                if len(line) > MOST_LINE:
                    raise BadInput(f"{path}: row {number}: longer than {MOST_LINE:,} bytes")
                if number == 1:
                    line = line.removeprefix(_BOM)
                if not line.strip():
                    continue
                try:
                    yield number, _value(line)
                except BadInput as error:
                    source.fault(number, str(error).removeprefix("line: "))
        except _DAMAGED as error:
            raise BadInput(f"{path}: row {number + 1}: cannot be read ({error}); is the file cut?") from error


def _value(line: bytes) -> Any:
    try:
        value = parsed(line.decode(), "line")
    except UnicodeDecodeError as error:
        raise BadInput(f"line: not UTF-8 (byte 0x{line[error.start]:02x})") from error
    return finite(value) if _HALF.search(line) else value


def _unpacked_head(path: Path) -> bytes:
    with gzip.open(path, "rb") as file:
        return file.read(HEAD)


def sole_list(value: Any, holds: Any) -> str:
    """The key of an object under which alone there is a list of what is looked for; empty where there is none, or several.

    - ``holds``: Whether an entry is what is looked for.
    """
    if not isinstance(value, Mapping):
        return ""
    found = [key for key, rows in value.items() if isinstance(rows, list) and rows and all(map(holds, rows[:FIRST]))]
    return found[0] if len(found) == 1 else ""
