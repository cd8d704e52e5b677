"""Cron expressions in a time zone where clocks are changed, and windows at a due time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from evalbench.monitor import occasions
from evalbench.monitor.occasions import cron_fault, due_times, next_times, window_at, window_fault

BERLIN, KATHMANDU = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kathmandu")


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


def test_a_fixed_time_runs_once_a_day_all_year_whatever_the_clocks_do():
    times = next_times("30 2 * * *", BERLIN, utc(2025, 12, 31, 23), 365)
    assert len({at.astimezone(BERLIN).date() for at in times}) == 365
    local = [at.astimezone(BERLIN) for at in times]
    odd = [at.strftime("%m-%d %H:%M") for at in local if (at.hour, at.minute) != (2, 30)]
    assert odd == ["03-29 03:00"]  # 02:30 is left out that night: right after the hour that is missing
    assert times[297] == utc(2026, 10, 25, 0, 30)  # the first of the two


@pytest.mark.parametrize(
    ("after", "until", "n"),
    [
        (utc(2026, 3, 29, 0, 15), utc(2026, 3, 29, 2, 15), 4),  # four times half an hour that passed
        (utc(2026, 10, 24, 23, 45), utc(2026, 10, 25, 2, 15), 5),  # the hour that comes twice counts twice
    ],
)
def test_steps_follow_the_time_that_passes(after, until, n):
    assert due_times("*/30 * * * *", BERLIN, after, until).n == n


def test_from_within_the_hour_that_comes_twice():
    in_the_second = utc(2026, 10, 25, 1, 10)  # 02:10 for the second time
    assert due_times("30 2 * * *", BERLIN, in_the_second, utc(2026, 10, 25, 12)).n == 0
    assert due_times("30 2 * * *", BERLIN, utc(2026, 10, 24, 12), in_the_second).n == 1


def test_two_times_in_the_hour_that_is_left_out_are_one():
    found = due_times("0,30 2 * * *", BERLIN, utc(2026, 3, 28, 12), utc(2026, 3, 29, 12))
    assert (found.n, found.last) == (1, utc(2026, 3, 29, 1))


def test_other_offsets():
    assert next_times("0 6 * * *", KATHMANDU, utc(2026, 1, 1), 1) == [utc(2026, 1, 1, 0, 15)]


def test_the_end_of_a_span_counts_and_its_beginning_does_not():
    six = utc(2026, 1, 2, 6)
    assert due_times("0 6 * * *", ZoneInfo("UTC"), six - timedelta(days=1), six).n == 1
    assert due_times("0 6 * * *", ZoneInfo("UTC"), six, six + timedelta(hours=23)).n == 0


@pytest.mark.parametrize("expression", ["* * * * *", "* * * 1 *"])
def test_an_outage_of_decades_ends_in_time_with_the_last_due_time(monkeypatch, expression):
    monkeypatch.setattr(occasions, "MOST", 5_000)
    until = utc(2026, 2, 10, 12)
    found = due_times(expression, BERLIN, until - timedelta(days=9_000), until)
    assert found.n == 5_001
    assert found.last == (until if "1" not in expression else utc(2026, 1, 31, 22, 59))


@pytest.mark.parametrize(
    "expression",
    ["", "* * * *", "0 0 6 * * *", "60 * * * *", "0 6 31 2 *", "@daily", 5, None, "0 6 * * 8", "a b c d e"],
)
def test_expressions_that_are_refused(expression):
    assert "expected minute, hour" in cron_fault(expression)


@pytest.mark.parametrize(
    ("stated", "start", "end"),
    [
        ("last 24 hours", "2026-03-29T10:00", "2026-03-30T10:00"),
        ("last 1 day", "2026-03-29T10:00", "2026-03-30T10:00"),
        ("last 2 days", "2026-03-28T11:00", "2026-03-30T10:00"),  # 12:00 in Berlin, before the clocks were changed
        ("last 2 weeks", "2026-03-16T11:00", "2026-03-30T10:00"),
        ("last 1 month", "2026-02-28T11:00", "2026-03-30T10:00"),
        ("last 13 months", "2025-02-28T11:00", "2026-03-30T10:00"),
        ("previous day", "2026-03-28T23:00", "2026-03-29T22:00"),
        ("previous week", "2026-03-22T23:00", "2026-03-29T22:00"),
        ("previous month", "2026-01-31T23:00", "2026-02-28T23:00"),
        (["2026-01-01", "2026-04-01"], "2025-12-31T23:00", "2026-03-31T22:00"),
        (["2026-01-01T00:00Z", "2026-04-01T00:00+02:00"], "2026-01-01T00:00", "2026-03-31T22:00"),
    ],
)
def test_windows(stated, start, end):
    found = window_at(stated, utc(2026, 3, 30, 10), BERLIN)
    assert [at.strftime("%Y-%m-%dT%H:%M") for at in found] == [start, end]
    assert not window_fault(stated)


@pytest.mark.parametrize(
    "stated",
    [
        "last days",
        "last 0 days",
        "last 5 years",
        "30 days",
        30,
        ["2026-01-01"],
        ["a", "b"],
        None,
        ["2026-02-01", "2026-01-01"],
    ],
)
def test_windows_that_are_refused(stated):
    assert window_fault(stated)
