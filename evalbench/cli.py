"""The command line; every command is loaded when it is called."""

from __future__ import annotations

import errno
import importlib
import os
import shlex
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

import click

_COMMANDS = {
    "list": "evalbench.commands.listing:list_studies",
    "init": "evalbench.commands.init:init",
    "run": "evalbench.commands.run:run_study",
    "show": "evalbench.commands.show:show",
    "view": "evalbench.commands.view:view",
    "export": "evalbench.commands.export:export",
    "batch": "evalbench.commands.batch:batch",
    "index": "evalbench.commands.index:index",
    "rejudge": "evalbench.commands.rejudge:rejudge",
    "compare": "evalbench.commands.compare:compare",
    "check": "evalbench.commands.check:check",
    "metrics": "evalbench.commands.metrics:metrics",
    "data": "evalbench.commands.data:data",
    "label": "evalbench.commands.label:label",
    "criteria": "evalbench.commands.criteria:criteria",
    "models": "evalbench.commands.models:models",
    "monitor": "evalbench.commands.monitor:monitor",
}


def _command(name: str) -> click.Command:
    module, _, attribute = _COMMANDS[name].partition(":")
    command: click.Command = getattr(importlib.import_module(module), attribute)
    return command


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return _command(name) if name in _COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0] if args and not ctx.resilient_parsing else "-"
        if not word.startswith("-") and self.get_command(ctx, word) is None:
            raise _NoCommand(_meant(word))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _command(name).get_short_help_str(200)) for name in _COMMANDS])


class _NoCommand(click.ClickException):
    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"evalbench: {self.message}", file=file, err=file is None)


def _meant(word: str) -> str:
    """A line for a word that is no command, with the command that was probably meant."""
    from difflib import get_close_matches

    from evalbench import studies

    of_studies = get_close_matches(word, studies.names(), n=1, cutoff=0.8)
    if (near := get_close_matches(word, _COMMANDS, n=1)) and word not in of_studies:
        return f"no command {word!r}; did you mean evalbench {near[0]}?"
    if near := of_studies:
        return f"no command {word!r}; did you mean evalbench run {near[0]}?"
    if Path(word).exists():
        return (
            f"no command {word!r}, which is a file or a folder; did you mean evalbench data check {shlex.quote(word)}?"
        )
    return f"no command {word!r}; there are {', '.join(_COMMANDS)} (evalbench --help)"


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="evalbench")
def group() -> None:
    """evalbench: judge language-model systems so that people can trust the judgement.

    Exit codes: 0 done; 1 a run failed; 2 usage or bad input; 3 a light reached --fail-on, or a figure got worse; 4 it
    was grey; 5 no evidence either way; 130 interrupted.
    """


_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
_PLACE = {errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EEXIST}


def main() -> None:
    """Entry point: faults of the input and of the disk are reported in a message, never in a traceback."""
    from evalbench.commands.terminal import clean_streams
    from evalbench.errors import BadInput

    clean_streams()
    try:
        if "_EVALBENCH_COMPLETE" in os.environ and answered_a_shell():
            return
        code = group.main(prog_name="evalbench", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.Abort:
        click.echo("Interrupted.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BadInput as error:
        click.echo(f"evalbench: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            click.echo(f"evalbench: {error.filename}: no file can have so long a name", err=True)
            sys.exit(2)
        if error.errno in _PLACE and error.filename:
            click.echo(f"evalbench: {error.filename}: {error.strerror}", err=True)
            sys.exit(2)
        if error.errno not in _DISK:
            _unforeseen()
        where = f"{error.filename}: " if error.filename else ""
        click.echo(
            f"evalbench: {where}cannot be written ({error.strerror}); free some space or give another --out, "
            "then run it again: replies that were paid for are kept where the cache could be written",
            err=True,
        )
        sys.exit(2)
    except Exception:  # noqa: BLE001 - reported whole, below
        _unforeseen()


def answered_a_shell() -> bool:
    """Whether a shell asked what may come next, see :mod:`evalbench.commands.completion`."""
    from evalbench.commands.completion import answer

    return answer(group)


def _unforeseen() -> NoReturn:
    """Python would print the traceback past the cleaned stream's words: whole, so that a key is seen whole."""
    click.echo(traceback.format_exc(), err=True, nl=False)
    sys.exit(1)


if __name__ == "__main__":
    main()
