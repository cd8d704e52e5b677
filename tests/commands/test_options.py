"""Options that several commands have: stated once, and bad values are found before anything is asked or computed."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from evalbench.cli import group
from evalbench.commands.options import NewPath, Number, Within

COMMANDS = Path(__file__).resolve().parents[2] / "evalbench" / "commands"


def every_command(
    command: click.Command = group, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        yield words, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from every_command(found, (*words, name))


def options() -> Iterator[tuple[str, click.Option]]:
    for words, command in every_command():
        for one in command.params:
            if isinstance(one, click.Option):
                yield " ".join(words), one


def test_no_option_is_stated_twice() -> None:
    stated = [
        ast.unparse(node)
        for path in COMMANDS.glob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "click.option"
    ]
    assert len(stated) > 100
    assert [option for option, n in Counter(stated).items() if n > 1] == []


def test_every_option_of_this_kind_is_of_the_type_that_refuses() -> None:
    known = list(options())
    assert {type(one.type) for _, one in known if "--out" in one.opts} == {NewPath}
    floats = [(command, one.opts) for command, one in known if isinstance(one.type, click.types.FloatParamType)]
    assert len(floats) > 15
    assert [
        one
        for one in known
        if isinstance(one[1].type, click.types.FloatParamType) and not isinstance(one[1].type, Number | Within)
    ] == []


@pytest.mark.parametrize(
    "words",
    [
        ("run", "matching", "--timeout", "nan"),
        ("batch", "suite.yaml", "--timeout", "inf"),
        ("run", "matching", "--max-cost", "nan"),
        ("models", "cache", "prune", "--older-than", "nan"),
        ("models", "load", "openai/x", "--seconds", "-inf", "--out", "load"),
        ("label", "plan", "run", "--threshold", "NaN"),
    ],
)
def test_numbers_are_finite(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(group, words)
    assert done.exit_code == 2, done.output
    assert "is not a finite number" in done.output


@pytest.mark.parametrize("place", ["file/new", "file", "/proc/new", "x" * 300, ""])
@pytest.mark.parametrize(
    "words", [("run", "matching"), ("batch", "suite.yaml"), ("models", "load", "openai/x"), ("data", "curate", "t.csv")]
)
def test_a_place_where_nothing_can_be_written_is_refused_first(
    place: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    done = CliRunner().invoke(group, [*words, "--out", place])
    assert done.exit_code == 2, done.output
    assert "Invalid value for '--out'" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_place_that_can_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    new = tmp_path / "a b" / "где" / "labels.csv"
    assert NewPath(dir_okay=False).convert(str(new), None, None) == new
    assert NewPath(file_okay=False).convert(str(new.parent), None, None) == new.parent
    assert not list(tmp_path.iterdir())
    with pytest.raises(click.BadParameter, match="is a directory"):
        NewPath(dir_okay=False).convert(str(tmp_path), None, None)


@pytest.mark.parametrize("words", [("rejudge", "x", "--timeout", "nan"), ("run", "matching", "--timeout", "nan")])
def test_json_is_printed_where_the_command_line_cannot_be_read(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(group, [*words, "--json"])
    assert done.exit_code == 2
    said = json.loads(done.stdout)
    assert said["status"] == "refused"
    assert said["study"] == ("matching" if "run" in words else "rejudge")
    assert "finite" in said["error"]
