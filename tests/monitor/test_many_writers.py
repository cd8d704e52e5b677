"""Four processes write at once: no row is lost or doubled; one that is killed in the middle corrupts nothing."""

from __future__ import annotations

import signal
import sqlite3
import time

import pytest
from logged import ended, interaction, processes

from evalbench.monitor.store import LogStore
from evalbench.readers.log_store.log import Log

pytestmark = pytest.mark.slow

WRITERS, EACH = 4, 5_000
APPEND = """
from datetime import UTC, datetime
from evalbench.monitor.store import LogStore
place, me, n, size, shared = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
new = 0
with LogStore(place) as log:
    for start in range(0, n, size):
        ids = [f"{'all' if shared else me}-{i}" for i in range(start, min(start + size, n))]
        new += log.append([{"id": id, "ts": datetime.now(UTC), "request": "q" * 50, "response": me} for id in ids]).new
        if start == 0:
            print("begun", flush=True)
print(new)
"""


def test_none_is_lost_and_none_is_doubled(log_place):
    with LogStore(log_place, create=True) as log:
        log.count()
    sizes = [1 if i < 2 else 20 * i for i in range(WRITERS)]
    said = ended(processes(APPEND, [(log_place, f"p{i}", EACH, size, 0) for i, size in enumerate(sizes)]))
    assert [int(out.split()[-1]) for out in said] == [EACH] * WRITERS
    with Log(log_place) as log:
        ids = [id for batch in log.batches(columns=["id"]) for id in batch["id"].to_pylist()]
    assert len(ids) == WRITERS * EACH
    assert set(ids) == {f"p{i}-{j}" for i in range(WRITERS) for j in range(EACH)}


def test_rows_that_all_append_are_there_once(log_place):
    with LogStore(log_place, create=True) as log:
        log.count()
    said = ended(processes(APPEND, [(log_place, f"p{i}", 2000, 50, 1) for i in range(WRITERS)]))
    assert sum(int(out.split()[-1]) for out in said) == 2000
    with Log(log_place) as kept:
        assert kept.count() == 2000


def test_a_writer_that_is_killed_corrupts_nothing(log_place):
    with LogStore(log_place, create=True) as log:
        log.count()
    endless = 100 * EACH  # so that it is killed before its end, on whatever machine
    started = processes(APPEND, [(log_place, f"p{i}", EACH if i else endless, 50, 0) for i in range(WRITERS)])
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
    time.sleep(0.3)
    started[0].kill()
    started[0].communicate()
    assert started[0].returncode == -signal.SIGKILL
    ended(started[1:])
    with LogStore(log_place) as log:
        ids = [row["id"] for row in log.rows()]
        assert len(ids) == len(set(ids))
        left = [id for id in ids if id.startswith("p0-")]
        assert len(ids) - len(left) == (WRITERS - 1) * EACH
        assert len(left) % 50 == 0, "half of a transaction is there"
        assert log.append([interaction(1)]).new == 1
    if "://" not in log_place:
        with sqlite3.connect(log_place) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_server_that_loses_power_has_what_was_appended(postgresql):
    place = postgresql.database()
    postgresql.kill()
    postgresql.start(fsync="on")
    try:
        with LogStore(place, create=True) as log:
            log.append([interaction(i) for i in range(100)])
            postgresql.kill()
            postgresql.start()
            assert log.append([interaction(i) for i in range(90, 110)]) == (10, 10)
            assert log.count() == 110
    finally:
        postgresql.kill()
        postgresql.start()
