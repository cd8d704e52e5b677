"""Golden figures: what each study gives on its sample, kept to see that nothing moves unseen."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# float32 embeddings differ in the eighth digit between processors and numbers of threads.
TOLERANCE = 1e-6


def golden_of(results: Mapping[str, Any]) -> dict[str, Any]:
    """The part of ``results.json`` that a golden keeps: light, sentence and every figure with its counts."""
    by = list(results["by"])
    keep = [*by, "metric", "value", "ci_low", "ci_high", "n", "n_unscored", "n_undefined", "light"]
    return {
        "study": results["study"],
        "light": results["light"],
        "sentence": results["sentence"],
        "summary": [{key: row.get(key) for key in keep if row.get(key) is not None} for row in results["summary"]],
    }


def difference(golden: Mapping[str, Any], path: Path) -> list[str]:
    """In words, where figures differ from the stored golden; empty where they agree to ``TOLERANCE``."""
    if not path.is_file():
        return [f"{path.name} does not exist; write it with: evalbench check --accept {golden['study']}"]
    stored = json.loads(path.read_text(encoding="utf-8"))
    out = [
        f"{key}: was {stored[key]!r}, is {golden[key]!r}" for key in ("light", "sentence") if stored[key] != golden[key]
    ]
    was, now = _keyed(stored["summary"]), _keyed(golden["summary"])
    out += [f"{name} is gone" for name in was if name not in now]
    out += [f"{name} is new" for name in now if name not in was]
    for name in was.keys() & now.keys():
        for field in sorted({*was[name], *now[name]}):
            before, after = was[name].get(field), now[name].get(field)
            if not _same(before, after):
                out.append(f"{name}: {field} was {before}, is {after}")
    return sorted(out)


def accept(golden: Mapping[str, Any], path: Path) -> None:
    """Store a golden."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _keyed(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    figures = {"value", "ci_low", "ci_high", "n", "n_unscored", "n_undefined", "light"}
    return {" ".join(str(v) for k, v in row.items() if k not in figures): row for row in rows}


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, (int, float)) and isinstance(after, (int, float)):
        return math.isclose(before, after, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(before == after)
