"""Keys of the environment in a run's folder: taken out of errors, found everywhere else."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalbench.models.redact import environment_keys, holds, redactor
from evalbench.readers.runs import whole_file

# Between the characters of a key: tags, a terminal's colours; and what breaks the lines of base64 and of a notebook's texts.
_BETWEEN = re.compile(r"<[^<>]*>|(?:\x1b|\\u001b)\[[0-9;]*m")
_BREAKS = b' \t\r\n",'


def leaks(folder: Path) -> list[tuple[Path, str]]:
    """Files of a folder that hold a key of the environment in any form, with the name of the key's variable.

    Parquet is read column by column, since its pages are compressed.
    """
    keys = environment_keys()
    if not keys:
        return []
    found: dict[tuple[Path, str], None] = {}
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        for text in _texts(file, folder):
            for value, name in keys.items():
                if holds(text, value):
                    found[file, name] = None
    return list(found)


def _texts(file: Path, folder: Path) -> Iterator[str]:
    """What a file says, its name and those of its folders first; also without markup, and without line breaks."""
    for text in itertools.chain([str(file.relative_to(folder))], _contents(file)):
        yield text
        if "<" in text or "[" in text:
            yield _BETWEEN.sub("", text)
        yield _without_breaks(text)


def _without_breaks(text: str) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    for escaped in (b"\\n", b"\\r"):
        raw = raw.replace(escaped, b"")
    return raw.translate(None, _BREAKS).decode("utf-8", "surrogatepass")


def _contents(file: Path) -> Iterator[str]:
    """A table's columns, of other files the bytes as text."""
    if ".parquet" in file.name:
        import pyarrow as pa

        try:
            yield from _columns(file)
            return
        except (OSError, ValueError, pa.ArrowException):  # half-written, or none: its bytes are looked through
            pass
    yield file.read_bytes().decode("utf-8", "surrogateescape")


def _columns(file: Path) -> Iterator[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.ParquetFile(file)
    yield f"{table.schema_arrow}\n{table.schema_arrow.metadata}"
    for batch in table.iter_batches():
        for column in batch.columns:
            if not (pa.types.is_primitive(column.type) or pa.types.is_null(column.type)):
                yield _column_text(column)


def _column_text(column: Any) -> str:
    """All texts of a column; bytes that are not UTF-8 hide none of them."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        parts = [value or b"" for value in column.cast(pa.large_binary()).to_pylist()]
    else:
        try:
            return "\0".join(map(str, column.to_pylist()))
        except (ValueError, OverflowError, pa.ArrowException):
            parts = [part.to_pybytes() for part in column.buffers() if part is not None]
    return b"\0".join(parts).decode("utf-8", "surrogateescape")


def redact_errors(notebook: Path) -> None:
    """Take keys out of the errors and of the standard error of an executed notebook, so that both can be shown."""
    try:
        content = json.loads(notebook.read_text(encoding="utf-8"))
        cells = list(content["cells"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # then it is scanned, and read by nobody
        return
    redact, changed = redactor(), False
    for output in (output for cell in cells for output in cell.get("outputs", ())):
        for name in _ERROR_TEXTS.get(output.get("output_type"), ()):
            if name == "text" and output.get("name") != "stderr":
                continue
            cleaned = _redacted_lines(output.get(name), redact)
            changed |= cleaned != output.get(name)
            output[name] = cleaned
    if changed:
        with whole_file(notebook) as temporary:
            temporary.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


_ERROR_TEXTS = {"error": ("ename", "evalue", "traceback"), "stream": ("text",)}


def _redacted_lines(text: Any, redact: Any) -> Any:
    if isinstance(text, list):
        return [redact(str(line)) for line in text]
    return redact(text) if isinstance(text, str) else text
