"""``evalbench index``."""

from __future__ import annotations

from pathlib import Path

import click

from evalbench.commands.options import OUT, ROOT
from evalbench.errors import BadInput


@click.command("index")
@OUT
@ROOT
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
