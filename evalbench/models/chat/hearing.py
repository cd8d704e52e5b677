"""Who hears of every reply that was sent for: a function that the caller, or the environment of a run, hands in."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from evalbench.errors import BadInput
from evalbench.models.exchange import Reply

HEARER = "EVALBENCH_ON_REPLY"
Hears = Callable[[Reply], object]
_given: ContextVar[Hears | None] = ContextVar("evalbench_hears", default=None)


@contextmanager
def heard(by: Hears) -> Iterator[None]:
    """Within the block a function gets each reply for which something was sent, as soon as it is there.

    Replies of the cache are not among them. The function must not block: it is called between two requests.

    - ``by``: Takes a :class:`~evalbench.models.exchange.Reply`; such as :meth:`evalbench.monitor.CallLog.reply`.
    """
    token = _given.set(by)
    try:
        yield
    finally:
        _given.reset(token)


def hearer() -> Hears | None:
    """The function of the block, else the one that ``EVALBENCH_ON_REPLY`` names (``module:function``); None without.

    Raises ``BadInput`` if there is no such function.
    """
    given = _given.get()
    if given is not None:
        return given
    named = os.environ.get(HEARER)
    return _named(named) if named else None


@functools.cache
def _named(place: str) -> Hears:
    module, _, name = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadInput(f"{HEARER}={place}: expected MODULE:FUNCTION ({error})") from None
    if not callable(found):
        raise BadInput(f"{HEARER}={place}: {name} is not a function")
    hears: Hears = found
    return hears
