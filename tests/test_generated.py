"""A generator's cases: some of them in `make test`, always the same, all of them in `make check`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from generated import VARIABLE, one_in_twenty

TESTS = Path(__file__).parent


def test_one_in_twenty_in_their_order_and_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    some = one_in_twenty(range(801))
    assert len(some) == 41
    assert some == sorted(set(some)) == one_in_twenty(range(801)) != one_in_twenty(range(801), seed=1)
    assert len(one_in_twenty("abc")) == 1
    assert one_in_twenty([]) == []


def test_all_where_all_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "all")
    assert one_in_twenty(iter(range(801))) == list(range(801))
    monkeypatch.setenv(VARIABLE, "1")
    with pytest.raises(ValueError, match="'all' or unset"):
        one_in_twenty(range(3))


def calls(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "one_in_twenty" for n in ast.walk(node))


def marked(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "generated" for n in ast.walk(node))


def test_what_draws_some_of_its_cases_is_marked() -> None:
    """Or `make check`, which runs all cases, would leave it out."""
    unmarked = []
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name == Path(__file__).name or "one_in_twenty" not in text:
            continue
        module = ast.parse(text)
        if any(isinstance(n, ast.Assign) and marked(n) for n in module.body):  # pytestmark = …
            continue
        tests = [n for n in ast.walk(module) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        unmarked += [f"{path}: {n.name}" for n in tests if n.name.startswith("test_") and calls(n) and not marked(n)]
        unmarked += [str(path)] * (calls(module) and not marked(module))
    assert unmarked == []
