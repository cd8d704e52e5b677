"""``evalbench run``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from evalbench.errors import BadInput

SYMBOLS = {"green": "●", "yellow": "▲", "red": "■", "grey": "◌", "unlit": "○"}
_RANK = {"red": 3, "yellow": 2, "grey": 1}


def exit_code(light: str, fail_on: str | None) -> int:
    """3 where a light reached ``fail_on``, 4 where it is grey and ``fail_on`` is grey, else 0.

    Examples
    --------
    >>> exit_code("red", "yellow"), exit_code("grey", "grey"), exit_code("grey", "yellow")
    (3, 4, 0)
    """
    if fail_on is None or _RANK.get(light, 0) < _RANK[fail_on]:
        return 0
    return 4 if light == "grey" else 3


def unjudged(lights: Sequence[str], fail_on: str | None) -> str:
    """What to say where ``fail_on`` was asked and results have no light that could reach it; else nothing.

    Examples
    --------
    >>> unjudged(["unlit", "green"], "red")
    'unlit: 1 of 2 runs has no rule for a light, so --fail-on red judges nothing there'
    >>> unjudged(["green"], "red")
    ''
    """
    unlit = sum(light == "unlit" for light in lights)
    if fail_on is None or not unlit:
        return ""
    which = (
        "this run has"
        if len(lights) == 1
        else f"{unlit} of {len(lights)} runs {'has' if unlit == 1 else 'have'}"
    )
    return f"unlit: {which} no rule for a light, so --fail-on {fail_on} judges nothing there"


def assignments(pairs: Sequence[str], option: str) -> dict[str, str]:
    """``name=value`` words as a mapping.

    Raises
    ------
    BadInput
        For a word without ``=`` or a name given twice.
    """
    out: dict[str, str] = {}
    faults = []
    for pair in pairs:
        name, found, value = pair.partition("=")
        if not found or not name.strip():
            faults.append(f"{option} {pair}: expected name=value")
        elif name.strip() in out:
            faults.append(f"{option} {pair}: {name.strip()} is given twice")
        else:
            out[name.strip()] = value
    if faults:
        raise BadInput.listing("the command line cannot be understood:", faults)
    return out


def gathered(
    target: str,
    data: str | None,
    pairs: Sequence[str],
    renames: Sequence[str],
    model: str | None,
    root: Path | None,
) -> dict[str, Any]:
    """Parameters out of the command line's options."""
    values: dict[str, Any] = dict(assignments(pairs, "-p"))
    given = {"data": data, "model": model, "columns": assignments(renames, "--map") or None}
    doubled = [name for name, value in given.items() if value is not None and name in values]
    if doubled:
        raise BadInput(f"{', '.join(doubled)}: given twice, with -p and with an option of its own")
    return values | {name: value for name, value in given.items() if value is not None}


def headline(results: Mapping[str, Any], most: int = 6) -> list[str]:
    """The first figures of each group, a line each."""
    lines = []
    names = list(dict.fromkeys(row["metric"] for row in results["summary"]))[: 2 if results["by"] else most]
    for row in results["summary"]:
        if row["metric"] in names:
            group = ", ".join(str(row[k]) for k in results["by"] if row.get(k)) or (
                "all" if results["by"] else ""
            )
            lines.append(f"  {row['metric']:<18} {_figure(row):<26} n {row['n']}  {group}".rstrip())
    return lines[:24]


def _figure(row: Mapping[str, Any]) -> str:
    from evalbench.draw.verdict import rounded

    if row["value"] is None:
        return f"– ({row['note']})"
    return rounded(row["value"], row["ci_low"], row["ci_high"])


@click.command("run")
@click.argument("target", metavar="STUDY|NOTEBOOK.ipynb")
@click.option(
    "--data", metavar="NAME@VERSION|PATH", help="The data: a data set of the catalog, a file or a folder."
)
@click.option(
    "-p", "pairs", multiple=True, metavar="name=value", help="A parameter of the notebook; may be repeated."
)
@click.option(
    "--map",
    "renames",
    multiple=True,
    metavar="column=name",
    help="Rename a column of the data to the one expected.",
)
@click.option(
    "--model", metavar="NAME", help="The model that answers, e.g. openai/gpt-4o or local/smollm2-135m."
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for reports (default: reports/)."
)
@click.option(
    "--root", type=click.Path(path_type=Path), help="The workbench (default: found upwards from here)."
)
@click.option("--timeout", type=click.FloatRange(min=1), help="Seconds for the whole notebook.")
@click.option(
    "--fail-on",
    type=click.Choice(["red", "yellow", "grey"]),
    help="Exit with 3 where the light is this bad or worse (grey: 4).",
)
def run_study(
    target: str, data: str | None, pairs: tuple[str, ...], renames: tuple[str, ...], model: str | None,
    out: Path | None, root: Path | None, timeout: float | None, fail_on: str | None,
) -> None:  # fmt: skip
    """Render one study into a report; prints its light, headline figures and where the page is."""
    from evalbench.report.index import write_index
    from evalbench.runs.run import plan, run

    planned = plan(target, gathered(target, data, pairs, renames, model, root), root)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what stops a run from outside is written down
    try:
        done = run(planned, out=out, timeout=timeout, progress=sys.stderr.isatty())
    except KeyboardInterrupt:
        click.echo(
            "stopped from outside; what was answered by models is kept, run it again to go on", err=True
        )
        sys.exit(130)
    write_index(done.folder.parents[1])
    page = done.folder / "report.html"
    if done.results is None:
        click.echo(f"{done.status}: {done.error}", err=True)
        click.echo(f"report  {page}", err=True)
        sys.exit(1)
    click.echo(f"{SYMBOLS[done.light]} {done.light}  {done.results['sentence']}")
    click.echo("\n".join(headline(done.results)))
    click.echo(f"report  {page}")
    if said := unjudged([done.light], fail_on):
        click.echo(said, err=True)
    sys.exit(exit_code(done.light, fail_on))
