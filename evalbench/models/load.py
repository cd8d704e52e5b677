"""How an endpoint answers when many ask at once: streamed requests at several levels of concurrency."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from evalbench.core.progress import at
from evalbench.core.seeds import rng
from evalbench.core.unscored import Unscored
from evalbench.errors import BadInput
from evalbench.models import names
from evalbench.models.accounting import cost
from evalbench.models.chat.collect import run_sync
from evalbench.models.endpoint import EndpointFault, Model
from evalbench.models.local import weights as local
from evalbench.models.redact import redactor
from evalbench.models.wire.client import client
from evalbench.models.wire.limits import limiter
from evalbench.models.wire.streaming import Streamed, streamed

if TYPE_CHECKING:
    import openai
    import pandas as pd

LEVELS = (1, 4, 16)
SECONDS = 30.0
MAX_TOKENS = 128
TIMEOUT = 120.0
MOST_LEVEL = 256
MOST_SECONDS = 3600.0
COLUMNS = (
    "model",
    "level",
    "started",
    "first",
    "seconds",
    "tokens_in",
    "tokens_out",
    "counted_by",
    "cost",
    "error",
    "detail",
)
RATE_LIMITED: Unscored = "rate-limited"
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_SUBJECTS = (
    "a lighthouse keeper",
    "a ferry in fog",
    "a market at dawn",
    "a clock that is late",
    "an old map",
    "a lost glove",
)
_TASK = "Tell a story of about a hundred words about {subject}, and work the number {number} into it."


@dataclass(frozen=True)
class Level:
    """One endpoint at one level of concurrency.

    - ``level``: Requests under way at the same time.
    - ``seconds``: From the first request to the last reply.
    - ``stopped``: Why it ended early; empty where it did not.
    """

    model: str
    level: int
    seconds: float
    stopped: str = ""


@dataclass(frozen=True)
class Load:
    """What was measured.

    - ``requests``: A row per request, columns as in :data:`COLUMNS`: ``started`` from the beginning of its level,
      ``first`` and ``seconds`` to the first text and to the end, all in seconds; ``counted_by`` says who counted the
      tokens, the ``endpoint`` or its ``pieces`` of text; ``error`` is empty for a whole reply.
    - ``warm_up``: Requests before the measurement, in none of the figures.
    """

    requests: pd.DataFrame
    levels: tuple[Level, ...]
    warm_up: int


def is_elsewhere(target: Model) -> bool:
    """Whether requests would leave this machine."""
    return target.provider != "local" and urlsplit(target.base_url).hostname not in _LOOPBACK


def load(
    models: Sequence[str],
    *,
    levels: Sequence[int] = LEVELS,
    seconds: float = SECONDS,
    max_tokens: int = MAX_TOKENS,
    timeout: float = TIMEOUT,
    seed: int = 0,
    elsewhere: bool = False,
) -> Load:
    """Ask endpoints at each level of concurrency for some seconds, one endpoint after the other.

    At a level as many requests as it says are always under way: when a reply is there, the next question is asked. Questions
    differ, so that no cache of the endpoint answers. No reply is taken from our cache or kept in it. A request that fails is
    counted and not repeated. From the first refusal for too many requests (429) on an endpoint is asked nothing more.

    Parameters
    ----------
    models : sequence of str
        Names; see :mod:`evalbench.models.names`.
    levels : sequence of int
        Each 1 to :data:`MOST_LEVEL`.
    seconds : float
        In which new requests are sent, at each level; at most :data:`MOST_SECONDS`.
    max_tokens : int
        The longest reply.
    timeout : float
        Seconds of a request.
    seed : int
        Draws the questions.
    elsewhere : bool
        Whether endpoints on other machines may be asked.

    Raises
    ------
    BadInput
        With all faults at once, before anything is asked.
    EndpointFault
        If an endpoint cannot be asked at all.
    """
    import pandas as pd

    targets = [names.model(name) for name in dict.fromkeys(models)]
    twice = [name for name, n in Counter(models).items() if n > 1]
    faults = [f"level {level} is not between 1 and {MOST_LEVEL}" for level in levels if not 1 <= level <= MOST_LEVEL]
    faults += ["no level is given"] * (not levels)
    faults += [f"{name} is named more than once; to measure it again, run the command again" for name in twice]
    faults += [f"seconds is {seconds:g}; expected above 0 and at most {MOST_SECONDS:g}"] * (
        not 0 < seconds <= MOST_SECONDS
    )
    faults += [f"max_tokens is {max_tokens}; at least 1"] * (max_tokens < 1)
    faults += [f"timeout is {timeout:g}; above 0"] * (not timeout > 0)
    if not elsewhere:
        faults += [
            f"{target.name} is at {target.host}, not on this machine: its owner pays for up to {max(levels, default=0)} requests at a time; "
            "--yes allows it"
            for target in targets
            if is_elsewhere(target)
        ]
    if faults:
        raise BadInput.listing("the load test cannot begin:", faults)
    settings = _Settings(tuple(sorted(dict.fromkeys(levels))), seconds, max_tokens, timeout, seed)
    rows, done, warm_up = run_sync(_all(targets, settings))
    return Load(pd.DataFrame(rows, columns=list(COLUMNS)), tuple(done), warm_up)


@dataclass(frozen=True)
class _Settings:
    levels: tuple[int, ...]
    seconds: float
    max_tokens: int
    timeout: float
    seed: int


class _Endpoint:
    """An endpoint that is asked: its client, the body that it takes, the number of the next question."""

    def __init__(self, target: Model, opened: openai.AsyncOpenAI, settings: _Settings) -> None:
        self.target, self.client, self.settings = target, opened, settings
        self.redact = redactor(opened.api_key)
        self.extra: dict[str, Any] = {}
        self.asked = 0
        self.refused = ""

    async def ask(self, extra: dict[str, Any]) -> Streamed:
        draw = rng(self.settings.seed, f"load/{self.asked}")
        self.asked += 1
        question = _TASK.format(subject=_SUBJECTS[draw.integers(len(_SUBJECTS))], number=draw.integers(1000, 10_000))
        body = {"model": self.target.id, "messages": [{"role": "user", "content": question}], **extra}
        return await streamed(self.client, self.target, body, self.settings.timeout, self.redact)

    async def warm_up(self) -> int:
        """One reply that counts nowhere; it also shows which of the parameters the endpoint takes."""
        most = self.settings.max_tokens
        usage: dict[str, Any] = {"stream_options": {"include_usage": True}}
        bodies: list[dict[str, Any]] = [{"max_tokens": most, **usage}, {"max_completion_tokens": most, **usage}]
        bodies += [{"max_tokens": most}, usage, {}]
        for tried, extra in enumerate(bodies, 1):
            reply = await self.ask(extra)
            if reply.reason == RATE_LIMITED:
                self.refused = "too many requests (429) at the first question"
            if reply.reason != "rejected":
                self.extra = extra
                return tried
        raise EndpointFault(f"{self.target.name} at {self.target.host} takes no streamed request: {reply.detail}")


async def _all(targets: Sequence[Model], settings: _Settings) -> tuple[list[tuple[Any, ...]], list[Level], int]:
    rows: list[tuple[Any, ...]] = []
    done: list[Level] = []
    warm_up = 0
    with ExitStack() as stack:
        endpoints = []
        for target in targets:
            base_url, key = stack.enter_context(local.address_of(target))
            endpoints.append(
                _Endpoint(target, client(target, base_url=base_url, key=key, timeout=settings.timeout), settings)
            )
        for endpoint in endpoints:
            warm_up += await endpoint.warm_up()
        total = len(settings.levels) * len(endpoints)
        for level in settings.levels:
            for endpoint in endpoints:
                at(f"{endpoint.target.name}, {level} at a time", len(done), total)
                done.append(await _level(endpoint, level, rows))
        for endpoint in endpoints:
            await endpoint.client.close()
    return rows, done, warm_up


async def _level(endpoint: _Endpoint, level: int, rows: list[tuple[Any, ...]]) -> Level:
    """Keep so many requests under way until the time is over or one is refused for too many."""
    target, started = endpoint.target, time.perf_counter()
    if endpoint.refused:
        return Level(target.name, level, 0.0, f"not asked: {endpoint.refused}")
    limits = limiter(target)

    async def worker() -> None:
        while not endpoint.refused:
            sent = await limits.acquire(endpoint.settings.max_tokens)
            begun = time.perf_counter() - started
            if begun >= endpoint.settings.seconds or endpoint.refused:
                return
            reply = await endpoint.ask(endpoint.extra)
            tokens = reply.pieces if reply.tokens_out is None else reply.tokens_out
            limits.settle(sent, (reply.tokens_in or 0) + tokens)
            rows.append(_row(target, level, begun, reply))
            if reply.reason == RATE_LIMITED:
                endpoint.refused = f"too many requests (429) at {level} at a time"

    await asyncio.gather(*(worker() for _ in range(level)))
    return Level(target.name, level, time.perf_counter() - started, endpoint.refused)


def _row(target: Model, level: int, begun: float, reply: Streamed) -> tuple[Any, ...]:
    whole = not reply.reason
    by = "" if not whole else "pieces" if reply.tokens_out is None else "endpoint"
    tokens = math.nan if not whole else reply.pieces if reply.tokens_out is None else reply.tokens_out
    spent = cost(target, reply.tokens_in, reply.tokens_out) if whole else None
    return (
        target.name,
        level,
        begun,
        reply.first if whole else math.nan,
        reply.seconds,
        math.nan if reply.tokens_in is None else reply.tokens_in,
        tokens,
        by,
        math.nan if spent is None else spent,
        reply.reason,
        reply.detail,
    )
