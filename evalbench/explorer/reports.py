"""The runs below a folder of reports, as the explorer opens them."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.explorer.live import RUNNING, live
from evalbench.readers.runs import FINISHED

if TYPE_CHECKING:
    from evalbench.explorer.rows import Rows

MOST_OPEN = 8


class Explorer:
    """The runs below a folder, each opened when it is first asked for."""

    def __init__(self, reports: Path) -> None:
        self.reports = reports.resolve()
        self._opened: dict[str, tuple[float, Rows]] = {}
        self._opening: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def folder(self, run: str) -> Path:
        """The folder of a run by ``study/id``.

        Raises ``BadInput`` where there is none, or the name leads elsewhere.
        """
        folder = (self.reports / run).resolve()
        if not run or folder.parent.parent != self.reports or not folder.is_dir():
            raise BadInput(f"there is no run {run!r} below {self.reports.name}")
        return folder

    def rows(self, run: str) -> Rows:
        """The rows of a finished run; opened again where its files were written anew.

        Raises ``BadInput`` if it is not finished, or cannot be read.
        """
        from evalbench.explorer.rows import Rows
        from evalbench.readers.runs import RESULTS_JSON, read_run

        folder = self.folder(run)
        file = folder / RESULTS_JSON
        if not file.is_file():
            status = read_run(folder)["status"]
            raise BadInput(
                f"{run}: has no results yet ({status})" if status not in FINISHED else f"{run}: has no results"
            )
        with self._lock:
            opening = self._opening.setdefault(run, threading.Lock())
        with opening:  # others are answered while one run is opened
            written = file.stat().st_mtime
            at, rows = self._opened.get(run, (None, None))
            if rows is None or at != written:
                rows = Rows(folder)
            self._keep(run, written, rows)
            return rows

    def _keep(self, run: str, written: float, rows: Rows) -> None:
        """The run that was asked for last is kept longest; the files of the others are closed."""
        with self._lock:
            self._opened.pop(run, None)
            self._opened[run] = (written, rows)
            while len(self._opened) > MOST_OPEN:
                self._opened.pop(next(iter(self._opened)))

    def runs(self) -> list[dict[str, Any]]:
        """A line for each run, the newest first."""
        from evalbench.report.history import read_runs

        found = [
            {
                "run": f"{run.study}/{run.run_id}", "study": run.study, "run_id": run.run_id, "status": run.status, "light": run.light,
                "answer": run.answer, "started": run.started, "judged": run.judged, "data": run.data,
            }
            for run in read_runs(self.reports)
        ]  # fmt: skip
        for one in found:
            if one["status"] == RUNNING:
                with contextlib.suppress(BadInput):  # it was removed, or is being written, meanwhile
                    now = live(self.reports / one["run"])
                    one.update(status=now["status"], at=now["at"])
        return sorted(found, key=lambda line: str(line["started"]), reverse=True)
