"""What can be asked of a table, on the command line: printed, as JSON, and chosen from."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalbench.errors import BadInput

if TYPE_CHECKING:
    from evalbench.asking.asked import Asked


def asked_of(data: str, columns: Mapping[str, str], root: Path | None) -> Asked:
    """What can be asked of data as a command names them; ``-`` is standard input.

    Raises ``BadInput`` if they cannot be read.
    """
    from evalbench.asking.asking import asked
    from evalbench.commands.source import table_source

    source = table_source(data)
    assert source is not None
    return asked(source, columns=columns, root=root, shown=data)


def asked_object(found: Asked) -> str:
    """One line of JSON; ``docs/asked.schema.json`` describes it."""
    from evalbench.models.redact import redacted, redactor

    return json.dumps(redacted(found.to_json(), redactor()), allow_nan=False)


def chosen(found: Asked) -> str:
    """The study that somebody at a terminal names by its number, of those that are ready; printed first.

    Raises ``BadInput`` where nobody can be asked, or no study is ready.
    """
    click.echo(str(found))
    names = [offer.study for offer in found.ready]
    if not names:
        raise BadInput("no study is ready for this table")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput(f"name a study: evalbench run STUDY; ready for this table: {', '.join(names)}")
    click.echo()
    number: int = click.prompt("Which one?", type=click.IntRange(1, len(names)))
    return names[number - 1]
