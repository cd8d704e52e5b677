"""Where a log's rows go: the log store, or a function."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from evalbench.errors import BadInput

Function = Callable[[str, list[dict[str, Any]]], object]
logger = logging.getLogger("evalbench.monitor")


class ToFunction:
    """Hands rows to a function of the application's own."""

    def __init__(self, function: Function) -> None:
        self._function = function

    def write(self, table: str, rows: list[dict[str, Any]]) -> None:
        """Call it."""
        self._function(table, rows)

    def close(self) -> None:
        """Nothing was opened."""


class ToStore:
    """Appends rows to a log store, which is made where it does not exist.

    Where its ids of clients were hashed with another key, they are left out: one client would become two.

    - ``key``: With which ids of clients are hashed.
    """

    def __init__(self, store: str | os.PathLike[str], key: bytes | None) -> None:
        from evalbench.monitor.store import LogStore
        from evalbench.readers.log_store.faults import StoreUnavailable

        made = LogStore(os.fspath(store), create=True)
        with made.reading():  # a store that cannot be used is said here, not with the first row
            self._store = made
        # Feedback may come before the interaction that another process logs.
        self._append: dict[str, Callable[[list[dict[str, Any]]], object]] = {
            "interactions": made.append,
            "feedback": partial(made.append_feedback, orphans=True),
            "losses": made.append_losses,
        }
        self._hashed_otherwise = False
        if key is None:
            return
        try:
            made.use_key(key)
        except StoreUnavailable:
            raise
        except BadInput as error:
            logger.warning("ids of clients are not kept: %s", error)
            self._hashed_otherwise = True

    def write(self, table: str, rows: list[dict[str, Any]]) -> None:
        """One transaction; rows whose id is there already are not written again."""
        if self._hashed_otherwise:
            rows = [_without_client(row) for row in rows]
        self._append[table](rows)

    def close(self) -> None:
        """Close its connections."""
        self._store.close()


def _without_client(row: dict[str, Any]) -> dict[str, Any]:
    hashed = "client" if "client" in row else "judge" if row.get("source") == "user" else ""
    return row | {hashed: None} if hashed else row
