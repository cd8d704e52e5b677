"""Both samples: from two tables, or from one that windows of time divide; labels on one scale; clocks that cannot be believed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.studies.drift import other_tables

SIDES = ("oos", "oot")
WINDOWS = ("oos_from", "oos_to", "oot_from", "oot_to")
AUTO = "auto"
_ZONE = re.compile(r"(?:Z|[+-]\d\d(?::?\d\d)?)$")
_DATED = re.compile(r"^\d{4}-?\d\d-?\d\d[T ]\d")


class Samples(NamedTuple):
    """Both samples as one table.

    - ``rows``: The tables' rows with ``side``, ``oos`` or ``oot``; in order of side and id.
    - ``sources``: Table → the rows that are of it.
    - ``halved_at``: When the later half of one table begins, where no windows were given; else empty.
    """

    rows: pd.DataFrame
    sources: Mapping[str, Any]
    notes: list[str]
    halved_at: str = ""


def adapted(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Tables of other shapes as ours, see :mod:`evalbench.studies.drift.other_tables`; labels in words as numbers."""
    return {name: _noted(frame) for name, frame in other_tables.reshaped(frames).items()}


def _noted(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with labels as numbers, and a note where only some of its times have a zone, or several have."""
    frame = frame.copy()
    for name in ("label", "score"):
        said: list[str] = []
        if name in frame.columns and (read := frame[name].map(readers.verdicts.truth_of)).notna().any():
            words = {value: sorted(set(frame[name][read == value].astype(str).str.strip()))[:3] for value in ("1", "0")}
            meant = " and ".join(f"{value} ({', '.join(own)})" for value, own in words.items() if own)
            frame[name] = read.where(read.notna(), frame[name])
            said = [f"{name}: words are read as {meant}"]
        frame.attrs["notes"] = [*frame.attrs.get("notes", ()), *said]
    if "time" in frame.columns:
        texts = [str(cell).strip() for cell in frame["time"] if isinstance(cell, str) and _DATED.match(cell.strip())]
        zones = {match.group() for match in map(_ZONE.search, texts) if match}
        bare = sum(_ZONE.search(text) is None for text in texts)
        said = []
        if zones and bare:
            said = [f"time: {bare} of {len(texts)} times have no time zone and are read as UTC; the others have one"]
        elif len(zones) > 1:
            said = [f"time: times in {len(zones)} time zones ({', '.join(sorted(zones)[:4])}) are compared in UTC"]
        frame.attrs["notes"] = [*frame.attrs.get("notes", ()), *said]
    return frame


def windows_of(given: Mapping[str, str]) -> dict[str, Any]:
    """The ends of both windows in UTC, those that were given.

    Raises ``BadInput`` for texts that are no times, windows that are empty, and windows that overlap: all at once.
    """
    found, faults = {}, []
    for name, text in given.items():
        if not text:
            continue
        try:
            found[name] = pd.to_datetime([text], utc=True, format="ISO8601")[0]
        except (ValueError, TypeError, OverflowError):
            faults.append(f"{name} must be a date or time (ISO 8601), such as 2026-03-01; got {text!r:.60}")
    for side in SIDES:
        low, high = found.get(f"{side}_from"), found.get(f"{side}_to")
        if low is not None and high is not None and low >= high:
            faults.append(f"{side}_from must be before {side}_to: the window from {low} to {high} is empty")
    if not faults and {"oos_to", "oot_from"} <= set(found) and found["oos_to"] > found["oot_from"]:
        faults.append(f"the windows overlap: OOS ends at {found['oos_to']}, OOT begins at {found['oot_from']}")
    if faults:
        raise errors.BadInput.listing("windows:", faults)
    return found


def samples_of(data: readers.Dataset, windows: Mapping[str, Any], options: Mapping[str, Any]) -> Samples:
    """Both samples out of one table or two.

    Raises ``BadInput`` where windows need times that are not there, or leave a side without rows.
    """
    tables = {side: data.tables[side] for side in SIDES if side in data.tables}
    notes: list[str] = []
    halved_at = ""
    lacking = [name for name, frame in tables.items() if windows and "time" not in frame]
    if lacking:
        raise errors.BadInput(
            f"{data.label}: {', '.join(sorted(windows))}: a window of time needs a column time, which "
            f"{' and '.join(lacking)} {'lacks' if len(lacking) == 1 else 'lack'}; leave the windows out, or name it: --map COLUMN=time"
        )
    if len(tables) == 2:
        parts = {side: frame[_within(frame, windows, side)] for side, frame in tables.items()}
        notes += _columns_apart(tables)
    else:
        parts, said = _divided(data, next(iter(tables.values())), windows)
        notes += said
        halved_at = "" if windows else f"{moment(parts['oot']['time'].min())} UTC"
    for side in SIDES:
        if parts[side].empty:
            raise errors.BadInput(f"{data.label}: {side.upper()} has no rows{_span(tables, windows)}")
    for side, part in parts.items():
        mute = part["question"].isna() & part["answer"].notna()
        if mute.any():
            notes.append(
                f"{side.upper()}: {core.counted(int(mute.sum()), 'row')} of {len(part)} without a request (null) are left out"
            )
            parts[side] = part[~mute]
    drawn = {
        side: kit.sampling.sampled(part, options["sample_method"], options["n_samples"], options["random_state"])
        for side, part in parts.items()
    }
    for side, part in drawn.items():
        if len(part) < len(parts[side]):
            notes.append(
                f"{side.upper()}: {len(part)} of {len(parts[side])} rows are looked at ({options['sample_method']})"
            )
    rows = pd.concat([part.assign(side=side) for side, part in drawn.items()], ignore_index=True)
    rows = rows.sort_values(["side", "id"], kind="stable", ignore_index=True)
    notes += _clocks(rows)
    where = {
        name: np.ones(len(rows), dtype=bool) if len(tables) == 1 else (rows["side"] == name).to_numpy()
        for name in tables
    }
    return Samples(rows, where, notes, halved_at)


def _within(frame: pd.DataFrame, windows: Mapping[str, Any], side: str) -> Any:
    """Which rows lie in the half-open window of a side; all where it has none."""
    low, high = windows.get(f"{side}_from"), windows.get(f"{side}_to")
    kept = np.ones(len(frame), dtype=bool)
    if low is not None:
        kept &= (frame["time"] >= low).to_numpy()
    if high is not None:
        kept &= (frame["time"] < high).to_numpy()
    return kept


def _divided(
    data: readers.Dataset, frame: pd.DataFrame, windows: Mapping[str, Any]
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """One table as two samples, by the windows or, without any, at the middle row in time."""
    if "time" not in frame or frame["time"].isna().all():
        raise errors.BadInput(
            f"{data.label}: one table without times: give a second one (-p oot=FILE), a column part of oos and oot, or a column time "
            "with windows (oos_from, oos_to, oot_from, oot_to)"
        )
    notes = []
    undated = int(frame["time"].isna().sum())
    if undated:
        notes.append(f"{undated} of {len(frame)} rows have no time and are on neither side")
    known = frame[frame["time"].notna()]
    ends = ends_of(frame, windows)
    if not windows:
        notes.append(
            f"No windows were given: rows before {moment(ends['oos_to'])} UTC, the earlier half, are OOS, the later ones OOT; "
            "set oos_from, oos_to, oot_from, oot_to"
        )
    parts = {side: known[_within(known, ends, side)] for side in SIDES}
    left = len(known) - sum(map(len, parts.values()))
    if left:
        notes.append(f"{core.counted(left, 'row')} of {len(known)} lie in neither window")
    return parts, notes


def moment(time: pd.Timestamp) -> str:
    """A time to its second, without a second of 0; of years that have no calendar as pandas writes it.

    Examples
    --------
    >>> import pandas as pd
    >>> [moment(pd.Timestamp(text)) for text in ("2026-03-01T09:30", "2026-03-01T09:30:05", "-0001-01-01")]
    ['2026-03-01 09:30', '2026-03-01 09:30:05', '-001-01-01 00:00:00']
    """
    try:
        return f"{time:%Y-%m-%d %H:%M}{f':{time:%S}' if time.second else ''}"
    except (ValueError, NotImplementedError):
        return str(time)


def ends_of(frame: pd.DataFrame, windows: Mapping[str, Any]) -> dict[str, Any]:
    """The ends of the windows that divide one table; without any its middle row in time.

    Raises ``BadInput`` where the windows do not say where OOS ends and OOT begins.
    """
    ends = dict(windows)
    if not ends:
        ordered = frame["time"].dropna().sort_values(kind="stable")
        ends["oos_to"] = ordered.iloc[len(ordered) // 2]
    if "oot_from" not in ends and "oos_to" in ends:
        ends["oot_from"] = ends["oos_to"]
    if "oos_to" not in ends and "oot_from" in ends:
        ends["oos_to"] = ends["oot_from"]
    if not {"oos_to", "oot_from"} <= set(ends):
        raise errors.BadInput("windows: one table needs oos_to or oot_from, where OOS ends and OOT begins")
    return ends


def _span(tables: Mapping[str, pd.DataFrame], windows: Mapping[str, Any]) -> str:
    times = [frame["time"].dropna() for frame in tables.values() if "time" in frame]
    known = [part for part in times if len(part)]
    if not windows or not known:
        return ""
    low, high = min(part.min() for part in known), max(part.max() for part in known)
    given = ", ".join(f"{name} {moment(value)}" for name, value in windows.items())
    return f" within {given}; the times of the table reach from {moment(low)} to {moment(high)} UTC"


def _columns_apart(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Columns that only one of two tables has."""
    notes = []
    for own, other in (SIDES, SIDES[::-1]):
        alone = [str(c) for c in tables[own] if c not in tables[other]]
        if alone:
            notes.append(f"Only {own.upper()} has the columns {', '.join(alone)}: nothing is compared by them")
    return notes


def _clocks(rows: pd.DataFrame) -> list[str]:
    """What is odd in the times of the rows."""
    if "time" not in rows:
        return []
    times = {side: rows.loc[rows["side"] == side, "time"].dropna() for side in SIDES}
    notes = []
    if all(len(part) for part in times.values()):
        late = int((times["oot"] <= times["oos"].max()).sum())
        if times["oot"].max() < times["oos"].min():
            notes.append(f"OOT ends {moment(times['oot'].max())}, before OOS begins, {moment(times['oos'].min())} UTC")
        elif late:
            notes.append(
                f"{late} of {len(times['oot'])} rows of OOT are dated before the end of OOS ({moment(times['oos'].max())} UTC): "
                "the samples overlap in time"
            )
    whole = rows["id"].str.fullmatch(r"\d{1,15}")
    if whole.all():
        back = 0
        for side in SIDES:
            own = rows[(rows["side"] == side) & rows["time"].notna()]
            ordered = own["time"].iloc[np.argsort(own["id"].astype("int64").to_numpy(), kind="stable")]
            back += int((ordered.diff().dt.total_seconds() < 0).sum())
        if back and back <= len(rows) // 10:
            notes.append(
                f"{core.counted(back, 'time')} where the clock goes back while the ids go on: the months follow time as it is written"
            )
    return notes


def copies_noted(rows: pd.DataFrame) -> list[str]:
    """The sides half of whose requests are copies, and how to draw copies together."""
    if core.clusters.CLUSTER in rows:
        return []
    notes: list[str] = []
    shared = rows.groupby("id")["question"].nunique().max() > 1
    for side in SIDES:
        requests = rows.loc[rows["side"] == side, "question"]
        copies, n = len(requests) - requests.nunique(), core.stats.FEW_UNITS
        if 1 < requests.nunique() < n <= len(requests):
            different = core.counted(requests.nunique(), "different request")
            short = f"{side.upper()} has {different} in {len(requests)} rows: intervals are too narrow"
            notes.append(core.notes.Note("sample", short))
        if 2 * copies >= len(requests):
            notes.append(
                f"{side.upper()}: {copies} of {len(requests)} requests are copies of others, and intervals take each for a case of its own; "
                f"-p cluster=question draws copies together{', once no id is of two requests' if shared else ''}"
            )
    return notes


def metric_of(rows: pd.DataFrame, metric: str) -> tuple[str, Any, list[str]]:
    """The key metric of each row, 0–1: its column's name, its values (NaN: none), and notes.

    Labels are 0 and 1, or −1 and 1 (then (t + 1) / 2), or shares between 0 and 1.

    Raises ``BadInput`` for a column that is not there or on another scale.
    """
    name = metric
    if metric == AUTO:
        name = next((c for c in ("label", "score") if c in rows and rows[c].notna().any()), "")
    if not name:
        return "", np.full(len(rows), np.nan), ["There are no labels: tests 1, 4 and 5 need those of OOS"]
    if name not in rows:
        raise errors.BadInput(f"metric: there is no column {name!r}; there are {', '.join(map(str, rows.columns))}")
    values = pd.to_numeric(rows[name], errors="coerce").to_numpy(dtype=float)
    wrong = rows[name].notna().to_numpy() & (rows[name].astype(str).str.strip() != "").to_numpy() & ~np.isfinite(values)
    if wrong.any():
        raise errors.BadInput(
            f"{name}: {int(wrong.sum())} cells are not numbers, such as {rows[name][wrong].iloc[0]!r:.60}"
        )
    known = values[np.isfinite(values)]
    notes = []
    if (known < 0).any():
        if not np.isin(known, (-1.0, 1.0)).all():
            odd = sorted(set(known.tolist()) - {-1.0, 1.0})[:4]
            raise errors.BadInput(
                f"{name}: labels are 0 and 1, or −1 and 1, or shares from 0 to 1; below 0 there may be nothing but −1, beside it nothing "
                f"but 1, found {', '.join(f'{x:g}' for x in odd)}"
            )
        values = (values + 1) / 2
        notes.append(f"{name}: −1 and 1 are read as 0 and 1")
    elif (known > 1).any():
        raise errors.BadInput(
            f"{name}: the key metric must lie between 0 and 1 (or be −1 and 1), found {known.max():g}; bring marks of another scale to "
            "0–1 as (mark − least) / (greatest − least): those from 1 to 5 as (mark − 1) / 4, those from 0 to 100 as mark / 100"
        )
    return name, values, notes


def periods_of(times: Any, period: str) -> list[str]:
    """The month, week or day of each time, in UTC; empty where there is none."""
    if period == "week":
        times = times - pd.to_timedelta(times.dt.weekday, unit="D")
    found: list[str] = times.dt.strftime("%Y-%m" if period == "month" else "%Y-%m-%d").fillna("").tolist()
    return found


def in_drawn_order(ids: Sequence[str], seed: int, purpose: str) -> Any:
    """The places of the rows in an order that depends on their ids alone."""
    return np.argsort(core.seeds.keys(seed, purpose, ids), kind="stable")
