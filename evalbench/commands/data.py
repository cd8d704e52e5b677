"""``evalbench data``: what there is, and how a table is understood."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from evalbench.commands import completion
from evalbench.commands.run import assignments
from evalbench.errors import BadInput


@click.group("data")
def data() -> None:
    """List data sets; check how a table is understood."""


@data.command("list")
@click.option("--root", type=click.Path(path_type=Path))
def list_data(root: Path | None) -> None:
    """List the data sets of the catalog."""
    from evalbench.readers.catalog import entries

    for label, entry in entries(root).items():
        kind = "synthetic" if entry.synthetic else "real"
        rows = ", ".join(f"{table} {file.get('rows', '?')} rows" for table, file in entry.files.items())
        click.echo(f"{label}  [{', '.join(entry.studies)}; {kind}; {entry.licence}]\n    {entry.title}\n    {rows}")


@data.command("check")
@click.argument("path", metavar="FILE|FOLDER|NAME@VERSION", shell_complete=completion.data_sets)
@click.option("--study", required=True, help="The study whose tables are expected.", shell_complete=completion.studies)
@click.option("--map", "renames", multiple=True, metavar="column=name", help="Rename a column to the one expected.")
@click.option("-p", "files", multiple=True, metavar="table=FILE", help="A further table of the study.")
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    help="The workbench (default: found upwards from here, else that of the package).",
)
def check(path: str, study: str, renames: tuple[str, ...], files: tuple[str, ...], root: Path | None) -> None:
    """Show how the columns of a table are understood and list all its faults."""
    from evalbench import studies
    from evalbench.readers.dataset import read

    own = studies.study(study)
    schema = own.SCHEMA
    columns, tables = assignments(renames, "--map"), assignments(files, "-p")
    raw = read(path, schema, root=root, **tables)
    for name, table in schema.items():
        frame = raw.frames.get(name)
        if frame is None:
            click.echo(f"table {name}: not given{'' if table.required else ' (optional)'}: {table.help}")
            continue
        click.echo(f"table {name} ({raw.sources[name]}, {len(frame)} rows): {table.help}")
        back = {target: source for source, target in columns.items() if source in frame.columns}
        present = {str(c).strip() for c in frame.columns}
        for column in table.columns:
            source = back.get(column.name, column.name)
            found = source in present
            sign = "✓" if found else "✗" if column.required else "–"
            origin = f" (from {source})" if source != column.name else ""
            state = "" if found else " missing:" if column.required else " missing, optional:"
            note = f"; {column.help}" if column.help else ""
            click.echo(f"  {sign} {column.name}{origin}:{state} {column.expected()}{note}")
        extra = sorted(present - {c.name for c in table.columns} - set(back.values()))
        if extra:
            click.echo(f"  + kept as text, not read by the study: {', '.join(extra)}")
    try:
        dataset = studies.load(path, study=study, columns=columns, root=root, **tables)
        if own.check:
            own.check(dataset)
    except BadInput as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    for note in dataset.notes:
        if "columns that are not used" not in note:  # told above, table by table
            click.echo(f"note: {note}")
    click.echo("no faults")
