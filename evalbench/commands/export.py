"""``evalbench export``."""

from __future__ import annotations

from pathlib import Path

import click

from evalbench.commands.options import ROOT_OF_RUN, out_folder

FORMS = ("csv", "mlflow", "every_eval_ever")


@click.command("export")
@click.argument("run", metavar="RUN", type=click.Path(path_type=str))
@click.option("--to", "form", type=click.Choice(FORMS), required=True, help="The form.")
@out_folder("The folder (default: exports/RUN for csv, exports/mlflow, exports/every_eval_ever).")
@click.option("--organisation", default="", help="Who publishes the results (every_eval_ever).")
@ROOT_OF_RUN
def export(run: str, form: str, out: Path | None, organisation: str, root: Path | None) -> None:
    """Write a finished run for other tools, with the interval of every figure: RUN is a run's folder or id.

    \b
    evalbench export reports/imported/A --to csv
    evalbench export reports/imported/A --to mlflow --out tracking    # tracking/mlflow.db; needs evalbench[mlflow]
    evalbench export reports/imported/A --to every_eval_ever
    """
    from evalbench import workbench
    from evalbench.readers.runs import run_folder
    from evalbench.runs.export import finished, to_csv

    found = finished(run_folder(run, workbench.reports(root)))
    target = out or Path("exports") / (found.folder.name if form == "csv" else form)
    if form == "csv":
        files = to_csv(found, target)
        click.echo(f"{target}: {', '.join(file.name for file in files)}")
    elif form == "mlflow":
        from evalbench.runs.export_mlflow import STORE, to_mlflow

        own, new = to_mlflow(found, target)
        click.echo(f"{target / STORE}: run {own}{'' if new else ', which was there already'}")
        click.echo(f"mlflow ui --backend-store-uri sqlite:///{(target / STORE).resolve()}")
    else:
        from evalbench.runs.export_every_eval_ever import to_every_eval_ever

        written = to_every_eval_ever(found, target, organisation=organisation)
        for path in written.files:
            click.echo(path)
        for note in written.notes:
            click.echo(f"note: {note}")
