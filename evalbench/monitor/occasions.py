"""When a cron expression is due, and what a window such as ``last 30 days`` is at a moment; pure functions of their times.

Cron expressions have five fields and are read in a named time zone, as Debian's cron reads them.  Where clocks go
forward, a fixed time in the hour that is left out is due right after it; where they go back, a fixed time in the hour
that comes twice is due in the first of the two.  Expressions whose minute or hour begins with ``*`` follow the time
that passes: they skip the hour that is left out and are due in both of those that come twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice, takewhile
from typing import NamedTuple
from zoneinfo import ZoneInfo

MOST = 100_000  # due times that are counted one by one
_FIELDS = 5
_WINDOW = re.compile(r"(last (?P<n>[1-9]\d{0,3}) (?P<unit>hour|day|week|month)s?|previous (?P<whole>day|week|month))")
WINDOWS = (
    "last N hours (days, weeks, months), previous day (week, month), or [from, to] with dates or times in ISO 8601"
)


class Times(NamedTuple):
    """Due times of a cron expression within a span.

    - ``n``: How many; at most :data:`MOST` + 1, which then means that there are more.
    - ``first``, ``last``: In UTC.
    """

    n: int
    first: datetime | None
    last: datetime | None


class Window(NamedTuple):
    """A span of time, half-open, in UTC."""

    start: datetime
    end: datetime


def cron_fault(expression: object) -> str:
    """What is wrong with a cron expression; empty where nothing is.

    Examples
    --------
    >>> cron_fault("0 6 * * 1-5"), cron_fault("0 25 * * *")
    ('', "'0 25 * * *': bad hour; expected minute, hour, day of the month, month, day of the week, such as 0 6 * * 1-5")
    >>> cron_fault("0 0 30 2 *").partition(";")[0]
    "'0 0 30 2 *': bad day-of-month"
    """
    from cronsim import CronSim, CronSimError

    form = "expected minute, hour, day of the month, month, day of the week, such as 0 6 * * 1-5"
    if not isinstance(expression, str) or len(expression.split()) != _FIELDS:
        return f"{expression!r}: {form}"
    try:
        next(CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC)))
    except StopIteration:
        return f"{expression!r}: is never due"
    except CronSimError as error:
        said = str(error)
        return f"{expression!r}: {said[:1].lower()}{said[1:]}; {form}"
    return ""


def due_times(expression: str, zone: ZoneInfo, after: datetime, until: datetime) -> Times:
    """The due times later than one moment and not later than another.

    - ``after``, ``until``: With a time zone.

    Examples
    --------
    >>> zone = ZoneInfo("Europe/Berlin")
    >>> due_times("30 2 * * *", zone, datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 10, 25, 12, tzinfo=UTC)).n
    1
    """
    n, first, last = 0, None, None
    for at in _forward(expression, zone, after):
        if at > until:
            break
        n, first, last = n + 1, first or at, at
        if n > MOST:
            return Times(n, first, _last(expression, zone, at, until))
    return Times(n, first, last)


def _last(expression: str, zone: ZoneInfo, known: datetime, until: datetime) -> datetime:
    """The last due time, looked for day by day from the end; ``known`` where there is no later one."""
    end = until
    while end > known:
        start = max(known, end - timedelta(days=1))
        if found := list(takewhile(lambda at, end=end: at <= end, _forward(expression, zone, start))):  # type: ignore[misc]
            return found[-1]
        end = start
    return known


def next_time(expression: str, zone: ZoneInfo, after: datetime) -> datetime | None:
    """The first due time later than a moment, in UTC; None where cronsim's horizon has none."""
    return next(_forward(expression, zone, after), None)


def next_times(expression: str, zone: ZoneInfo, after: datetime, n: int) -> list[datetime]:
    """The first n due times later than a moment, in UTC."""
    return list(islice(_forward(expression, zone, after), n))


def _forward(expression: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Due times in UTC, ascending.  Within an hour that comes twice cronsim may begin with a time that has passed."""
    from cronsim import CronSim

    before = after.astimezone(UTC)
    for found in CronSim(expression, after.astimezone(zone)):
        at = found.astimezone(UTC)
        if at > before:
            before = at
            yield at


def window_fault(stated: object) -> str:
    """What is wrong with a window as the schedule states it; empty where nothing is.

    Examples
    --------
    >>> window_fault("last 30 days"), window_fault(["2026-03-01", "2026-01-01"])
    ('', 'ends before it begins')
    """
    if isinstance(stated, str) and _WINDOW.fullmatch(stated):
        return ""
    if not isinstance(stated, list) or len(stated) != 2:
        return f"{stated!r}: expected {WINDOWS}"
    try:
        start, end = (_moment(part, ZoneInfo("UTC")) for part in stated)
    except ValueError:
        return f"{stated!r}: expected {WINDOWS}"
    return "" if start < end else "ends before it begins"


def window_at(stated: object, at: datetime, zone: ZoneInfo) -> Window:
    """A window as the schedule states it, at a due time.

    Days, weeks and months are those of the calendar in the zone: ``last 30 days`` begins at the same hour 30 days
    earlier, also where clocks were changed in between; in a month that lacks the day, on its last one.

    - ``stated``: Without a fault, see :func:`window_fault`.

    Examples
    --------
    >>> window_at("previous month", datetime(2026, 3, 31, 12, tzinfo=UTC), ZoneInfo("UTC")).start.isoformat()
    '2026-02-01T00:00:00+00:00'
    """
    if isinstance(stated, list):
        start, end = (_moment(part, zone) for part in stated)
        return Window(start.astimezone(UTC), end.astimezone(UTC))
    found = _WINDOW.fullmatch(str(stated))
    assert found
    local = at.astimezone(zone)
    if unit := found["unit"]:
        n = int(found["n"])
        if unit == "hour":
            return Window(at.astimezone(UTC) - timedelta(hours=n), at.astimezone(UTC))
        start = (
            _months_before(local, n) if unit == "month" else local - timedelta(days=n * (7 if unit == "week" else 1))
        )
        return Window(start.astimezone(UTC), at.astimezone(UTC))
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if found["whole"] == "month":
        end = midnight.replace(day=1)
        start = _months_before(end, 1)
    elif found["whole"] == "week":
        end = midnight - timedelta(days=midnight.weekday())
        start = end - timedelta(days=7)
    else:
        end, start = midnight, midnight - timedelta(days=1)
    return Window(start.astimezone(UTC), end.astimezone(UTC))


def _months_before(local: datetime, n: int) -> datetime:
    months = local.year * 12 + local.month - 1 - n
    year, month = months // 12, months % 12 + 1
    last = ((date(year + month // 12, month % 12 + 1, 1)) - timedelta(days=1)).day
    return local.replace(year=year, month=month, day=min(local.day, last))


def _moment(stated: object, zone: ZoneInfo) -> datetime:
    """A date or a time as YAML or ISO 8601 has it; one without a zone is in the schedule's.

    Raises ``ValueError`` if it is neither.
    """
    if isinstance(stated, datetime):
        found = stated
    elif isinstance(stated, date):
        found = datetime(stated.year, stated.month, stated.day)
    elif isinstance(stated, str):
        found = datetime.fromisoformat(stated)
    else:
        raise ValueError(stated)
    return found if found.tzinfo else found.replace(tzinfo=zone)
