"""A fake of a gateway that speaks OpenAI's interface on the loopback, replies and embeddings, and asks for a key."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """One request: its path, the key in its header, its body."""

    path: str
    key: str
    body: dict[str, Any]


@contextmanager
def fake_gateway(port: int, key: str, answer: Callable[[str], str], builds: dict[str, str]) -> Iterator[list[Asked]]:
    """Serve at a port of this machine; what it was asked.

    Parameters
    ----------
    port : int
    key : str
        Requests with another are refused.
    answer : callable
        A prompt's reply.
    builds : dict of str to str
        Model → what it calls itself in replies; other models do not exist.
    """
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.said(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in builds]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            asked.append(Asked(self.path, given, body))
            if given != key:
                self.said(401, {"error": {"message": "no such key"}})
            elif body["model"] not in builds:
                self.said(404, {"error": {"message": f"no model {body['model']}"}})
            elif self.path == "/v1/embeddings":
                texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
                rows = [{"index": i, "embedding": [1.0, len(text) % 7 + 1.0]} for i, text in enumerate(texts)]
                usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
                self.said(200, {"object": "list", "data": rows, "model": builds[body["model"]], "usage": usage})
            else:
                message = {"role": "assistant", "content": answer(body["messages"][-1]["content"])}
                usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                self.said(
                    200,
                    {"object": "chat.completion", "model": builds[body["model"]], "choices": [choice], "usage": usage},
                )

        def said(self, status: int, content: dict[str, Any]) -> None:
            raw = json.dumps({"id": "1", "created": 0, **content}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        allow_reuse_address = True

    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()
