"""``evalbench show``, and the summary of a step in GitHub Actions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from evalbench.commands.run import failing
from evalbench.readers.runs import PAGE, RUN_JSON

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
_MOST = 60  # figures in the summary of a step


@click.command("show")
@click.argument("run", metavar="RUN", type=click.Path(path_type=str))
@click.option(
    "--as",
    "form",
    type=click.Choice(["text", "markdown", "junit"]),
    default="text",
    show_default=True,
    help="The form.",
)
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(["red", "yellow", "grey"]),
    help="Lights that are failures in JUnit, as in `evalbench run` (default: red).",
)
@click.option("--root", type=click.Path(path_type=Path), help="The workbench, where RUN is a run's id.")
def show(run: str, form: str, fail_on: tuple[str, ...], root: Path | None) -> None:
    """Print a run for a terminal, a pull request or a list of tests: RUN is a run's folder or id.

    \b
    evalbench show reports/matching/A --as junit > matching.xml
    """
    from evalbench import workbench
    from evalbench.commands.compare import run_folder
    from evalbench.report import outputs

    folder = run_folder(run, workbench.reports(root))
    about, results = _read(folder)
    if form == "junit":
        click.echo(outputs.junit(about, results, failing(fail_on or ("red",))), nl=False)
    elif form == "markdown":
        click.echo(outputs.markdown(about, results), nl=False)
    else:
        click.echo("\n".join(_text(about, results, folder)))


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Any] | None]:
    from evalbench.errors import BadInput
    from evalbench.readers.runs import FINISHED, read_results, read_run

    if not (folder / RUN_JSON).is_file():
        raise BadInput(f"{folder}: not the folder of a run (it has no {RUN_JSON})")
    about = read_run(folder)
    return about, dict(read_results(folder)) if about.get("status") in FINISHED else None


def _text(about: Mapping[str, Any], results: Mapping[str, Any] | None, folder: Path) -> list[str]:
    from evalbench.commands.printed import headline
    from evalbench.core.verdict import SYMBOLS

    page = f"report  {folder / PAGE}"
    if results is None:
        return [f"{about.get('status', 'unknown')}: {about.get('error') or ''}", page]
    light = str(results["light"])
    return [f"{SYMBOLS[light]} {light}  {results['sentence']}", *headline(results, most=10_000), page]


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

        summarise_step(markdown(*_read(folder), most=_MOST))
