"""A bounded queue and the thread that writes it: what an application logs costs it microseconds, whatever the store does.

Nothing that fails here reaches the application.  What could not be kept is counted by reason, and written into the store as
soon as that is possible again.
"""

from __future__ import annotations

import logging
import os
import platform
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from queue import Empty, SimpleQueue
from threading import RLock, Thread
from typing import Any, Literal, NamedTuple

from evalbench.monitor import ending
from evalbench.monitor.counts import CLOSED, FAULT, FULL, LARGE, LEFT, REFUSED, Counts, kind_and_place
from evalbench.monitor.opening import NotOpen, Rest, Sink, Store

Table = Literal["interactions", "feedback", "losses"]
Row = dict[str, Any]
_TABLES: tuple[Table, ...] = ("interactions", "feedback")
MAX_ROWS, MAX_BYTES = 10_000, 64 * 2**20
LINGER_S, EXIT_S = 0.1, 2.0
BATCH_ROWS, BATCH_BYTES = 100, 4 * 2**20
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0
_LOOK_S, _CLOSING_S = 0.002, 0.5
logger = logging.getLogger("evalbench.monitor")


class _Item(NamedTuple):
    """A row on its way.

    ``failed_at`` is how many writes had succeeded when it failed alone, -1 if it never did.
    """

    table: Table
    row: Row
    size: int
    failed_at: int = -1


class Writer:
    """Takes rows and writes them in batches from a thread of its own, in this process and in its forks.

    - ``opened``: Opens the store; called in the writer's thread, again after a failure and in every fork.
    - ``cleaned``: Makes of a row as it was given the row that is written; called in the writer's thread.
    - ``max_rows``, ``max_bytes``: Of all that waits. A row that finds no room is lost, and counted.
    - ``linger``: Seconds for which the writer gathers rows before it writes.
    - ``exit_timeout``: Seconds that the end of the process may wait for the store.
    """

    def __init__(
        self,
        opened: Callable[[], Store],
        cleaned: Callable[[Table, Row], Row],
        *,
        max_rows: int = MAX_ROWS,
        max_bytes: int = MAX_BYTES,
        linger: float = LINGER_S,
        exit_timeout: float = EXIT_S,
    ) -> None:
        self._opened, self._cleaned = opened, cleaned
        self._max_rows, self._max_bytes = max_rows, max_bytes
        self._linger, self._exit_timeout = linger, exit_timeout
        self._closed = False
        self.forked()
        ending.watch(self)

    def forked(self) -> None:
        """Begin with nothing: what waited before a fork is its parent's to write, and what was lost its parent's to report."""
        self._rest = Rest()
        self._lock = RLock()  # the handler of a signal must not wait for the thread that it interrupts
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._hurry: SimpleQueue[None] = SimpleQueue()
        self._thread: Thread | None = None
        self._hurried = self._given_up = self._down = False
        self._rows_in = self._bytes_in = self._rows_out = self._bytes_out = 0
        self._written = self._never_in = self._faults = self._failures = self._reports = 0
        self._first_fault = self._first_failure = ""
        self._lost: Counter[str] = Counter()
        self._unreported: dict[str, Row] = {}
        self._reporting: list[Row] = []
        self._report_from = 0.0
        self._said: tuple[Mapping[str, int], int] = ({}, 0)
        self._process = f"{platform.node()}:{os.getpid()}"
        self._id = os.urandom(8).hex()

    def hold(self) -> None:
        """Before a fork: wait, for a bounded time, until the thread is not at the store."""
        self._rest.hold()

    def go_on(self) -> None:
        """After a fork, in the parent."""
        self._rest.go_on()

    def start(self) -> None:
        """Start the thread, if it does not run."""
        with self._lock:
            if self._thread is not None or self._given_up:
                return
            self._thread = Thread(target=self._run, name="evalbench-log", daemon=True)
            try:
                self._thread.start()
            except RuntimeError as error:  # no more threads: the next row tries again
                self._thread = None
                self.fault(error)
                return
        ending.at_end_of_a_worker()

    def put(self, table: Table, row: Row, size: int) -> bool:
        """Queue a row of so many bytes; False where it is lost."""
        with self._lock:
            waiting = self._bytes_in - self._bytes_out
            if self._closed or self._rows_in - self._rows_out >= self._max_rows or waiting + size > self._max_bytes:
                self._lose(CLOSED if self._closed else LARGE if size > self._max_bytes else FULL)
                return False
            self._rows_in += 1
            self._bytes_in += size
        self._queue.put(_Item(table, row, size))
        if self._thread is None:
            self.start()
        return True

    def lose(self, why: str) -> None:
        """Count a row that cannot be queued."""
        with self._lock:
            self._lose(why)

    def fault(self, error: BaseException, *, loses: bool = False) -> None:
        """Count an exception within the hook, and the row that was lost by it; of the first one kind and place are kept."""
        with self._lock:
            self._faults += 1
            self._first_fault = self._first_fault or kind_and_place(error)
            if loses:
                self._lose(FAULT)

    def _lose(self, why: str, *, of: _Item | None = None, rows: int = 1) -> None:
        now = datetime.now(UTC)
        with self._lock:
            self._lost[why] += rows
            if of is None:
                self._never_in += rows
            else:
                self._rows_out += 1
                self._bytes_out += of.size
            report = self._unreported.get(why)
            if report is None:
                self._reports += 1
                report = {"id": f"{self._id}{self._reports:016x}", "process": self._process, "reason": why}
                self._unreported[why] = report | {"since": now, "until": now, "rows": rows, "first": self._first(why)}
                self._queue.put(None)
            else:
                report["rows"] += rows
                report["until"] = now

    def _first(self, why: str) -> str:
        return self._first_fault if why == FAULT else self._first_failure if why in (FULL, REFUSED, LEFT) else ""

    @property
    def counts(self) -> Counts:
        """What became of all that was given."""
        with self._lock:
            return Counts(
                given=self._rows_in + self._never_in,
                written=self._written,
                waiting=self._rows_in - self._rows_out,
                lost=dict(self._lost),
                faults=self._faults,
                first_fault=self._first_fault,
                failures=self._failures,
                first_failure=self._first_failure,
            )

    def flush(self, timeout: float) -> bool:
        """Wait, at most so many seconds, until all that was given so far is written or lost; whether it is."""
        until, target = time.monotonic() + timeout, self._rows_in
        self._hurried = True
        if target > self._rows_out or self._to_report():
            self.start()
        self._nudge()
        while self._thread is not None and (self._rows_out < target or self._to_report()):
            if time.monotonic() >= until:
                break
            time.sleep(_LOOK_S)
        self._hurried = self._closed
        return self._rows_out >= target

    def close(self, timeout: float | None = None) -> None:
        """Take nothing more and write what waits; what is not written in so many seconds is lost, and one line says so."""
        with self._lock:
            was_closed, self._closed = self._closed, True
        if was_closed:
            return self._say()
        self.flush(self._exit_timeout if timeout is None else timeout)
        self._given_up = True
        self._nudge()
        with self._lock:
            left = self._rows_in - self._rows_out
            if left:
                self._lost[LEFT] += left
                self._rows_out += left
        thread = self._thread
        if thread is not None and not left:
            thread.join(_CLOSING_S)
        return self._say()

    def _say(self) -> None:
        """One line of the log, where something was lost that no line has said yet."""
        counts = self.counts
        said, self._said = self._said, (dict(counts.lost), counts.faults)
        if self._said != said:
            with suppress(Exception):
                logger.warning("log of interactions: %s", counts)

    def _nudge(self) -> None:
        self._queue.put(None)
        self._hurry.put(None)

    def _to_report(self) -> bool:
        return bool(self._unreported or self._reporting)

    # From here on: the writer's thread.

    def _run(self) -> None:
        held: deque[_Item] = deque()
        store = Sink(self._opened, self._rest)
        most, pause = BATCH_ROWS, _FIRST_PAUSE_S
        try:
            while self._gather(held):
                batch = _batch(held, most)
                try:
                    self._write(store, batch)
                except Exception as error:  # noqa: BLE001 - whatever the store does, the application goes on
                    self._failed(error)
                    if len(batch) > 1:  # the store, or one of the rows
                        most = 1
                        continue
                    if batch:
                        self._set_aside(held)
                    self._wait(pause)
                    pause = min(pause * 2, _LONGEST_PAUSE_S)
                else:
                    for _ in batch:
                        held.popleft()
                    most, pause = min(most * 2, BATCH_ROWS), _FIRST_PAUSE_S
                    self._report(store)
        finally:
            self._thread = None
            store.close()

    def _gather(self, held: deque[_Item]) -> bool:
        """Take rows from the queue, once there are any; False where there will be no more."""
        if not held:
            item = None
            while item is None and not (self._to_report() and time.monotonic() >= self._report_from):
                if self._given_up or (self._closed and self._queue.empty()):
                    return False
                with suppress(Empty):
                    item = self._queue.get(timeout=_LONGEST_PAUSE_S if self._to_report() else None)
            self._take(item, held)
            if not self._hurried:
                self._wait(self._linger)
        while len(held) < BATCH_ROWS:
            try:
                self._take(self._queue.get_nowait(), held)
            except Empty:
                break
        return not self._given_up

    def _take(self, item: _Item | None, held: deque[_Item]) -> None:
        if item is None:
            return
        try:
            held.append(item._replace(row=self._cleaned(item.table, item.row)))
        except Exception as error:  # noqa: BLE001 - one row must not stop the others
            self.fault(error)
            self._lose(FAULT, of=item)

    def _write(self, store: Sink, batch: list[_Item]) -> None:
        for table in _TABLES:  # interactions first: feedback refers to them
            if rows := [item.row for item in batch if item.table == table]:
                store.write(table, rows)
        with self._lock:
            self._rows_out += len(batch)
            self._written += len(batch)
            self._bytes_out += sum(item.size for item in batch)
            was_down, self._down = self._down and bool(batch), self._down and not batch
        if was_down:
            logger.warning("the log store is written again; %s", self.counts)

    def _report(self, store: Sink) -> None:
        """Write what was lost; what cannot be written is tried again later, and holds no row up."""
        if time.monotonic() < self._report_from:
            return
        with self._lock:
            self._reporting += self._unreported.values()
            self._unreported = {}
        if not self._reporting:
            return
        now = datetime.now(UTC)
        try:
            store.write("losses", [{**report, "ts": now} for report in self._reporting])
        except Exception as error:  # noqa: BLE001 - as with rows
            self._count(error)
            self._report_from = time.monotonic() + _LONGEST_PAUSE_S
        else:
            self._reporting = []

    def _count(self, error: Exception) -> None:
        with self._lock:
            self._failures += 1
            self._first_failure = self._first_failure or _kind(error)

    def _failed(self, error: Exception) -> None:
        self._count(error)
        was_up, self._down = not self._down, True
        if was_up:
            said = str(error) if isinstance(error, NotOpen) else type(error).__name__
            logger.warning("the log store cannot be written (%s); up to %d rows wait for it", said, self._max_rows)

    def _set_aside(self, held: deque[_Item]) -> None:
        """Let another row try first; one that fails again after others succeeded is the fault of the row, not of the store."""
        item = held.popleft()
        if -1 < item.failed_at < self._written:
            self._lose(REFUSED, of=item)
        else:
            held.append(item._replace(failed_at=self._written))

    def _wait(self, seconds: float) -> None:
        """Sleep, or until somebody is in a hurry."""
        if self._hurried:
            seconds = min(seconds, _FIRST_PAUSE_S)
        elif not self._given_up:
            while not self._hurry.empty():
                self._hurry.get_nowait()
        with suppress(Empty):
            self._hurry.get(timeout=seconds)


def _kind(error: Exception) -> str:
    return str(error).partition(":")[0] if isinstance(error, NotOpen) else type(error).__name__


def _batch(held: deque[_Item], most: int) -> list[_Item]:
    """The first of the rows: not too many, nor too much at once."""
    batch: list[_Item] = []
    size = 0
    for item in islice(held, most):
        size += item.size
        if batch and size > BATCH_BYTES:
            break
        batch.append(item)
    return batch
