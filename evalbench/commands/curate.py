"""``evalbench data curate``: a table of texts looked through, and a cleaned copy of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalbench.commands import completion
from evalbench.commands.dataset_folder import cell, json_lines, refuse_full, write_folder
from evalbench.commands.options import EMBED, NEW_FOLDER, RENAMES, ROOT, Number, assignments
from evalbench.core.wording import counted
from evalbench.errors import BadInput

if TYPE_CHECKING:
    from evalbench.kit.curating import Curated
    from evalbench.readers.dataset import Dataset


@click.command("curate")
@click.argument("table", metavar="TABLE", shell_complete=completion.data_sets)
@NEW_FOLDER
@click.option("--text", default="text", show_default=True, help="The column that is looked at.")
@click.option("--label", default="", help="The column in which rows that nearly agree should agree (default: label).")
@click.option("--split", default="", help="The column of splits (default: split).")
@click.option(
    "--near",
    default=0.95,
    show_default=True,
    type=Number(),
    help="Cosine from which rows are near-duplicates; above 1 for none.",
)
@EMBED
@click.option(
    "--hold-out", default="", help="The split that is kept whole (default: test, else validation, else the smallest)."
)
@click.option("--draw", multiple=True, metavar="name=share", help="Draw a new split, such as train=0.8 and test=0.2.")
@click.option("--seed", default=0, show_default=True, help="Draws the split.")
@RENAMES
@ROOT
def curate(
    table: str, out: Path, text: str, label: str, split: str, draw: tuple[str, ...], renames: tuple[str, ...], root: Path | None,
    **options: Any,
) -> None:  # fmt: skip
    """List duplicates, label conflicts, leaks between splits, outliers and texts that are empty or cut.

    TABLE is FILE, NAME@VERSION or - . The rows that stay are written to the folder, with every finding and a card; the
    table itself is not changed.
    """
    from evalbench.commands.source import table_source
    from evalbench.kit.curating import TEXTS
    from evalbench.kit.curating import curate as curated
    from evalbench.readers.dataset import load

    refuse_full(out)
    named = {
        column: name
        for column, name in ((text, "text"), (label, "label"), (split, "split"))
        if column and column != name
    }
    columns = {**named, **assignments(renames, "--map")}
    data = load(table_source(table), TEXTS, columns=columns, root=root)
    for note in data.notes:
        if "columns that are not used" not in note:  # they are kept
            click.echo(f"note: {note}", err=True)
    found = curated(data["rows"], shares=_shares(draw), **options)
    for line in report(found):
        click.echo(line, err=True)
    back = {name: column for column, name in columns.items() if name in found.rows}
    write(found, back, out, data, {**options, "draw": ", ".join(draw)})
    click.echo(f"{len(found.rows)} of {counted(len(data['rows']), 'row')} stay: {out / 'rows.jsonl'}")


def _shares(draw: tuple[str, ...]) -> dict[str, float] | None:
    if not draw:
        return None
    given = {name: str(value) for name, value in assignments(draw, "--draw").items()}
    try:
        return {name: float(value) for name, value in given.items()}
    except ValueError:
        raise BadInput(f"--draw: expected name=share such as train=0.8, got {', '.join(draw)}") from None


def report(found: Curated) -> list[str]:
    """What was found, kind by kind, and the first findings of each."""
    from evalbench.kit.curating import KINDS

    lines = []
    for kind, words in KINDS.items():
        if not found.counts[kind]:
            continue
        own = found.findings[found.findings["kind"] == kind]
        lines.append(f"{found.counts[kind]} {kind}: {words}")
        for row in own.head(3).to_dict("records"):
            other = f" ({row['other']})" if row["other"] else ""
            lines.append(f"    {row['id']}{other}{': ' if row['detail'] else ''}{row['detail']}")
    return lines or ["nothing was found"]


def write(found: Curated, names: Mapping[str, str], out: Path, data: Dataset, options: Mapping[str, Any]) -> None:
    """The rows that stay, those set aside, the findings and the card: all files, or none."""
    lines, aside, findings = (
        json_lines(table.rename(columns=names)) for table in (found.rows, found.conflicts, found.findings)
    )
    version = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    conflicts = {"conflicts.jsonl": aside} if aside else {}
    text = card(found, data, options, version)
    write_folder(out, {"rows.jsonl": lines, "findings.jsonl": findings, **conflicts, "README.md": text})


def card(found: Curated, data: Dataset, options: Mapping[str, Any], version: str) -> str:
    """The data card of the cleaned table."""
    from evalbench.kit.curating import KINDS

    counts = "\n".join(f"| {kind} | {found.counts[kind]} | {words} |" for kind, words in KINDS.items())
    splits = "\n".join(f"- {cell(name) or '(none)'}: {n}" for name, n in found.splits.items())
    near = f"from cosine {options['near']:g} on, by {options['embed']}" if options["near"] <= 1 else "not looked for"
    drawn = f" New splits {options['draw']}, drawn with seed {options['seed']}." if options["draw"] else ""
    return f"""# {data.label}, cleaned (version {version})

{counted(len(found.rows), "row")} stay of {len(data["rows"])}; nothing was changed in them.

- From: {data.label}, sha256 {data.label.sha256}.
- How made: `evalbench data curate`; near-duplicates: {near}.{drawn}
- `rows.jsonl`: the rows that stay, in their order, all columns; its sha256 begins with {version}. `findings.jsonl`: every finding
  (`id`, `kind`, `other`, `detail`), also of rows that stay. `conflicts.jsonl`, where there are some: the rows set aside.
- Licence: that of the data that it was made from.

| finding | rows | what became of them |
| --- | ---: | --- |
{counts}

{"Rows by split:" if splits else "There are no splits."}

{splits}
"""
