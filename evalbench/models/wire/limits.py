"""Requests and tokens per minute: no sixty seconds in a row ever hold more than the limit."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from dataclasses import dataclass, field

from evalbench.errors import BadInput
from evalbench.models.endpoint import Limits, Model

_WINDOW = 60.0
LIMIT_SHARE = "EVALBENCH_LIMIT_SHARE"


@dataclass(eq=False)
class _Sent:
    """One request within the window; its tokens are an estimate until the reply is there."""

    at: float
    tokens: float


@dataclass
class Limiter:
    """A sliding window over the last minute, shared by all threads of this process.

    - ``share``: The part of the limits that this process may use, above 0 and at most 1.

    Notes
    -----
    A window rather than a bucket: a full bucket lets twice the limit through in its first minute. A single request
    above the tokens' limit waits for an empty window and then goes.
    """

    limits: Limits
    share: float = 1.0
    window: float = _WINDOW
    _sent: deque[_Sent] = field(default_factory=deque)
    _tokens: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def unlimited(self) -> bool:
        return self.limits.requests_per_minute is None and self.limits.tokens_per_minute is None

    async def acquire(self, tokens: float) -> _Sent | None:
        """Wait until one more request of about this many tokens fits, and count it."""
        if self.unlimited:
            return None
        while True:
            with self._lock:
                wait = self._wait(time.monotonic(), tokens)
                if wait <= 0:
                    sent = _Sent(time.monotonic(), tokens)
                    self._sent.append(sent)
                    self._tokens += tokens
                    return sent
            await asyncio.sleep(wait)

    def settle(self, sent: _Sent | None, tokens: float) -> None:
        """Replace the estimate by what the endpoint counted."""
        if sent is None:
            return
        with self._lock:
            if sent in self._sent:
                self._tokens += tokens - sent.tokens
            sent.tokens = tokens

    def _wait(self, now: float, tokens: float) -> float:
        """Seconds until the oldest requests leave room; 0 where there is room now."""
        while self._sent and self._sent[0].at <= now - self.window:
            self._tokens -= self._sent.popleft().tokens
        if not self._sent:
            self._tokens = 0.0
            return 0.0
        per_minute = self.limits.requests_per_minute
        full = per_minute is not None and len(self._sent) >= max(1, int(per_minute * self.share))
        allowed = self.limits.tokens_per_minute
        full = full or (allowed is not None and self._tokens + tokens > allowed * self.share)
        return self._sent[0].at + self.window - now if full else 0.0


_LIMITERS: dict[tuple[str, str, Limits], Limiter] = {}
_LIMITERS_LOCK = threading.Lock()


def limiter(target: Model) -> Limiter:
    """The one limiter of this process for an endpoint's model.

    ``EVALBENCH_LIMIT_SHARE`` (0.25 for the four workers of a batch) says which part of the limits it may use.
    """
    key = (target.base_url, target.id, target.limits)
    with _LIMITERS_LOCK:
        if key not in _LIMITERS:
            _LIMITERS[key] = Limiter(target.limits, share=_share())
        return _LIMITERS[key]


def _share() -> float:
    given = os.environ.get(LIMIT_SHARE) or "1"
    try:
        share = float(given)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise BadInput(f"{LIMIT_SHARE} is {given!r}; expected a number above 0 and at most 1")
    return share


def estimated_tokens(text: str, max_tokens: int | None) -> float:
    """A guess on the high side before the endpoint counts: bytes / 3 for the prompt, and the longest reply (256 if unset)."""
    return len(text.encode()) / 3 + (max_tokens or 256)
