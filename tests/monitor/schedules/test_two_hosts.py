"""Several processes with one real database: each due time is run once, also where a process is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evalbench.monitor.carrying import standings
from evalbench.monitor.ledger import Ledger, opened
from evalbench.monitor.schedule import Schedule, read_schedule
from evalbench.readers.log_store.address import address_of

pytestmark = pytest.mark.slow

# One host: it calls again and again while some hours pass by a fast clock that all share, and writes down what it ran.
HOST = """
import json, sys, time
from datetime import datetime, timedelta, UTC
from pathlib import Path
from evalbench.monitor.carrying import carry_out
from evalbench.monitor.ledger import Ended, opened
from evalbench.monitor.schedule import read_schedule
from evalbench.readers.log_store.address import address_of

path, place, host, hours, rate, pause = sys.argv[1:]
schedule, ledger, log = read_schedule(Path(path)), opened(address_of(place)), Path(path).with_name(f"ran-{host}")
begin = datetime(2026, 3, 27, tzinfo=UTC)

def carry(standing):
    with log.open("a") as file:
        file.write(json.dumps([standing.entry.name, standing.due.isoformat(), standing.missed]) + "\\n")
    time.sleep(float(pause))
    return Ended("ok", "green")

print("ready", flush=True)
began = float(sys.stdin.readline())
end = begin + timedelta(hours=float(hours))
clock = lambda: min(end, begin + timedelta(hours=(time.time() - began) * float(rate)))
at = begin
while at < end:
    at = clock()
    carry_out(schedule, ledger, carry, clock=clock, owner=host)
"""
RATE = 8.0  # hours a second: a lease of 600 minutes is over in 1.25 s
ENTRIES = """timezone: Europe/Berlin
lease: 600
entries:
  - {name: daily, cron: "30 2 * * *", suite: s.yaml}
  - {name: hourly, cron: "15 * * * *", suite: s.yaml}
"""


@pytest.fixture
def shared(tmp_path: Path, log_place: str) -> tuple[Schedule, str]:
    """A schedule that has been looked at once, and its database."""
    (tmp_path / "s.yaml").write_text("runs: [{study: matching}]\n")
    path = tmp_path / "shared.yaml"
    path.write_text(ENTRIES)
    schedule = read_schedule(path)
    ledger = opened(address_of(log_place), make=True)
    standings(schedule, ledger, datetime(2026, 3, 27, tzinfo=UTC))
    ledger.close()
    return schedule, log_place


def started(schedule: Schedule, place: str, host: str, hours: int, pause: float = 0.0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOST, str(schedule.path), place, host, str(hours), str(RATE), str(pause)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def let_go(hosts: list[subprocess.Popen[str]], began: float | None = None) -> float:
    """Wait until all are ready, then start all at once; when their clock began."""
    for host in hosts:
        assert host.stdout
        assert host.stdout.readline() == "ready\n"
    began = began or time.time()
    for host in hosts:
        assert host.stdin
        host.stdin.write(f"{began}\n")
        host.stdin.flush()
    return began


def ran(schedule: Schedule, host: str = "*") -> list[tuple[str, datetime, int]]:
    lines = [line for path in schedule.base.glob(f"ran-{host}") for line in path.read_text().splitlines()]
    found = [json.loads(line) for line in lines]
    return [(name, datetime.fromisoformat(due), missed) for name, due, missed in found]


def history(place: str, schedule: Schedule) -> tuple[Ledger, Counter[str]]:
    ledger = opened(address_of(place))
    return ledger, Counter(past.status for past in ledger.history(schedule.name))


@pytest.mark.parametrize("n", [2, 4])
def test_hosts_at_the_same_time_do_not_run_it_twice(shared, n):
    schedule, place = shared
    hours = 48 if n > 2 else 12
    hosts = [started(schedule, place, f"host-{i}", hours) for i in range(n)]
    let_go(hosts)
    assert [host.wait(timeout=120) for host in hosts] == [0] * n
    found = ran(schedule)
    assert max(Counter((name, due) for name, due, _ in found).values()) == 1
    for name, every in (("hourly", hours), ("daily", -(-hours // 24))):
        assert sum(1 + missed for entry, _, missed in found if entry == name) == every
    ledger, statuses = history(place, schedule)
    assert statuses == {"ok": len(found)}
    ledger.close()


def test_a_host_that_is_killed_is_taken_over_after_its_lease(shared):
    schedule, place = shared
    victim = started(schedule, place, "victim", 2, pause=600)
    began = let_go([victim])
    deadline = time.monotonic() + 60
    while not ran(schedule):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    other = started(schedule, place, "other", 24)
    let_go([other], began)
    assert other.wait(timeout=60) == 0
    ((name, due, _),), later = ran(schedule, "victim"), ran(schedule, "other")
    for entry, every in (("hourly", 24), ("daily", 1)):
        assert sum(1 + missed for one, _, missed in later if one == entry) == every
    ledger, statuses = history(place, schedule)
    assert statuses == {"died": 1, "ok": len(later)}
    lost = next(past for past in ledger.history(schedule.name) if past.status == "died")
    assert (lost.owner, lost.due) == ("victim", due)
    taken = next(past for past in ledger.history(schedule.name) if past.owner == "other" and past.entry == name)
    assert taken.started - lost.started >= timedelta(minutes=schedule.lease)
    ledger.close()
