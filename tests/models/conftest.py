"""What the tests of models share: a chat endpoint that fails on purpose, and a cache of their own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from faultserver import Running, fault_server


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """A server that does what the prompt says."""
    with fault_server() as running:
        yield running


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that nobody else uses."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("EVALBENCH_CACHE", str(folder))
    return folder


class ScriptedEndpoint:
    """A loopback endpoint for tests that gives one reply, whatever it is, to every request and keeps what it was asked.

    ``streams`` is what it gives where a stream is wanted, ``lacks`` the end of a path that is a 404.
    """

    def __init__(self) -> None:
        self.status, self.headers, self.body = 200, {}, b""
        self.streams = b""
        self.lacks = "no such page"
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Nothing is said."""

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                headers = {name.lower(): value for name, value in self.headers.items()}
                endpoint.asked.append((self.path, headers, json.loads(self.rfile.read(length))))
                self.send_response(404 if self.path.endswith(endpoint.lacks) else endpoint.status)
                for name, value in endpoint.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(endpoint.streams if endpoint.asked[-1][2].get("stream") else endpoint.body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.name = f"{self.url}#tiny"

    def gives(self, body: object, status: int = 200, **headers: str) -> None:
        """Answer with bytes as they are, or a value as JSON."""
        self.status, self.headers = status, {name.replace("_", "-"): v for name, v in headers.items()}
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()

    def says(self, text: str, **more: object) -> None:
        """Answer with a chat completion."""
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self.gives({"choices": [choice], "model": "tiny", **more})


@pytest.fixture
def scripted() -> Iterator[ScriptedEndpoint]:
    endpoint = ScriptedEndpoint()
    threading.Thread(target=endpoint.server.serve_forever, args=(0.02,), daemon=True).start()
    yield endpoint
    endpoint.server.shutdown()
    endpoint.server.server_close()
