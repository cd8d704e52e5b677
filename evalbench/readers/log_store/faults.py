"""What a database does to a log store, in one message."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput

if TYPE_CHECKING:
    from evalbench.readers.log_store.address import Address

BUSY_SECONDS = 60.0
INSTALL = "pip install 'evalbench[monitor]'"
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_OF_THE_DISK = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOLFS,
)
_OF_THE_FILE = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
# SQLSTATE by its first two characters: what a person can mend, or wait for.
_CLASSES = {
    "08": "the connection failed",
    "28": "the server refuses this user (PGUSER, PGPASSWORD or ~/.pgpass)",
    "3D": "there is no such database on the server",
    "40": "another transaction was in the way",
    "42": "this user lacks a right there",
    "53": "the server is out of disk, memory or connections",
    "54": "a row is too large for the server",
    "57": "the server was stopped",
    "58": "the server's disk failed",
}
_MAY_PASS = ("08", "40", "53", "57", "58")
_NO_PRIVILEGE = "42501"


class StoreUnavailable(BadInput):
    """A log store that cannot be reached or written now; trying again later may help."""


@contextmanager
def faults_told(address: Address) -> Iterator[None]:
    """What disk, server and other processes do to a store is reported in one message; faults of our SQL stay what they are.

    Raises ``StoreUnavailable`` if the disk is full, the server away, or another process holds the file for a minute.
    Raises ``BadInput`` if the file is damaged or not a database, the user or database unknown, a right missing.
    """
    import sqlalchemy.exc

    try:
        yield
    except sqlalchemy.exc.DBAPIError as error:
        raise _told(error.orig, address) or error from error
    except sqlalchemy.exc.TimeoutError as error:
        raise StoreUnavailable(f"{address}: no connection is free ({error})") from error
    except sqlite3.DatabaseError as error:
        raise _told(error, address) or error from error
    except OSError as error:
        raise StoreUnavailable(f"{address}: {error.strerror or error}") from error


def _told(error: Any, address: Address) -> BadInput | None:
    return _of_sqlite(error, address) if address.path else of_postgresql(error, address)


def _of_sqlite(error: Any, address: Address) -> BadInput | None:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _BUSY:
        return StoreUnavailable(f"{address}: held by another process for more than {BUSY_SECONDS:g} s")
    if code in _OF_THE_FILE:
        return BadInput(f"{address}: not a log store, or damaged ({error})")
    if code in _OF_THE_DISK:
        return StoreUnavailable(f"{address}: cannot be opened or written ({error})")
    return None


def of_postgresql(error: Any, address: Address) -> BadInput | None:
    """What a person can mend of a fault of psycopg, or wait for; None of any other."""
    import psycopg

    state = getattr(error, "sqlstate", None) or ""
    said = (str(error).strip().splitlines() or [type(error).__name__])[0]
    known = _CLASSES.get(state[:2], "") if state[:2] != "42" or state == _NO_PRIVILEGE else ""
    if known:
        kind = StoreUnavailable if state[:2] in _MAY_PASS else BadInput
        return kind(f"{address}: {known}: {said}")
    if not state and isinstance(error, psycopg.OperationalError):
        # libpq reports a refused password and a missing database without their codes.
        kind = BadInput if "FATAL" in str(error) else StoreUnavailable
        if "no password supplied" in said:
            kind, said = BadInput, f"{said}; the password comes from PGPASSWORD or ~/.pgpass"
        return kind(f"{address}: cannot be reached: {said}")
    return None


def is_busy(error: BaseException) -> bool:
    """Whether SQLite found the file held by another process."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY
