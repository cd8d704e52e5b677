"""The server of ``evalbench view``: the explorer's page, and what it asks of the runs below a folder of reports."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from evalbench.errors import BadInput
from evalbench.explorer.guard import Guard
from evalbench.explorer.questions import QUESTIONS, WRITES, answer
from evalbench.readers.runs import PAGE

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from evalbench.explorer.reports import Explorer

EXTRA = "evalbench view needs packages of its own: pip install 'evalbench[view]'"
MOST_BYTES = 100_000
"""Of a mark."""
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


def app(explorer: Explorer, token: str, hosts: list[str]) -> Guard:
    """The application: JSON for the page, its own files, and the runs' pages."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from evalbench.explorer.answers import object_of
    from evalbench.report.behind import linked

    def asked(name: str, request: Request) -> Response:
        return JSONResponse(answer(explorer, name, request.query_params))

    def report(request: Request) -> Response:
        run = request.query_params.get("run", "")
        page = explorer.folder(run) / PAGE
        if not page.is_file() or page.is_symlink():
            raise BadInput("the run has no page")
        shown = linked(page.read_text(encoding="utf-8", errors="replace"), run)
        return Response(shown, media_type="text/html", headers={"content-security-policy": _PAGE_POLICY})

    async def mark(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return JSONResponse({"fault": "a mark is shorter than that"}, status_code=413)

        def save(_: Request) -> Response:
            return JSONResponse(answer(explorer, "mark", object_of(body.decode("utf-8", "replace") or "?", "mark")))

        return await run_in_threadpool(_told(save), request)

    routes = [
        Route("/mark", mark, methods=["POST"]),
        Route("/", lambda _: own_file("view.html")),
        Route("/static/{name}", lambda r: own_file(r.path_params["name"])),
        Route("/report", _told(report)),
        *(Route(f"/{name}", _told(functools.partial(asked, name))) for name in QUESTIONS if name not in WRITES),
    ]
    return Guard(Starlette(routes=routes), token, hosts)


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
