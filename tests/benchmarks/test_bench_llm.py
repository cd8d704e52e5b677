"""How much our collecting costs beside a bare loop, and how fast kept replies come back."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

import openai
import pytest
from benchmark_table import against, at_least
from faultserver import fault_server
from timing import Race, alone, least, race

from evalbench.models.chat.collect import collect, run_sync
from evalbench.models.exchange import Request

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

CALLS, AT_ONCE, DELAY_S = 1000, 32, 0.05
MOST_OVERHEAD, LEAST_CACHED_PER_SECOND = 1.1, 5000


def prompts(round_: int) -> list[str]:
    return [f"round {round_}, question {i}: " + "what is the colour of the sky at noon? " * 5 for i in range(CALLS)]


async def bare(url: str, asked: list[str]) -> list[str]:
    """The least that a loop over the client can do: workers that take the next prompt."""
    queue = iter(asked)
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


def overhead() -> Race:
    with fault_server(delay=DELAY_S) as server, tempfile.TemporaryDirectory() as folder:

        def theirs(round_: int) -> None:
            assert run_sync(bare(server.url, prompts(round_))) == ["fine"] * CALLS

        def ours(round_: int) -> None:
            asked = [Request(p) for p in prompts(round_)]
            replies = collect(asked, server.url + "#tiny", concurrency=AT_ONCE, cache=Path(folder) / "c.sqlite")
            assert [reply.text for reply in replies] == ["fine"] * CALLS

        for warm_up in (theirs, ours):
            warm_up(-1)
        return race(ours, theirs, goal=1 / MOST_OVERHEAD, clock=time.perf_counter, rounds=3, most=6)


def test_collecting_costs_at_most_a_tenth_more_than_a_bare_loop(record):
    took = Race(*alone(overhead))
    record(against(f"{CALLS} calls, {AT_ONCE} at once", took, "a bare loop", 1 / MOST_OVERHEAD))


def kept_per_second() -> float:
    asked = [Request(p) for p in prompts(0) + prompts(1)]
    with fault_server() as server, tempfile.TemporaryDirectory() as folder:

        def collected() -> None:
            replies = collect(asked, server.url + "#tiny", concurrency=AT_ONCE, cache=Path(folder) / "c.sqlite")
            assert all(reply.text == "fine" for reply in replies)

        collected()
        took = least(collected, goal=len(asked) / LEAST_CACHED_PER_SECOND, clock=time.perf_counter, rounds=5)
        assert server.stats()["requests"] == len(asked)
    return len(asked) / took


def test_kept_replies_come_back_at_5000_a_second(record):
    rate = alone(kept_per_second)
    record(at_least("kept replies", rate, LEAST_CACHED_PER_SECOND, "/s"))
