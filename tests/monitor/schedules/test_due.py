"""A schedule by a fake clock: each run once, missed ones once, what failed again, whatever hosts and clocks do."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from evalbench.errors import BadInput
from evalbench.monitor.carrying import Rows, carry_out, standings
from evalbench.monitor.due import Known, due
from evalbench.monitor.ledger import Ended
from evalbench.monitor.occasions import next_times

DAILY = 'entries: [{name: daily, cron: "0 6 * * *", suite: s.yaml}]'
YEAR = """
entries:
  - {name: night, cron: "30 2 * * *", suite: s.yaml}
  - {name: week, cron: "0 7 * * MON", suite: s.yaml}
  - {name: month, cron: "15 4 1 * *", suite: s.yaml}
"""


@pytest.fixture(autouse=True)
def suite(tmp_path):
    (tmp_path / "s.yaml").write_text("runs: [{study: matching}]\n")


def called(schedule, ledger, carried, clock, **options):
    return carry_out(schedule, ledger, carried, clock=clock, **options)


def of_year(schedule, name, until):
    entry = schedule.entry(name)
    times = next_times(entry.cron, schedule.zone, datetime(2026, 1, 1, tzinfo=UTC), 400)
    return [at for at in times if at <= until]


def test_a_month_around_a_change_of_clocks(written, ledger, clock, carried):
    schedule = written(YEAR)
    clock.at = datetime(2026, 3, 10, tzinfo=UTC)
    for _ in range(31 * 4):
        called(schedule, ledger, carried, clock)
        clock.forward(hours=6)
    nights = [one.due.astimezone(schedule.zone).strftime("%d %H:%M") for one in carried.of("night")]
    assert len(nights) == len({day.split()[0] for day in nights}) == 31
    assert "29 03:00" in nights
    assert {one.missed for one in carried.runs} == {0}


@pytest.mark.slow
def test_a_year_of_two_hosts_with_outages(written, ledger, clock, carried):
    """Whenever and from wherever it is called: no due time twice, and after an outage one run for all that was missed."""
    schedule, draw = written(YEAR), random.Random(0)
    calls, end = [clock.at], datetime(2026, 12, 31, 22, tzinfo=UTC)
    while clock.at < end:
        hosts = draw.sample(["a", "b"], draw.choice([1, 2]))
        for host in hosts:
            called(schedule, ledger, carried, clock, owner=host)
        calls.append(clock.at)
        clock.forward(hours=240 if draw.random() < 0.01 else draw.uniform(0.1, 8))
    assert max(Counter((one.entry.name, one.due) for one in carried.runs).values()) == 1
    for name in ("night", "week", "month"):
        expected = of_year(schedule, name, calls[-1])
        runs = carried.of(name)
        assert sum(1 + one.missed for one in runs) == len(expected)
        spans = pairwise(calls)
        last_of_each = [max(late) for a, b in spans if (late := [at for at in expected if a < at <= b])]
        assert [one.due for one in runs] == last_of_each


def test_the_first_look_registers_and_runs_nothing(written, ledger, clock, carried):
    schedule = written(DAILY)
    clock.at = datetime(2026, 1, 1, 5, 0, 2, tzinfo=UTC)  # two seconds after it was due
    assert not called(schedule, ledger, carried, clock)
    clock.forward(days=1)
    (done,) = called(schedule, ledger, carried, clock)
    assert done.standing.due == datetime(2026, 1, 2, 5, tzinfo=UTC)


def test_starts_counts_from_a_date(written, ledger, clock, carried):
    schedule = written('entries: [{name: daily, cron: "0 6 * * *", suite: s.yaml, starts: 2025-12-28}]')
    (done,) = called(schedule, ledger, carried, clock)
    assert (done.standing.missed, done.standing.because) == (
        3,
        "due 2025-12-31 06:00 CET; one run for all 4 due times since 2025-12-28 06:00 CET",
    )


def test_looking_writes_nothing(written, ledger, clock):
    schedule = written(DAILY)
    for _ in range(2):
        (found,), known = standings(schedule, ledger, clock(), keep=False)
        clock.forward(days=2)
        assert (found.state, known["daily"].version) == ("waiting", 0)
        assert found.next.astimezone(ZoneInfo("Europe/Berlin")).hour == 6


def test_a_failed_run_is_tried_again_and_then_given_up(written, ledger, clock, carried):
    schedule = written("retries: 2\nretry_after: 30\n" + DAILY)
    called(schedule, ledger, carried, clock)
    carried.ends = Ended("failed", said="no model")
    clock.forward(hours=6)
    assert [done.ended.status for done in called(schedule, ledger, carried, clock)] == ["failed"]
    clock.forward(minutes=29)
    assert not called(schedule, ledger, carried, clock)
    (waits,), _ = standings(schedule, ledger, clock())
    assert (waits.state, waits.because) == ("retry", "the run before it failed; attempt 2 from 2026-01-01 07:30 CET")
    clock.forward(minutes=1)
    assert called(schedule, ledger, carried, clock)
    clock.forward(minutes=30)
    called(schedule, ledger, carried, clock)
    assert [one.attempt for one in carried.runs] == [1, 2, 3]
    assert carried.runs[-1].because == "due 2026-01-01 06:00 CET; attempt 3: the run before it failed"
    clock.forward(hours=10)
    assert not called(schedule, ledger, carried, clock)
    carried.ends = Ended("ok", "green")
    clock.forward(hours=14)
    (done,) = called(schedule, ledger, carried, clock)
    assert (done.standing.attempt, done.standing.missed) == (1, 0)


def test_a_retry_that_succeeds_ends_it(written, ledger, clock, carried):
    schedule = written(DAILY)
    called(schedule, ledger, carried, clock)
    clock.forward(hours=6)
    carried.ends = Ended("failed")
    called(schedule, ledger, carried, clock)
    carried.ends = Ended("ok", "green")
    clock.forward(minutes=10)
    called(schedule, ledger, carried, clock)
    clock.forward(minutes=10)
    assert not called(schedule, ledger, carried, clock)
    assert [past.status for past in ledger.history(schedule.name)] == ["failed", "ok"]


def test_each_entry_has_its_last_runs_and_older_ones_are_forgotten(written, ledger, clock, carried, monkeypatch):
    monkeypatch.setattr("evalbench.monitor.ledger.KEPT", 3)
    schedule = written(
        "entries:\n  - {name: often, cron: '0 * * * *', suite: s.yaml}\n  - {name: seldom, cron: '0 6 * * *', suite: s.yaml}\n"
    )
    called(schedule, ledger, carried, clock)
    for _ in range(8):
        clock.forward(hours=1)
        called(schedule, ledger, carried, clock)
    kept = ledger.history(schedule.name)
    assert [(past.entry, past.due.hour) for past in kept] == [("seldom", 5), ("often", 6), ("often", 7), ("often", 8)]
    assert [past.entry for past in ledger.history(schedule.name, 1)] == ["seldom", "often"]
    assert ledger.lights(schedule.name, "often", clock()) == ("green",)


def test_a_new_due_time_takes_the_place_of_one_that_failed(written, ledger, clock, carried):
    schedule = written("retries: 9\nretry_after: 2000\n" + DAILY)
    called(schedule, ledger, carried, clock)
    clock.forward(hours=6)
    carried.ends = Ended("failed")
    called(schedule, ledger, carried, clock)
    clock.forward(days=1)
    (done,) = called(schedule, ledger, carried, clock)
    assert (done.standing.attempt, done.standing.missed) == (1, 1)
    assert done.standing.because.endswith("; the run for 2026-01-01 06:00 CET did not succeed")


def test_a_run_that_was_killed_begins_again_after_its_lease(written, ledger, clock, carried):
    schedule = written(DAILY)
    called(schedule, ledger, carried, clock)
    clock.forward(hours=6)
    (standing,), known = standings(schedule, ledger, clock())
    lease = timedelta(minutes=schedule.lease)
    killed = ledger.claim(schedule.name, standing, known["daily"], "host b", clock(), lease)
    clock.forward(minutes=10)
    assert ledger.beat(killed, clock(), lease)
    clock.forward(minutes=10)  # 15 minutes were over 5 minutes ago, but it gave a sign
    assert not called(schedule, ledger, carried, clock)
    (waits,), _ = standings(schedule, ledger, clock())
    assert waits.state == "running"
    assert "host b runs it" in waits.because
    clock.forward(minutes=6)
    (done,) = called(schedule, ledger, carried, clock)
    assert done.standing.because == ("due 2026-01-01 06:00 CET; attempt 2: host b gave no sign before its lease ended")
    late = ledger.finish(killed, Ended("ok", "red"), standing, known["daily"], clock())
    assert late.status == "lost"  # it was not dead after all
    assert not ledger.beat(killed, clock(), lease)
    assert [(past.status, past.light) for past in ledger.history(schedule.name)] == [("lost", "red"), ("ok", "green")]


def test_runs_that_are_killed_every_time_are_given_up(written, ledger, clock, carried):
    schedule = written(DAILY)
    called(schedule, ledger, carried, clock)
    clock.forward(hours=6)
    for _ in range(2):
        (standing,), known = standings(schedule, ledger, clock())
        assert ledger.claim(schedule.name, standing, known["daily"], "host b", clock(), timedelta(minutes=15))
        clock.forward(minutes=16)
    (done,) = called(schedule, ledger, carried, clock)
    assert (done.ended.status, len(carried.runs)) == ("died", 0)
    assert not called(schedule, ledger, carried, clock)
    assert [past.status for past in ledger.history(schedule.name)] == ["died", "died"]


def test_what_stops_a_call_is_written_down_and_the_run_begins_again(written, ledger, clock, carried):
    schedule = written(DAILY)
    called(schedule, ledger, carried, clock)
    clock.forward(hours=6)

    def stopped(standing):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        called(schedule, ledger, stopped, clock)
    clock.forward(minutes=10)
    (done,) = called(schedule, ledger, carried, clock)
    assert done.standing.attempt == 2


def test_only_one_of_two_that_have_read_the_same_begins(written, ledger, clock):
    schedule = written(DAILY)
    standings(schedule, ledger, clock())
    clock.forward(hours=6)
    (standing,), known = standings(schedule, ledger, clock())
    claims = [
        ledger.claim(schedule.name, standing, known["daily"], host, clock(), timedelta(minutes=15)) for host in "ab"
    ]
    assert [claim is not None for claim in claims] == [True, False]


def test_a_clock_that_goes_back_runs_nothing_twice_and_says_so(written, ledger, clock, carried):
    schedule = written(DAILY)
    called(schedule, ledger, carried, clock)
    clock.forward(days=10)
    assert called(schedule, ledger, carried, clock)
    clock.forward(days=-5)
    assert not called(schedule, ledger, carried, clock)
    (found,), _ = standings(schedule, ledger, clock())
    assert found.because == "its last due time, 2026-01-10 06:00 CET, is in the future: a clock went back"


def test_a_lease_far_ahead_names_the_clock_and_can_be_ended(written, ledger, clock, carried):
    schedule = written(DAILY)
    called(schedule, ledger, carried, clock)
    clock.forward(hours=6)
    (standing,), known = standings(schedule, ledger, clock())
    ledger.claim(
        schedule.name, standing, known["daily"], "host b", clock() + timedelta(days=900), timedelta(minutes=15)
    )
    assert not called(schedule, ledger, carried, clock)
    (found,), _ = standings(schedule, ledger, clock())
    assert found.because.endswith("further ahead than a lease: a clock is wrong; --release frees it")
    assert ledger.release(schedule.name, "daily", clock())
    assert called(schedule, ledger, carried, clock)
    assert not ledger.release(schedule.name, "daily", clock())


def test_new_rows_make_due_and_count_from_the_last_run(written, ledger, clock, carried):
    schedule = written("store: log.sqlite\nentries: [{name: more, rows: 100, suite: s.yaml}]")
    arrived = [50]
    rows = Rows(lambda: arrived[0], lambda after: arrived[0] - after, lambda at: 0)
    assert not called(schedule, ledger, carried, clock, rows=rows)
    for total, runs in ((149, 0), (150, 1), (160, 1), (500, 2), (500, 2)):
        arrived[0] = total
        clock.forward(minutes=1)
        called(schedule, ledger, carried, clock, rows=rows)
        assert len(carried.runs) == runs
    assert carried.runs[0].because == "100 new rows since 2026-01-01 01:00 CET, 100 make it due"


def test_rows_count_from_the_time_at_which_an_entry_starts(written, ledger, clock, carried):
    entry = "{name: more, rows: 100, suite: s.yaml, starts: 2025-12-01}"
    schedule = written(f"store: log.sqlite\nentries: [{entry}]")
    asked = []
    rows = Rows(lambda: 500, lambda after: 500 - after, lambda at: asked.append(at) or 380)
    called(schedule, ledger, carried, clock, rows=rows)
    assert carried.runs[0].because == "120 new rows since 2025-12-01 00:00 CET, 100 make it due"
    assert set(asked) == {datetime(2025, 11, 30, 23, tzinfo=UTC)}


def test_rows_whose_run_fails_are_tried_again_and_not_at_every_call(written, ledger, clock, carried):
    schedule = written("store: log.sqlite\nentries: [{name: more, rows: 100, suite: s.yaml}]")
    arrived = [0]
    rows = Rows(lambda: arrived[0], lambda after: arrived[0] - after, lambda at: 0)
    called(schedule, ledger, carried, clock, rows=rows)
    arrived[0], carried.ends = 150, Ended("failed")
    for _ in range(60):
        clock.forward(minutes=1)
        called(schedule, ledger, carried, clock, rows=rows)
    assert [one.attempt for one in carried.runs] == [1, 2]


LIGHTS = """
entries:
  - {name: drift, cron: "0 * * * *", suite: s.yaml}
  - {name: closer, after_light: {entry: drift, to: [red]}, suite: s.yaml}
  - {name: any, after_light: {entry: drift}, suite: s.yaml}
"""


def test_a_changed_light_makes_due_in_the_same_call(written, ledger, clock, carried):
    schedule = written(LIGHTS)
    told = []
    for light in ("green", "green", "yellow", "red", "red", "grey", "green"):
        called(schedule, ledger, carried, clock)
        carried.ends = Ended("ok", light)
        clock.forward(hours=1)
        told.append((light, [done.standing.entry.name for done in called(schedule, ledger, carried, clock)]))
    assert told == [
        ("green", ["drift"]),
        ("green", ["drift"]),
        ("yellow", ["drift", "any"]),
        ("red", ["drift", "closer", "any"]),
        ("red", ["drift"]),
        ("grey", ["drift", "any"]),
        ("green", ["drift", "any"]),
    ]
    assert carried.of("closer")[0].because == "the light of drift changed from yellow to red"


def test_a_change_between_two_looks_is_not_lost(written, ledger, clock, carried):
    schedule = written(LIGHTS)
    called(schedule, ledger, carried, clock)
    for light in ("green", "red", "green"):
        carried.ends = Ended("ok", light)
        clock.forward(hours=1)
        called(schedule, ledger, carried, clock, only=("drift",))
    called(schedule, ledger, carried, clock)
    assert len(carried.of("closer")) == 1


def test_bad_input_of_one_entry_does_not_stop_the_others(written, ledger, clock):
    schedule = written(YEAR)
    standings(schedule, ledger, clock())
    clock.forward(days=40)

    def carry(standing):
        if standing.entry.name == "night":
            raise BadInput("no such file")
        return Ended("ok", "green")

    done = called(schedule, ledger, carry, clock)
    assert [(one.standing.entry.name, one.ended.status) for one in done] == [
        ("night", "failed"),
        ("week", "ok"),
        ("month", "ok"),
    ]
    assert done[0].ended.said == "no such file"


def test_the_pure_function_needs_no_database(written):
    schedule = written(DAILY)
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    (found,) = due(schedule, {"daily": Known(now - timedelta(hours=10))}, now)
    assert (found.state, found.due.hour, found.next.day) == ("due", 4, 2)
