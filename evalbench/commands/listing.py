"""``evalbench list``."""

from __future__ import annotations

from pathlib import Path

import click

from evalbench.commands import completion
from evalbench.commands.options import ROOT


@click.command("list")
@click.argument("what", metavar="[STUDY|metrics]", required=False, shell_complete=completion.studies_and_metrics)
@click.option(
    "--for",
    "data",
    metavar="NAME@VERSION|FILE|FOLDER|-",
    help="Only the studies that can be asked of these data.",
    shell_complete=completion.data_sets,
)
@ROOT
@click.pass_context
def list_studies(ctx: click.Context, what: str | None, data: str | None, root: Path | None) -> None:
    """List the studies with their questions and data sets, or the parameters of one; `list metrics`: the metrics; `list --for FILE`: the studies that can be asked of a table."""
    if data is not None:
        if what is not None:
            raise click.UsageError("--for goes without a study")
        from evalbench.commands.asked import asked_of

        found = asked_of(data, {}, root)
        click.echo("\n".join(f"{offer.study}\n    {offer.question}" for offer in found.ready) or "no study is ready")
        if others := [offer.study for offer in found.offers if not offer.ready]:
            click.echo(f"not ready: {', '.join(others)}; `evalbench data check {data}` says what they need")
        return
    from evalbench import studies
    from evalbench.commands.metrics import list_metrics
    from evalbench.commands.parameters import write_parameters
    from evalbench.readers.catalog import entries

    if what == "metrics":
        ctx.invoke(list_metrics, everything=False)
        return
    catalogued = entries(root)
    for name in studies.names() if what is None else [studies.known(what)]:
        labels = [label for label, entry in catalogued.items() if name in entry.studies]
        click.echo(f"{name}\n    {studies.question(name)}")
        if labels:
            click.echo(f"    data: {', '.join(labels)}")
    if what is not None:
        formatter = ctx.make_formatter()
        write_parameters(formatter, what, root)
        click.echo(f"\n{formatter.getvalue()}", nl=False)
