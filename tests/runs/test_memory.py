"""A kernel with a memory limit: what exceeds it ends the run, forked or not, and the limit is named."""

from __future__ import annotations

import sys

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_notebook

from evalbench.cli import group
from evalbench.errors import BadInput
from evalbench.runs import kernel
from evalbench.runs.fork import can_fork
from evalbench.runs.suite import read_suite

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
LIMIT = 1000
ENDS = {
    "numpy": ("import numpy as np\nx = np.ones(10**9)", "failed"),
    "lists": ("x = [bytes(1000) for _ in range(10**7)]", "failed"),
    "arrow": ("import pyarrow as pa\nx = pa.nulls(3 * 10**9, pa.int8()).fill_null(1)", "failed"),
    "a crash": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "died"),
}


def ended(folder, cell, memory=LIMIT, fork=False):
    book = new_notebook(cells=[new_code_cell(cell)])
    nbformat.write(book, folder / "in.ipynb")
    return kernel.execute(folder / "in.ipynb", folder / "out.ipynb", {}, {}, 60, fork=fork, memory=memory)


FORKED = pytest.param(True, marks=[pytest.mark.slow, pytest.mark.skipif(not can_fork(), reason="no fork")])


@on_linux
@pytest.mark.parametrize("fork", [False, FORKED])
@pytest.mark.parametrize(
    "name", ["numpy", *(pytest.param(name, marks=pytest.mark.slow) for name in ENDS if name != "numpy")]
)
def test_a_run_that_exceeds_its_memory_ends_and_names_the_limit(tmp_path, name, fork):
    cell, status = ENDS[name]
    found = ended(tmp_path, cell, fork=fork)
    assert found.status == status
    assert found.error.endswith("limited to 1000 MB (--memory, or memory in a suite)")
    assert found.peak_memory_mb < LIMIT


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize("fork", [False, FORKED])
def test_what_keeps_within_the_limit_is_as_without_one(tmp_path, fork):
    cell = "import numpy, resource\nx = numpy.ones(10**7)\nassert not [n for n in dir() if n == 'r']\nprint(resource.getrlimit(resource.RLIMIT_DATA))"
    assert ended(tmp_path, cell, fork=fork).status == "ok"
    node = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert node.cells[0].outputs[0].text == "(1000000000, 1000000000)\n"
    assert [c.execution_count for c in node.cells] == [1]
    assert (
        ended(tmp_path, "import resource\nassert resource.getrlimit(resource.RLIMIT_DATA)[0] == -1", None, fork).status
        == "ok"
    )


@on_linux
def test_another_error_does_not_blame_memory(tmp_path):
    assert ended(tmp_path, "raise ValueError('memory of an elephant')").error == "ValueError: memory of an elephant"


@pytest.mark.parametrize("megabytes", [0, 599, -1, True, 4e3, "4000", [4000]])
def test_limits_that_are_none_are_refused_where_they_are_written(bench, megabytes):
    assert kernel.memory_fault(megabytes).startswith("expected a whole number of MB from 600 up")
    (bench / "suite.yaml").write_text(f"runs:\n  - study: tiny\n    data: words.csv\n    memory: {megabytes!r}\n")
    with pytest.raises(BadInput, match=r"entry 1 \(line 4\): memory: expected a whole number of MB"):
        read_suite(bench / "suite.yaml", bench)


def test_where_the_platform_cannot_the_limit_is_refused(bench, monkeypatch):
    monkeypatch.setattr(kernel.sys, "platform", "darwin")
    done = CliRunner().invoke(group, ["run", str(bench / "notebooks" / "tiny.ipynb"), "--root", str(bench), "--data",
                                     str(bench / "words.csv"), "--memory", "4000"])  # fmt: skip
    assert "memory: memory limits work on Linux only, and this is darwin" in f"{done.output}{done.exception}"
    assert not (bench / "reports").exists()


@on_linux
@pytest.mark.slow
def test_the_option_and_the_key_reach_the_kernel(bench):
    cell = "import numpy\nif k > 1: numpy.ones(10**9)"
    path = bench / "notebooks" / "tiny.ipynb"
    book = nbformat.read(path, as_version=4)
    book.cells.insert(2, new_code_cell(cell))
    nbformat.write(book, path)
    (bench / "suite.yaml").write_text(
        "memory: 900\nruns:\n  - {study: tiny, data: words.csv, matrix: {k: [1, 2]}}\n"
        "  - {study: tiny, data: words.csv, parameters: {k: 3}, memory: 800}\n"
    )
    assert [job.memory for job in read_suite(bench / "suite.yaml", bench)] == [900, 900, 800]
    done = CliRunner().invoke(group, ["batch", str(bench / "suite.yaml"), "--root", str(bench), "--workers", "1"])
    assert done.exit_code == 1
    assert "3 runs: 1 ok, 2 failed" in done.output
    assert "limited to 900 MB" in done.output
    assert "limited to 800 MB" in done.output
    one = CliRunner().invoke(
        group, ["run", "tiny", "--root", str(bench), "--data", str(bench / "words.csv"), "-p", "k=4", "--memory", "700"]
    )
    assert one.exit_code == 1
    assert "limited to 700 MB (--memory, or memory in a suite)" in one.output
