"""Connections to a log store: write-ahead log and patience for SQLite, UTF-8 for PostgreSQL, texts in no message."""

from __future__ import annotations

import random
import sqlite3
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from evalbench.errors import BadInput
from evalbench.readers.log_store.address import Address
from evalbench.readers.log_store.faults import BUSY_SECONDS, INSTALL, is_busy

if TYPE_CHECKING:
    import sqlalchemy as sa

_CONNECT_SECONDS = 10
_PAGES_AHEAD = 8000  # 32 MB of writes between two waits for the disk; SQLite's own 1000 are 300 small appends
# Between two attempts at the write lock. SQLite's own waiting doubles up to a tenth of a second, and lets some wait for seconds.
_PAUSE_S = (0.0002, 0.002)


def engine_of(address: Address, *, writes: bool = False) -> sa.Engine:
    """An engine that connects when it is first used.

    Its transactions on SQLite take the write lock at their begin where it ``writes``.

    Raises ``BadInput`` if SQLAlchemy, or psycopg where it is needed, is not installed.
    """
    try:
        import sqlalchemy as sa

        if not address.path:
            import psycopg  # noqa: F401
    except ModuleNotFoundError as error:
        raise BadInput(f"a log store needs the package {error.name}: {INSTALL}") from error
    if address.path is None:
        return sa.create_engine(
            "postgresql+psycopg://", creator=lambda: to_server(address.url), hide_parameters=True, pool_pre_ping=True
        )
    path = address.path
    engine = sa.create_engine(
        "sqlite://", creator=lambda: _to_file(path, writes), hide_parameters=True, poolclass=sa.QueuePool
    )
    sa.event.listen(engine, "begin", _take_the_lock if writes else _begin)
    return engine


def to_server(url: str) -> Any:
    """A connection of psycopg to a server, in UTF-8; it is not waited for longer than ten seconds."""
    import psycopg

    own: dict[str, Any] = {"client_encoding": "utf8", "fallback_application_name": "evalbench"}
    if "connect_timeout" not in url:
        own["connect_timeout"] = _CONNECT_SECONDS
    return psycopg.connect(url, **own)


def _to_file(path: Any, writes: bool) -> sqlite3.Connection:
    """A connection to a file that exists."""
    place = f"file:{quote(path.absolute().as_posix())}?mode=rw"
    patience = 0.0 if writes else BUSY_SECONDS
    connection = sqlite3.connect(place, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)
    try:
        _when_free(lambda: _is_in_write_ahead_mode(connection))
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA secure_delete=ON" if writes else "PRAGMA query_only=ON")
        if writes:
            connection.execute(f"PRAGMA wal_autocheckpoint={_PAGES_AHEAD}")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_in_write_ahead_mode(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        connection.execute("PRAGMA journal_mode=WAL")


def _begin(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _take_the_lock(connection: sa.Connection) -> None:
    # At the driver: SQLAlchemy would take a busy file for a reason to throw the connection away.
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    _when_free(lambda: driver.execute("BEGIN IMMEDIATE"))


def _when_free(attempt: Any) -> None:
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            attempt()
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > give_up:
                raise
            time.sleep(random.uniform(*_PAUSE_S))
