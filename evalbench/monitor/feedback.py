"""Users' feedback of a window of time: what it says, and how few say it.

Who gives feedback has selected himself: the mean is that of those who answered, not of all users.  Beside it are the
share of interactions and of users with feedback, the share that the most active tenth gave, and, where feedback has two
values, what the mean would be if every silent user thought the one or the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from evalbench.core.seeds import rng
from evalbench.core.stats import Measured, bootstrap_sums, no_width, wilson, with_interval
from evalbench.readers.log_store.log import Log
from evalbench.readers.log_store.tables import tables
from evalbench.readers.log_store.times import Window

BIAS = (
    "Who gives feedback is self-selected: its mean is that of the people who answered, not of all users, and no interval "
    "covers that difference. It is therefore shown beside the monitored metrics, and chooses none of them."
)
_N_RESAMPLES = 2000


class Feedback(NamedTuple):
    """Figures of one window.

    - ``interactions``, ``clients``: All of them; clients that are known.
    - ``answered``, ``answering``: Interactions with a value of a user, and known clients that gave one.
    - ``share``, ``share_low``, ``share_high``: Of interactions with feedback (the response rate), with Wilson's
      interval.
    - ``mean``, ``low``, ``high``: Of users' values, each interaction once, with an interval that resamples clients.
    - ``busiest``: The share of the answered interactions that the most active tenth of the answering clients gave.
    - ``if_silent_low``, ``if_silent_high``: The mean if all silent users gave the lower or the higher of the two values
      that occur; None for other scales.
    - ``labelled``: Interactions with a value of an annotator.
    - ``labels_mean``, ``labels_low``, ``labels_high``: Their mean, each interaction once, with an interval that
      resamples interactions.
    - ``note``, ``labels_note``: What to beware of in the means of users and of annotators.
    """

    label: str
    interactions: int
    clients: int
    answered: int
    answering: int
    share: float | None
    share_low: float | None
    share_high: float | None
    mean: float | None
    low: float | None
    high: float | None
    busiest: float | None
    if_silent_low: float | None
    if_silent_high: float | None
    labelled: int
    labels_mean: float | None
    labels_low: float | None
    labels_high: float | None
    note: str
    labels_note: str = ""


def feedback_of(log: Log, window: Window, label: str, seed: int = 0) -> Feedback:
    """The figures of the interactions of a window.

    - ``window``: Of the interactions, whenever their feedback came.
    """
    import sqlalchemy as sql

    has = tables()
    rows, marks = has.interactions, has.feedback
    within = [rows.c.ts >= window.start] if window.start is not None else []
    within += [rows.c.ts < window.end] if window.end is not None else []

    def each(source: str) -> Any:
        """One row per interaction with values of a source: its client, and the mean of its values."""
        return (
            sql.select(rows.c.id, rows.c.client, sql.func.avg(marks.c.value).label("value"))
            .select_from(rows.join(marks, marks.c.interaction == rows.c.id))
            .where(marks.c.source == source, marks.c.value.is_not(None), *within)
            .group_by(rows.c.id, rows.c.client)
            .subquery()
        )

    users, people = each("user"), each("annotator")
    unit = sql.func.coalesce(users.c.client, sql.literal("id:") + users.c.id)
    with log.reading() as connection:
        n, clients = connection.execute(
            sql.select(sql.func.count(), sql.func.count(sql.distinct(rows.c.client))).where(*within)
        ).one()
        given = connection.execute(
            sql.select(sql.func.count(), sql.func.sum(users.c.value), sql.func.max(users.c.client)).group_by(unit)
        ).all()
        values = connection.execute(sql.select(users.c.value).distinct().limit(3)).scalars().all()
        labels = connection.execute(sql.select(people.c.value, sql.func.count()).group_by(people.c.value)).all()
    counts = np.array([count for count, _, _ in given], dtype=float)
    sums = np.array([total for _, total, _ in given], dtype=float)
    known = sum(client is not None for _, _, client in given)
    return _figures(label, n, clients, counts, sums, known, values, labels, seed)


def _figures(
    label: str,
    n: int,
    clients: int,
    counts: np.ndarray[Any, Any],
    sums: np.ndarray[Any, Any],
    known: int,
    values: Sequence[float],
    labels: Sequence[tuple[float, int]],
    seed: int,
) -> Feedback:
    answered = int(counts.sum())
    share = share_low = share_high = mean = low = high = busiest = silent_low = silent_high = None
    note = ""
    if n:
        share = answered / n
        share_low, share_high = (float(end) for end in wilson(answered, n))
    if answered:
        units = np.column_stack([sums, counts])
        mean = float(sums.sum() / answered)
        drawn = bootstrap_sums(units, lambda s: s[:, :1] / s[:, 1:], rng(seed, "feedback", label), _N_RESAMPLES)[:, 0]
        measured = with_interval(mean, drawn, n=answered, n_units=len(counts), clusters=True)
        low, high, note = measured.ci_low, measured.ci_high, measured.note.replace("clusters", "users")
        if low is not None and high is not None and no_width(low, high):
            low, high, note = None, None, "all values are the same: no interval"
        if known > 1:
            top = max(1, round(len(counts) / 10))
            busiest = float(np.sort(counts)[::-1][:top].sum() / answered)
        if len(values) == 2:
            silent = n - answered
            silent_low, silent_high = ((float(sums.sum()) + silent * end) / n for end in sorted(values))
    people = _mean_of(labels, label, seed)
    return Feedback(
        label, n, clients, answered, known, share, share_low, share_high, mean, low, high, busiest, silent_low,
        silent_high, people.n, people.value, people.ci_low, people.ci_high, note, people.note,
    )  # fmt: skip


def _mean_of(values: Sequence[tuple[float, int]], label: str, seed: int) -> Measured:
    """The mean of values that occur so many times each; where all are the same, without an interval of no width."""
    if not values:
        return Measured(None)
    if len(values) == 1:
        return Measured(values[0][0], n=values[0][1], note="all values are the same: no interval")
    marks, times = (np.array(column) for column in zip(*values, strict=True))
    n = int(times.sum())
    drawn = bootstrap_sums(
        marks[:, None], lambda s: s / n, rng(seed, "labels", label), _N_RESAMPLES, multiplicity=times
    )  # fmt: skip
    return with_interval(float((marks * times).sum() / n), drawn[:, 0], n=n, n_units=n)


def month_windows(now: datetime, n: int) -> list[tuple[str, datetime, datetime]]:
    """The calendar months up to a moment, in its zone, oldest first: name, start, end.

    Examples
    --------
    >>> from datetime import UTC
    >>> [name for name, _, _ in month_windows(datetime(2026, 2, 3, tzinfo=UTC), 3)]
    ['2025-12', '2026-01', '2026-02']
    """
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0, fold=0)
    months = [now.year * 12 + now.month - 1 - back for back in range(n)]
    starts = [first.replace(year=month // 12, month=month % 12 + 1) for month in months]
    ends = [now, *starts[:-1]]
    return [(start.strftime("%Y-%m"), start, end) for start, end in zip(starts, ends, strict=True)][::-1]
