"""How much our collecting costs beside a bare loop, and how fast kept replies come back."""

from __future__ import annotations

import asyncio
import importlib.util
import statistics
import sys
import time
from pathlib import Path

import openai
import pytest

from evalbench.models.collect import collect, run_sync
from evalbench.models.exchange import Request

pytestmark = pytest.mark.benchmark

CALLS, AT_ONCE, DELAY_S, ROUNDS = 1000, 32, 0.05, 5
MOST_OVERHEAD, LEAST_CACHED_PER_SECOND = 1.1, 5000


def _fault_server():
    """The loopback server of the model tests, loaded by its path: tests are no package."""
    path = Path(__file__).parent.parent / "models" / "faultserver.py"
    spec = importlib.util.spec_from_file_location("faultserver", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["faultserver"] = module
    spec.loader.exec_module(module)
    return module.fault_server


def _prompts(round_: int) -> list[str]:
    return [
        f"round {round_}, question {i}: " + "what is the colour of the sky at noon? " * 5
        for i in range(CALLS)
    ]


async def _bare(prompts: list[str], url: str) -> list[str]:
    """The least that a loop over the client can do: workers that take the next prompt."""
    queue = iter(prompts)
    answers = []

    async def work() -> None:
        for prompt in queue:
            completion = await client.chat.completions.create(
                model="tiny", messages=[{"role": "user", "content": prompt}], temperature=0.0
            )
            answers.append(completion.choices[0].message.content)

    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, timeout=60) as client:
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return answers


def _seconds_bare(prompts: list[str], url: str) -> float:
    started = time.perf_counter()
    assert len(run_sync(_bare(prompts, url))) == len(prompts)
    return time.perf_counter() - started


def _seconds_ours(prompts: list[str], url: str, cache: Path) -> float:
    started = time.perf_counter()
    replies = collect([Request(p) for p in prompts], url + "#tiny", concurrency=AT_ONCE, cache=cache)
    took = time.perf_counter() - started
    assert [reply.text for reply in replies] == ["fine"] * len(prompts)
    return took


def test_collecting_costs_at_most_a_tenth_more_than_a_bare_loop(tmp_path):
    """Median of paired rounds, each first in turn: the machine's other work falls on both."""
    ratios = []
    with _fault_server()(delay=DELAY_S) as server:
        _seconds_bare(_prompts(-1)[:50], server.url)
        _seconds_ours(_prompts(-2)[:50], server.url, tmp_path / "c.sqlite")
        for round_ in range(ROUNDS):
            prompts = _prompts(round_)
            if round_ % 2:
                bare = _seconds_bare(prompts, server.url)
                ours = _seconds_ours(prompts, server.url, tmp_path / "c.sqlite")
            else:
                ours = _seconds_ours(prompts, server.url, tmp_path / "c.sqlite")
                bare = _seconds_bare(prompts, server.url)
            ratios.append(ours / bare)
            print(f"bare {bare:.2f} s, ours {ours:.2f} s, ratio {ours / bare:.3f}")
    assert statistics.median(ratios) <= MOST_OVERHEAD, ratios


def test_kept_replies_come_back_at_5000_a_second(tmp_path):
    requests = [Request(p) for p in _prompts(0)] + [Request(p) for p in _prompts(1)]
    with _fault_server()() as server:
        name = server.url + "#tiny"
        collect(requests, name, concurrency=AT_ONCE, cache=tmp_path / "c.sqlite")
        rates = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            replies = collect(requests, name, cache=tmp_path / "c.sqlite")
            rates.append(len(replies) / (time.perf_counter() - started))
            assert all(reply.cached and reply.text == "fine" for reply in replies)
        print(f"kept replies per second: {statistics.median(rates):.0f}")
        assert server.stats()["requests"] == len(requests)
    assert statistics.median(rates) >= LEAST_CACHED_PER_SECOND, rates
