"""What the README says of `make` is so: commands, environment, what each of them leaves to another."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="not on this platform: there is no make")


def recipe(*arguments: str) -> str:
    """The commands of targets, as make would run them once everything is installed."""
    asked = ["make", "-n", "-o", ".venv/.dev", "-o", ".venv/.base", "-o", ".venv/.all", *arguments]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(asked, cwd=ROOT, env=clean, capture_output=True, text=True, check=True).stdout


def test_bytecode_is_written_where_the_environment_forbids_it(tmp_path: Path) -> None:
    (tmp_path / "more.mk").write_text('show:\n\t@echo "[$$PYTHONDONTWRITEBYTECODE]"\n')
    asked = ["make", "-s", "-f", "Makefile", "-f", str(tmp_path / "more.mk"), "show"]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    assert subprocess.run(asked, cwd=ROOT, env=env, capture_output=True, text=True).stdout == "[]\n"
    for target in (".base", ".dev", ".all"):
        made = subprocess.run(
            ["make", "-n", "-W", "pyproject.toml", f".venv/{target}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert "-m evalbench.runs.bytecode" in made.stdout


def test_the_tests_run_in_as_many_processes_as_are_asked_for() -> None:
    assert "-n 2 --dist worksteal" in recipe("test")
    assert "-n 5 --dist worksteal" in recipe("test", "WORKERS=5")
