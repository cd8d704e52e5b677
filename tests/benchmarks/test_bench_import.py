"""How soon the package is there: notebooks, commands and every worker of a batch begin with it."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from timing import least

pytestmark = pytest.mark.benchmark

MOST_SECONDS = 0.3


def test_the_import_takes_less_than_three_tenths_of_a_second(capsys):
    """The start of the interpreter is counted too."""

    def took(*arguments: str) -> float:
        whole = [sys.executable, *arguments]
        return least(lambda: subprocess.run(whole, check=True), MOST_SECONDS, time.perf_counter)

    ours, bare = took("-c", "import evalbench"), took("-c", "pass")
    with capsys.disabled():
        print(f"\nimport evalbench: {ours * 1e3:.0f} ms with the interpreter's {bare * 1e3:.0f} ms")
    assert ours < MOST_SECONDS
