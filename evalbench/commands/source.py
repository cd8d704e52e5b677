"""Where a command's table comes from: a file, or standard input."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from evalbench.errors import BadInput


def table_source(data: str | None) -> str | None:
    """The data as they are named; for ``-`` a file with what standard input holds, removed when the command ends.

    Raises ``BadInput`` if standard input is empty.
    """
    from evalbench.readers.files import form_of

    if data != "-":
        return data
    raw = sys.stdin.buffer.read()
    if not raw.strip():
        raise BadInput("-: standard input is empty")
    folder = click.get_current_context().with_resource(tempfile.TemporaryDirectory(prefix="evalbench-"))
    file = Path(folder) / f"stdin{form_of(raw)}"
    file.write_bytes(raw)
    return str(file)
