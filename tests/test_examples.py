"""The examples of docstrings: each gives what it says, and says something.  One test runs those of a room."""

from __future__ import annotations

import ast
import doctest
import importlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
HELPERS = "helpers of tests"
# Rooms, the files of the top floor as one of them: a process imports what it runs the examples of, and nothing else.
ROOMS = ("evalbench", *sorted(p.parent.name for p in ROOT.glob("evalbench/*/__init__.py")), HELPERS)
_NOTHING = re.compile(r"[\[({]*\.\.\.[\])}]*")


def files(room: str) -> list[Path]:
    if room == HELPERS:
        return sorted((ROOT / "tests" / "helpers").glob("*.py"))
    folder = ROOT / "evalbench"
    return sorted(folder.glob("*.py") if room == "evalbench" else (folder / room).rglob("*.py"))


def module_of(path: Path) -> ModuleType:
    if path.parent.name == "helpers":
        return importlib.import_module(path.stem)
    parts = path.relative_to(ROOT).with_suffix("").parts
    return importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def examples(text: str) -> Iterator[tuple[str, list[doctest.Example]]]:
    """The examples of a module by the name of what they explain."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            found = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
            if found:
                yield getattr(node, "name", "the module"), found


def faults(text: str) -> list[str]:
    return [
        f"{name}: {'skipped' if any(doctest.SKIP in e.options for e in found) else 'expects nothing'}"
        for name, found in examples(text)
        if any(doctest.SKIP in e.options for e in found)
        or all(_NOTHING.fullmatch(e.want.strip()) or not e.want.strip() for e in found)
    ]


def test_every_example_is_run_by_the_test_of_its_room() -> None:
    assert {*(ROOT / "evalbench").rglob("*.py")} <= {path for room in ROOMS for path in files(room)}


@pytest.mark.parametrize("room", ROOMS)
def test_examples_give_what_they_say(room: str) -> None:
    wrong = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    with_examples = [module_of(path) for path in files(room) if ">>>" in path.read_text(encoding="utf-8")]
    for module in with_examples:
        for found in doctest.DocTestFinder().find(module):
            runner.run(found, out=wrong.write)
    assert not runner.summarize(verbose=False).failed, wrong.getvalue()


def test_every_example_is_run_and_expects_something() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "evalbench").rglob("*.py"))}
    assert {path: found for path, text in texts.items() if ">>>" in text and (found := faults(text))} == {}
    empty = 'def f():\n    """\n    >>> f()  # doctest: +ELLIPSIS\n    [...]\n    """\n'
    assert faults(empty) == ["f: expects nothing"]
    assert faults(empty.replace("ELLIPSIS", "SKIP")) == ["f: skipped"]
