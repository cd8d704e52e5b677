"""The server of ``evalbench view``: the explorer's page, and what it asks of the runs below a folder of reports."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.explorer.guard import Guard
from evalbench.explorer.live import RUNNING, live
from evalbench.readers.runs import FINISHED, PAGE

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from evalbench.explorer.rows import Rows

Ask = Callable[["Request"], Any]
EXTRA = "evalbench view needs packages of its own: pip install 'evalbench[view]'"
MOST_OPEN = 8
MOST_BYTES = 100_000
"""Of a mark."""
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


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


def app(explorer: Explorer, token: str, hosts: list[str]) -> Guard:
    """The application: JSON for the page, its own files, and the runs' pages."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from evalbench.explorer import answers, marks
    from evalbench.explorer.distributions import distribution
    from evalbench.report.behind import linked

    def of(request: Request) -> Rows:
        return explorer.rows(request.query_params.get("run", ""))

    def text(request: Request, name: str) -> str:
        return request.query_params.get(name, "")

    def whole(request: Request, name: str, default: int) -> int:
        given = request.query_params.get(name, str(default))
        if not given.isdigit():
            raise BadInput(f"{name} must be a whole number, got {given!r}")
        return int(given)

    asked: dict[str, Ask] = {
        "runs": lambda _: explorer.runs(),
        "live": lambda r: live(explorer.folder(text(r, "run"))),
        "about": lambda r: answers.about(text(r, "run"), of(r)),
        "items": lambda r: answers.items(of(r), text(r, "where"), text(r, "sort"), whole(r, "offset", 0), whole(r, "limit", 100)),
        "item": lambda r: answers.item(
            of(r), whole(r, "row", 0), text(r, "where"), text(r, "sort"), blind=text(r, "blind") == "true"
        ),
        "marks": lambda r: answers.marks(explorer.reports, of(r), text(r, "row")),
        "distribution": lambda r: distribution(of(r), text(r, "column"), text(r, "where")),
        "compare": lambda r: answers.compare(
            of(r), explorer.rows(text(r, "with") or text(r, "run")), (text(r, "left"), text(r, "right")), text(r, "metric"),
            text(r, "where"), text(r, "verdict"), whole(r, "offset", 0),
        ),
        "standing": lambda r: answers.stands(of(r), text(r, "where"), text(r, "options")),
        "code": lambda r: answers.code(of(r).folder, text(r, "where"), text(r, "sort"), text(r, "options")),
    }  # fmt: skip

    def report(request: Request) -> Response:
        run = text(request, "run")
        page = explorer.folder(run) / PAGE
        if not page.is_file() or page.is_symlink():
            raise BadInput("the run has no page")
        shown = linked(page.read_text(encoding="utf-8", errors="replace"), run)
        return Response(shown, media_type="text/html", headers={"content-security-policy": _PAGE_POLICY})

    async def mark(request: Request) -> Response:
        body = await request.body() if int(request.headers.get("content-length") or 0) <= MOST_BYTES else b""

        def save(_: Request) -> Response:
            said = answers.object_of(body.decode("utf-8", "replace") or "?", "mark")
            return JSONResponse(marks.save(explorer.reports, explorer.rows(str(said.get("run", ""))), said))

        return await run_in_threadpool(_told(save), request)

    routes = [
        Route("/mark", mark, methods=["POST"]),
        Route("/", lambda _: own_file("view.html")),
        Route("/static/{name}", lambda r: own_file(r.path_params["name"])),
        Route("/report", _told(report)),
        *(Route(f"/{name}", _told(functools.partial(_as_json, ask))) for name, ask in asked.items()),
    ]
    return Guard(Starlette(routes=routes), token, hosts)


def _as_json(ask: Ask, request: Request) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse(ask(request))


def _told(answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Faults of what was asked as a message in JSON."""

    def told(request: Request) -> Response:
        from starlette.responses import JSONResponse

        try:
            return answer(request)
        except BadInput as error:
            return JSONResponse({"fault": str(error)}, status_code=400)

    return told


def own_file(name: str) -> Response:
    """A file of the page, or the style that all pages share."""
    from starlette.responses import PlainTextResponse, Response

    places = {entry.name: entry for entry in (resources.files("evalbench.explorer") / "page").iterdir()}
    places["style.css"] = resources.files("evalbench.draw") / "style.css"
    kind = _TYPES.get(Path(name).suffix)
    if name not in places or kind is None:
        return PlainTextResponse("There is no such file.", status_code=404)
    return Response(places[name].read_bytes(), media_type=kind)
