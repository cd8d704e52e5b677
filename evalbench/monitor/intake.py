"""What every row of a log passes on its way into the queue."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from evalbench.errors import BadInput
from evalbench.monitor.calls import OVERHEAD, TooLarge
from evalbench.monitor.cleaning import Cleaner
from evalbench.monitor.clients import LEAST, client_hash, key_of_environment
from evalbench.monitor.counts import LARGE
from evalbench.monitor.opening import Store
from evalbench.monitor.sinks import Function, ToFunction, ToStore
from evalbench.monitor.writing import Writer, logger

_IDS = (str, int)
ABOUT: ContextVar[Mapping[str, Any] | None] = ContextVar("evalbench_about", default=None)


class Intake:
    """The writer, and what is done before it.

    - ``key``: Of the hashes of clients; by default the environment's.
    - ``bounds``: Of the writer.
    """

    def __init__(self, store: str | os.PathLike[str] | Function, key: bytes | None, bounds: dict[str, Any]) -> None:
        if not callable(store) and "://" not in (path := os.fspath(store)):
            store = os.path.abspath(os.path.expanduser(path))  # the application may leave its folder

        def opened() -> Store:
            return ToFunction(store) if callable(store) else ToStore(store, self._key)

        self._key = key if key is None or len(key) >= LEAST else None
        if key is not None and self._key is None:
            logger.warning("ids of clients are not kept: the key has %d bytes, expected at least %d", len(key), LEAST)
        self.most: int = bounds["max_bytes"]
        if key is None:
            try:
                self._key = key_of_environment()
            except BadInput as error:
                logger.warning("ids of clients are not kept: %s", error)
        self.writer = Writer(opened, Cleaner().cleaned, **bounds)

    def queue(self, row: dict[str, Any], size: int, about: Mapping[str, Any] | None) -> str:
        """Put a row into the queue, with what is known about it besides; its id, empty where it is lost."""
        row["id"] = new_id()
        if about:
            row["client"] = row.get("client") or about.get("client")
            row["prompt_version"] = row.get("prompt_version") or about.get("prompt_version")
            row["stages"] = {**about["stages"], **row["stages"]}
        return row["id"] if self.writer.put("interactions", row, size + OVERHEAD) else ""

    def hashed(self, client: object) -> str | None:
        """The keyed hash of a client's id; None without an id or without a key."""
        if self._key is None or not isinstance(client, _IDS) or client == "":
            return None
        return client_hash(str(client), self._key)

    def faulted(self, fault: Exception) -> None:
        """Count a row that was lost by an exception of ours."""
        if isinstance(fault, TooLarge):
            self.writer.lose(LARGE)
        else:
            self.writer.fault(fault, loses=True)


def new_id() -> str:
    """32 hexadecimal digits that grow with time: neighbours in time are neighbours in an index."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"
