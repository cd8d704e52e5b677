"""Waiting for what must come, however slow the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil


def wait_until(
    condition: Callable[[], object], seconds: float = 120, pause: Callable[[float], object] = time.sleep
) -> bool:
    """Whether the condition held at last; asked again every twentieth of a second."""
    give_up = time.monotonic() + seconds
    while not (held := condition()) and time.monotonic() < give_up:
        pause(0.05)
    return bool(held)


def gone(pid: int) -> bool:
    """Whether a process has ended; a zombie has."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
