"""Completion in shells: of studies, data sets, parameters; by click's own means, with scripts for bash and zsh.

click's scripts take a line apart where bash does, at ``=`` and ``@`` too, and set a blank behind ``name=``: with them
``-p name=value`` and ``name@version`` cannot be completed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import click
from click.shell_completion import BashComplete, CompletionItem, ZshComplete, add_completion_class, split_arg_string
from click.shell_completion import get_completion_class as class_of

from evalbench.commands.parameters import root_of, study_of

VARIABLE = "_EVALBENCH_COMPLETE"
Items: TypeAlias = "list[CompletionItem[str]]"


def answer(cli: click.Command) -> bool:
    """Print what a shell asks for by its variable: the script, or the completions of a line.

    Returns: False where no shell asks, or one that is not known.
    """
    shell, _, instruction = os.environ.get(VARIABLE, "").partition("_")
    found = class_of(shell) if shell else None
    if found is None or instruction not in ("source", "complete"):
        return False
    asked = found(cli, {}, "evalbench", VARIABLE)
    click.echo(asked.source() if instruction == "source" else asked.complete())
    return True


def studies(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of studies; else files."""
    from evalbench.runs.notebooks import notebook_names

    return _beginning(dict.fromkeys(_of(lambda: notebook_names(root_of(ctx))), ""), incomplete) or _files(incomplete)


def studies_and_metrics(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of studies, and the word ``metrics``."""
    from evalbench.runs.notebooks import notebook_names

    return _beginning(dict.fromkeys([*_of(lambda: notebook_names(root_of(ctx))), "metrics"], ""), incomplete)


def data_sets(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """``name@version`` of the study's data sets, else of all; else files."""
    return _beginning(_data_sets(ctx), incomplete) or _files(incomplete)


def parameters(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """``name=`` of the study's parameters, advanced ones once a letter is there; after it values, where they are known."""
    from evalbench.runs.choices import choices_of
    from evalbench.runs.notebooks import known_parameters

    known = _of(lambda: known_parameters(study_of(ctx), root_of(ctx)), {}) if study_of(ctx) else {}
    name, equals, value = incomplete.partition("=")
    if not equals:
        offered = [p for p in known.values() if incomplete or not p.advanced]
        return _beginning({f"{p.name}=": p.help for p in offered}, incomplete)
    if name not in known:
        return []
    types = known[name].types
    values = dict.fromkeys(("true", "false"), "") if "bool" in types else {}
    if "str" in types:
        values |= dict.fromkeys(choices_of(Path(study_of(ctx)).stem).get(name, ()), "")
    if name == "data":
        values = _data_sets(ctx)
    return _beginning({f"{name}={value}": text for value, text in values.items()}, incomplete) or _files(value)


def metrics(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of metrics."""
    from evalbench.metrics.registry import cards

    return _beginning({card.name: card.summary for card in cards()}, incomplete)


def _data_sets(ctx: click.Context) -> dict[str, str]:
    from evalbench.readers.catalog import entries

    every = _of(lambda: entries(root_of(ctx)), {})
    own = {label: entry.title for label, entry in every.items() if study_of(ctx) in entry.studies}
    return own or {label: entry.title for label, entry in every.items()}


def _of(ask: Any, otherwise: Any = ()) -> Any:
    """Nothing is completed where the workbench or a notebook cannot be read; the command itself will say why."""
    from evalbench.errors import BadInput

    try:
        return ask()
    except BadInput:
        return otherwise


def _beginning(known: dict[str, str], incomplete: str) -> Items:
    return [
        CompletionItem(value, help=" ".join(text.split()) or None)
        for value, text in known.items()
        if value.startswith(incomplete)
    ]


def _files(incomplete: str) -> Items:
    return [CompletionItem(incomplete, type="file")]


_BREAKS = set("\"'@><=;|&(:")  # where bash takes a word apart


class Bash(BashComplete):
    """bash: the line as it is, and of each completion what comes behind the last place where bash takes words apart."""

    name: ClassVar[str] = "bash"
    source_template: ClassVar[str] = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value
    response=$(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_PIECE="${COMP_WORDS[COMP_CWORD]}" \
%(complete_var)s=bash_complete "$1" 2>/dev/null)
    COMPREPLY=()
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
    _kept = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        line, piece = os.environ["COMP_LINE"], os.environ.get("COMP_PIECE", "")
        words = split_arg_string(line)[1:]
        incomplete = words.pop() if words and not line[-1].isspace() else ""
        piece = "" if set(piece) <= _BREAKS else piece
        self._kept = incomplete.removesuffix(piece) if incomplete.endswith(piece) else ""
        if self._kept.startswith("-"):  # --data=…: click completes what comes behind
            self._kept = self._kept.partition("=")[2]
        return words, incomplete

    def format_completion(self, item: CompletionItem[Any]) -> str:
        return f"{item.type},{str(item.value).removeprefix(self._kept)}"


class Zsh(ZshComplete):
    """zsh: as click's, without a blank behind ``name=``."""

    name: ClassVar[str] = "zsh"
    source_template: ClassVar[str] = """\
#compdef %(prog_name)s

%(complete_func)s() {
    local -a described plain open response
    local type key descr
    (( ! $+commands[%(prog_name)s] )) && return 1
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
%(complete_var)s=zsh_complete %(prog_name)s 2>/dev/null)}")
    for type key descr in ${response}; do
        case $type in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            plain)
                if [[ $key == *= ]]; then
                    open+=("$key:$descr")
                elif [[ $descr == _ ]]; then
                    plain+=("$key")
                else
                    described+=("$key:$descr")
                fi ;;
        esac
    done
    (( $#open )) && _describe -V unsorted open -U -S ''
    (( $#described )) && _describe -V unsorted described -U
    (( $#plain )) && compadd -U -V unsorted -a plain
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""


add_completion_class(Bash)
add_completion_class(Zsh)
