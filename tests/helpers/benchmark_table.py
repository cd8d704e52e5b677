"""What a benchmark found, as a row of a table: figure, peer, ratio, goal, and how long it took to find out.

A ratio is higher where we are better. Against a peer it is the peer's time over ours; where the goal is a number of
seconds or bytes, it is that number over ours, and its goal is 1.
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
from timing import Race

HALF, QUARTER = 0.5, 0.25
TIMES = ("s", "ms", "µs")


@dataclass
class Row:
    """One figure; ``least``: the share of its goal under which it is missed; ``seconds``: how long the whole benchmark took."""

    name: str
    figure: str
    peer: str
    ratio: float
    goal: float
    seconds: float = 0.0
    least: float = HALF

    @property
    def verdict(self) -> str:
        """``met``, ``below`` its goal, or ``missed``: under half of it; a time without a peer, under a quarter.

        Machines that are equal by name differ by a factor of two.
        """
        return "met" if self.ratio >= self.goal else "below" if self.ratio >= self.least * self.goal else "missed"


def against(name: str, took: Race, peer: str, goal: float) -> Row:
    """A race: the peer's time over ours."""
    return Row(name, amount(took.ours, "s"), f"{peer}: {amount(took.peer, 's')}", took.ratio, goal)


def at_most(name: str, measured: float, most: float, unit: str) -> Row:
    """A goal in seconds (``s``), bytes (``B``) or times (``×``): the goal over what was measured."""
    shown, limit = amount(measured, unit), f"at most {amount(most, unit)}"
    return Row(name, shown, limit, most / measured, 1.0, least=QUARTER if unit in TIMES else HALF)


def at_least(name: str, measured: float, least: float, unit: str) -> Row:
    """A goal in something per second: what was measured over the goal."""
    return Row(name, amount(measured, unit), f"at least {amount(least, unit)}", measured / least, 1.0, least=QUARTER)


def amount(value: float, unit: str) -> str:
    """
    Examples
    --------
    >>> amount(0.0123, "s"), amount(1.5e9, "B"), amount(282e3, "B"), amount(2.0, "×")
    ('12.3 ms', '1500 MB', '282 kB', '2 ×')
    """
    if unit == "B":
        return f"{value / 1e6:.0f} MB" if value >= 1e6 else f"{value / 1e3:.0f} kB"
    if unit == "s" and value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"


def machine() -> dict[str, Any]:
    """What the figures depend on besides the code."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = next(iter(names), cpu)
    # Without bytecode every start of a process compiles what it imports, and a goal in seconds measures that.
    spec = importlib.util.find_spec("papermill")
    return {
        "date": datetime.date.today().isoformat(),
        "processor": cpu,
        "cores": os.cpu_count() or 1,
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "system": platform.system(),
        "python": platform.python_version(),
        "bytecode": bool(spec and spec.cached and Path(spec.cached).is_file()),
        "bytecode_is_written": not sys.dont_write_bytecode,
        "load": round(os.getloadavg()[0], 1),
    }


def said(where: dict[str, Any]) -> str:
    """The machine in one line."""
    bytecode = "with bytecode" if where["bytecode"] else "WITHOUT BYTECODE"
    return (
        f"{where['date']}, {where['processor']}, {where['cores']} cores, {where['memory_gb']} GB, {where['system']}, "
        f"Python {where['python']}, {bytecode}, load {where['load']} at the start"
    )


def table(rows: Sequence[Row], where: dict[str, Any]) -> str:
    """The rows as a table that reads well in a terminal and in Markdown."""
    head = ("benchmark", "figure", "peer or limit", "ratio", "goal", "verdict", "took")
    lines = [head] + [
        (r.name, r.figure, r.peer, f"{r.ratio:.2f}", f"{r.goal:.3g}", r.verdict, f"{r.seconds:.0f} s") for r in rows
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    lines.insert(1, tuple("-" * width for width in widths))
    body = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines]
    return "\n".join([*body, "", said(where), ""])


def write(stem: Path, rows: Sequence[Row], where: dict[str, Any]) -> None:
    """``STEM.json`` and ``STEM.md``."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    found = {"machine": where, "rows": [{**asdict(row), "verdict": row.verdict} for row in rows]}
    stem.with_suffix(".json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    heading = "# Benchmarks\n\n`make bench ALL=1` wrote this table, by hand. A ratio is higher where we are better: the peer's time over ours, or the limit over what was measured.\n\n"
    stem.with_suffix(".md").write_text(heading + table(rows, where), encoding="utf-8")
