"""How writers live through the ends of a process: its exit, SIGTERM where that would kill it, and its forks."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from threading import current_thread, main_thread
from types import FrameType
from typing import Protocol
from weakref import WeakSet


class Writes(Protocol):
    """What has to be closed in time."""

    def close(self, timeout: float | None = None) -> None: ...

    def hold(self) -> None: ...

    def go_on(self) -> None: ...

    def forked(self) -> None: ...


_all: WeakSet[Writes] = WeakSet()
_registered = False


def watch(writer: Writes) -> None:
    """Close it at the end of the process, and begin it anew in forks."""
    global _registered
    _all.add(writer)
    if not _registered:
        _registered = True
        atexit.register(_close_all)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork)
    _at_sigterm()


def at_end_of_a_worker() -> None:
    """Close all writers where a process of :mod:`multiprocessing` ends: it may call nothing that is registered with atexit."""
    if "multiprocessing.util" in sys.modules:
        from multiprocessing import parent_process, util

        if parent_process() is not None:
            _close_in_a_worker()
        else:  # a process that imports the application before it is a worker forgets what was registered until then
            util.register_after_fork(_all, _close_in_a_worker)


def _close_in_a_worker(_: object = None) -> None:
    from multiprocessing.util import Finalize

    Finalize(None, _close_all, exitpriority=100)


def _close_all() -> None:
    for writer in list(_all):
        with suppress(Exception):
            writer.close()


def _before_fork() -> None:
    for writer in list(_all):
        writer.hold()


def _after_fork_in_parent() -> None:
    for writer in list(_all):
        writer.go_on()


def _after_fork() -> None:
    for writer in list(_all):
        writer.forked()


def _at_sigterm() -> None:
    """Take SIGTERM where nobody else does: its default ends the process without a word to anyone."""
    if current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        with suppress(ValueError, OSError):  # an interpreter within another one
            signal.signal(signal.SIGTERM, _terminated)


def _terminated(number: int, _frame: FrameType | None) -> None:
    _close_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
