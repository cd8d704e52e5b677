"""The table of benchmarks: ratios, verdicts, files; a benchmark fails only where it is under half of its goal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmark_table import Row, against, amount, at_least, at_most, machine, table, write
from timing import Race

TESTS = Path(__file__).parent


def test_ratios_are_higher_where_we_are_better() -> None:
    assert against("x", Race(0.5, 2.0, 4), "peer", 3).ratio == 4
    assert at_most("x", 2.0, 3.0, "s").ratio == 1.5
    assert at_most("x", 2e9, 1e9, "B").ratio == 0.5
    assert at_least("x", 4000, 5000, "/s").ratio == 0.8


@pytest.mark.parametrize(("ratio", "verdict"), [(3.0, "met"), (2.99, "below"), (1.5, "below"), (1.49, "missed")])
def test_a_verdict(ratio: float, verdict: str) -> None:
    assert Row("x", "", "", ratio, 3.0).verdict == verdict


def test_a_time_without_a_peer_is_missed_under_a_quarter_of_its_goal() -> None:
    assert [at_most("x", taken, 1.0, "s").verdict for taken in (1.0, 3.9, 4.1)] == ["met", "below", "missed"]
    assert [at_least("x", rate, 100.0, "/s").verdict for rate in (100, 26, 24)] == ["met", "below", "missed"]
    assert [at_most("x", size, 100.0, "B").verdict for size in (190, 210)] == ["below", "missed"]


def test_amounts() -> None:
    assert [amount(0.0123, "s"), amount(12.34, "s"), amount(1.5e9, "B"), amount(5821.0, "/s")] == [
        "12.3 ms", "12.3 s", "1500 MB", "5821 /s",
    ]  # fmt: skip


def test_the_table_names_figure_peer_ratio_goal_and_machine(tmp_path: Path) -> None:
    rows = [Row("import", "23 ms", "at most 300 ms", 13.03, 1.0, 0.4), Row("rouge", "1 s", "peer: 2 s", 2, 5, 7)]
    where = machine()
    text = table(rows, where)
    assert "| rouge     | 1 s    | peer: 2 s      | 2.00  | 5    | missed  | 7 s  |" in text
    assert where["processor"] in text
    assert f"{where['cores']} cores" in text
    assert "bytecode" in text
    write(tmp_path / "sub" / "found", rows, where)
    kept = json.loads((tmp_path / "sub" / "found.json").read_text())
    assert kept["machine"]["date"] == where["date"]
    assert [row["verdict"] for row in kept["rows"]] == ["met", "missed"]
    assert text in (tmp_path / "sub" / "found.md").read_text()


BENCHMARKS = """
import pytest
from benchmark_table import Row

@pytest.mark.parametrize("ratio", [2.0, 0.6, 0.4])
def test_figure(ratio, record):
    record(Row(f"figure {ratio}", "1 s", "peer", ratio, 1.0))

def test_without_a_figure(record):
    pass

def test_raises(record):
    record(Row("before the fault", "1 s", "peer", 1.0, 1.0))
    raise RuntimeError("broken")
"""


@pytest.mark.slow
def test_a_benchmark_fails_under_half_of_its_goal_or_without_a_figure(tmp_path: Path) -> None:
    shutil.copy(TESTS / "benchmarks" / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(BENCHMARKS)
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", "."]
    env = {**os.environ, "PYTHONPATH": str(TESTS / "helpers"), "PYTEST_ADDOPTS": ""}

    def run(*more: str) -> str:
        return subprocess.run([*asked, *more], cwd=tmp_path, env=env, capture_output=True, text=True).stdout

    said = run("--table", "out/found")
    assert "2 passed" in said
    assert "3 failed" in said
    assert "far under the goal: figure 0.4: 0.40, goal 1" in said
    assert "a benchmark without a figure" in said
    kept = json.loads((tmp_path / "out" / "found.json").read_text())["rows"]
    assert [row["name"] for row in kept] == ["figure 2.0", "figure 0.6", "figure 0.4", "before the fault"]
    assert "no time: 0 s of benchmarks are over" in run("--budget", "0.000001", "-rs")
