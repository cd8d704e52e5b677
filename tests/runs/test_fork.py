"""Forked kernels: the same as fresh ones, only sooner; none outlives its owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from waiting import gone, wait_until

from evalbench.runs import fork
from evalbench.runs.fork import Preloaded, Preloader, can_fork, preloaded
from evalbench.runs.kernel import execute

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_fork(), reason="this platform does not fork safely")]


def run(tmp_path: Path, *cells: str, timeout: float | None = None, env: dict | None = None):
    book = new_notebook(
        cells=[new_code_cell("x = 1", metadata={"tags": ["parameters"]}), *map(new_code_cell, cells)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(book, tmp_path / "book.ipynb")
    ended = execute(tmp_path / "book.ipynb", tmp_path / "out.ipynb", {}, env or {}, timeout, fork=True)
    return ended, nbformat.read(tmp_path / "out.ipynb", as_version=4)


def printed(book, n: int) -> str:
    return "".join(output.get("text", "") for output in book.cells[n].outputs).strip()


def test_a_forked_kernel_is_fresh_and_has_its_own_environment(tmp_path):
    cell = "import os, numpy as np; print(os.environ['MINE'], os.getpid(), os.getcwd(), np.random.rand())"
    seen = []
    for name in ("one", "two"):
        ended, book = run(tmp_path, cell, "y = 5", env={"MINE": name})
        assert (ended.status, ended.error) == ("ok", "")
        assert ended.peak_memory_mb > 50
        seen.append(printed(book, 1).split())
    assert [words[0] for words in seen] == ["one", "two"]
    assert seen[0][1] != seen[1][1]
    assert seen[0][2] == os.getcwd()
    assert seen[0][3] != seen[1][3], "two kernels share a random state"


def test_pictures_of_pyplot_and_threads_work(tmp_path):
    ended, book = run(
        tmp_path,
        "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()",
        "import numpy as np; from concurrent.futures import ThreadPoolExecutor\n"
        "a = np.ones((400, 400)); print(ThreadPoolExecutor(4).submit(lambda: (a @ a)[0, 0]).result())",
        "import pandas as pd, pyarrow as pa; print(pa.table({'a': list(range(10))}).to_pandas(use_threads=True).a.sum())",
    )
    assert ended.status == "ok"
    assert any("image/png" in output.get("data", {}) for output in book.cells[1].outputs)
    assert printed(book, 2) == "400.0"
    assert printed(book, 3) == "45"


def test_errors_deaths_and_time_outs_are_told_as_of_fresh_kernels(tmp_path):
    assert run(tmp_path, "1 / 0")[0].kind == "ZeroDivisionError"
    assert run(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")[0].status == "died"
    assert run(tmp_path, "import time; time.sleep(60)", timeout=2)[0].status == "timeout"
    assert run(tmp_path, "print(1)")[0].status == "ok"


def test_a_preloaded_process_that_is_killed_is_replaced(tmp_path):
    assert run(tmp_path, "print(1)")[0].status == "ok"
    for child in psutil.Process(fork._own[-1]._process.pid).children():
        os.kill(child.pid, signal.SIGKILL)
    os.kill(fork._own[-1]._process.pid, signal.SIGKILL)
    ended, _ = run(tmp_path, "print(2)")
    assert ended.status == "died"
    assert "preloaded process" in ended.error
    assert run(tmp_path, "print(3)")[0].status == "ok"


def test_nothing_outlives_its_owner():
    with Preloader() as preloader:
        connection = Preloaded(preloader.address)
        kernel = connection.fork(["-f", "/nonexistent/k.json"], dict(os.environ), os.getcwd())
        forked = psutil.Process(kernel.pid).parent()
        connection.close()
        assert wait_until(lambda: gone(kernel.pid))
        assert wait_until(lambda: gone(forked.pid))
        process = preloader._process
    assert process.returncode is not None
    assert not Path(preloader.address).exists()
    with pytest.raises(OSError):
        Preloaded(preloader.address)


def test_a_kernel_that_leads_no_group_yet_is_ended_too():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    fork._end(child.pid)
    assert gone(child.pid)


def test_one_connection_serves_a_process():
    assert preloaded() is preloaded()


def test_a_process_that_forks_for_a_while_leaves_nothing_behind(tmp_path):
    with fork.forking() as forks:
        assert forks
        assert run(tmp_path, "print(1)")[0].status == "ok"
        address = fork._shared
    assert not Path(address).exists()
    assert run(tmp_path, "print(1)")[0].status == "ok"
