"""A chat endpoint on the loopback that answers by a script, for the tests of collecting; a fake, and slow on purpose."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Endpoint:
    """A running server: its address, and how often each prompt was answered."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answered: Counter[str] = Counter()


@contextmanager
def endpoint(reply: Callable[[str], str], delay: float = 0.0) -> Iterator[Endpoint]:
    """Serve ``reply(prompt)`` as chat completions."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = body["messages"][-1]["content"]
            time.sleep(delay)
            message = {"role": "assistant", "content": reply(prompt)}
            content = json.dumps(
                {
                    "id": "1", "object": "chat.completion", "created": 0, "model": body["model"],
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
                }
            ).encode()  # fmt: skip
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            running.answered[prompt] += 1

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running = Endpoint(f"http://127.0.0.1:{server.server_port}/v1#scripted")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
