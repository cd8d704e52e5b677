"""How far one machine goes: every study on its sample, repeated to a thousand rows and more, from the command to the page.

``python scripts/scale.py`` measures what ``build/scale.json`` lacks and writes ``docs/scale.md``; ``--studies`` and ``--sizes`` choose.
Ids of copies differ, their texts do not: what a study keeps of equal texts makes it look faster than it is on others.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from evalbench import load, studies
from evalbench.readers.schema import Table

ROOT = Path(__file__).resolve().parents[1]
KEPT, PAGE = ROOT / "build" / "scale.json", ROOT / "docs" / "scale.md"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
STARTS_S = 4.0
"""So long an interpreter, a kernel and a page take; what is above it is expected to grow tenfold."""
KEYS = frozenset({"id", "session_id", "doc_id", "sample_id", "text_id", "query_id", "passage_id"})
_TO_SLASH = "^([^/]*)"
"""Of an id such as ``q1/ab`` the part that the copies differ by."""


def repeated(tables: Mapping[str, pd.DataFrame], schema: Mapping[str, Table], n: int) -> dict[str, pd.DataFrame]:
    """The tables of a data set again and again, until the first has n rows; copies have ids of their own."""
    first = next(iter(schema))
    times = math.ceil(n / len(tables[first]))
    out = {}
    for name, table in tables.items():
        keys = [column for column in table.columns if column in KEYS]
        if not keys and name != first:
            out[name] = table
            continue
        copies = []
        for i in range(times):
            own = (
                {key: table[key].astype(str).str.replace(_TO_SLASH, rf"\1-{i}", regex=True) for key in keys}
                if i
                else {}
            )
            copies.append(table.assign(**own))
        out[name] = pd.concat(copies, ignore_index=True)
    return out


def as_cells(table: pd.DataFrame) -> pd.DataFrame:
    """The table with objects as JSON, since Parquet would give all of them the same fields."""
    nested = [str(name) for name in table if table[name].map(_holds_objects).any()]
    return table.assign(**{name: [json.dumps(cell, ensure_ascii=False) for cell in table[name]] for name in nested})


def _holds_objects(cell: Any) -> bool:
    return isinstance(cell, dict) or (isinstance(cell, list) and any(isinstance(one, (dict, list)) for one in cell))


def measured(study: str, n: int, limit: int, memory: int) -> dict[str, Any]:
    """Rows, seconds, peak memory and page size of a run; or why there is none."""
    hooks = studies.study(study)
    data = load(str(studies.defaults(study)["data"]), study=study)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "data"
        made.mkdir()
        tables = repeated(data.tables, hooks.SCHEMA, n)
        for name, table in tables.items():
            as_cells(table).to_parquet(made / f"{name}.parquet", index=False)
        words = ["run", study, "--data", str(made), "--out", f"{folder}/out", "-q"]
        bounds = ["--timeout", str(limit), "--memory", str(memory)]
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "evalbench.cli", *words, *bounds], capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - start
        run = next(iter((Path(folder) / "out" / study).glob("*/run.json")), None)
        stated = json.loads(run.read_text(encoding="utf-8")) if run else {}
        found = {"rows": len(next(iter(tables.values()))), "seconds": round(seconds, 2)}
        if stated.get("status") != "ok":
            lines = (stated.get("error") or done.stderr).strip().splitlines()
            return {**found, "failed": lines[-1][:200] if lines else f"exit {done.returncode}"}
        page = (run.parent / "report.html").stat().st_size if run else 0
        return {**found, "memory_mb": stated.get("peak_memory_mb"), "page_bytes": page}


def exponent(own: Mapping[str, Mapping[str, Any]]) -> float | None:
    """The slope of log seconds over log rows between the two largest sizes that came to an end."""
    ended = sorted((one["rows"], one["seconds"]) for one in own.values() if "failed" not in one)
    if len(ended) < 2:
        return None
    (m, first), (n, second) = ended[-2:]
    return math.log(second / first) / math.log(n / m)


def told(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "–"
    if "failed" in one:
        return f"ended after {one['seconds']:.0f} s"
    return f"{one['seconds']:.3g} s, {one['memory_mb'] or 0:.0f} MB, {one['page_bytes'] / 1e6:.2f} MB"


def written(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    sizes = [str(n) for n in SIZES]
    head = " | ".join(f"{n:,}".replace(",", " ") for n in SIZES)
    lines = [
        "# How far one machine goes",
        "",
        "Every study on its sample, repeated to so many rows of its first table, from the command to the page: wall time, peak memory of the "
        "process that computes, size of the page. Growth is the exponent between the two largest sizes: 1 is linear. Texts of copies are equal, "
        "so that other data of the same size may take longer. Verdicts and replies come from the samples; no model is asked.",
        "",
        "`python scripts/scale.py` wrote this table, by hand.",
        "",
        f"| study | {head} | growth |",
        f"|---|{'---|' * len(SIZES)}---|",
    ]
    for study in studies.names():
        own = found.get(study, {})
        slope = exponent(own)
        cells = " | ".join(told(own.get(n)) for n in sizes)
        lines.append(f"| `{study}` | {cells} | {'–' if slope is None else f'{slope:.2f}'} |")
    reasons = [
        f"- `{study}`, {int(n):,} rows: {one['failed']}"
        for study, own in found.items()
        for n, one in own.items()
        if "failed" in one
    ]
    return "\n".join([*lines, *(["", "What ended a run:", "", *reasons] if reasons else [])]) + "\n"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--studies", nargs="*", default=studies.names())
    asked.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    asked.add_argument("--limit", type=int, default=180, help="seconds of a run")
    asked.add_argument("--memory", type=int, default=8_000, help="MB of a run")
    given = asked.parse_args()
    found = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    for n in sorted(given.sizes):
        for study in given.studies:
            own = found.setdefault(study, {})
            before = own.get(str(n // 10))
            slow = n > SIZES[0] and (
                before is None or "failed" in before or 10 * (before["seconds"] - STARTS_S) > given.limit
            )
            if str(n) in own or slow:
                continue
            own[str(n)] = measured(study, n, given.limit, given.memory)
            print(study, n, own[str(n)], flush=True)
            KEPT.parent.mkdir(exist_ok=True)
            KEPT.write_text(json.dumps(found, indent=1), encoding="utf-8")
    PAGE.write_text(written(found), encoding="utf-8")


if __name__ == "__main__":
    main()
