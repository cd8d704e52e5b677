"""Runs that have not ended: what they are at, what they cost so far, or where they stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalbench.core.progress import NAME, line, told
from evalbench.readers.runs import FINISHED, read_run
from evalbench.runs.closing import is_gone
from evalbench.runs.folder import host

RUNNING = "running"


def live(folder: Path) -> dict[str, Any]:
    """How far a run is.

    - ``status``: As ``run.json`` has it; ``died`` where it says running and its process on this machine is gone.
    - ``finished``: Whether it has results.
    - ``at``: What it is at, or stopped at, in words: replies so far, those that failed, tokens, cost and time left.
    - ``done``, ``total``: Of the present step; None where it does not count.

    Raises ``BadInput`` if the folder is no run's.
    """
    run = read_run(folder)
    status, state = str(run["status"]), told(folder / NAME)
    if status == RUNNING and run.get("host") == host() and is_gone(run):
        status = "died"
    counts = {name: value if isinstance(value := state.get(name), int) else None for name in ("done", "total")}
    return {
        "study": str(run.get("study") or folder.parent.name),
        "status": status,
        "finished": status in FINISHED,
        "started": str(run.get("started") or ""),
        "at": line(state) if status == RUNNING else str(run.get("was_at") or ""),
        "error": str(run.get("error") or ""),
        **counts,
    }
