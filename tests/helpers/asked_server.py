"""An ASGI application asked in this process, without a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import urlencode


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def asked(
    app: Any,
    path: str,
    values: Mapping[str, Any] | None = None,
    *,
    method: str = "GET",
    host: str = "127.0.0.1:1",
    body: bytes = b"",
    **headers: str,
) -> Answer:
    """What an application answers; ``origin="…"`` and the like are headers."""
    sent: list[Any] = []
    given = {
        "host": host,
        "content-length": str(len(body)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "path": path,
        "raw_path": path.encode(), "root_path": "", "query_string": urlencode(values or {}).encode(), "server": ("127.0.0.1", 1),
        "client": ("127.0.0.1", 2), "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    with ThreadPoolExecutor(1) as own:  # a browser of another test may have a loop running in this thread
        own.submit(asyncio.run, app(scope, receive, send)).result()
    start = sent[0]
    return Answer(
        start["status"],
        {name.decode().lower(): value.decode() for name, value in start["headers"]},
        b"".join(message.get("body", b"") for message in sent[1:]),
    )
