"""Which judging a verdict belongs to: the same question asked under another name is asked anew, not answered by the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from evalbench.core.wording import counted

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


def in_words(account: Mapping[str, Any]) -> str:
    """What ``judged_again`` of ``results.json`` says, as a sentence; empty without one.

    Examples
    --------
    >>> in_words({"run": "20261101T090000Z-1a2b3c4d", "identity": "1a2b3c4d" * 8, "then": "acme/judge", "now": "acme/other", "replies": 40, "not_recorded": 0})
    'Judged again: the answers are those of the run 20261101T090000Z-1a2b3c4d (1a2b3c4d1a2b), which acme/judge judged; acme/other judges here. The system was not asked: 0 requests, 40 recorded replies.'
    """
    if not account:
        return ""
    same = account["then"] == account["now"]
    judges = (
        f"which {account['then'] or 'no judge'} judged; {'it' if same else account['now']} judges here"
        f"{' once more' if same else ''}"
    )
    replies = counted(int(account["replies"]), "recorded reply", "recorded replies")
    missing = int(account["not_recorded"])
    lost = f"; {counted(missing, 'request')} without one, which are unscored" if missing else ""
    return (
        f"Judged again: the answers are those of the run {account['run']} ({str(account['identity'])[:12]}), {judges}. "
        f"The system was not asked: 0 requests, {replies}{lost}."
    )
