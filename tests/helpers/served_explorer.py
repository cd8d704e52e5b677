"""The explorer's server in a thread, and a page of a browser that may ask it alone."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from evalbench.explorer.reports import Explorer
from evalbench.explorer.server import app

TOKEN = "token-of-a-test"


class Served:
    """A server of the runs below a folder, in a thread; runs that are written later are seen too."""

    def __init__(self, reports: Path) -> None:
        self.reports = reports
        listening = socket.create_server(("127.0.0.1", 0))
        host = f"127.0.0.1:{listening.getsockname()[1]}"
        self.address = f"http://{host}/{TOKEN}/"
        self._server = uvicorn.Server(uvicorn.Config(app(Explorer(reports), TOKEN, [host]), log_level="error"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()
        give_up = time.monotonic() + 30
        while not self._server.started and time.monotonic() < give_up:
            time.sleep(0.02)

    def end(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)


@contextmanager
def watched(page: Any) -> Iterator[None]:
    """A page that is closed at the end; its errors, and requests to anything but its own server, fail the test."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: (errors.append(dialog.message), dialog.dismiss()))
    page.on(
        "request",
        lambda request: (
            errors.append(request.url) if TOKEN not in request.url and not request.url.startswith("data:") else None
        ),
    )
    yield
    page.close()
    assert errors == []
