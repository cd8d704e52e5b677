"""How soon a notebook is done: with a fresh kernel, and with one forked from a preloaded process."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from evalbench.runs.fork import can_fork, preloaded
from evalbench.runs.kernel import execute

pytestmark = pytest.mark.benchmark

BASE = "from evalbench import record"
PLOT = """import pandas as pd
import scipy.stats
from evalbench.draw.figures import interval_bars
from evalbench.draw.show import show
show(interval_bars(["fern", "moss"], [0.5, 0.6], [0.4, 0.5], [0.6, 0.7], title="Moss finds more", xlabel="F1 (0–1)", domain=(0, 1)))"""


def notebook(path: Path, cell: str) -> Path:
    cells = [new_code_cell("x = 1", metadata={"tags": ["parameters"]}), new_code_cell(cell)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


def seconds(path: Path, fork: bool, rounds: int = 3) -> float:
    """The median of some rounds, after one that warms the disk."""
    took = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        ended = execute(path, path.with_suffix(".out.ipynb"), {}, {}, fork=fork)
        took.append(time.perf_counter() - began)
        assert ended.status == "ok", ended.error
    return statistics.median(took[1:])


def test_a_study_that_needs_only_base_starts_well_under_two_and_a_half_seconds(tmp_path):
    took = seconds(notebook(tmp_path / "base.ipynb", BASE), fork=False)
    print(f"\nfresh kernel, base only: {took:.2f} s")
    assert took < 2.5


@pytest.mark.skipif(not can_fork(), reason="this platform does not fork safely")
def test_a_forked_kernel_is_done_in_less_than_half_the_time(tmp_path):
    path = notebook(tmp_path / "plot.ipynb", PLOT)
    began = time.perf_counter()
    preloaded()
    forked = seconds(path, fork=True)
    first = time.perf_counter() - began
    fresh = seconds(path, fork=False)
    print(
        f"\nplotting notebook: fresh {fresh:.2f} s, forked {forked:.2f} s; preloading and four forked runs {first:.2f} s"
    )
    assert forked < 0.5 * fresh
