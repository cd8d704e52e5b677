"""The store of a writer's thread: opened when it is first needed, anew after it failed, and at rest while the process forks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from typing import Any, Protocol

from evalbench.errors import BadInput
from evalbench.models.redact import redactor

_OPENING_S, _WRITING_S = 3.0, 0.25


class Store(Protocol):
    """Where rows go: every call is one transaction, and a row whose ``id`` is there already is not written again."""

    def write(self, table: Any, rows: list[dict[str, Any]]) -> None: ...

    def close(self) -> None: ...


class NotOpen(Exception):
    """A store that cannot be opened, and why."""


class Rest:
    """Held by a thread while it works at a store, and by a process while it forks.

    A fork in the middle of an import or a write would leave a half imported module, or a lock that nobody opens, in the
    child.  It waits a bounded time: longer for the first work, which imports what the store needs.
    """

    def __init__(self) -> None:
        self._lock, self._patience = RLock(), _OPENING_S

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._patience = _WRITING_S
        self._lock.release()

    def hold(self) -> None:
        """Before a fork."""
        self._lock.acquire(timeout=self._patience)

    def go_on(self) -> None:
        """After it, in the process that forked."""
        with suppress(RuntimeError):  # it was not at rest in time
            self._lock.release()


class Sink:
    """What a thread writes to.

    - ``opened``: Opens the store.
    """

    def __init__(self, opened: Callable[[], Store], rest: Rest) -> None:
        self._opened, self._rest = opened, rest
        self._store: Store | None = None

    def write(self, table: str, rows: list[dict[str, Any]]) -> None:
        """Write rows.

        Raises ``NotOpen`` if the store cannot be opened; whatever it raises besides passes.
        """
        with self._rest:
            if self._store is None:
                try:
                    self._store = self._opened()
                except BadInput as error:  # a text of ours, about an address or what is there
                    raise NotOpen(f"{type(error).__name__}: {redactor()(str(error))}") from None
            try:
                self._store.write(table, rows)
            except Exception:
                self.close()
                raise

    def close(self) -> None:
        """Close the store, if it is open."""
        with self._rest:
            store, self._store = self._store, None
            if store is not None:
                with suppress(Exception):
                    store.close()
