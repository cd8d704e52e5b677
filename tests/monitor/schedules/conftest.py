"""Schedules in a small workbench, a clock that tests move by hand, and what a run of an entry would do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evalbench.monitor.due import Standing
from evalbench.monitor.ledger import Ended, Ledger, opened
from evalbench.monitor.schedule import Schedule, read_schedule
from evalbench.readers.log_store.address import Address


class Clock:
    """A clock that is moved by hand."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def forward(self, **span: float) -> None:
        self.at += timedelta(**span)


class Carried:
    """In place of the studies: records what it was asked to run, and ends as it was set to."""

    def __init__(self) -> None:
        self.runs: list[Standing] = []
        self.ends = Ended("ok", "green", "0.9")

    def __call__(self, standing: Standing) -> Ended:
        self.runs.append(standing)
        return self.ends

    def of(self, name: str) -> list[Standing]:
        return [one for one in self.runs if one.entry.name == name]


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def carried() -> Carried:
    return Carried()


@pytest.fixture
def written(tmp_path: Path, root: Path) -> Callable[[str], Schedule]:
    """``written("entries: …")`` is the schedule of that text; the time zone is Berlin's unless it names one."""

    def write(text: str, name: str = "schedule.yaml") -> Schedule:
        path = tmp_path / name
        path.write_text(text if "timezone:" in text else f"timezone: Europe/Berlin\n{text}", encoding="utf-8")
        return read_schedule(path, root)

    return write


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return opened(Address(tmp_path / "due.sqlite"), make=True)
