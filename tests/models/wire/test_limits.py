"""No window of a minute ever holds more than the limit; every thread shares it."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.models.llm import Limits, model
from evalbench.models.wire.limits import Limiter, estimated_tokens, limiter

ROUNDING = 1e-6


@pytest.mark.parametrize("share", ["0", "1.5", "half", "nan"])
def test_shares_that_are_none(monkeypatch, share):
    monkeypatch.setenv("EVALBENCH_LIMIT_SHARE", share)
    with pytest.raises(BadInput, match="EVALBENCH_LIMIT_SHARE"):
        limiter(model(f"http://127.0.0.1:1/v1#never-{share}"))


def sent_at(limits: Limits, requests: list[float], window: float, share: float = 1.0) -> list[float]:
    async def run() -> list[float]:
        gate, times = Limiter(limits, share=share, window=window), []

        async def one(tokens: float) -> None:
            times.append((await gate.acquire(tokens)).at)

        await asyncio.gather(*(one(tokens) for tokens in requests))
        return sorted(times)

    return asyncio.run(run())


def test_requests_per_window():
    times = sent_at(Limits(requests_per_minute=5), [1.0] * 14, window=0.2)
    assert all(later - earlier >= 0.2 - ROUNDING for earlier, later in zip(times, times[5:], strict=False))
    assert times[-1] - times[0] < 10


def test_a_share_of_the_limit():
    times = sent_at(Limits(requests_per_minute=8), [1.0] * 4, window=0.2, share=0.25)
    assert all(later - earlier >= 0.2 - ROUNDING for earlier, later in zip(times, times[2:], strict=False))


@settings(max_examples=10)
@given(st.lists(st.floats(1, 60), min_size=1, max_size=8))
def test_tokens_per_window(tokens):
    """With a limit of 100 no window holds more, whatever the sizes."""

    async def run() -> list[tuple[float, float]]:
        gate, sent = Limiter(Limits(tokens_per_minute=100), window=0.05), []
        for size in tokens:
            sent.append(((await gate.acquire(size)).at, size))
        return sent

    sent = asyncio.run(run())
    for start, _ in sent:
        assert sum(size for at, size in sent if start <= at < start + 0.05 - ROUNDING) <= 100


def test_one_request_above_the_limit_goes_alone():
    times = sent_at(Limits(tokens_per_minute=10), [50.0, 50.0], window=0.1)
    assert times[1] - times[0] >= 0.1 - ROUNDING


def test_the_count_of_the_endpoint_replaces_the_estimate():
    async def run() -> float:
        gate = Limiter(Limits(tokens_per_minute=100), window=60)
        first = await gate.acquire(90)
        gate.settle(first, 10)
        started = time.monotonic()
        await gate.acquire(80)
        return time.monotonic() - started

    assert asyncio.run(run()) < 30


def test_no_limits_no_waiting_and_one_limiter_per_endpoint():
    target = model("http://127.0.0.1:1/v1#m")
    assert limiter(target) is limiter(target)
    assert asyncio.run(limiter(target).acquire(1e9)) is None


def test_estimates_are_on_the_high_side():
    assert estimated_tokens("word " * 300, 100) > 300 + 100
    assert estimated_tokens("", None) == 256
