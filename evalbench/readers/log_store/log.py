"""A log store, read: counts, and rows of a window of time in batches that fit into memory."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.log_store.address import HEADER, address_of
from evalbench.readers.log_store.connection import engine_of
from evalbench.readers.log_store.faults import faults_told
from evalbench.readers.log_store.tables import (
    ABOUT,
    FEEDBACK,
    INTERACTIONS,
    LOSSES,
    NUMBERS,
    TEXTS,
    TIMES,
    VERSION,
    WHOLE,
    tables,
)
from evalbench.readers.log_store.texts import is_cut, readable, restored
from evalbench.readers.log_store.times import EVERYTHING, Window, as_datetime, future

if TYPE_CHECKING:
    import pyarrow as pa
    import sqlalchemy as sa

BATCH_ROWS = 10_000
BATCH_BYTES = 64_000_000
_WRITERS_S, _LOOK_S = 5.0, 0.01
_opening = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _new_lock())
COLUMNS = {"interactions": INTERACTIONS, "feedback": FEEDBACK, "losses": LOSSES}


class Loss(NamedTuple):
    """What an application could not log, for one reason; times in microseconds since 1970, UTC."""

    reason: str
    rows: int
    since: int | None
    until: int | None


class Status(NamedTuple):
    """What a log store holds; times in microseconds since 1970, UTC.

    - ``errors``: Interactions with an error.
    - ``feedback``: By source.
    - ``orphans``: Feedback on interactions that are not in the store.
    - ``ahead``: Interactions with a time in the future, by this machine's clock.
    """

    version: int
    interactions: int
    first: int | None
    last: int | None
    errors: int
    feedback: Mapping[str, int]
    orphans: int
    losses: tuple[Loss, ...]
    has_key: bool
    ahead: int = 0


class Log:
    """A log store to read.

    Connects when it is first used; of any number of threads, and of processes forked after it was made.

    - ``store``: A file of SQLite, ``sqlite:///FILE`` or ``postgresql://HOST/DATABASE``.

    Raises ``BadInput`` if there is no such store, it is damaged, or its tables are of another version.

    - ``cut``: Texts with half characters, which became U+FFFD in :meth:`batches`.
    """

    def __init__(self, store: str | Path) -> None:
        self.address = address_of(store)
        self.cut = 0
        self._engines: dict[bool, sa.Engine] = {}
        self._process = 0

    def _engine(self, *, writes: bool = False) -> sa.Engine:
        if self._process != os.getpid():
            with _opening:
                if self._process != os.getpid():
                    self._open()
        return self._engines[writes]

    def _open(self) -> None:
        # Connections of the process that this one was forked from are its own: left alone, not closed.
        for engine in self._engines.values():
            engine.dispose(close=False)
        self._engines = {}
        self._make()
        reads = engine_of(self.address)
        try:
            self._look(reads)
        except BaseException:
            reads.dispose()
            raise
        self._engines = {False: reads, True: engine_of(self.address, writes=True) if self.address.path else reads}
        self._process = os.getpid()

    def _make(self) -> None:
        """Nothing: who reads makes no store."""

    def _look(self, engine: sa.Engine) -> None:
        """Refuse what is no log store of this version, before anything is read or written."""
        path = self.address.path
        if path:
            if not path.is_file():
                raise BadInput(f"{path}: no such log store; evalbench monitor init {path} makes one")
            with faults_told(self.address), path.open("rb") as file:
                if file.read(len(HEADER)) != HEADER:
                    raise BadInput(f"{path}: not a file of SQLite, so not a log store")
        with faults_told(self.address), engine.begin() as connection:
            version = version_of(connection)
        if version is None:
            raise BadInput(f"{self.address}: a database without a log store; evalbench monitor init makes one in it")
        if version > VERSION:
            raise BadInput(
                f"{self.address}: its tables are of version {version}, this evalbench knows {VERSION}: update evalbench"
            )
        if version < VERSION:
            raise BadInput(
                f"{self.address}: its tables are of version {version}, this evalbench writes {VERSION}: "
                "evalbench monitor migrate brings them there, with all rows"
            )

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that reads."""
        with faults_told(self.address), self._engine().begin() as connection:
            yield connection

    def close(self) -> None:
        if self._process == os.getpid():
            for engine in self._engines.values():
                engine.dispose()
        self._engines, self._process = {}, 0

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def mark(self, window: Window = EVERYTHING) -> int:
        """The number of the newest interaction of a window of time to have arrived; 0 where there is none.

        On PostgreSQL numbers are given before transactions end: those that are under way are waited for, a few seconds at
        most, so that what :meth:`count` finds after the mark is all that arrived after it.
        """
        import sqlalchemy as sa

        table = tables().interactions
        with self.reading() as connection:
            query = sa.select(sa.func.max(table.c.seq)).where(*_within(table, window))
            found = connection.execute(query).scalar() or 0
        if not self.address.path:
            self._wait_for_writers()
        return found

    def _wait_for_writers(self) -> None:
        """Until every transaction that writes interactions now has ended."""
        import sqlalchemy as sa

        asked = sa.text(
            "SELECT virtualtransaction FROM pg_locks WHERE granted AND mode = 'RowExclusiveLock' "
            "AND relation = CAST('interactions' AS regclass) AND pid IS DISTINCT FROM pg_backend_pid()"
        )
        give_up = time.monotonic() + _WRITERS_S
        waited: set[str] | None = None
        while True:
            with self.reading() as connection:
                now = set(connection.execute(asked).scalars())
            waited = now if waited is None else waited & now
            if not waited or time.monotonic() > give_up:
                return
            time.sleep(_LOOK_S)

    def count(self, window: Window = EVERYTHING, *, after: int = 0) -> int:
        """Interactions of a window of time that arrived after a :meth:`mark`."""
        import sqlalchemy as sa

        table = tables().interactions
        query = sa.select(sa.func.count()).select_from(table).where(*_within(table, window))
        with self.reading() as connection:
            return connection.execute(query.where(table.c.seq > after) if after else query).scalar_one()

    def filled(self, window: Window = EVERYTHING) -> dict[str, int]:
        """How many interactions of a window of time have anything in each column; of models those that are named."""
        import sqlalchemy as sa

        table = tables().interactions
        counts = [sa.func.count(sa.func.nullif(table.c[n], "") if n == "model" else table.c[n]) for n in INTERACTIONS]
        with self.reading() as connection:
            found = connection.execute(sa.select(*counts).where(*_within(table, window))).one()
        return dict(zip(INTERACTIONS, found, strict=True))

    def status(self) -> Status:
        """What the store holds."""
        import sqlalchemy as sa

        has = tables()
        rows, marks, gone = has.interactions, has.feedback, has.losses
        known = sa.exists().where(rows.c.id == marks.c.interaction)
        with self.reading() as connection:
            about = dict(connection.execute(sa.select(has.about.c.name, has.about.c.value)).tuples().all())
            n, errors = connection.execute(sa.select(sa.func.count(), sa.func.count(rows.c.error))).tuples().one()
            first, last = connection.execute(sa.select(sa.func.min(rows.c.ts), sa.func.max(rows.c.ts))).tuples().one()
            ahead = connection.execute(sa.select(sa.func.count()).where(rows.c.ts > future())).scalar_one()
            by_source = sa.select(marks.c.source, sa.func.count()).group_by(marks.c.source).order_by(marks.c.source)
            feedback: dict[str, int] = dict(connection.execute(by_source).tuples().all())
            orphans = connection.execute(sa.select(sa.func.count()).select_from(marks).where(~known)).scalar_one()
            lost = (
                sa.select(gone.c.reason, sa.func.sum(gone.c.rows), sa.func.min(gone.c.since), sa.func.max(gone.c.until))
                .group_by(gone.c.reason)
                .order_by(gone.c.reason)
            )
            losses = tuple(
                Loss(why, int(n), since, until) for why, n, since, until in connection.execute(lost).tuples()
            )
        has_key = "client_key" in about
        return Status(int(about["version"]), n, first, last, errors, feedback, orphans, losses, has_key, ahead)

    def batches(
        self,
        window: Window = EVERYTHING,
        *,
        table: str = "interactions",
        columns: Sequence[str] = (),
        rows: int = BATCH_ROWS,
        bytes: int = BATCH_BYTES,
    ) -> Iterator[pa.RecordBatch]:
        """Rows of a window in the order of time, then of arrival; those that arrive meanwhile are left out.

        Each batch is a transaction of its own, so that no reader holds up the writers, however long it takes.

        - ``table``: ``interactions``, ``feedback`` or ``losses``.
        - ``columns``: All by default.
        - ``rows``, ``bytes``: A batch ends with so many rows, or with the row that brings its texts to so many bytes.

        Yields: Times are timestamps in UTC, ``stages`` JSON texts.
        """
        import pyarrow as pa

        names = tuple(columns) or COLUMNS[table]
        if unknown := [name for name in names if name not in COLUMNS[table]]:
            raise BadInput(f"no column {', '.join(unknown)} in {table}; there are {', '.join(COLUMNS[table])}")
        schema = pa.schema([(name, _arrow_type(name)) for name in names])
        for found in self._pages(window, table, names, rows, bytes):
            cells = zip(*found, strict=True)
            yield pa.record_batch(
                [self._array(name, values) for name, values in zip(names, cells, strict=True)], schema
            )

    def _array(self, name: str, values: Sequence[Any]) -> pa.Array:
        import pyarrow as pa

        if name in TEXTS:
            if any(value is not None and "\x1a" in value for value in values):
                self.cut += sum(value is not None and is_cut(value) for value in values)
                values = [value if value is None else readable(value) for value in values]
            return pa.array(values, pa.string())
        return pa.array(values, _arrow_type(name))

    def rows(self, window: Window = EVERYTHING, *, table: str = "interactions") -> Iterator[dict[str, Any]]:
        """As :meth:`batches`, one mapping after the other, with every text as it was given."""
        names = COLUMNS[table]
        for found in self._pages(window, table, names, BATCH_ROWS, BATCH_BYTES):
            for row in found:
                yield {name: _as_given(name, value) for name, value in zip(names, row, strict=True)}

    def _pages(
        self, window: Window, table: str, names: Sequence[str], rows: int, most_bytes: int
    ) -> Iterator[list[tuple[Any, ...]]]:
        import sqlalchemy as sa

        own = tables().metadata.tables[table]
        picked = [own.c[name] for name in names]
        texts = [i for i, name in enumerate(names) if name in TEXTS]
        with self.reading() as connection:
            top = connection.execute(sa.select(sa.func.max(own.c.seq))).scalar() or 0
        # As a sum, or SQLite would walk the rows by their numbers and sort each page.
        query = sa.select(*picked, own.c.ts, own.c.seq).where(*_within(own, window), own.c.seq + 0 <= top)
        query = query.order_by(own.c.ts, own.c.seq).limit(rows)
        place: tuple[int, int] | None = None
        while True:
            page, size = [], 0
            asked = query if place is None else query.where(sa.tuple_(own.c.ts, own.c.seq) > sa.tuple_(*place))
            with self.reading() as connection:
                found = connection.execution_options(stream_results=True, max_row_buffer=200).execute(asked)
                for row in found:
                    page.append(row[:-2])
                    for i in texts:
                        size += len(row[i] or "")
                    if size >= most_bytes:
                        found.close()
                        break
            if page:
                place = (row[-2], row[-1])
                yield page
            if len(page) < rows and size < most_bytes:
                return


def _new_lock() -> None:
    """A thread that held the lock when the process was forked is not there to let it go."""
    global _opening
    _opening = threading.RLock()


def _within(table: sa.Table, window: Window) -> list[Any]:
    bounds = [] if window.start is None else [table.c.ts >= window.start]
    return [*bounds, *([] if window.end is None else [table.c.ts < window.end])]


def _arrow_type(name: str) -> pa.DataType:
    import pyarrow as pa

    if name in TIMES:
        return pa.timestamp("us", tz="UTC")
    return pa.int64() if name in WHOLE else pa.float64() if name in NUMBERS else pa.string()


def _as_given(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in TIMES:
        return as_datetime(value)
    return restored(value) if name in TEXTS else value


def version_of(connection: sa.Connection) -> int | None:
    """The version of a database's tables; None where there is no log store in it.

    Raises ``BadInput`` if it is not a number.
    """
    import sqlalchemy as sa

    if not sa.inspect(connection).has_table(ABOUT):
        return None
    about = tables().about
    value = connection.execute(sa.select(about.c.value).where(about.c.name == "version")).scalar()
    if not str(value).isascii() or not str(value).isdigit():
        raise BadInput(f"the table {ABOUT} names no version of the log store, but {value!r}")
    return int(str(value))
