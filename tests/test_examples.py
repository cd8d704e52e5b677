"""The examples of docstrings: `pytest` runs them with the tests, and each of them expects something."""

from __future__ import annotations

import ast
import doctest
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_NOTHING = re.compile(r"[\[({]*\.\.\.[\])}]*")


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


def test_examples_run_with_the_tests() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert options["testpaths"] == ["evalbench", "tests"]
    assert "--doctest-modules" in options["addopts"]


def test_every_example_is_run_and_expects_something() -> None:
    for path in sorted((ROOT / "evalbench").rglob("*.py")):
        assert faults(path.read_text(encoding="utf-8")) == [], path
    empty = 'def f():\n    """\n    >>> f()  # doctest: +ELLIPSIS\n    [...]\n    """\n'
    assert faults(empty) == ["f: expects nothing"]
    assert faults(empty.replace("ELLIPSIS", "SKIP")) == ["f: skipped"]
