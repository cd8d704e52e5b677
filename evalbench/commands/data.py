"""``evalbench data``: what there is, how a table is understood, what is wrong with one, what a model makes of one, runs of other tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalbench.commands import completion
from evalbench.commands.curate import curate
from evalbench.commands.generate import generate
from evalbench.commands.imports import import_data
from evalbench.commands.options import RENAMES, ROOT, assignments
from evalbench.commands.violate import violate
from evalbench.errors import BadInput
from evalbench.readers.renames import nested_names, renamed_columns, usual

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Table


@click.group("data")
def data() -> None:
    """List and check data sets; find what is wrong with one; make questions or violations; read other tools' runs."""


data.add_command(curate)
data.add_command(generate)
data.add_command(import_data)
data.add_command(violate)


@data.command("list")
@ROOT
def list_data(root: Path | None) -> None:
    """List the data sets of the catalog."""
    from evalbench.readers.catalog import entries

    for label, entry in entries(root).items():
        kind = "synthetic" if entry.synthetic else "real"
        rows = ", ".join(f"{table} {file.get('rows', '?')} rows" for table, file in entry.files.items())
        click.echo(f"{label}  [{', '.join(entry.studies)}; {kind}; {entry.licence}]\n    {entry.title}\n    {rows}")


@data.command("check")
@click.argument("path", metavar="FILE|FOLDER|NAME@VERSION|-", shell_complete=completion.data_sets)
@click.option(
    "--study",
    default="",
    help="The study whose tables are expected; without it: what can be asked of the table.",
    shell_complete=completion.studies,
)
@RENAMES
@click.option(
    "-p", "pairs", multiple=True, metavar="name=value", help="A further table of the study, or a parameter of the run."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Without --study: print one JSON object on standard output, described by docs/asked.schema.json.",
)
@ROOT
def check(
    path: str, study: str, renames: tuple[str, ...], pairs: tuple[str, ...], as_json: bool, root: Path | None
) -> None:
    """Show what a table holds and which studies can be asked of it; with --study how that study understands its columns, and all faults for which a run would refuse it."""
    if not study:
        if pairs:
            raise click.UsageError("-p is a study's: name it with --study")
        from evalbench.commands.asked import asked_object, asked_of

        found = asked_of(path, assignments(renames, "--map"), root)
        click.echo(asked_object(found) if as_json else str(found))
        return
    if as_json:
        raise click.UsageError("--json goes without --study")
    from evalbench import studies
    from evalbench.commands.source import table_source
    from evalbench.readers.dataset import by_roles, checked_tables, read
    from evalbench.readers.schema import file_names
    from evalbench.readers.written import numbered
    from evalbench.runs.notebooks import known_parameters
    from evalbench.runs.parameters import checked_values

    own = studies.study(study)
    columns, given = assignments(renames, "--map"), assignments(pairs, "-p")
    tables = {name: value for name, value in given.items() if name in file_names(own.SCHEMA)}
    further = {name: value for name, value in given.items() if name not in tables}
    options = checked_values(known_parameters(study, root), further, study) if further else {}
    raw = read(table_source(path), own.SCHEMA, root=root, columns=columns, **tables)
    try:
        frames, left = by_roles(raw, own.SCHEMA, columns, own.adapt)
        frames, without_ids = numbered(frames, own.SCHEMA, left)
        for line in understood(frames, own.SCHEMA, raw.sources, columns, without_ids):
            click.echo(line)
        grouping = {name: options[name] for name in ("cluster", "slices") if name in options}
        dataset = checked_tables(raw, own.SCHEMA, columns=columns, adapt=own.adapt, further=own.check, **grouping)
        released = dict(studies.defaults(study))
        if path not in released.values():  # the notebook's values are for its sample
            released |= {name: option.default for name, option in own.options().items()}
        studies.refuse(dataset, study, released | options)
    except BadInput as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    for note in dataset.notes:
        if "columns that are not used" not in note:  # told above, table by table
            click.echo(f"note: {note}")
    click.echo("no faults")


def understood(
    frames: Mapping[str, pd.DataFrame],
    schema: Mapping[str, Table],
    sources: Mapping[str, str],
    columns: Mapping[str, str],
    without_ids: Mapping[str, str],
) -> Iterator[str]:
    """What each column of each table is taken for."""
    for name, table in schema.items():
        frame = frames.get(name)
        if frame is None:
            yield f"table {name}: not given{'' if table.required else ' (optional)'}: {table.help}"
            continue
        yield f"table {name} ({sources.get(name, name)}, {len(frame)} rows): {table.help}"
        renamed = renamed_columns(frame, columns)[0]
        names = set(map(str, renamed.columns))
        back = {target: source for source, target in columns.items() if target in names and source not in names}
        free = [c for c in names if table.column(c) is None]
        for place, column in enumerate(table.columns):
            found = column.name in names
            sign = "✓" if found else "✗" if column.required else "–"
            origin = f" (from {back[column.name]})" if found and column.name in back else ""
            state = "" if found else " missing:" if column.required else " missing, optional:"
            note = (f"; {column.help}" if column.help else "") + ("" if found else usual(column.name, free))
            if place == 0 and name in without_ids:
                sign, note = "+", f"{note}; {without_ids[name]}"
            yield f"  {sign} {column.name}{origin}:{state} {column.expected()}{note}"
        if free:
            yield f"  + kept as text, not read by the study: {', '.join(sorted(free))}"
        if inner := [path for path in nested_names(frame) if path not in columns]:
            yield f"  + values within objects, which --map can name: {', '.join(inner)}"
