"""How soon the package is there: notebooks, commands and every worker of a batch begin with it."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from timing import alone, least, seconds

pytestmark = pytest.mark.benchmark

MOST_SECONDS = 0.3


def imported() -> float:
    """Seconds that the import takes in an interpreter that has just started."""

    def load() -> None:
        import evalbench  # noqa: F401

    return seconds(load, time.perf_counter)


def test_the_import_takes_less_than_three_tenths_of_a_second(capsys):
    fresh = min(alone(imported) for _ in range(5))
    command = [sys.executable, "-m", "evalbench.cli", "--help"]
    whole = least(lambda: subprocess.run(command, check=True, capture_output=True), 1, time.perf_counter)
    with capsys.disabled():
        print(
            f"\nimport evalbench: {fresh * 1e3:.0f} ms; evalbench --help, whole process: {whole * 1e3:.0f} ms"
        )
    assert fresh < MOST_SECONDS
