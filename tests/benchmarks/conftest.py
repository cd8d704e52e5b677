"""Each benchmark records its figures; the table is printed and written; one fails where it is missed: far under its goal.

``--table STEM`` writes ``STEM.json`` and ``STEM.md``; ``--budget SECONDS`` begins no benchmark after so many.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmark_table import Row, machine, table, write

ROWS = pytest.StashKey[list[Row]]()
MACHINE = pytest.StashKey[dict[str, Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--table", type=Path)
    parser.addoption("--budget", type=float)


@pytest.fixture(scope="session")
def begun(pytestconfig: pytest.Config) -> float:
    """When the first benchmark began; the machine's load is taken before it."""
    pytestconfig.stash[MACHINE] = machine()
    pytestconfig.stash[ROWS] = []
    return time.monotonic()


@pytest.fixture
def record(request: pytest.FixtureRequest, begun: float) -> Callable[[Row], None]:
    """Takes a figure of the table."""
    budget = request.config.getoption("--budget", None)
    if budget and time.monotonic() - begun > budget:
        pytest.skip(f"no time: {budget:.0f} s of benchmarks are over")
    rows: list[Row] = []
    request.node.stash[ROWS] = rows
    return rows.append


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[Any]:
    """After a benchmark, since the figures that it took count even if a later one was missed."""
    start = time.perf_counter()
    rows = pyfuncitem.stash.get(ROWS, [])
    try:
        result = yield
    finally:
        for row in rows:
            row.seconds = time.perf_counter() - start
        pyfuncitem.config.stash.get(ROWS, []).extend(rows)
    if not rows:
        pytest.fail("a benchmark without a figure: record(…) what it found")
    missed = [f"{r.name}: {r.ratio:.2f}, goal {r.goal:g}" for r in rows if r.verdict == "missed"]
    if missed:
        pytest.fail("far under the goal: " + "; ".join(missed), pytrace=False)
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    rows = config.stash.get(ROWS, [])
    if not rows:
        return
    terminalreporter.section("benchmarks")
    terminalreporter.write_line(table(rows, config.stash[MACHINE]))
    if stem := config.getoption("--table", None):
        write(stem, rows, config.stash[MACHINE])
