"""Wheel and source distribution in environments of their own, on every Python that is asked for: by hand, before a release.

``EVALBENCH_TEST_RELEASE=3.11,3.13`` names the versions, ``all`` those that the package is for; the requirements are their newest
versions, and once the lowest that are declared.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed import NOT_THE_CHECKOUT_S, UV, done, environment

ROOT = Path(__file__).resolve().parents[1]
VARIABLE = "EVALBENCH_TEST_RELEASE"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# What each extra is for, in a command; the base comes first.
RUNS = {
    "": "evalbench run matching",
    "lab": "jupyter lab --version",
    "embed": "evalbench run matching -p embed=minilm",
    "text": "evalbench run text_metrics",
    "ru": "evalbench run rag_tuning --data rule_books@1.1.0",
    "local": "evalbench models list",
    "ml": "evalbench run drift",
    "monitor": "evalbench monitor init log.db",
    "view": "evalbench view $(ls -d reports/matching/* | tail -1) --pack pack",
    "xlsx": "evalbench data check answers.xlsx --study text_metrics",
    "mlflow": "evalbench export $(ls -d reports/matching/* | tail -1) --to mlflow --out tracking",
    "docs": "sphinx-build --version",
}  # fmt: skip


def asked(version: str) -> bool:
    wanted = os.environ.get(VARIABLE, "").split(",")
    return "all" in wanted or version in wanted


each_version = pytest.mark.parametrize(
    "version",
    [pytest.param(v, marks=pytest.mark.skipif(not asked(v), reason=f"{VARIABLE} does not name it")) for v in VERSIONS],
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both distributions, made of a copy without what lies about here."""
    clone = tmp_path_factory.mktemp("release") / "clone"
    shutil.copytree(ROOT, clone, ignore=NOT_THE_CHECKOUT_S)
    done(UV, "build", "--quiet", "--out-dir", clone / "dist", cwd=clone)
    return clone / "dist"


def python_of(version: str) -> str:
    """The interpreter of a version; skips where this machine has none."""
    found = subprocess.run([UV, "python", "find", version], capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip(f"{VARIABLE}: this machine has no Python {version}")
    return found.stdout.strip()


def bench(folder: Path, python: str, what: str, *more: str) -> Path:
    """An environment with a distribution installed, and a workbench beside it: the folder of the environment's programs."""
    done(UV, "venv", "--quiet", "--python", python, folder / "own", cwd=folder)
    target = ["--python", folder / "own" / "bin" / "python", "-c", ROOT / "constraints.txt"]
    done(UV, "pip", "install", "--quiet", *target, *more, what, cwd=folder)
    done(folder / "own" / "bin" / "evalbench", "init", "mine", cwd=folder)
    return folder / "own" / "bin"


def ran(programs: Path, command: str, at: Path) -> str:
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    found = subprocess.run(
        command, shell=True, cwd=at, env={**environment(), "PATH": path}, capture_output=True, text=True
    )
    assert found.returncode == 0, f"{command}\n{found.stdout[-2000:]}\n{found.stderr[-4000:]}"
    return found.stdout


@pytest.mark.slow
@pytest.mark.parametrize("form", ["*.whl", "*.tar.gz"])
@each_version
def test_a_distribution_installs_and_runs(version: str, form: str, tmp_path: Path, built: Path) -> None:
    (distribution,) = built.glob(form)
    programs = bench(tmp_path, python_of(version), str(distribution))
    assert "report" in ran(programs, RUNS[""], tmp_path / "mine")


@pytest.mark.slow
@pytest.mark.parametrize("lowest", [False, True], ids=["newest", "lowest"])
@each_version
def test_every_extra_does_what_it_is_for(version: str, lowest: bool, tmp_path: Path, built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    extras = ",".join(filter(None, RUNS))
    more = ("--resolution", "lowest-direct") if lowest else ()
    programs = bench(tmp_path, python_of(version), f"{wheel}[{extras}]", *more)
    table = "import pandas as pd; pd.DataFrame({'id': ['a'], 'output': ['x'], 'reference': ['x']}).to_excel('answers.xlsx', index=False)"
    done(programs / "python", "-c", table, cwd=tmp_path / "mine")
    for command in RUNS.values():
        ran(programs, command, tmp_path / "mine")


def test_every_extra_is_tried() -> None:
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = re.search(r"\[project.optional-dependencies\]\n(.*?)\n\[", declared, re.DOTALL)[1]  # type: ignore[index]
    assert set(re.findall(r"^(\w+) = \[", extras, re.MULTILINE)) - {"all", "dev"} == {*RUNS} - {""}
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in VERSIONS
