"""Notebooks tell the story and call; they compute nothing and store nothing."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evalbench import studies
from evalbench.readers.parameters import notebook_parameters

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LOGIC = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.IfExp, ast.Try, ast.Lambda,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.With,
)  # fmt: skip


def faults(node: dict) -> list[str]:
    """What a notebook of ours must not have."""
    found = []
    code = [c for c in node["cells"] if c["cell_type"] == "code"]
    for number, cell in enumerate(node["cells"], start=1):
        text = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        if cell["outputs"]:
            found.append(f"cell {number} stores outputs")
        if cell["execution_count"] is not None:
            found.append(f"cell {number} stores an execution count")
        for part in ast.walk(ast.parse(text)):
            if isinstance(part, LOGIC):
                found.append(f"cell {number} holds logic: {type(part).__name__}")
            if isinstance(part, ast.Import) or (isinstance(part, ast.ImportFrom) and part.module != "evalbench"):
                found.append(f"cell {number} imports something other than evalbench")
    tagged = [c for c in code if "parameters" in c["metadata"].get("tags", [])]
    if len(tagged) != 1:
        found.append(f"{len(tagged)} parameters cells")
    if ["".join(cell["source"]).strip() for cell in code[-2:]] != ["record(result)", "explore(result)"]:
        found.append("the last code cells are not record(result) and explore(result)")
    if node["cells"][0]["cell_type"] != "markdown" or not "".join(node["cells"][0]["source"]).startswith("# "):
        found.append("no title")
    if any(k in node["metadata"] for k in ("papermill", "widgets")):
        found.append("metadata of a run")
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_narrative_parameters_and_calls(path: Path) -> None:
    assert faults(json.loads(path.read_text())) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_parameter_has_a_type_and_a_line_of_help(path: Path) -> None:
    node = json.loads(path.read_text())
    for name, parameter in notebook_parameters(node, path.name).items():
        assert parameter.types or parameter.optional, name
        assert parameter.help, f"{path.stem}: {name} has no help"
    text = "".join(next(c for c in node["cells"] if "parameters" in c["metadata"].get("tags", []))["source"])
    assert all(isinstance(line, ast.AnnAssign) for line in ast.parse(text).body)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_parameters_are_the_options_of_the_study(path: Path) -> None:
    own = studies.study(path.stem)
    alone = {table.alone for table in own.SCHEMA.values()}
    options, reading = set(own.options()), {"data", "columns", "cluster", "slices", *own.SCHEMA} | alone
    named = set(notebook_parameters(json.loads(path.read_text()), path.name))
    assert named - reading <= options, f"no option: {sorted(named - reading - options)}"
    assert options - named <= set(), f"not in the notebook: {sorted(options - named)}"


# Tables of a row for each judge, checker or part of the data.
SHORT = {"judge_audit.uses", "matching.split", "matching.checkers"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_picture_comes_before_tables_that_may_be_long(path: Path) -> None:
    found: list[list[str]] = [[]]  # by section: a picture, or the name of what is open
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            found += [[]] if text.startswith("## ") else []
            continue
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "show"):
                continue
            name = ast.unparse(node.args[0]).partition("(")[0]
            folds = any(k.arg == "fold" for k in node.keywords)
            if not folds and name not in SHORT:
                found[-1].append("picture" if ".picture_" in name else name)
    shown = [name for section in found for name in section]
    assert shown[0] == "picture", "the first thing shown is a picture, or folds"
    for section in found:
        assert "picture" not in section[section.count("picture") :], f"a picture behind a table: {section}"


def test_cells_of_parameters_and_calls_and_the_released_defaults_are_not_stale(
    script: Callable[[str], ModuleType],
) -> None:
    assert script("notebooks").stale() == [], "stale: make notebooks"


def options(*, weights: Mapping[str, float] | None = None, kind: str | Callable[..., Any] = "x", k: float = 1) -> None:
    """Of a study.

    Parameters
    ----------
    weights : mapping of str to float, optional
        Of *each* part, e.g. ``{"a": 1}``.  Others follow.
    kind : {"x", "y"}
        What is counted, see :func:`options`.
    k : float
        ROUGE's; see :func:`options`.
    a, b : int
        Both.
    c, d : int
        One of them; *the* other.  Together they are all.
    seed : int
    """


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("weights", 'weights: dict = {}  # of each part, e.g. {"a": 1}'),
        ("kind", 'kind: str = "x"  # x or y: what is counted'),
        ("k", "k: float = 1.0  # ROUGE's"),
    ],
)
def test_a_line_is_an_options_type_default_and_first_sentence(
    script: Callable[[str], ModuleType], name: str, line: str
) -> None:
    made = script("notebooks")
    option = inspect.signature(options).parameters[name]
    assert made.line(made.parameter(option, made.help_of(options, name))) == line


def test_the_examples_of_the_script_hold(script: Callable[[str], ModuleType]) -> None:
    found = doctest.testmod(script("notebooks"))
    assert found.attempted
    assert not found.failed


def test_semicolons_part_the_words_of_several_options(script: Callable[[str], ModuleType]) -> None:
    assert [script("notebooks").help_of(options, name) for name in ("c", "d")] == ["one of them", "the other"]


def test_words_of_several_options_or_none_are_not_an_options_own(script: Callable[[str], ModuleType]) -> None:
    made = script("notebooks")
    assert [made.help_of(options, name) for name in ("a", "b", "seed", "missing")] == [""] * 4
    reading = made.parameters("text_metrics", {"reads": {"data": "rows"}, "sample": {"data": "d", "seed": 3}})
    assert [made.line(reading[name]) for name in ("data", "seed")] == [
        'data: str = "d"  # rows',
        "seed: int = 3  # random seed, also of requests to models",
    ]


def test_a_sample_has_no_values_for_what_is_no_parameter(script: Callable[[str], ModuleType]) -> None:
    with pytest.raises(SystemExit, match="values for metriks, which are not parameters"):
        script("notebooks").parameters("cot_levels", {"reads": {}, "sample": {"metriks": []}})


def test_notebooks_and_studies_come_in_pairs() -> None:
    assert sorted(p.stem for p in NOTEBOOKS) == studies.names()


def test_the_rules_bite() -> None:
    cell = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [{}],
        "execution_count": 3,
        "source": "import os\nx = [i for i in y]",
    }
    found = faults({"cells": [{"cell_type": "markdown", "metadata": {}, "source": "no title"}, cell], "metadata": {}})
    assert len(found) == 7
