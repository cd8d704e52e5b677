"""``evalbench index``."""

from __future__ import annotations

from pathlib import Path

import click

from evalbench.errors import BadInput


@click.command("index")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of reports (default: reports/).")
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    help="The workbench (default: found upwards from here, else that of the package).",
)
def index(out: Path | None, root: Path | None) -> None:
    """Rebuild reports/index.html from the runs' own files; runs whose process has gone are marked died."""
    from evalbench import workbench
    from evalbench.report.index import write_index
    from evalbench.runs.closing import end_orphans

    reports = out or workbench.reports(root)
    if not reports.is_dir():
        raise BadInput(f"{reports}: there are no reports yet")
    for folder in end_orphans(reports):
        click.echo(f"died    {folder}", err=True)
    click.echo(f"index   {write_index(reports)}")
