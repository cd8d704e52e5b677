"""Where a log's rows go: the log store, or a function."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput

if TYPE_CHECKING:
    from evalbench.monitor.store import LogStore

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

    Parameters
    ----------
    store : str or Path
    key : bytes or None
        With which ids of clients are hashed.
    without_clients : function
        Called where the store's ids are hashed with another key.
    """

    def __init__(self, store: str | os.PathLike[str], key: bytes | None, without_clients: Callable[[], None]) -> None:
        from evalbench.monitor.store import LogStore
        from evalbench.readers.log_store.faults import StoreUnavailable

        self._store: LogStore = LogStore(os.fspath(store), create=True)
        if key is None:
            return
        try:
            self._store.use_key(key)
        except StoreUnavailable:
            raise
        except BadInput as error:
            logger.warning("ids of clients are not kept: %s", error)
            without_clients()

    def write(self, table: str, rows: list[dict[str, Any]]) -> None:
        """One transaction; rows whose id is there already are not written again."""
        append = {
            "interactions": self._store.append,
            "feedback": self._store.append_feedback,
            "losses": self._store.append_losses,
        }
        append[table](rows)

    def close(self) -> None:
        """Close its connections."""
        self._store.close()
