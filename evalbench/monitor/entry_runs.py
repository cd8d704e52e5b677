"""What an entry of a schedule runs for a due time: studies, a suite, or an export of the log store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.wording import counted
from evalbench.monitor.carrying import worst_light
from evalbench.monitor.chosen import read_chosen
from evalbench.monitor.due import Standing, shown_in
from evalbench.monitor.from_store import exported, log_window, window_columns, window_data
from evalbench.monitor.ledger import EMPTY, Ended
from evalbench.monitor.occasions import window_at
from evalbench.monitor.schedule import Entry, Schedule
from evalbench.readers.log_store.address import Address
from evalbench.readers.log_store.log import Log
from evalbench.readers.runs import PAGE
from evalbench.report.history import headline
from evalbench.runs.batch import Watcher, run_batch
from evalbench.runs.suite import Job, entry_jobs, read_suite
from evalbench.runs.tables import refuse_suite

if TYPE_CHECKING:
    from evalbench.runs.batch import Outcome

_STAMP = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True)
class Carrier:
    """Runs entries; what is common to all of them.

    - ``reports``: For entries that name no folder.
    - ``root``: The workbench.
    - ``workers``, ``scheduler``, ``timeout``, ``memory``: See :func:`evalbench.runs.batch.run_batch`.
    - ``watching``: Given the runs of an entry, a context whose value is the :class:`~evalbench.runs.batch.Watcher` that
      they report to.
    - ``outcomes``: Of all runs, as they end.
    """

    schedule: Schedule
    reports: Path
    root: Path | None
    workers: int | None
    scheduler: str | None
    timeout: float | None
    memory: int | None
    watching: Callable[[Sequence[Job]], AbstractContextManager[Watcher]]
    outcomes: list[Outcome]

    def __call__(self, standing: Standing) -> Ended:
        """Run an entry for its due time.

        Raises ``BadInput`` if it cannot start.
        """
        assert standing.due is not None
        if standing.entry.what == "export":
            return self._exported(standing.entry, standing.due)
        if nothing := self._nothing(standing.entry, standing.due):
            return Ended(EMPTY, "grey", nothing)
        jobs = self._jobs(standing.entry, standing.due)
        refuse_suite(jobs, standing.entry.name)
        with self.watching(jobs) as watcher:
            outcomes = run_batch(
                jobs,
                reports=standing.entry.out or self.reports,
                workers=self.workers,
                scheduler=self.scheduler,
                timeout=self.timeout,
                memory=self.memory,
                watcher=watcher,
            )
        self.outcomes.extend(outcomes)
        return ended_of(outcomes)

    def _nothing(self, entry: Entry, due: datetime) -> str:
        """Which of an entry's windows have no interactions; empty where each has some."""
        stated = {"": entry.window} if entry.window is not None else entry.windows
        windows = {name: window_at(one, due, self.schedule.zone) for name, one in stated.items()}
        if not windows:
            return ""
        with Log(self._store().named) as log:
            empty = [
                " to ".join(shown_in(self.schedule, at) for at in window) + (f" ({name})" if name else "")
                for name, window in windows.items()
                if not log.count(log_window(window))
            ]
        return f"no interactions in the log from {', nor from '.join(empty)}" if empty else ""

    def _jobs(self, entry: Entry, due: datetime) -> tuple[Job, ...]:
        """The runs of an entry."""
        if entry.what == "suite":
            return read_suite(Path(entry.target), self.root)
        values = {"study": entry.target, **entry.batch}
        parameters = dict(values.get("parameters") or {})
        if entry.window is not None:
            window = window_at(entry.window, due, self.schedule.zone)
            values["data"] = window_data(self._store(), window)
            if renames := window_columns(entry.target):
                parameters["columns"] = {**renames, **(parameters.get("columns") or {})}
        if entry.windows:
            values["data"] = self._store().named
            parameters |= stated_windows(entry.windows, due, self.schedule)
        if entry.metrics_from:
            parameters["metrics"] = [one.metric for one in read_chosen(entry.metrics_from).monitored]
        return entry_jobs({**values, "parameters": parameters}, entry.name, self.schedule.base, self.root)

    def _store(self) -> Address:
        assert self.schedule.store is not None
        return self.schedule.store

    def _exported(self, entry: Entry, due: datetime) -> Ended:
        window = window_at(entry.window, due, self.schedule.zone) if entry.window is not None else None
        n = exported(self._store(), Path(entry.target), window)
        return Ended("ok", "", f"{counted(n, 'interaction')} to {entry.target}")


def stated_windows(windows: Mapping[str, Any], due: datetime, schedule: Schedule) -> dict[str, str]:
    """Windows at a due time as the parameters of a study."""
    found: dict[str, str] = {}
    for name, stated in windows.items():
        window = window_at(stated, due, schedule.zone)
        for end, at in zip(("from", "to"), window, strict=True):
            found[f"{name}_{end}"] = at.isoformat().replace("+00:00", "Z")
    return found


def ended_of(outcomes: Sequence[Outcome]) -> Ended:
    """How an entry ended, by how its runs did: failed where one of them did."""
    failed = [outcome for outcome in outcomes if not outcome.ok]
    light = worst_light([str(outcome.results["light"]) for outcome in outcomes if outcome.results])
    pages = [str(outcome.folder / PAGE) for outcome in outcomes]
    if failed:
        said = f"{counted(len(failed), 'run')} of {len(outcomes)} failed: {failed[0].run.get('error')}"
        return Ended("failed", light, said, pages)
    worst = next(outcome for outcome in outcomes if outcome.results and outcome.results["light"] == light)
    pages.sort(key=str(worst.folder / PAGE).__ne__)
    figure = headline(worst.results) if worst.results else None
    said = f"{figure.title} {figure.shown} {figure.interval}".strip() if figure else ""
    said += f"; the worst of {len(outcomes)} runs" if len(outcomes) > 1 else ""
    return Ended("ok", light, said, pages)
