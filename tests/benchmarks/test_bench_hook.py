"""What a logged call costs an application, while the store is up, slow or down, beside a line of ``logging`` through a queue."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from logging.handlers import QueueHandler, QueueListener
from queue import SimpleQueue
from typing import Any

import pytest
from benchmark_table import against, at_most
from timing import Race, alone

from evalbench.monitor import logged

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(300)]

CALLS, PAUSE_S, ROUNDS, MOST_ROUNDS = 1000, 0.0005, 3, 12
MEDIAN_US, P99_US = 30.0, 200.0
MESSAGES = [
    {"role": "system", "content": "You answer questions of customers about their orders, briefly. " * 5},
    {"role": "user", "content": "Where is the parcel that I ordered on Monday, and when will it come? " * 3},
]
REPLY = {
    "choices": [{"message": {"content": "It left our store on Tuesday and will be with you on Friday. " * 5}, "finish_reason": "stop"}],
    "model": "kestrel-2-2026",
    "usage": {"prompt_tokens": 90, "completion_tokens": 70},
}  # fmt: skip


def create(*, messages: list[dict[str, str]], model: str, user: str) -> dict[str, Any]:
    return REPLY


def spent(call: Callable[[], object]) -> tuple[float, float]:
    """Median and 99th percentile of a call in µs, of the round that was disturbed least."""
    medians, high = [], []
    while len(medians) < ROUNDS or (len(medians) < MOST_ROUNDS and (min(medians) > MEDIAN_US or min(high) > P99_US)):
        took = []
        for _ in range(CALLS):
            time.sleep(PAUSE_S)
            start = time.perf_counter_ns()
            call()
            took.append(time.perf_counter_ns() - start)
        took.sort()
        medians.append(took[CALLS // 2] / 1000)
        high.append(took[CALLS * 99 // 100] / 1000)
    return min(medians), min(high)


def slow(table: str, rows: list[dict[str, Any]]) -> None:
    time.sleep(0.5)


def down(table: str, rows: list[dict[str, Any]]) -> None:
    raise ConnectionError("the store is down")


def ours(state: str) -> tuple[float, float]:
    logging.getLogger("evalbench.monitor").disabled = True
    with tempfile.TemporaryDirectory() as folder:
        store: Any = {"up": f"{folder}/log.sqlite", "slow": slow, "down": down}[state]
        with logged(store, key=b"a key of the benchmark", exit_timeout=0.1) as log:
            asked = log(create)
            return spent(lambda: asked(messages=MESSAGES, model="kestrel-2", user="anna"))


def peer() -> tuple[float, float]:
    """The standard library's way: a record with the same texts into a queue, a thread that writes it into a file."""
    queue: SimpleQueue[Any] = SimpleQueue()
    logger = logging.getLogger("peer")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(QueueHandler(queue))
    with tempfile.NamedTemporaryFile("w") as file:
        listener = QueueListener(queue, logging.StreamHandler(file))
        listener.start()
        said = REPLY["choices"][0]["message"]["content"]
        took = spent(lambda: logger.info("%s %s %s %s", "kestrel-2", "anna", MESSAGES, said))
        listener.stop()
    return took


@pytest.mark.parametrize("state", ["up", "slow", "down"])
def test_a_logged_call_costs_microseconds_whatever_the_store_does(record, state):
    median, high = alone(ours, state)
    record(at_most(f"a logged call, store {state}: median", median, MEDIAN_US, "µs"))
    record(at_most(f"a logged call, store {state}: 99th percentile", high, P99_US, "µs"))


def test_a_logged_call_beside_a_line_of_logging(record):
    median, _ = alone(ours, "up")
    theirs, _ = alone(peer)
    record(against("a logged call, median", Race(median / 1e6, theirs / 1e6, 1), "a line through QueueHandler", 0.5))
