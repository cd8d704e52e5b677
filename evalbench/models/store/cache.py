"""Replies that were paid for, kept in one SQLite file that many processes read and write at once."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.errors import BadInput

_TABLE = """CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, host TEXT NOT NULL, created REAL NOT NULL, reply TEXT NOT NULL
) WITHOUT ROWID"""
_LAYOUT = 1  # of every file that is opened here
_IN_ONE_QUERY = 500
_LOCK_WAIT_S = 60.0
_OF_THE_DISK = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOLFS,
)
_making = threading.Lock()


class Entries(NamedTuple):
    """How much of one model a cache holds; ``oldest`` and ``newest`` in seconds since 1970, UTC."""

    model: str
    host: str
    replies: int
    bytes: int
    oldest: float
    newest: float


def cache_folder() -> Path:
    """``EVALBENCH_CACHE``, or ``evalbench`` in the user's cache folder."""
    named = os.environ.get("EVALBENCH_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "evalbench"


def usual_file() -> Path:
    """Where replies are kept if nothing else is said."""
    return cache_folder() / "replies.sqlite"


class ReplyCache:
    """Replies by the SHA-256 of their request.

    Values are JSON, the file's mode is 0600. A reply is in the write-ahead log before :meth:`put` returns: a process
    that is killed afterwards loses nothing. A machine that loses power may lose the last moments.

    - ``path``: ``replies.sqlite`` in :func:`cache_folder` by default. It must be on a disk of this machine: write-ahead
      logs do not work on network disks.

    Notes
    -----
    One object serves one thread.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        self.path = Path(path) if path else usual_file()
        self._connection = open_database(self.path, _TABLE)

    def get_many(self, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The kept replies among these keys. A damaged row counts as not there."""
        for start in range(0, len(keys), _IN_ONE_QUERY):
            part = keys[start : start + _IN_ONE_QUERY]
            marks = ",".join("?" * len(part))
            # As bytes: SQLite would refuse the whole answer for one row that is not UTF-8.
            query = f"SELECT key, CAST(reply AS BLOB) FROM replies WHERE key IN ({marks})"  # noqa: S608
            with faults_told(self.path):
                rows = self._connection.execute(query, part).fetchall()
            for key, reply in rows:
                try:
                    kept = json.loads(reply)
                except (TypeError, ValueError, RecursionError):
                    continue
                if isinstance(kept, dict):
                    yield key, kept

    def put(self, key: str, model: str, host: str, reply: dict[str, Any]) -> None:
        """Keep a reply, in place of a row that could not be read or held no answer."""
        self.put_many([(key, model, host, reply)], instead=True)

    def put_many(self, entries: Iterable[tuple[str, str, str, dict[str, Any]]], *, instead: bool = False) -> None:
        """Keep several replies in one transaction: those that are new, or all of them ``instead`` of what is there."""
        now = time.time()
        rows = [
            (key, model, host, now, json.dumps(reply, ensure_ascii=False, separators=(",", ":")))
            for key, model, host, reply in entries
        ]
        with writing(self._connection, self.path) as connection:
            verb = "REPLACE" if instead else "IGNORE"
            connection.executemany(f"INSERT OR {verb} INTO replies VALUES (?, ?, ?, ?, ?)", rows)  # noqa: S608

    def entries(self) -> list[Entries]:
        """What is kept, by model and endpoint."""
        with faults_told(self.path):
            rows = self._connection.execute(
                "SELECT model, host, COUNT(*), SUM(LENGTH(CAST(reply AS BLOB))), MIN(created), MAX(created)"
                " FROM replies GROUP BY model, host ORDER BY model, host"
            ).fetchall()
        return [Entries(*row) for row in rows]

    def prune(self, *, model: str | None = None, before: float | None = None) -> int:
        """Remove the replies of a model, those from before a time (seconds since 1970), or both conditions; all without.

        Returns: How many were removed; the file shrinks at once.
        """
        conditions = {"model = ?": model, "created < ?": before}
        given = {condition: value for condition, value in conditions.items() if value is not None}
        where = f" WHERE {' AND '.join(given)}" if given else ""
        with writing(self._connection, self.path) as connection:
            removed = connection.execute(f"DELETE FROM replies{where}", list(given.values())).rowcount  # noqa: S608
        with faults_told(self.path):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed

    def size(self) -> int:
        """Bytes on disk."""
        return bytes_on_disk(self.path)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> ReplyCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def writing(connection: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction that takes the write lock at once, so that waiting for it never fails half-way.

    Raises ``BadInput``: As :func:`faults_told`; nothing is written then.
    """
    with faults_told(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk has rolled it back already
                connection.execute("ROLLBACK")
            raise


@contextmanager
def faults_told(path: Path) -> Iterator[None]:
    """What the disk does to a cache is said in one message; faults of our SQL stay what they are.

    Raises ``BadInput`` if the file is damaged, the disk full, the folder not writable, or another process holds the
    file for a minute.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        said = _said(error, path)
        if not said:
            raise
        raise BadInput(said) from error


def _said(error: sqlite3.DatabaseError, path: Path) -> str:
    if type(error) is sqlite3.DatabaseError:
        return f"the cache {path} is damaged ({error}): delete the file, it will be filled again"
    if _is_busy(error):
        return (
            f"the cache {path} is held by another process for more than {_LOCK_WAIT_S:g} s: end that, or set "
            "EVALBENCH_CACHE to another folder"
        )
    if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _OF_THE_DISK:
        return (
            f"the cache {path} cannot be written ({error}): make room on its disk, or set EVALBENCH_CACHE to a folder "
            "that can be written"
        )
    return ""


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def open_database(path: Path, table: str) -> sqlite3.Connection:
    """A cache's file, made with this table if need be: mode 0600, write-ahead log, transactions by :func:`writing`.

    Raises ``BadInput`` if it cannot be written, is damaged, or is of another version's layout.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make_private(path)
    except OSError as error:
        raise BadInput(
            f"the cache {path} cannot be written ({error.strerror}): set EVALBENCH_CACHE to a folder that can"
        ) from error
    with faults_told(path):
        connection = sqlite3.connect(path, timeout=_LOCK_WAIT_S, isolation_level=None)
    try:
        with faults_told(path):
            _use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous=NORMAL")
            layout = connection.execute("PRAGMA user_version").fetchone()[0]
            if layout not in (0, _LAYOUT):
                raise BadInput(
                    f"the cache {path} has layout {layout}, this version knows {_LAYOUT}: delete it, or use another"
                )
            connection.execute(table)
            if layout != _LAYOUT:
                connection.execute(f"PRAGMA user_version={_LAYOUT}")
    except BaseException:
        connection.close()
        raise
    return connection


def _make_private(path: Path) -> None:
    """Make the file where there is none, for its owner only.

    One that is there is not opened: closing it would take away the locks of this process's other connections
    (POSIX), and another process would then remove a log that is still written.
    """
    with _making:
        if path.exists():
            if not path.is_file():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            path.chmod(0o600)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def bytes_on_disk(path: Path) -> int:
    """Of a database with its write-ahead log; 0 where there is none."""
    files = (path, Path(f"{path}-wal"), Path(f"{path}-shm"))
    return sum(file.stat().st_size for file in files if file.exists())


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch it on; two processes that do so at once get 'locked' without the usual waiting."""
    give_up = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
