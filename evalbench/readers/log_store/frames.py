"""The interactions of a log store as a raw frame, with what annotators and a judge said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode

from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.readers.files import digest, sha256
from evalbench.readers.frames import frame_hash, raw_cells
from evalbench.readers.large import LARGE_ROWS, STREAM, sample_of
from evalbench.readers.log_parts import dealt_parts, log_parts
from evalbench.readers.log_store.address import address_of, is_log_store, scheme_of
from evalbench.readers.log_store.log import Log
from evalbench.readers.log_store.marks import Marks, are_whole, marks_of
from evalbench.readers.log_store.tables import IN_FRAMES, INTERACTIONS, tables
from evalbench.readers.log_store.times import EVERYTHING, Window, window_of
from evalbench.readers.nameless import MODEL, with_models

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MOST_ROWS = 1_000_000
MOST_BYTES = 2_000_000_000
_ENDS = ("from", "to")


class Logged(NamedTuple):
    """The interactions of a log store as a table, and where they come from."""

    frame: pd.DataFrame
    notes: list[str]
    sha256: str
    name: str


def divided(data: str | Path) -> tuple[str, Window]:
    """A log store's name without its window of time, and the window: ``sqlite:///FILE?from=TIME&to=TIME``.

    Raises ``BadInput`` for ends that are not times.

    Examples
    --------
    >>> store, window = divided("postgresql://host/logs?user=reader&from=2026-05-01&to=2026-06-01")
    >>> store, str(window)
    ('postgresql://host/logs?user=reader', '2026-05-01T00:00:00Z to 2026-06-01T00:00:00Z')
    """
    text = str(data)
    place, _, query = text.partition("?")
    if isinstance(data, Path) or not scheme_of(text) or not query:
        return text, EVERYTHING
    pairs = parse_qsl(query, keep_blank_values=True)
    ends = {name: value for name, value in pairs if name in _ENDS}
    if not ends:
        return text, EVERYTHING
    rest = urlencode([(name, value) for name, value in pairs if name not in _ENDS], safe="/:,")
    # A + is a blank in a query, and part of a time with its zone.
    start, end = (ends.get(name, "").strip().replace(" ", "+") for name in _ENDS)
    return place + (f"?{rest}" if rest else ""), window_of(start, end)


def absolute(data: str, base: Path) -> str:
    """A log store's name as it is understood from any folder."""
    store, window = divided(data)
    address = address_of(store)
    if address.path is None:
        return data
    named = address._replace(path=base / address.path).named
    ends = urlencode(parse_qsl(data.partition("?")[2])) if window != EVERYTHING else ""
    return f"{named}?{ends}" if ends else named


def is_of_a_log(data: object, base: Path) -> bool:
    """Whether a parameter names a log store, relative to a folder."""
    if not isinstance(data, str) or not data:
        return False
    return bool(scheme_of(data)) or is_log_store(base / Path(data).expanduser())


def state_of(data: str | Path) -> str:
    """What changes whenever the rows of a log store do: numbers of its rows, and of the last to arrive."""
    import sqlalchemy as sa

    store, window = divided(data)
    has = tables()
    with Log(store) as log, log.reading() as connection:
        found = [
            connection.execute(sa.select(sa.func.count(), sa.func.max(table.c.seq))).one()
            for table in (has.interactions, has.feedback)
        ]
    return f"{log.address.named}; {window}; " + ", ".join(f"{n} rows to {last or 0}" for n, last in found)


def logged(
    data: str | Path, sampled: int = 0, columns: Mapping[str, str] | None = None, *, part_rows: int = 0
) -> Logged:
    """The interactions of a log store, or of the window of time in its name, in the order of time.

    Columns without any value are left out; those of :data:`~evalbench.readers.log_store.tables.IN_FRAMES` have the names
    of all studies, but where a rename has the store's. ``label`` is what annotators said, ``score`` what a judge said, see
    :class:`Marks`; what users said is neither. Where some rows name a model and others none, those are the group
    :data:`~evalbench.readers.nameless.UNNAMED`, and a note gives their number.

    - ``sampled``: How many rows are read of a large store, by studies that stream the rest, see
      :mod:`evalbench.readers.large`.
    - ``columns``: Renames: column in the store → column that we expect.
    - ``part_rows``: How many are made into items at once by studies that read the rest in parts instead; 0: they do not.

    Raises ``BadInput`` for no rows, more than :data:`MOST_ROWS` that are not sampled, and whatever
    :class:`~evalbench.readers.log_store.log.Log` refuses.
    """
    store, window = divided(data)
    names = _names(columns or {})
    with Log(store) as log:
        n = log.count(window)
        if not n:
            raise BadInput(f"{log.address}: no interactions" + (f" from {window}" if window != EVERYTHING else ""))
        name = log.address.name
        is_sample = bool(sampled) and n > max(min(LARGE_ROWS, 2 * part_rows or LARGE_ROWS), sampled)
        said = marks_of(log, window)
        if is_sample and part_rows:
            parts, nameless = dealt_parts(log, window, names, said)
            frame = sample_of(name, parts, sampled, columns or {}, dealt=True, part_rows=part_rows)
        else:
            found = sample_of(name, log_parts(store, window, names), sampled, columns or {}) if is_sample else None
            frame, nameless = with_marks(_whole(log, n, window, names) if found is None else found, said), []
        cut = log.cut
    notes = [f"{counted(n, 'interaction')} of a log store" + (f", {window}" if window != EVERYTHING else "")]
    notes += [str(frame.attrs[STREAM])] if is_sample else []
    notes += [*said.notes, *([f"half characters replaced in {counted(cut, 'text')}"] if cut else [])]
    as_stored = frame.rename(columns={name: own for own, name in names.items()})
    of_rows = digest({"rows": frame_hash(as_stored), **({"of": sha256(str(n).encode())} if is_sample else {})})
    frame, others = with_models(frame) if MODEL in frame else (frame, [])
    return Logged(frame, [*notes, *nameless, *others], of_rows, name)


def columns_of_frames(columns: Mapping[str, str]) -> list[str]:
    """The names of the store's columns in frames.

    - ``columns``: See :func:`logged`.
    """
    names = _names(columns)
    return [names.get(name, name) for name in INTERACTIONS]


def _names(columns: Mapping[str, str]) -> dict[str, str]:
    return {own: name for own, name in IN_FRAMES.items() if own not in columns}


def _whole(log: Log, n: int, window: Window, names: Mapping[str, str]) -> pd.DataFrame:
    if n > MOST_ROWS:
        raise BadInput(_too_many(log, f"{n} interactions, at most {MOST_ROWS} are read at once"))
    batches, size = [], 0
    for batch in log.batches(window):
        batches.append(batch)
        size += batch.nbytes
        if size > MOST_BYTES:
            raise BadInput(_too_many(log, f"more than {MOST_BYTES // 10**9} GB of texts"))
    return frame_of(batches, names)


def _too_many(log: Log, what: str) -> str:
    place = log.address.named
    return f"{log.address}: {what}: name a window of time, {place}{'&' if '?' in place else '?'}from=2026-05-01&to=2026-06-01"


def frame_of(batches: Sequence[pa.RecordBatch], names: Mapping[str, str] = IN_FRAMES) -> pd.DataFrame:
    """Batches of interactions as a raw frame, rows counted from 1; times are texts in UTC.

    - ``names``: Column of the store → its name in the frame.
    """
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    table = pa.Table.from_batches(batches)
    times = table["ts"].cast(pa.int64()).to_numpy()
    ids = table["id"].to_numpy(zero_copy_only=False)
    order = np.lexsort((ids.astype(str), times))
    columns = {}
    for name in INTERACTIONS:
        if name not in table.column_names or (table[name].null_count == len(table) and name != "response"):
            continue
        if name == "ts":
            cells = pd.Series(np.datetime_as_string(times.astype("datetime64[us]"), timezone="UTC"))
        else:
            cells = pd.Series(table[name].to_pylist(), dtype=object)
        columns[names.get(name, name)] = raw_cells(cells.iloc[order].set_axis(pd.RangeIndex(1, len(order) + 1)))[0]
    return pd.DataFrame(columns)


def with_marks(frame: pd.DataFrame, said: Marks) -> pd.DataFrame:
    """The frame with ``label`` and ``score`` where anything was said; null where it was not."""
    out = frame.copy(deep=False)
    for name, values in said.named().items():
        whole = are_whole(values)
        plain = [None if cell != cell else int(cell) if whole else float(cell) for cell in out["id"].map(values)]
        out[name] = raw_cells(_series(plain, out.index))[0]
    out.attrs |= frame.attrs
    return out


def _series(values: Sequence[object], index: pd.Index) -> pd.Series:
    import pandas as pd

    return pd.Series(values, index=index, dtype=object)
