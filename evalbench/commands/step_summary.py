"""The summary of a step in GitHub Actions: runs and batches append theirs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from evalbench.errors import BadInput
from evalbench.readers.runs import FINISHED, RUN_JSON, read_results, read_run

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
_MOST = 60  # figures in the summary of a step


def read_whole(folder: Path) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """``run.json`` and, of a run that ended well, ``results.json``.

    Raises ``BadInput`` if it is not the folder of a run.
    """
    if not (folder / RUN_JSON).is_file():
        raise BadInput(f"{folder}: not the folder of a run (it has no {RUN_JSON})")
    about = read_run(folder)
    return about, dict(read_results(folder)) if about.get("status") in FINISHED else None


def summarise_step(text: str) -> None:
    """Append Markdown to the summary of a step, where GitHub Actions asks for one; a fault is a line, never an end."""
    from evalbench.models.redact import redactor

    file = os.environ.get(STEP_SUMMARY)
    if not file:
        return
    try:
        with open(file, "a", encoding="utf-8", errors="replace") as summary:
            summary.write(redactor()(text) + "\n")
    except OSError as error:
        click.echo(f"{STEP_SUMMARY}: {file}: cannot be written ({error.strerror})", err=True)


def summarise_run(folder: Path) -> None:
    """:func:`summarise_step` of a run, with at most sixty figures."""
    if os.environ.get(STEP_SUMMARY):
        from evalbench.report.outputs import markdown

        summarise_step(markdown(*read_whole(folder), most=_MOST))
