"""How soon the package is there: notebooks, commands and every worker of a batch begin with it."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from benchmark_table import at_most
from timing import least

pytestmark = pytest.mark.benchmark

MOST_SECONDS = 0.3


def test_the_import_takes_less_than_three_tenths_of_a_second(record):
    """The start of the interpreter is counted too."""

    def took(*arguments: str) -> float:
        whole = [sys.executable, *arguments]
        return least(lambda: subprocess.run(whole, check=True), MOST_SECONDS, time.perf_counter)

    record(at_most("import evalbench, with the interpreter's start", took("-c", "import evalbench"), MOST_SECONDS, "s"))
