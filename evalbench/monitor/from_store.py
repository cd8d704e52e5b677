"""A log store for an entry of a schedule: a window of it as the data of a study, its months as Parquet."""

from __future__ import annotations

from pathlib import Path

from evalbench import studies
from evalbench.monitor.occasions import Window
from evalbench.readers.log_store import times
from evalbench.readers.log_store.address import Address
from evalbench.readers.log_store.log import Log

# What studies call a request and a response, first come first served.
NAMES = {"request": ("request", "question", "prompt"), "response": ("response", "answer", "output")}


def log_window(window: Window) -> times.Window:
    """A window as a log store has it."""
    return times.Window(times.microseconds(window.start), times.microseconds(window.end))


def window_data(store: Address, window: Window) -> str:
    """A window of a log store as the data of a study.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> window = Window(datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC))
    >>> window_data(Address(None, "postgresql://db.example/logs?user=reader"), window)
    'postgresql://db.example/logs?user=reader&from=2026-05-01T00:00:00Z&to=2026-06-01T00:00:00Z'
    """
    place = store.named
    start, end = (times.shown(at) for at in (times.microseconds(end) for end in window))
    return f"{place}{'&' if '?' in place else '?'}from={start}&to={end}"


def window_columns(study: str) -> dict[str, str]:
    """The renames by which a study finds request and response in a log store.

    Examples
    --------
    >>> window_columns("text_metrics")
    {'request': 'question', 'response': 'answer'}
    """
    if study not in studies.names():
        return {}
    known = {column.name for table in studies.study(study).SCHEMA.values() for column in table.columns}
    found = {ours: next((name for name in theirs if name in known), ours) for ours, theirs in NAMES.items()}
    return {ours: name for ours, name in found.items() if ours != name}


def exported(store: Address, folder: Path, window: Window | None) -> int:
    """Deliver the log store as Parquet; the number of interactions that were written.

    - ``window``: Deliver the months (UTC) from that of its start on, whole; all by default, so that what the store has
      forgotten goes from the folder too.
    """
    from evalbench.monitor.export import export

    start = None
    if window is not None:
        start = times.microseconds(window.start.replace(day=1, hour=0, minute=0, second=0, microsecond=0))
    with Log(store.named) as log:
        return export(log, folder, times.Window(start)).rows["interactions"]
