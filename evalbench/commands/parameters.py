"""The parameters of a study's notebook as the command line shows them: name, type, default, help."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evalbench.readers.parameters import Parameter


def parameter_rows(parameters: Iterable[Parameter]) -> list[tuple[str, str]]:
    """Two texts for each parameter, for ``click.HelpFormatter.write_dl``.

    Examples
    --------
    >>> from evalbench.readers.parameters import parse_cell
    >>> parameter_rows(parse_cell("k: int = 5  # how many\\nlimit: float | None = None", "x").values())
    [('k: int', 'how many  [default: 5]'), ('limit: float | None', '[default: None]')]
    """
    return [(f"{p.name}: {p}", f"{p.help}  [default: {_default(p.default)}]".strip()) for p in parameters]


def _default(value: Any) -> str:
    if value is None or value == "":
        return "None" if value is None else "empty"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_parameters(formatter: click.HelpFormatter, target: str, root: Path | None = None) -> None:
    """A section with the parameters of a study or of a notebook by its path.

    Raises ``BadInput`` if there is none of this name.
    """
    from evalbench.runs.notebooks import known_parameters

    known = known_parameters(target, root).values()
    for title, advanced in (("Parameters", False), ("Advanced parameters", True)):
        if rows := parameter_rows(p for p in known if p.advanced == advanced):
            with formatter.section(f"{title} of {target}, given with -p name=value"):
                formatter.write_dl(rows)


def first_argument(command: click.Command, words: Sequence[str]) -> str:
    """The first word that is neither an option nor an option's value, whatever else is wrong with the line.

    Examples
    --------
    >>> command = click.Command("run", params=[click.Option(["-p"]), click.Option(["-q"], is_flag=True)])
    >>> first_argument(command, ["-p", "k=1", "-q", "matching", "-p"]), first_argument(command, ["-p"])
    ('matching', '')
    """
    takes = {
        name for p in command.params if isinstance(p, click.Option) and not (p.is_flag or p.count) for name in p.opts
    }
    left = iter(words)
    for word in left:
        if word in takes:
            next(left, None)
        elif not word.startswith("-"):
            return word
    return ""


_WORDS = "evalbench.words"
_AS_JSON = "--json"


class AlsoInJson(click.Command):
    """A command that with ``--json`` prints an object on standard output too where its command line cannot be read."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if _AS_JSON not in ctx.meta[_WORDS] or ctx.resilient_parsing:
                raise
            from evalbench.commands.printed import run_object

            error.ctx = error.ctx or ctx  # for the line of usage
            error.show()
            click.echo(run_object(self.study(ctx), "refused", 2, error=error.format_message()))
            ctx.exit(2)

    def study(self, ctx: click.Context) -> str:
        """What the object names, before there is a plan."""
        return self.name or ""


class OfAStudy(AlsoInJson):
    """A command whose first argument is a study: its help shows that study's parameters."""

    def study(self, ctx: click.Context) -> str:
        return Path(study_of(ctx)).stem

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        target = study_of(ctx)
        if target:
            write_parameters(formatter, target, root_of(ctx))


def study_of(ctx: click.Context) -> str:
    """The study that a command line names, also an unfinished one."""
    return first_argument(ctx.command, ctx.meta.get(_WORDS, ()))


def root_of(ctx: click.Context) -> Path | None:
    """The workbench that a command line names with ``--root``."""
    words = ctx.meta.get(_WORDS, ())
    found = [after for word, after in pairwise(words) if word == "--root"]
    return Path(found[-1]) if found else None
