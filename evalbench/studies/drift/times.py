"""Times of other forms as ISO 8601, where a whole column is written in one form that has one meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_CLOCK = r"(\d{1,2}):(\d\d)(?::(\d\d))?"
_DOTTED = re.compile(rf"(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}})(?:[ T]+{_CLOCK})?")
_SLASHED = re.compile(rf"(\d{{1,2}})[/-](\d{{1,2}})[/-](\d{{4}})(?:,?[ T]+{_CLOCK}(?:\s*([AaPp])\.?[Mm]\.?)?)?")
_CHINESE = re.compile(rf"(\d{{4}})年(\d{{1,2}})月(\d{{1,2}})日(?:[ T]*{_CLOCK})?")
_MAIL = re.compile(
    r"(?:[A-Z][a-z]{2}, ?)?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)?(?: (?:[+-]\d{4}|[A-Z]{1,3}))?"
)
_EPOCHS = (
    ("seconds", 1, 10**8, 10**10),
    ("milliseconds", 10**3, 10**11, 10**13),
    ("microseconds", 10**6, 10**14, 10**16),
    ("nanoseconds", 10**9, 10**17, 10**19),
)
_MONTH_FIRST, _DAY_FIRST = "month/day/year, since one above 12 is second", "day/month/year, since one above 12 is first"


class _Form(NamedTuple):
    """A way to write a time: what every cell matches, its ISO 8601, and what is said of it."""

    pattern: re.Pattern[str]
    iso: Callable[[re.Match[str]], str]
    said: str


def with_times(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables with their column ``time`` in ISO 8601, and a note, where all of it is written in another form.

    These are seconds to nanoseconds since 1970, days with dots, mail's dates (RFC 2822), 2026年3月14日, and days with strokes
    where some day of all tables is above 12; otherwise which number is the month is not guessed, and the cells stay.
    """
    cells = {name: _known(frame) for name, frame in frames.items()}
    order = _order(cell for column in cells.values() for cell in column)
    return {name: _read(frame, cells[name], order) for name, frame in frames.items()}


def _known(frame: pd.DataFrame) -> pd.Series:
    """The cells of ``time`` that are not empty."""
    import pandas as pd

    if "time" not in frame or frame.columns.has_duplicates:
        return pd.Series(dtype=object)
    column = frame["time"]
    return column[
        column.map(lambda cell: not (cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())))
    ]


def _read(frame: pd.DataFrame, cells: pd.Series, order: str) -> pd.DataFrame:
    if cells.empty or cells.map(lambda cell: isinstance(cell, bool)).any():
        return frame
    found = _since_1970(cells) or next(filter(None, (_written(cells, form) for form in _forms(order))), None)
    if found is None:
        return frame
    times, said = found
    out = frame["time"].astype(object)
    out[cells.index] = times
    attrs = dict(frame.attrs)
    frame = frame.assign(time=out)
    frame.attrs = {**attrs, "notes": [*attrs.get("notes", ()), f"time: {said}"]}
    return frame


def _forms(order: str) -> list[_Form]:
    forms = [
        _Form(_DOTTED, lambda m: _iso(m[3], m[2], m[1], m[4], m[5], m[6]), "days are read as day.month.year"),
        _Form(_CHINESE, lambda m: _iso(*m.groups()), "days are read as year, month, day"),
        _Form(_MAIL, _of_mail, "dates of mail (RFC 2822) are read, without a zone as UTC"),
    ]
    if order:
        month, day = (1, 2) if order == _MONTH_FIRST else (2, 1)
        iso: Callable[[re.Match[str]], str] = lambda m: _iso(m[3], m[month], m[day], _hour(m[4], m[7]), m[5], m[6])  # noqa: E731
        forms.append(_Form(_SLASHED, iso, f"days are read as {order}"))
    return forms


def _order(cells: Iterable[Any]) -> str:
    """Which number of days with strokes is the month, where the days themselves show it."""
    first = second = False
    for cell in cells:
        match = _SLASHED.fullmatch(cell.strip()) if isinstance(cell, str) else None
        if match:
            first |= int(match[1]) > 12
            second |= int(match[2]) > 12
    return "" if first == second else _DAY_FIRST if first else _MONTH_FIRST


def _written(cells: pd.Series, form: _Form) -> tuple[list[str], str] | None:
    times = []
    for cell in cells:
        match = form.pattern.fullmatch(cell.strip()) if isinstance(cell, str) else None
        time = form.iso(match) if match else ""
        if not time:
            return None
        times.append(time)
    return times, form.said


def _iso(year: str, month: str, day: str, hour: str | None, minute: str | None, second: str | None) -> str:
    clock = f"T{hour:0>2}:{minute}:{second or '00'}" if hour else ""
    return f"{year}-{month:0>2}-{day:0>2}{clock}"


def _hour(hour: str | None, half: str | None) -> str | None:
    """The hour of 24, of one with AM or PM; an hour that no such clock has stays, and is refused."""
    if not hour or not half:
        return hour
    return str(int(hour) % 12 + (12 if half in "Pp" else 0)) if 1 <= int(hour) <= 12 else "99"


def _of_mail(match: re.Match[str]) -> str:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(match[0]).isoformat()
    except ValueError:
        return ""


def _since_1970(cells: pd.Series) -> tuple[list[str], str] | None:
    import pandas as pd

    if not cells.map(_is_number).all():
        return None
    numbers = pd.to_numeric(cells, errors="coerce")
    for name, in_a_second, low, high in _EPOCHS:
        if ((numbers >= low) & (numbers < high)).all():
            milliseconds = (numbers.astype(float) * (1000 / in_a_second)).round().astype("int64")
            moments = pd.to_datetime(milliseconds, unit="ms", utc=True)
            return moments.dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ").tolist(), f"numbers are read as {name} since 1970, UTC"
    return None


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float | np.number) or (
        isinstance(cell, str) and re.fullmatch(r"\d{9,19}(\.\d+)?", cell.strip()) is not None
    )
