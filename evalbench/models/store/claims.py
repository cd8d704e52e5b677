"""Which questions are being asked right now, so that processes with the same one pay for it once.

A claim is a row beside the replies: the question's key, its owner, and until when. An owner renews its claims while it
lives. Those of a process that is gone, or that did not renew them in time, are free again, as are those that end later
than a claim can; so nobody waits on the dead, nor on a clock that went wrong.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

from evalbench.errors import BadInput
from evalbench.models.store.cache import faults_told, open_database, writing

_TABLE = """CREATE TABLE IF NOT EXISTS claims (
    key TEXT PRIMARY KEY, owner TEXT NOT NULL, process INTEGER NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID"""
LIFETIME_S = 30.0
_CLOCKS_DIFFER_S = 2.0

_OF = "SELECT key, owner, CAST(process AS INTEGER), CAST(expires AS REAL) FROM claims"  # of a damaged row: 0


class Claims:
    """One owner's claims in a cache's file; a context manager that gives them up at its end.

    - ``path``: Of the replies.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = open_database(path, _TABLE)
        self._owner = secrets.token_hex(8)

    def take(self, keys: Sequence[str]) -> set[str]:
        """Those of at most 500 keys that are this owner's from now on: nobody else who lives has claimed them."""
        marks = ",".join("?" * len(keys))
        with faults_told(self._path):
            rows = self._connection.execute(f"{_OF} WHERE key IN ({marks})", keys).fetchall()
        now = time.time()
        # Nobody claims for longer than a lifetime: what ends later was written by another clock, and would hold for good.
        gone = {
            owner
            for _, owner, process, expires in rows
            if not now <= expires <= now + LIFETIME_S + _CLOCKS_DIFFER_S or not _runs(process)
        }
        held = {key for key, owner, _, _ in rows if owner not in gone}
        free = [key for key in keys if key not in held]
        if not free:
            return set()
        with writing(self._connection, self._path) as connection:
            connection.executemany("DELETE FROM claims WHERE owner=?", [(owner,) for owner in gone])
            return {
                key
                for key in free
                if connection.execute(
                    "INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?)",
                    (key, self._owner, os.getpid(), now + LIFETIME_S),
                ).rowcount
            }

    def renew(self) -> None:
        """Keep all claims for another while."""
        with writing(self._connection, self._path) as connection:
            connection.execute("UPDATE claims SET expires=? WHERE owner=?", (time.time() + LIFETIME_S, self._owner))

    def release(self, key: str) -> None:
        """Give up one claim: no reply came, and whoever waits for it may ask."""
        with writing(self._connection, self._path) as connection:
            connection.execute("DELETE FROM claims WHERE key=? AND owner=?", (key, self._owner))

    def __enter__(self) -> Claims:
        return self

    def __exit__(self, *_: object) -> None:
        # Where the disk takes nothing any more, the claims end by themselves.
        with (
            contextlib.closing(self._connection),
            contextlib.suppress(BadInput),
            writing(self._connection, self._path) as connection,
        ):
            connection.execute("DELETE FROM claims WHERE owner=?", (self._owner,))


def _runs(process: int) -> bool:
    import psutil

    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except (psutil.NoSuchProcess, ValueError, OverflowError):  # no process has such a number
        return False
    except psutil.AccessDenied:
        return True
