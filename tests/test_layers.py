"""Each floor imports only what stands before it, no modules import each other; importing evalbench loads nothing heavy."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "evalbench"

# Lowest first.  Report stands before runs because a run renders its page; it reads files and knows no study.
FLOORS = [
    ("errors",),
    ("workbench",),
    ("core",),
    ("text",),
    ("readers",),
    ("metrics",),
    ("models",),
    ("web",),
    ("judge",),
    ("draw",),
    ("hub",),
    ("kit",),
    ("studies",),
    ("asking",),
    ("compare",),
    ("report",),
    ("runs",),
    ("monitor",),
    ("label",),
    ("explorer",),
    ("commands",),
    ("cli",),
]
# The rooms of models, lowest first: a value, a request, what was paid for, this machine, names, many replies, vectors.
ROOMS = [
    ("endpoint", "exchange", "redact", "prompts"),
    ("accounting", "wire", "store", "tokens"),
    ("local",),
    ("names",),
    ("chat",),
    ("similarity",),
    ("llm", "check", "load"),
    ("load_figures",),
]
LEVEL = {name: i for i, names in enumerate(FLOORS) for name in names}
CORE_MAY_IMPORT = {"numpy", "scipy"}
HEAVY = {"torch", "sentence_transformers", "transformers", "openai", "evaluate", "sklearn", "matplotlib", "seaborn",
         "papermill", "distributed", "dask", "nltk", "sacrebleu", "bert_score", "usearch", "sqlalchemy", "psycopg"}  # fmt: skip


def modules() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py"))


def floor_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


@cache
def import_nodes(path: Path, top_level_only: bool = False) -> list[ast.Import | ast.ImportFrom]:
    """What a file imports; of its tree nothing else is kept, for hundreds of trees are a large heap to look through."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else ast.walk(tree)
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imports(path: Path, top_level_only: bool = False) -> set[str]:
    found: set[str] = set()
    for node in import_nodes(path, top_level_only):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}: relative import"
    return found


def test_a_floor_imports_only_what_stands_before_it() -> None:
    wrong = []
    for path in modules():
        mine = floor_of(path)
        if mine == "__init__":
            continue
        assert mine in LEVEL, f"{path} stands on no floor"
        theirs = {name: name.split(".")[1] for name in imports(path) if name.startswith("evalbench.")}
        wrong += [f"{path}: {n}" for n, floor in theirs.items() if floor in LEVEL and LEVEL[floor] > LEVEL[mine]]
    assert not wrong


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "models").rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE / "models"))
)
def test_a_room_of_models_imports_only_what_stands_before_it(path: Path) -> None:
    mine = path.relative_to(PACKAGE / "models").with_suffix("").parts[0]
    if mine == "__init__":
        return
    level = {name: i for i, names in enumerate(ROOMS) for name in names}
    for name in imports(path):
        parts = name.split(".")
        if parts[:2] != ["evalbench", "models"] or len(parts) < 3:
            continue
        assert level[parts[2]] < level[mine] or parts[2] == mine, f"models/{mine} must not import {name}"


def imported_modules() -> dict[str, set[str]]:
    """Module → the modules that it imports, within functions and for type checkers too."""
    paths = {dotted(path): path for path in modules()}

    def module_of(name: str) -> str:
        while name and name not in paths:
            name = name.rpartition(".")[0]
        return name

    return {name: {module_of(n) for n in imports(path)} - {"", name} for name, path in paths.items()}


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def circle(graph: Mapping[str, set[str]]) -> str:
    """One circle of modules that import each other; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " ← ".join(error.args[1])
    return ""


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = imported_modules()
    assert "evalbench.models.chat.collect" in graph["evalbench.models.llm"]
    assert circle(graph) == ""
    assert circle({**graph, "evalbench.errors": {"evalbench.cli"}})


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    at_top = {path: {name.split(".")[0] for name in imports(path, top_level_only=True)} & HEAVY for path in modules()}
    assert not {path: found for path, found in at_top.items() if found}, "import inside the function that uses it"


@pytest.mark.parametrize("floor", ["core", "readers", "draw", "kit"])
def test_a_floor_has_the_names_that_type_checkers_see(floor: str) -> None:
    path = PACKAGE / floor / "__init__.py"
    package = importlib.import_module(f"evalbench.{floor}")
    seen = [name for name in imports(path) - imports(path, top_level_only=True) if name.startswith("evalbench.")]
    assert len(seen) > 15
    for name in seen:
        where, _, last = name.rpartition(".")
        assert getattr(package, last) is (sys.modules.get(name) or getattr(importlib.import_module(where), last))


def test_core_knows_only_numpy_and_scipy() -> None:
    for path in (PACKAGE / "core").glob("*.py"):
        third = {n.split(".")[0] for n in imports(path, top_level_only=True)} - set(sys.stdlib_module_names)
        assert third <= CORE_MAY_IMPORT | {"evalbench"}, f"{path}: {third}"


def test_no_module_is_long() -> None:
    long = {str(p.relative_to(ROOT)): n for p in modules() if (n := len(p.read_text().splitlines())) > 400}
    assert not long


def test_importing_evalbench_loads_nothing_heavy() -> None:
    code = "import sys, evalbench; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not (HEAVY | {"pandas", "scipy", "numpy"}) & set(loaded)


def test_no_file_of_a_study_is_hidden_by_a_function_of_its_name() -> None:
    hidden = []
    for path in sorted(PACKAGE.glob("studies/*/*.py")):
        package = importlib.import_module(f"evalbench.studies.{path.parent.name}")
        for node in import_nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module == package.__name__:
                files = [a.name for a in node.names if (path.parent / f"{a.name}.py").exists()]
                hidden += [f"{path}: {name}" for name in files if callable(getattr(package, name))]
    assert not hidden, "functions have these names: import from the files themselves"
