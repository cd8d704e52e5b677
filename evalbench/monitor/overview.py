"""The overview of a schedule, from its state and its store; :mod:`evalbench.report.monitor_page` draws it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.monitor.chosen import read_chosen
from evalbench.monitor.due import Standing
from evalbench.monitor.feedback import BIAS, feedback_of, month_windows
from evalbench.monitor.from_store import log_window
from evalbench.monitor.ledger import Ledger, Past
from evalbench.monitor.occasions import Window
from evalbench.monitor.schedule import Schedule
from evalbench.readers.log_store.log import Log
from evalbench.report.monitor_page import FOLDER, write_overview

MONTHS = 6


def overview(schedule: Schedule, ledger: Ledger, standings: Sequence[Standing], now: datetime, reports: Path) -> Path:
    """Write the overview of a schedule below a folder of reports; the path of its page.

    Parameters
    ----------
    schedule : Schedule
    ledger : Ledger
    standings : sequence of Standing
        Of all entries, as of now.
    now : datetime
    reports : Path
    """
    folder = reports / FOLDER / schedule.name
    past = ledger.history(schedule.name)

    def shown(at: datetime | None) -> str | None:
        return at.astimezone(schedule.zone).strftime("%Y-%m-%d %H:%M") if at else None

    def run(one: Past) -> dict[str, Any]:
        moments = {name: shown(getattr(one, name)) for name in ("due", "started", "finished")}
        pages = [_relative(Path(page), folder) for page in one.pages]
        return {**one._asdict(), **moments, "pages": pages}

    entries = [
        {
            "name": one.entry.name,
            "what": one.entry.what,
            "target": Path(one.entry.target).name,
            "state": one.state,
            "because": one.because,
            "due": shown(one.due),
            "next": shown(one.next),
            "runs": [run(ran) for ran in past if ran.entry == one.entry.name],
        }
        for one in standings
    ]
    files = dict.fromkeys(entry.metrics_from for entry in schedule.entries if entry.metrics_from)
    return write_overview(
        folder,
        {
            "schedule": schedule.name,
            "timezone": schedule.zone.key,
            "made": shown(now),
            "entries": entries,
            "chosen": [found for path in files if (found := _chosen(path))],
            "feedback": _feedback(schedule, now),
        },
    )


def _chosen(path: Path) -> dict[str, Any] | None:
    """What a file of chosen metrics says; None where it cannot be read, which its entry says when it is run."""
    try:
        return {"file": path.name, **read_chosen(path).to_json()}
    except BadInput:
        return None


def _feedback(schedule: Schedule, now: datetime) -> dict[str, Any] | None:
    """What users said of the last months; None without a store."""
    if schedule.store is None:
        return None
    rows = []
    with Log(schedule.store.named) as log:
        for label, start, end in month_windows(now.astimezone(schedule.zone), MONTHS):
            rows.append(feedback_of(log, log_window(Window(start, end)), label)._asdict())
    kept = next((i for i, row in enumerate(rows) if row["interactions"]), len(rows))
    return {"bias": BIAS, "rows": rows[kept:]}


def _relative(page: Path, folder: Path) -> str:
    return Path(os.path.relpath(page, folder.resolve())).as_posix()
