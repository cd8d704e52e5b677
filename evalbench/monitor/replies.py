"""The log of evalbench's own model client: every reply that was sent for, in the store that ``EVALBENCH_LOG`` names."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping

from evalbench.models.chat.hearing import HEARER
from evalbench.models.exchange import Reply
from evalbench.monitor.hook import CallLog, logged
from evalbench.readers.log_store.address import Address

STORE = "EVALBENCH_LOG"


def environment(store: Address) -> Mapping[str, str]:
    """What a process needs in its environment so that its model client logs into a store.

    Examples
    --------
    >>> from evalbench.readers.log_store.address import address_of
    >>> environment(address_of("postgresql://127.0.0.1/log"))
    {'EVALBENCH_LOG': 'postgresql://127.0.0.1/log', 'EVALBENCH_ON_REPLY': 'evalbench.monitor.replies:keep'}
    """
    return {STORE: store.named, HEARER: f"{__name__}:{keep.__name__}"}


def keep(reply: Reply) -> None:
    """Log a reply in the store of the environment."""
    _log(os.environ[STORE]).reply(reply)


@functools.cache
def _log(store: str) -> CallLog:
    return logged(store)
