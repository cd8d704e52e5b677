"""Which judging a verdict belongs to: the same question asked under another name is asked anew, not answered by the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

VARIABLE = "EVALBENCH_JUDGED_AT"
AGAIN = "EVALBENCH_AGAIN"
"""Names the old run that is judged again, see :mod:`evalbench.models.chat.replay`."""
_name: ContextVar[str | None] = ContextVar("judged at", default=None)


def judged_at() -> str:
    """The name of this judging, such as ``2026-11``; empty where verdicts of earlier ones may be taken from the cache."""
    named = _name.get()
    return os.environ.get(VARIABLE, "") if named is None else named


@contextmanager
def judging(name: str) -> Iterator[None]:
    """Ask judges within the block under this name; without one, under that of the environment.

    Examples
    --------
    >>> with judging("2026-11"):
    ...     judged_at()
    '2026-11'
    """
    before = _name.set(name or None)
    try:
        yield
    finally:
        _name.reset(before)
