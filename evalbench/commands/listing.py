"""``evalbench list``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("list")
@click.option("--root", type=click.Path(path_type=Path))
def list_studies(root: Path | None) -> None:
    """List the studies with their questions and data sets."""
    from evalbench import studies
    from evalbench.readers.catalog import entries

    catalogued = entries(root)
    for name in studies.names():
        labels = [label for label, entry in catalogued.items() if name in entry.studies]
        click.echo(f"{name}\n    {studies.study(name).QUESTION}")
        if labels:
            click.echo(f"    data: {', '.join(labels)}")
