"""The progress of a batch: rate and time left by tqdm, tokens and cost by us."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from evalbench.models.exchange import Reply


class Progress(Protocol):
    """What a batch tells about itself."""

    def skip(self, count: int) -> None: ...
    def add(self, reply: Reply) -> None: ...
    def wait(self, count: int) -> None: ...


class _Silent:
    def skip(self, count: int) -> None:
        """Nothing is shown."""

    def add(self, reply: Reply) -> None:
        """Nothing is shown."""

    def wait(self, count: int) -> None:
        """Nothing is shown."""


class _Bar:
    """A tqdm bar; replies that were kept count as done, not for the rate."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._tokens = self._unscored = 0
        self._cost: float | None = 0.0

    def skip(self, count: int) -> None:
        self._bar.initial += count
        self._bar.n += count
        self._bar.refresh()

    def add(self, reply: Reply) -> None:
        self._tokens += (reply.tokens_in or 0) + (reply.tokens_out or 0)
        self._unscored += bool(reply.unscored)
        if self._cost is not None and (reply.cost is not None or not reply.unscored):
            self._cost = None if reply.cost is None else self._cost + reply.cost
        cost = "" if self._cost is None else f", cost {self._cost:.4f}"
        unscored = f", {self._unscored} unscored" if self._unscored else ""
        self._bar.set_postfix_str(f"{self._tokens} tokens{cost}{unscored}", refresh=False)
        self._bar.update()

    def wait(self, count: int) -> None:
        """So many replies are being asked for by another process, and waited for."""
        self._bar.set_description_str(f"{count} asked for by another process" if count else "")


@contextmanager
def progress_bar(total: int, shown: bool | None) -> Iterator[Progress]:
    """A bar on standard error; by default in a terminal and in a notebook that a person runs."""
    if not (_watched() if shown is None else shown):
        yield _Silent()
        return
    from tqdm.std import tqdm

    with tqdm(total=total, unit="reply", file=sys.stderr, dynamic_ncols=True) as bar:
        yield _Bar(bar)


def _watched() -> bool:
    if os.environ.get("EVALBENCH_RUN"):
        return False
    return sys.stderr.isatty() or "ipykernel" in sys.modules
