"""``evalbench show``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from evalbench.commands.options import ROOT_OF_RUN
from evalbench.commands.run import failing
from evalbench.commands.step_summary import read_whole
from evalbench.readers.runs import PAGE


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
@ROOT_OF_RUN
def show(run: str, form: str, fail_on: tuple[str, ...], root: Path | None) -> None:
    """Print a run for a terminal, a pull request or a list of tests: RUN is a run's folder or id.

    \b
    evalbench show reports/matching/A --as junit > matching.xml
    """
    from evalbench import workbench
    from evalbench.readers.runs import run_folder
    from evalbench.report import outputs

    folder = run_folder(run, workbench.reports(root))
    about, results = read_whole(folder)
    if form == "junit":
        click.echo(outputs.junit(about, results, failing(fail_on or ("red",))), nl=False)
    elif form == "markdown":
        click.echo(outputs.markdown(about, results), nl=False)
    else:
        click.echo("\n".join(_text(about, results, folder)))


def _text(about: Mapping[str, Any], results: Mapping[str, Any] | None, folder: Path) -> list[str]:
    from evalbench.commands.brief import brief

    page = f"report  {folder / PAGE}"
    if results is None:
        return [f"{about.get('status', 'unknown')}: {about.get('error') or ''}", page]
    return [*brief(results), page]
