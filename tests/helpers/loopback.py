"""A server on the loopback that answers POSTs of JSON by a function, for fakes of endpoints."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What is sent back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Post = Callable[[str, dict[str, str], dict[str, Any]], Answer]
"""Path, headers by names in small letters, and body to what is sent back."""


def as_json(content: object, status: int = 200) -> Answer:
    return Answer(status, {"Content-Type": "application/json"}, json.dumps(content).encode())


@contextmanager
def loopback(post: Post) -> Iterator[str]:
    """Serve until the block ends; the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nothing is said."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = post(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that was killed is what is tested: no word about it."""

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
