"""Times of a log: microseconds since 1970 in UTC, and half-open windows of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from evalbench.errors import BadInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
AHEAD = timedelta(minutes=10)
"""How far the clocks of machines may be ahead; a later time is in the future."""
EXAMPLE = "2026-05-01T09:30:00Z"


class Window(NamedTuple):
    """From ``start`` on and before ``end``, in microseconds since 1970, UTC; None: open."""

    start: int | None = None
    end: int | None = None

    def __str__(self) -> str:
        return f"{shown(self.start) if self.start is not None else '…'} to {shown(self.end) if self.end is not None else '…'}"


EVERYTHING = Window()


def microseconds(time: datetime) -> int:
    """A time with its zone as microseconds since 1970, UTC.

    Raises ``ValueError`` for a time without a zone, which could be any of twenty-six hours, and for one beyond the
    calendar in UTC.

    Examples
    --------
    >>> microseconds(datetime(1970, 1, 1, 3, 0, 1, tzinfo=UTC))
    10801000000
    """
    if time.tzinfo is None or time.utcoffset() is None:
        raise ValueError(f"a time without a time zone; expected one such as {EXAMPLE}")
    found = (time - _EPOCH) // _MICROSECOND
    if not _FIRST <= found <= _LAST:
        raise ValueError("a time before the year 1 or after 9999 in UTC")
    return found


def future() -> int:
    """From when on a time is in the future for all clocks that go right within :data:`AHEAD`."""
    return microseconds(datetime.now(UTC) + AHEAD)


def instant(text: str, *, naive_is_utc: bool = False) -> int:
    """ISO 8601 as microseconds since 1970, UTC.

    Raises ``ValueError`` for other texts, and for a time without a zone unless that means UTC.

    Examples
    --------
    >>> instant("1970-01-01T03:00:01+03:00"), instant("1970-01-02", naive_is_utc=True)
    (1000000, 86400000000)
    """
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"not a time in ISO 8601; expected one such as {EXAMPLE}") from None
    if time.tzinfo is None and naive_is_utc:
        time = time.replace(tzinfo=UTC)
    return microseconds(time)


def shown(time: int) -> str:
    """
    Examples
    --------
    >>> shown(10801000000), shown(1)
    ('1970-01-01T03:00:01Z', '1970-01-01T00:00:00.000001Z')
    """
    return as_datetime(time).replace(tzinfo=None).isoformat() + "Z"


def as_datetime(time: int) -> datetime:
    return _EPOCH + timedelta(microseconds=time)


def window_of(start: str = "", end: str = "", *, names: tuple[str, str] = ("from", "to")) -> Window:
    """A half-open window of time: ``start`` is in it, ``end`` is not.

    - ``start``, ``end``: ISO 8601, a date or a time; without a zone it is UTC. Empty: open.
    - ``names``: What they are called in messages.

    Raises ``BadInput`` for what is no time, and for a window without length: both faults at once.

    Examples
    --------
    >>> str(window_of("2026-05-01", "2026-06-01T00:00:00+03:00"))
    '2026-05-01T00:00:00Z to 2026-05-31T21:00:00Z'
    """
    found: list[int | None] = []
    faults = []
    for name, text in zip(names, (start, end), strict=True):
        try:
            found.append(instant(text, naive_is_utc=True) if text.strip() else None)
        except ValueError as error:
            faults.append(f"{name}: {text!r}: {error}")
            found.append(None)
    window = Window(*found)
    if window.start is not None and window.end is not None and window.start >= window.end:
        faults.append(f"{names[0]} {shown(window.start)} is not before {names[1]} {shown(window.end)}")
    if faults:
        raise BadInput.listing("the window of time:", faults)
    return window
