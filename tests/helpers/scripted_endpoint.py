"""A chat endpoint on the loopback that gives one reply to every request, for tests; a fake."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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

    def streams_texts(self, *texts: str, finish: str | None = "stop", **last: object) -> None:
        """Stream a chat completion in pieces; ``last`` is what the final event has besides."""
        events = [{"choices": [{"index": 0, "delta": {"content": text}}], "model": "tiny-2026"} for text in texts]
        if finish:
            events.append(
                {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "model": "tiny-2026", **last}
            )
        lines = [json.dumps({"id": "x", "object": "chat.completion.chunk", "created": 0, **event}) for event in events]
        self.headers = {"Content-Type": "text/event-stream"}
        self.streams = "".join(f"data: {line}\n\n" for line in (*lines, "[DONE]")).encode()


@contextmanager
def scripted_endpoint() -> Iterator[ScriptedEndpoint]:
    """One that serves until the block ends."""
    endpoint = ScriptedEndpoint()
    threading.Thread(target=endpoint.server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield endpoint
    finally:
        endpoint.server.shutdown()
        endpoint.server.server_close()
