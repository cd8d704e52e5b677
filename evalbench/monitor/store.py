"""A log store that is written: by any number of processes and threads, each row once."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.monitor.clients import fingerprint
from evalbench.monitor.rows import as_kept
from evalbench.readers.log_store.faults import faults_told
from evalbench.readers.log_store.log import Log, version_of
from evalbench.readers.log_store.tables import VERSION, tables
from evalbench.readers.log_store.texts import kept, restored

if TYPE_CHECKING:
    import sqlalchemy as sa

_LOCK = 0x65766C6F67  # of PostgreSQL's advisory locks, for changes of the tables
_IN_ONE_QUERY = 500
_making = threading.Lock()


class Appended(NamedTuple):
    """How many rows were new, and how many were there already and stayed as they were."""

    new: int
    repeated: int


class LogStore(Log):
    """A log store to read and write.

    Every call of an ``append`` is one transaction: all of its rows are kept or none.  A row whose id is there already
    stays as it was, so that a call whose outcome is not known can be repeated.  A process that is killed loses nothing
    that was appended; a machine that loses power may lose the last moments of a file of SQLite.

    - ``store``: A file of SQLite, on a disk of this machine, ``sqlite:///FILE``, or ``postgresql://HOST/DATABASE``.
    - ``create``: Make the tables, and the file, where there are none.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> row = {"id": "r1", "ts": datetime(2026, 5, 1, tzinfo=UTC), "request": "Opening hours?", "response": "9 to 5."}
    >>> with tempfile.TemporaryDirectory() as folder, LogStore(f"{folder}/log.sqlite", create=True) as log:
    ...     log.append([row]), log.append([row]), log.count()
    (Appended(new=1, repeated=0), Appended(new=0, repeated=1), 1)
    """

    def __init__(self, store: str | Path, *, create: bool = False) -> None:
        super().__init__(store)
        self._create = create

    def _make(self) -> None:
        if self._create:
            create(self)

    def __enter__(self) -> LogStore:
        return self

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes; on SQLite it waits for its turn at its begin, a minute at most."""
        with faults_told(self.address), self._engine(writes=True).begin() as connection:
            yield connection

    def outside(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a statement that no transaction may be around."""
        engine = self._engine(writes=True)
        with faults_told(self.address):
            if not self.address.path:
                with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.exec_driver_sql(statement)
                return []
            pooled = engine.raw_connection()
            try:
                return list(pooled.cursor().execute(statement))
            finally:
                pooled.close()

    def append(self, rows: Sequence[Mapping[str, Any]], *, places: Sequence[str] = ()) -> Appended:
        """Keep interactions.

        - ``rows``: ``id``, ``ts`` (with its time zone) and ``request``; where known ``client`` (from
          :func:`~evalbench.monitor.clients.client_hash`), ``response``, ``stages`` (anything that JSON holds),
          ``model``, ``prompt_version``, ``latency`` (seconds), ``input_tokens``, ``output_tokens``, ``cost``,
          ``error``.
        - ``places``: What messages call the rows.

        Raises ``BadInput`` if a row cannot be kept: every fault; nothing is written then.
        Raises ``StoreUnavailable`` if the store cannot be written now.
        """
        return self._append("interactions", as_kept("interactions", rows, places))

    def append_feedback(
        self, rows: Sequence[Mapping[str, Any]], *, orphans: bool = False, places: Sequence[str] = ()
    ) -> Appended:
        """Keep feedback on interactions.

        - ``rows``: ``interaction`` (its id), ``ts``, ``source`` (``user``, ``annotator`` or ``judge``), ``value`` or
          ``comment`` or both; where known ``judge``: who it was. Without an ``id`` the contents make one.
        - ``orphans``: Also on interactions that are not in the store, which may be on their way.

        Raises ``BadInput``: As :meth:`append`; also for unknown interactions, unless ``orphans``.
        """
        made = as_kept("feedback", rows, places)
        if not orphans:
            self.refuse_orphans(restored(row["interaction"]) for row in made)
        return self._append("feedback", made)

    def append_losses(self, rows: Sequence[Mapping[str, Any]]) -> Appended:
        """Keep what an application could not log: ``id``, ``ts``, ``reason``, ``rows``; ``since``, ``until``, ``process``, ``first``."""
        return self._append("losses", as_kept("losses", rows))

    def _append(self, table: str, rows: list[dict[str, Any]]) -> Appended:
        if not rows:
            return Appended(0, 0)
        with self.writing() as connection:
            new = _added(connection, table, rows)
        return Appended(new, len(rows) - new)

    def refuse_orphans(self, interactions: Iterable[str]) -> None:
        """Refuse ids of interactions that are not in the store.

        Raises ``BadInput``: Names them.
        """
        import sqlalchemy as sa

        column = tables().interactions.c.id
        asked = sorted({kept(id) for id in interactions})
        unknown = set(asked)
        with self.reading() as connection:
            for start in range(0, len(asked), _IN_ONE_QUERY):
                part = asked[start : start + _IN_ONE_QUERY]
                unknown -= set(connection.execute(sa.select(column).where(column.in_(part))).scalars())
        if unknown:
            raise BadInput.listing("feedback on interactions that are not in the log:", map(restored, sorted(unknown)))

    def use_key(self, key: bytes, *, known: bool = False) -> None:
        """Hold the store to one key: that of the first call.

        - ``known``: Whether a store that has none yet is refused, since no client is found in it.

        Raises ``BadInput`` if its client ids were hashed with another key: the same client would become two.
        """
        import sqlalchemy as sa

        about, own = tables().about, fingerprint(key)
        query = sa.select(about.c.value).where(about.c.name == "client_key")
        with self.reading() as connection:
            found = connection.execute(query).scalar()
        if found is None and known:
            raise BadInput(f"{self.address}: no client id was ever hashed here, so no client can be found")
        if found is None:
            with self.writing() as connection:
                _added(connection, about.name, [{"name": "client_key", "value": own}])
                found = connection.execute(query).scalar()
        if found != own:
            raise BadInput(
                f"{self.address}: its client ids were hashed with another key than that of the environment; "
                "set the key that it began with"
            )


def _added(connection: sa.Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
    """How many rows were new; those with a known id are left alone."""
    # By the driver: of a single row SQLAlchemy's own preparations take as long as all the rest.
    names, statement = _insert(table, connection.dialect.name)
    values = [tuple(row[name] for name in names) for row in rows]
    return connection.exec_driver_sql(statement, values, execution_options={"preserve_rowcount": True}).rowcount


@functools.cache
def _insert(table: str, dialect: str) -> tuple[tuple[str, ...], str]:
    """The columns, and INSERT as the driver takes it."""
    names = tuple(column.name for column in tables().metadata.tables[table].columns if column.name != "seq")
    marks = ", ".join(["?" if dialect == "sqlite" else "%s"] * len(names))
    return names, f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks}) ON CONFLICT DO NOTHING"  # noqa: S608


def create(store: LogStore) -> bool:
    """Make the tables of a log store, and its file; False where they are there already.

    Safe from many processes at once.  A file is made for its owner only.

    Raises ``BadInput`` if a database is not in UTF-8, or has tables of these names that are not a log store's.
    """
    import sqlalchemy as sa

    path = store.address.path
    if path and not path.exists():
        with faults_told(store.address), _making:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    with changing(store) as connection:
        if version_of(connection) is not None:
            return False
        if not path and (encoding := connection.exec_driver_sql("SHOW server_encoding").scalar()) != "UTF8":
            raise BadInput(f"{store.address}: the database is in {encoding}, expected one in UTF8")
        has = tables()
        if taken := [name for name in has.metadata.tables if sa.inspect(connection).has_table(name)]:
            raise BadInput(
                f"{store.address}: has tables {', '.join(taken)} that are not a log store's; use another database"
            )
        has.metadata.create_all(connection)
        connection.execute(has.about.insert(), [{"name": "version", "value": str(VERSION)}])
    return True


@contextmanager
def changing(store: LogStore) -> Iterator[sa.Connection]:
    """A transaction that changes tables: one at a time, whatever the version of the store."""
    from evalbench.readers.log_store.connection import engine_of

    engine = engine_of(store.address, writes=True)
    try:
        with faults_told(store.address), engine.begin() as connection:
            if not store.address.path:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            yield connection
    finally:
        engine.dispose()
