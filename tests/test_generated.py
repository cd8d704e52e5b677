"""A generator's cases: some of them in `make test`, always the same, all in `make check`; laws of studies likewise."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from generated import VARIABLE, one_in_twenty
from some_studies import CHANGED, KINDS, QUICK, of_another_study, some_studies

from evalbench import studies

TESTS = Path(__file__).parent
DRAWN = ("one_in_twenty", "some_studies")


def test_one_in_twenty_in_their_order_and_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    some = one_in_twenty(range(801))
    assert len(some) == 41
    assert some == sorted(set(some)) == one_in_twenty(range(801)) != one_in_twenty(range(801), seed=1)
    assert len(one_in_twenty("abc")) == 1
    assert one_in_twenty([]) == []


def test_all_or_as_many_as_a_check_has_time_for_where_all_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "all")
    assert one_in_twenty(iter(range(801))) == list(range(801))
    many = one_in_twenty(range(801), in_check=100)
    assert len(many) == 100
    assert one_in_twenty(range(60), in_check=100) == list(range(60))
    monkeypatch.setenv(VARIABLE, "soak")
    assert one_in_twenty(range(801), in_check=100) == list(range(801))
    monkeypatch.setenv(VARIABLE, "1")
    with pytest.raises(ValueError, match="'all', 'soak' or unset"):
        one_in_twenty(range(3))


def test_a_law_is_tried_on_studies_of_each_kind_and_on_those_being_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv(CHANGED, "needle")
    assert set(some_studies(studies.names())) == {*QUICK, "needle"}
    assert some_studies(["citation", "dialogue", "explainability"]) == ["citation", "dialogue"]
    assert some_studies(["citation", "needle", "stability"]) == ["citation", "needle"]
    assert some_studies(["citation"]) == ["citation"]
    monkeypatch.setenv(VARIABLE, "all")
    assert some_studies(studies.names()) == studies.names()
    assert set(some_studies(studies.names(), in_check=["needle"])) == {*KINDS, "needle"}
    monkeypatch.setenv(VARIABLE, "soak")
    assert some_studies(studies.names(), in_check=["needle"]) == studies.names()


def test_every_study_has_tests_of_its_own() -> None:
    own = {path.stem.removeprefix("test_") for path in (TESTS / "studies").glob("test_*.py")}
    assert set(studies.names()) <= own


def test_own_tests_of_some_studies_and_of_those_being_changed_run_in_make_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CHANGED, "needle")
    own = [TESTS / "studies" / f"test_{name}.py" for name in ("imported_files", "needle_falls", "citation", "laws")]
    assert [of_another_study(path) for path in own] == [False, False, True, False]


def calls(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Name) and n.id in DRAWN for n in ast.walk(node))


def marked(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "generated" for n in ast.walk(node))


def test_what_draws_some_of_its_cases_is_marked() -> None:
    """Or `make check`, which runs all cases, would leave it out."""
    unmarked = []
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name == Path(__file__).name or not any(name in text for name in DRAWN):
            continue
        module = ast.parse(text)
        if any(isinstance(n, ast.Assign) and marked(n) for n in module.body):  # pytestmark = …
            continue
        tests = [n for n in ast.walk(module) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        unmarked += [f"{path}: {n.name}" for n in tests if n.name.startswith("test_") and calls(n) and not marked(n)]
        unmarked += [str(path)] * (calls(module) and not marked(module))
    assert unmarked == []
