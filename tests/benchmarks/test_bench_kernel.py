"""How soon a notebook is done: with a fresh kernel, and with one forked from a preloaded process."""

from __future__ import annotations

import time
from pathlib import Path

import nbformat
import pytest
from benchmark_table import against, at_most
from nbformat.v4 import new_code_cell, new_notebook
from timing import least, race

from evalbench.runs.fork import can_fork
from evalbench.runs.kernel import execute

pytestmark = pytest.mark.benchmark

MOST_SECONDS = 2.5
BASE = "from evalbench import record"
PLOT = """import pandas as pd
import scipy.stats
from evalbench.draw.pictures import interval_bars
from evalbench.draw.show import show
show(interval_bars(["fern", "moss"], [0.5, 0.6], [0.4, 0.5], [0.6, 0.7], title="Moss finds more", xlabel="F1 (0–1)", domain=(0, 1)))"""


def notebook(path: Path, cell: str) -> Path:
    cells = [new_code_cell("x = 1", metadata={"tags": ["parameters"]}), new_code_cell(cell)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


def executed(path: Path, fork: bool) -> None:
    ended = execute(path, path.with_suffix(".out.ipynb"), {}, {}, fork=fork)
    assert ended.status == "ok", ended.error


def test_a_study_that_needs_only_base_starts_well_under_two_and_a_half_seconds(tmp_path, record):
    path = notebook(tmp_path / "base.ipynb", BASE)
    executed(path, fork=False)
    took = least(lambda: executed(path, fork=False), goal=MOST_SECONDS, clock=time.perf_counter)
    record(at_most("a notebook in a fresh kernel", took, MOST_SECONDS, "s"))


@pytest.mark.skipif(not can_fork(), reason="this platform does not fork safely")
def test_a_forked_kernel_is_done_sooner(tmp_path, record):
    path = notebook(tmp_path / "plot.ipynb", PLOT)
    executed(path, True)  # the first preloads
    executed(path, False)
    took = race(lambda _: executed(path, True), lambda _: executed(path, False), goal=1, clock=time.perf_counter)
    record(against("a plotting notebook, forked kernel", took, "a fresh kernel", 1))
