"""``evalbench check``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from evalbench.commands import completion
from evalbench.commands.options import ROOT


@click.command("check")
@click.argument("names", nargs=-1, metavar="[STUDY]…", shell_complete=completion.studies)
@click.option(
    "--accept", is_flag=True, help="Store the current figures; the commit message should say which moved and why."
)
@ROOT
def check(names: tuple[str, ...], accept: bool, root: Path | None) -> None:
    """Render studies on their samples and compare the figures with tests/golden."""
    from evalbench import studies
    from evalbench.runs import golden
    from evalbench.runs.run import plan, run
    from evalbench.workbench import own_root
    from evalbench.workbench import root as find_root

    moved = False
    folder = (own_root(root) if accept else find_root(root)) / "tests" / "golden"
    for planned in [plan(name, root=root) for name in names or studies.names()]:
        with tempfile.TemporaryDirectory() as scratch:
            done = run(planned, out=Path(scratch))
        if done.results is None:
            click.echo(f"✗ {planned.study}: {done.status}: {done.error}", err=True)
            moved = True
            continue
        figures = golden.golden_of(done.results)
        differing = golden.difference(figures, folder / f"{planned.study}.json")
        if accept:
            golden.accept(figures, folder / f"{planned.study}.json")
        moved = moved or bool(differing and not accept)
        sign = "✓" if not differing else "accepted" if accept else "✗"
        click.echo("\n    ".join([f"{sign} {planned.study}", *differing]))
    sys.exit(1 if moved else 0)
