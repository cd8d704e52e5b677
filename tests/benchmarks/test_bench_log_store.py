"""Eight processes append to one log store at once: rows a second, the longest that one of them waits, and none lost."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmark_table import at_least, at_most
from logged import processes

from evalbench.monitor.store import LogStore

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(300)]

WRITERS, SINGLE_ROWS, BATCHED_ROWS = 8, 1_000, 5_000
SQLITE_PER_SECOND, LONGEST_WAIT_S, ROUNDS = (3_000, 12_000), 2.0, 3
SERVER_PER_SECOND = (500, 3_000)  # whatever its disk: the test server does not wait for it
APPEND = """
import itertools, json, random, time
from datetime import UTC, datetime
from evalbench.monitor.store import LogStore

place, me, n, least, most = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
draw = random.Random(me)
question, answer = "What are the opening hours? " * 8, "From nine to five, and on Saturdays from ten to two. " * 8
waits, done = [], 0
with LogStore(place) as log:
    log.count()
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.monotonic()
    while done < n:
        size = min(draw.randint(least, most), n - done)
        now = datetime.now(UTC)
        rows = [{"id": f"{me}-{done + i}", "ts": now, "request": question, "response": answer, "model": "kestrel-2",
                 "latency": 0.8, "input_tokens": 60, "output_tokens": 90} for i in range(size)]
        start = time.perf_counter()
        log.append(rows)
        waits.append(time.perf_counter() - start)
        done += size
print(json.dumps([began, time.monotonic(), max(waits)]))
"""


def appended(place: str, each: int, least: int, most: int) -> tuple[float, float]:
    """Rows a second of all processes together, and the longest append of any; fails where a row is lost or doubled."""
    with LogStore(place, create=True) as log:
        before = log.count()
    prefix = f"{least}-{most}"
    started = processes(APPEND, [(place, f"{prefix}-p{i}", each, least, most) for i in range(WRITERS)], stdin=-1)
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=200) for process in started]
    assert [process.returncode for process in started] == [0] * WRITERS, [err[-1000:] for _, err in said]
    began, ended, waits = zip(*(json.loads(out) for out, _ in said), strict=True)
    with LogStore(place) as log:
        assert log.count() - before == WRITERS * each
    return WRITERS * each / (max(ended) - min(began)), max(waits)


def measured(places: Iterator[str], goals: tuple[int, int]) -> tuple[float, float, float]:
    """Rows a second one by one and in batches, and the longest append, of the round that was disturbed least."""
    found: list[tuple[float, float, float]] = []
    while len(found) < ROUNDS:
        place = next(places)
        single, wait = appended(place, SINGLE_ROWS, 1, 1)
        batched, wait_of_batches = appended(place, BATCHED_ROWS, 20, 100)
        found.append((single, batched, max(wait, wait_of_batches)))
        if single >= goals[0] and batched >= goals[1] and found[-1][2] <= LONGEST_WAIT_S:
            break
    one_by_one, in_batches, longest = zip(*found, strict=True)
    return max(one_by_one), max(in_batches), min(longest)


def test_eight_processes_on_sqlite(record: Callable[[Any], None], tmp_path: Path) -> None:
    places = (str(tmp_path / f"{i}.sqlite") for i in itertools.count())
    single, batched, longest = measured(places, SQLITE_PER_SECOND)
    record(at_least("log store: 8 processes on SQLite, one row a transaction", single, SQLITE_PER_SECOND[0], "/s"))
    record(at_least("log store: 8 processes on SQLite, batches of 20 to 100 rows", batched, SQLITE_PER_SECOND[1], "/s"))
    record(at_most("log store: longest append of 8 processes on SQLite", longest, LONGEST_WAIT_S, "s"))


def test_eight_processes_on_postgresql(record: Callable[[Any], None], postgresql: Any) -> None:
    places = iter(postgresql.database, None)
    single, batched, longest = measured(places, SERVER_PER_SECOND)
    name = "log store: 8 processes on PostgreSQL"
    record(at_least(f"{name}, one row a transaction", single, SERVER_PER_SECOND[0], "/s"))
    record(at_least(f"{name}, batches of 20 to 100 rows", batched, SERVER_PER_SECOND[1], "/s"))
    record(at_most("log store: longest append of 8 processes on PostgreSQL", longest, LONGEST_WAIT_S, "s"))
