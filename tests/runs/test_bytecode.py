"""Bytecode at set-up: what runs import is compiled once, also on machines where Python is set to write none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalbench.runs import bytecode


def test_modules_are_compiled_though_the_environment_forbids_it(tmp_path: Path) -> None:
    code = "from evalbench.runs.bytecode import write; write(['colorsys', 'no_such_module.part'])"
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    assert [p.name.partition(".")[0] for p in tmp_path.rglob("*.pyc")] == ["colorsys"]


def test_every_module_of_ours_is_among_them_and_a_missing_one_is_an_error() -> None:
    own = bytecode.own_modules()
    assert {"evalbench.cli", "evalbench.runs.kernel", "evalbench.studies.matching.pairs"} <= set(own)
    with pytest.raises(ModuleNotFoundError):
        bytecode.write(["evalbench.no_such_module"])
