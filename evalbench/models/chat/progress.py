"""The progress of a batch: replies done of all, failed, tokens and cost so far, rate and time left."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Literal, Protocol, get_origin

from pydantic import BaseModel

from evalbench.core import progress as core
from evalbench.models.exchange import Reply
from evalbench.models.redact import printable


class Progress(Protocol):
    """What a batch reports about itself."""

    def skip(self, replies: Sequence[Reply]) -> None: ...
    def add(self, reply: Reply) -> None: ...
    def wait(self, count: int) -> None: ...


class _Counted:
    """The counts; those who watch read them, by a file or in this process."""

    def __init__(self, replies: core.Replies, told: bool = False) -> None:
        self._replies, self._told = replies, told

    def skip(self, replies: Sequence[Reply]) -> None:
        self._replies.keep(verdict_of(reply) for reply in replies)
        self._tell()

    def add(self, reply: Reply) -> None:
        tokens = (reply.tokens_in or 0) + (reply.tokens_out or 0)
        self._replies.add(tokens, reply.cost, reply.unscored or "", verdict_of(reply))
        self._tell()

    def wait(self, count: int) -> None:
        self._replies.elsewhere = count
        self._tell()

    def _tell(self) -> None:
        if self._told:
            self._replies.tell()


class _Bar:
    """A tqdm bar; replies that were kept count as done, not for the rate."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._tokens = self._failed = 0
        self._cost: float | None = 0.0

    def skip(self, replies: Sequence[Reply]) -> None:
        self._bar.initial += len(replies)
        self._bar.n += len(replies)
        self._bar.refresh()

    def add(self, reply: Reply) -> None:
        self._tokens += (reply.tokens_in or 0) + (reply.tokens_out or 0)
        self._failed += bool(reply.unscored)
        if self._cost is not None and (reply.cost is not None or not reply.unscored):
            self._cost = None if reply.cost is None else self._cost + reply.cost
        cost = "" if self._cost is None else f", cost {self._cost:.4f}"
        failed = f", {self._failed} failed" if self._failed else ""
        self._bar.set_postfix_str(f"{self._tokens} tokens{cost}{failed}", refresh=False)
        self._bar.update()

    def wait(self, count: int) -> None:
        """So many replies are being asked for by another process, and waited for."""
        self._bar.set_description_str(f"{count} asked for by another process" if count else "")


@contextmanager
def progress_bar(total: int, shown: bool | None, what: str = "asking") -> Iterator[Progress]:
    """What a batch is at: for ``evalbench run`` by its file; else a bar in a terminal and a notebook, or lines.

    - ``total``: Replies that are needed.
    - ``shown``: A bar, or nothing at all; by default what fits, and nothing in runs of a batch.
    """
    replies = core.Replies(printable(what), total)
    if shown is None and os.environ.get(core.FILE):
        replies.tell(now=True)
        yield _Counted(replies, told=True)
        replies.tell(now=True)
    elif shown or (shown is None and _watched()):
        from tqdm.std import tqdm

        with tqdm(total=total, unit="reply", file=sys.stderr, dynamic_ncols=True) as bar:
            yield _Bar(bar)
    elif shown is None and not os.environ.get("EVALBENCH_RUN"):
        with core.Shown(replies.state, sys.stderr):
            yield _Counted(replies)
    else:
        yield _Counted(replies)


def verdict_of(reply: Reply) -> str:
    """What a reply says, where its value has a field of a closed list of answers; empty where it has none.

    Examples
    --------
    >>> from typing import Literal
    >>> from pydantic import create_model
    >>> from evalbench.models.exchange import Request
    >>> said = create_model("Verdict", reason=(str, ...), label=(Literal["YES", "NO"], ...))(reason="so", label="NO")
    >>> verdict_of(Reply(request=Request("Is it so?"), model="m", host="h", value=said))
    'NO'
    """
    field = _closed(type(reply.value)) if reply.value is not None else ""
    return str(getattr(reply.value, field)) if field else ""


@lru_cache(maxsize=256)
def _closed(schema: type[BaseModel]) -> str:
    """The first field of a schema whose value is one of a list, or true or false."""
    fields = schema.model_fields.items()
    return next((name for name, one in fields if get_origin(one.annotation) is Literal or one.annotation is bool), "")


def _watched() -> bool:
    if os.environ.get("EVALBENCH_RUN"):
        return False
    return sys.stderr.isatty() or "ipykernel" in sys.modules
