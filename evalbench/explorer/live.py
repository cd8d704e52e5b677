"""Runs that have not ended: what they are at, what they cost and find so far, or where they stopped."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalbench.core.progress import MOST_VERDICTS, NAME, line, place, told
from evalbench.core.stats import wilson
from evalbench.errors import BadInput
from evalbench.readers.runs import FINISHED, RESULTS_JSON, RUN_JSON, read_run
from evalbench.runs.closing import is_gone
from evalbench.runs.folder import host

RUNNING, DIED = "running", "died"
_MOST = 2**53
_LONGEST = 200


def live(folder: Path) -> dict[str, Any]:
    """How far a run is.

    - ``status``: As ``run.json`` has it; ``died`` where it says running and its process on this machine is gone.
    - ``finished``: Whether it has results.
    - ``at``: What it is at, or stopped at, in words: replies so far, those that failed, tokens, cost and time left.
    - ``done``, ``total``: Of the present step; None where it does not count.
    - ``unscored``: Why replies of the present step failed: reason → how many.
    - ``verdicts``: What a judge said in the present step: of each verdict ``n``, its ``share`` of all and the ends of Wilson's 95 %
      interval, ``low`` and ``high``, as if replies were independent.
    - ``so_far``: The figure of a run that stops early, with an interval that holds whenever one looks; None without one. No light:
      the run is not finished.

    Raises ``BadInput`` if the folder is no run's.
    """
    run = read_run(folder)
    status, state = str(run["status"]), told(folder / NAME)
    if status == RUNNING and run.get("host") == host() and is_gone(run):
        status = DIED
    counts = {name: value if _is_count(value := state.get(name)) else None for name in ("done", "total")}
    return {
        "study": str(run.get("study") or folder.parent.name),
        "status": status,
        "finished": status in FINISHED,
        "started": str(run.get("started") or ""),
        "at": line(state) if status == RUNNING else str(run.get("was_at") or "") or place(state),
        "error": str(run.get("error") or ""),
        **counts,
        "unscored": _counted(state.get("reasons")),
        "verdicts": _verdicts(_counted(state.get("verdicts"))),
        "so_far": _so_far(state.get("so_far")),
    }


def refuse_unfinished(folder: Path) -> None:
    """Raises ``BadInput`` for a run without results: that it goes on, or where it stopped."""
    if (folder / RESULTS_JSON).is_file() or not (folder / RUN_JSON).is_file():
        return
    found = live(folder)
    if found["status"] == RUNNING:
        at = f", {found['at']}" if found["at"] else ""
        raise BadInput(f"{folder}: the run is not finished{at}; evalbench view {shlex.quote(str(folder))} follows it")
    at = f"; it stopped at {found['at']}" if found["at"] else ""
    raise BadInput(f"{folder}: the run has no results: {found['status']}{at}")


# A notebook writes the file, or a stranger: nothing in it is taken on trust.


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _counted(found: Any) -> dict[str, int]:
    known = found.items() if isinstance(found, Mapping) else ()
    return dict(sorted([(str(name)[:_LONGEST], n) for name, n in known if _is_count(n)][:MOST_VERDICTS]))


def _verdicts(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    n = sum(counts.values())
    if not n:
        return []
    low, high = wilson(list(counts.values()), n)
    each = zip(counts.items(), low.tolist(), high.tolist(), strict=True)
    return [{"verdict": name, "n": k, "share": k / n, "low": lo, "high": hi} for (name, k), lo, hi in each]


def _so_far(found: Any) -> dict[str, Any] | None:
    if not isinstance(found, Mapping):
        return None
    numbers: dict[str, Any] = {name: found.get(name) for name in ("value", "low", "high")}
    counts = {name: found.get(name) for name in ("n", "unscored", "of")}
    if not all(type(value) in (int, float) and -1e100 < value < 1e100 for value in numbers.values()):
        return None
    if not all(map(_is_count, counts.values())):
        return None
    return {"what": str(found.get("what") or "")[:_LONGEST], **numbers, **counts}
