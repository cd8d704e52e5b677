"""Interactions and feedback for log stores; appending in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 5, 1, tzinfo=UTC)
HOSTILE = (
    "",
    "nul \x00 in it",
    "half \ud800 a character, and \udfff",
    "\x1a0000 as if escaped, \x1a",
    "right ‮ to left, \u2028, \ufeff, \x7f",
    "'; DROP TABLE interactions; --",
    "<script>alert(1)</script> %s %(id)s :id ? {0}",
    "Привет, мир. 你好。 👩‍👩‍👧‍👦",
    "ё" * 2_000_000,
)


def interaction(number: int, **more: Any) -> dict[str, Any]:
    """One an hour."""
    row = {
        "id": f"r{number:05d}",
        "ts": START + timedelta(hours=number),
        "request": f"q{number}",
        "response": f"a{number}",
    }
    return row | more


def remark(number: int, source: str = "annotator", value: float | None = 1, **more: Any) -> dict[str, Any]:
    """Feedback on an interaction, a day later."""
    ts = START + timedelta(hours=number, days=1)
    return {"interaction": f"r{number:05d}", "ts": ts, "source": source, "value": value} | more


def processes(code: str, arguments: Sequence[Sequence[object]], **more: Any) -> list[subprocess.Popen[str]]:
    """A Python process for each sequence of arguments (``sys.argv[1:]``), all at once."""
    script = "import sys\n" + textwrap.dedent(code)
    return [
        subprocess.Popen([sys.executable, "-c", script, *map(str, words)], text=True, stdout=-1, stderr=-1, **more)
        for words in arguments
    ]


def ended(started: Sequence[subprocess.Popen[str]], seconds: float = 300) -> list[str]:
    """What processes printed; fails where one of them did."""
    said = [process.communicate(timeout=seconds) for process in started]
    assert [process.returncode for process in started] == [0] * len(started), [err[-2000:] for _, err in said]
    return [out for out, _ in said]
