"""A run that is under way gives signs; where its run was taken over it says so, and where a sign fails the next one comes."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from evalbench.monitor.carrying import _beating, standings

LEASE = timedelta(seconds=0.08)


@pytest.fixture
def claimed(written, ledger, tmp_path):
    (tmp_path / "s.yaml").write_text("runs: [{study: matching}]\n")
    schedule = written('entries: [{name: daily, cron: "* * * * *", suite: s.yaml, starts: 2026-01-01}]')
    (standing,), known = standings(schedule, ledger, datetime.now(UTC))
    claim = ledger.claim(schedule.name, standing, known["daily"], "host a", datetime.now(UTC), LEASE)
    return schedule, claim


def now():
    return datetime.now(UTC)


def until(true):
    deadline = time.monotonic() + 10
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert true()


def lease_of(schedule, ledger):
    _, known = standings(schedule, ledger, now())
    return known["daily"].lease_until


def test_signs_move_the_lease_ahead(claimed, ledger):
    schedule, claim = claimed
    first = lease_of(schedule, ledger)
    with _beating(ledger, claim, now, LEASE, pytest.fail):
        until(lambda: lease_of(schedule, ledger) > first + 3 * LEASE)


def test_a_run_that_was_taken_over_is_told(claimed, ledger):
    schedule, claim = claimed
    said = []
    with _beating(ledger, claim, now, LEASE, said.append):
        assert ledger.release(schedule.name, "daily", now())
        until(lambda: said)
    assert said == ["daily: another host has taken its run over; what this one finds does not count"]


def test_a_sign_that_fails_is_tried_again(claimed, ledger, monkeypatch):
    schedule, claim = claimed
    first, said, real = lease_of(schedule, ledger), [], type(ledger).beat
    failing = iter([True, True])

    def beat(self, *arguments):
        if next(failing, False):
            raise OSError("the network is away")
        return real(self, *arguments)

    monkeypatch.setattr(type(ledger), "beat", beat)
    with _beating(ledger, claim, now, LEASE, said.append):
        until(lambda: lease_of(schedule, ledger) > first + LEASE)
    assert said == ["daily: no sign could be given (OSError: the network is away); it is tried again"] * 2
