"""What may be asked of the runs below a folder, by name: the questions of the explorer's page, whoever brings them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.explorer import answers, marks
from evalbench.explorer.distributions import distribution
from evalbench.explorer.history import history
from evalbench.explorer.live import RUNNING, live
from evalbench.readers.runs import FINISHED

if TYPE_CHECKING:
    from evalbench.explorer.rows import Rows

Values = Mapping[str, Any]
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
                one.update(
                    {name: value for name, value in live(self.reports / one["run"]).items() if name in ("status", "at")}
                )
        return sorted(found, key=lambda line: str(line["started"]), reverse=True)


def answer(explorer: Explorer, name: str, values: Values) -> Any:
    """The answer to a question as JSON.

    - ``values``: Of the question, texts as in an address; those of a mark are JSON.

    Raises ``BadInput`` where there is no such question, and for faults of what was asked.
    """
    if name not in QUESTIONS:
        raise BadInput(f"there is no question {name!r}")
    return QUESTIONS[name](explorer, values)


def _of(explorer: Explorer, values: Values) -> Rows:
    return explorer.rows(_text(values, "run"))


def _text(values: Values, name: str) -> str:
    return str(values.get(name, ""))


def _whole(values: Values, name: str, default: int) -> int:
    given = str(values.get(name, default))
    if not given.isdigit():
        raise BadInput(f"{name} must be a whole number, got {given!r}")
    return int(given)


def _items(explorer: Explorer, values: Values) -> Any:
    page = _whole(values, "offset", 0), _whole(values, "limit", 100)
    return answers.items(_of(explorer, values), _text(values, "where"), _text(values, "sort"), *page)


def _item(explorer: Explorer, values: Values) -> Any:
    place = _whole(values, "row", 0), _text(values, "where"), _text(values, "sort")
    return answers.item(_of(explorer, values), *place, blind=_text(values, "blind") == "true")


def _compare(explorer: Explorer, values: Values) -> Any:
    sides = _of(explorer, values), explorer.rows(_text(values, "with") or _text(values, "run"))
    groups = _text(values, "left"), _text(values, "right")
    metric, where, verdict = (_text(values, name) for name in ("metric", "where", "verdict"))
    return answers.compare(*sides, groups, metric, where, verdict, _whole(values, "offset", 0))


QUESTIONS: dict[str, Callable[[Explorer, Values], Any]] = {
    "runs": lambda e, _: e.runs(),
    "live": lambda e, v: live(e.folder(_text(v, "run"))),
    "about": lambda e, v: answers.about(_text(v, "run"), _of(e, v)),
    "items": _items,
    "item": _item,
    "history": lambda e, v: history(e, _text(v, "run"), _whole(v, "row", 0)),
    "marks": lambda e, v: answers.marks(e.reports, _of(e, v), _text(v, "row")),
    "distribution": lambda e, v: distribution(_of(e, v), _text(v, "column"), _text(v, "where")),
    "compare": _compare,
    "standing": lambda e, v: answers.stands(_of(e, v), _text(v, "where"), _text(v, "options")),
    "code": lambda e, v: answers.code(_of(e, v).folder, _text(v, "where"), _text(v, "sort"), _text(v, "options")),
    "mark": lambda e, v: marks.save(e.reports, _of(e, v), v),
}
WRITES = {"mark"}
"""Questions that write; the others change nothing."""
