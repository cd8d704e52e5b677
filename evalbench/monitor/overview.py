"""The overview of a schedule, from its state and its store; :mod:`evalbench.report.monitor_page` draws it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.monitor.chosen import read_chosen
from evalbench.monitor.due import Standing
from evalbench.monitor.feedback import BIAS, feedback_of, month_windows
from evalbench.monitor.from_store import log_window
from evalbench.monitor.ledger import KEPT, Ledger, Past
from evalbench.monitor.occasions import Window
from evalbench.monitor.schedule import Schedule
from evalbench.readers.log_store.log import Log
from evalbench.report.monitor_page import write_overview
from evalbench.report.overviews import FOLDER

MONTHS = 6
RUNS = 100
"""Runs of an entry that the overview has."""
_PATH = re.compile(r"""(?:sqlite:///|(?<![\w/:.~-]))(?:/[^\s/:;,'"()<>?]+)+/(?=[^\s/:;,'"()<>?])""")
"""The folders of an absolute path, up to the name of its file."""


def overview(schedule: Schedule, ledger: Ledger, standings: Sequence[Standing], now: datetime, reports: Path) -> Path:
    """Write the overview of a schedule below a folder of reports; the path of its page.

    - ``standings``: Of all entries, as of now.
    """
    folder = reports / FOLDER / schedule.name
    past = ledger.history(schedule.name, RUNS)

    def shown(at: datetime | None) -> str | None:
        return at.astimezone(schedule.zone).strftime("%Y-%m-%d %H:%M") if at else None

    def plain(text: str) -> str:
        return without_folders(text, schedule, reports)

    def run(one: Past) -> dict[str, Any]:
        moments = {name: shown(getattr(one, name)) for name in ("due", "started", "finished")}
        texts = {"said": plain(one.said), "because": plain(one.because)}
        # Pages of another host, and those that were removed, cannot be opened from here.
        pages = [_relative(Path(page), folder) for page in one.pages if Path(page).is_file()]
        return {**one._asdict(), **moments, **texts, "pages": pages}

    entries = [
        {
            "name": one.entry.name,
            "what": one.entry.what,
            "target": Path(one.entry.target).name,
            "state": one.state,
            "because": plain(one.because),
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
            "runs_shown": RUNS,
            "runs_kept": KEPT,
            "store": schedule.store.name if schedule.store else None,
            "entries": entries,
            "chosen": [found for path in files if (found := _chosen(path))],
            "feedback": _feedback(schedule, now),
        },
    )


def without_folders(text: str, schedule: Schedule, reports: Path) -> str:
    """A text without folders of this machine and without options of a database's address: a page is read elsewhere.

    What lies below the schedule's folder is named from there, the store by its name, and any other file by its own.
    """
    for address in (schedule.store, schedule.state):
        if address is not None:
            for place in (address.named, str(address)):
                text = text.replace(place, address.name)
    for folder in (schedule.base, reports.resolve(), Path.cwd()):
        text = text.replace(f"{folder}{os.sep}", "")
    return _PATH.sub("…/", text)


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
