"""The first look at a file or folder: its form, and enough of its content to know the tool that wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.tools.safe import MOST_DOCUMENT, csv_rows, document, first_line, head_of


class Probe(NamedTuple):
    """A file that was looked at.

    - ``form`` ({"folder", "zip", "lines", "document", "csv", "parquet"})
    - ``value``: Of lines the first object, of a document the whole of it, of a CSV file (header, rows), of others None.
    """

    path: Path
    form: str
    value: Any = None

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the first object: of lines, of a list of objects, of a document; the header of a CSV file."""
        value = self.value
        if self.form == "csv":
            return frozenset(value[0])
        if isinstance(value, list):
            value = next((entry for entry in value if isinstance(entry, dict)), None)
        return frozenset(value) if isinstance(value, dict) else frozenset()


def probed(path: Path) -> Probe:
    """A look at a path that must exist.

    Raises ``BadInput`` for no file, an empty one, and one that is neither JSON, JSON Lines, CSV, Parquet nor zip.
    """
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder")
    if path.is_dir():
        return Probe(path, "folder")
    head = head_of(path)
    if not head.strip():
        raise BadInput(f"{path}: the file is empty")
    if head.startswith(b"PK"):
        return Probe(path, "zip")
    if head.startswith(b"PAR1"):
        return Probe(path, "parquet")
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if path.suffix.lower() in (".jsonl", ".ndjson") or start[:1] == b"{":
        first = first_line(path)
        if first is not None and (path.suffix.lower() in (".jsonl", ".ndjson") or _several(path)):
            return Probe(path, "lines", first)
    if start[:1] in (b"{", b"["):
        return Probe(path, "document", document(path))
    if path.suffix.lower() in (".csv", ".tsv", ".txt") and b"\0" not in head:
        return Probe(path, "csv", csv_rows(path))
    raise BadInput(f"{path}: neither JSON, JSON Lines, CSV, Parquet nor an .eval log")


def _several(path: Path) -> bool:
    """Whether a second line with an object follows the first."""
    if path.stat().st_size > MOST_DOCUMENT:
        return True
    with path.open("rb") as file:
        file.readline()
        return any(line.strip()[:1] == b"{" for line in (file.readline() for _ in range(3)))
