"""``evalbench criteria``: the criteria that are shipped, and what is hard to apply in one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evalbench.judge.criteria import Criterion


@click.command("criteria")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the shipped criteria as YAML, to be edited.")
def criteria(file: Path | None, as_yaml: bool) -> None:
    """List what makes the criteria of a file hard to apply; without a file, list the criteria that are shipped.

    Advice is not a fault: only a file that cannot be read as criteria ends with code 2.
    """
    from evalbench.judge.criteria import read_criteria
    from evalbench.judge.criteria_lint import HANDBOOK, handbook_criteria, lint

    if file is None and as_yaml:
        click.echo(HANDBOOK.read_text(encoding="utf-8"), nl=False)
        return
    known = handbook_criteria() if file is None else read_criteria(file)
    for one in known:
        click.echo(line(one))
    if file is None:
        return
    advice = lint(known)
    for each in advice:
        click.echo(f"{each.criterion}: {each.text} [{each.rule}]", err=True)
    if not advice:
        click.echo("nothing to mend", err=True)


def line(one: Criterion) -> str:
    """A criterion in one line: marks, basis, definition.

    Examples
    --------
    >>> from evalbench.judge.criteria import Criterion
    >>> line(Criterion("brevity", "Is it short?", {0: "long", 1: "short"}))
    'brevity (0, 1; without a basis): Is it short?'
    """
    basis = {"none": "without a basis", "any": "needs a basis"}.get(
        one.needs_basis, f"needs {one.needs_basis.replace('_', ' ')}"
    )
    return f"{one.name} ({', '.join(map(str, one.scale))}; {basis}): {one.definition}"
