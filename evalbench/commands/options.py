"""Options that several commands have, each stated once, and the words that they are given in."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from evalbench.errors import BadInput

F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[F], F]


class _Finite(click.ParamType):  # type: ignore[type-arg]
    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class Number(_Finite, click.types.FloatParamType):
    """A finite number."""


class Within(_Finite, click.FloatRange):
    """A finite number of a range."""


class NewPath(click.Path):
    """A path to write to: that nothing can be made there is found before anything is asked or computed."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(path_type=Path, **settings)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("the name is empty.", param, ctx)
        try:
            path = Path(super().convert(value, param, ctx))  # type: ignore[arg-type]
            if not (ctx and ctx.resilient_parsing):
                places = (path, *path.absolute().parents) if self.dir_okay else path.absolute().parents
                Path(tempfile.mkdtemp(prefix=".evalbench-", dir=next(p for p in places if p.exists()))).rmdir()
        except OSError as error:
            self.fail(f"{os.fspath(value)!r}: nothing can be written there ({error.strerror}).", param, ctx)
        return path


def together(*options: Option[Any]) -> Option[Any]:
    """Several options as one decorator; help lists them in this order."""

    def decorated(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def out_folder(text: str, **settings: Any) -> Option[Any]:
    """A folder to write into."""
    return click.option("--out", type=NewPath(file_okay=False), help=text, **settings)


def _root(text: str) -> Option[Any]:
    return click.option("--root", type=click.Path(file_okay=False, path_type=Path), help=text)


def timeout_of(of: str) -> Option[Any]:
    """A time limit of notebooks."""
    return click.option("--timeout", type=Within(min=1), help=f"Time limit in seconds for {of}.")


OUT = out_folder("Folder for reports (default: reports/).")
NEW_FOLDER = out_folder("A new or empty folder.", required=True)
ROOT = _root("The workbench (default: found upwards from here, else that of the package).")
ROOT_OF_RUN = _root("The workbench, where RUN is a run's id.")
RENAMES = click.option(
    "--map", "renames", multiple=True, metavar="column=name", help="Rename a column of the data to the one expected."
)
EMBED = click.option("--embed", default="use-multilingual", show_default=True, help="Embedding model of the cosines.")
MODEL_CALLS = together(
    click.option("--temperature", default=0.0, show_default=True, type=Number()),
    click.option("--max-tokens", default=1024, show_default=True, help="The longest reply."),
)
WORKERS = together(
    click.option("--workers", type=click.IntRange(min=1), help="Processes on this machine (default: one per core)."),
    click.option("--scheduler", metavar="tls://HOST:PORT", help="Run on the workers of this Dask scheduler instead."),
)
OF_PARTS = together(
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        help="Processes of this machine that read a table which does not fit, part by part (default: one per core).",
    ),
    click.option(
        "--scheduler",
        metavar="tls://HOST:PORT",
        help="Workers of this Dask scheduler read it instead; they need the data and the reports under the same paths.",
    ),
)
MEMORY = click.option(
    "--memory",
    type=click.IntRange(min=1),
    metavar="MB",
    help="Memory limit of a kernel; a run that needs more fails (Linux only; default: no limit).",
)
LIMITS = together(
    click.option(
        "--dry-run",
        is_flag=True,
        help="Print how many requests, tokens and how much money the run would take; send and write nothing.",
    ),
    click.option(
        "--max-calls",
        type=click.IntRange(min=1),
        metavar="N",
        help="Ask models at most N distinct requests in this run, cached ones included; the rest is unscored (reason: budget). "
        "Each is sent up to 5 times after failures, and asked up to 2 times more where its reply does not fit its form.",
    ),
    click.option(
        "--max-cost",
        type=Within(min=0, min_open=True),
        metavar="X",
        help="Ask no more once requests were billed X, in the currency of the prices in models.toml.",
    ),
)
FAIL_ON = click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(["red", "yellow", "grey"]),
    help="Exit with 3 where the light is this bad or worse; may be repeated. A grey light (not enough evidence) passes "
    "red and yellow, with a line on standard error; grey fails it with 4, and beside red or yellow adds only that.",
)
OF_A_RUN = together(
    OUT,
    ROOT,
    timeout_of("the whole notebook"),
    MEMORY,
    LIMITS,
    FAIL_ON,
    click.option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print one JSON object on standard output, described by docs/run.schema.json.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print where the page is, no figures and no progress."),
)
"""What ``evalbench run`` and ``evalbench rejudge`` take alike."""


def assignments(pairs: Sequence[str], option: str) -> dict[str, str]:
    """``name=value`` words as a mapping.

    Raises ``BadInput`` for a word without ``=`` or a name given twice.

    Examples
    --------
    >>> assignments(["k=3", "prompt=a=b"], "-p")
    {'k': '3', 'prompt': 'a=b'}
    """
    out: dict[str, str] = {}
    faults = []
    for pair in pairs:
        name, found, value = pair.partition("=")
        if not found or not name.strip():
            faults.append(f"{option} {pair}: expected {'COLUMN=NAME' if option == '--map' else 'name=value'}")
        elif name.strip() in out:
            faults.append(f"{option} {pair}: {name.strip()} is given twice")
        else:
            out[name.strip()] = value
    if faults:
        raise BadInput.listing("invalid command line:", faults)
    return out
