"""Rows of a log store as files: a table for a study, Parquet for others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from evalbench import studies
from evalbench.monitor.occasions import Window
from evalbench.readers.log_store import times
from evalbench.readers.log_store.address import Address
from evalbench.readers.log_store.log import Log
from evalbench.readers.log_store.tables import tables
from evalbench.readers.log_store.texts import restored

# What studies call a request and a response, first come first served.
NAMES = {"request": ("request", "question", "prompt"), "response": ("response", "answer", "output")}
_COLUMNS = ("id", "ts", "request", "response", "model", "prompt_version")


def log_window(window: Window) -> times.Window:
    """A window as a log store has it."""
    return times.Window(times.microseconds(window.start), times.microseconds(window.end))


def written_window(store: Address, window: Window, path: Path, study: str = "") -> int:
    """Write a window of the log store as a Parquet file that a study reads; the number of its rows.

    Columns are ``id``, ``ts``, ``request`` and ``response`` by the names that the study's table has for them, ``model``
    where every row names one and the study's table has it, and ``label`` where annotators gave some: of each annotator the
    last value, of these that of most; a tie gives none.  Values of users are never among them.

    Parameters
    ----------
    store : Address
    window : Window
    path : Path
    study : str
        A study's name, or the path of a notebook.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    known = _columns_of(study)
    within = log_window(window)
    n = 0
    with Log(store.named) as log:
        labels = _labels(log, within)
        names = [name for name in _COLUMNS if name != "model" or ("model" in known and _all_name_a_model(log, within))]
        renamed = {ours: next((name for name in theirs if name in known), ours) for ours, theirs in NAMES.items()}
        schema = pa.schema([
            (renamed.get(name, name), pa.timestamp("us", tz="UTC") if name == "ts" else pa.string()) for name in names
        ])  # fmt: skip
        if labels:
            schema = schema.append(pa.field("label", pa.float64()))
        with pq.ParquetWriter(path, schema) as file:
            for batch in log.batches(within, columns=names):
                columns = list(batch.columns)
                if labels:
                    columns.append(pa.array([labels.get(one) for one in batch["id"].to_pylist()], pa.float64()))
                file.write_batch(pa.record_batch(columns, schema))
                n += batch.num_rows
    return n


def _all_name_a_model(log: Log, window: times.Window) -> bool:
    import sqlalchemy as sql

    rows = tables().interactions
    nameless = (rows.c.model.is_(None), rows.c.ts >= window.start, rows.c.ts < window.end)
    with log.reading() as connection:
        return connection.execute(sql.select(rows.c.id).where(*nameless).limit(1)).first() is None


def exported(store: Address, folder: Path, window: Window | None) -> int:
    """Deliver the log store as Parquet; the number of interactions that were written.

    Parameters
    ----------
    store : Address
    folder : Path
    window : Window, optional
        Deliver the months (UTC) from that of its start on, whole; all by default, so that what the store has forgotten
        goes from the folder too.
    """
    from evalbench.monitor.export import export

    start = None
    if window is not None:
        start = times.microseconds(window.start.replace(day=1, hour=0, minute=0, second=0, microsecond=0))
    with Log(store.named) as log:
        return export(log, folder, times.Window(start)).rows["interactions"]


def _columns_of(study: str) -> frozenset[str]:
    """The names of a study's columns; none of a notebook's."""
    if study not in studies.names():
        return frozenset()
    schema = studies.study(study).SCHEMA
    return frozenset(column.name for table in schema.values() for column in table.columns)


def _labels(log: Log, window: times.Window) -> dict[str, float]:
    """Interaction → its label: of each annotator the last value, of these that of most; a tie gives none."""
    import sqlalchemy as sql

    has: Any = tables()
    rows, marks = has.interactions, has.feedback
    query = (
        sql.select(rows.c.id, marks.c.judge, marks.c.value)
        .select_from(rows.join(marks, marks.c.interaction == rows.c.id))
        .where(marks.c.source == "annotator", marks.c.value.is_not(None), rows.c.ts >= window.start, rows.c.ts < window.end)
        .order_by(marks.c.ts, marks.c.seq)
    )  # fmt: skip
    last: dict[str, dict[str | None, float]] = {}
    with log.reading() as connection:
        for name, judge, value in connection.execute(query).tuples():
            last.setdefault(restored(name), {})[judge] = value
    counted = {name: Counter(by.values()).most_common(2) for name, by in last.items()}
    return {name: top[0][0] for name, top in counted.items() if len(top) == 1 or top[0][1] > top[1][1]}
