"""A chat endpoint on the loopback that calls tools by a script, for tests of judges that look things up; a fake."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Says = Callable[[list[dict[str, Any]]], Any]


class FakeEndpoint:
    """Replies by ``says(messages)``: a mapping is a call of a tool, a text a text.

    ``tools``: ``takes`` them, ``refuses`` them with a 400, or ``ignores`` them.
    """

    def __init__(self) -> None:
        self.says: Says = lambda messages: verdict("SUPPORTED", [(1, "opens at nine")])
        self.tools = "takes"
        self.asked: list[dict[str, Any]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Nothing is said."""

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                fake.asked.append(body)
                status, reply = fake.reply(body)
                sent = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.model = f"http://127.0.0.1:{self.server.server_port}/v1#tiny"

    def reply(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if "tools" in body and self.tools == "refuses":
            return 400, {"error": {"message": "this model does not support tools"}}
        said = self.says(body["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": said if isinstance(said, str) else json.dumps(said)}
        if isinstance(said, dict) and "tools" in body and self.tools == "takes":
            flat = {name: value for name, value in said.items() if name != "tool"}
            flat = {"evidence": flat["evidence"], **flat["verdict"]} if said["tool"] == "verdict" else flat
            function = {"name": said["tool"], "arguments": json.dumps(flat)}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "x", "type": "function", "function": function}],
            }
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return 200, {"model": "tiny", "choices": [choice], "usage": {"prompt_tokens": 50, "completion_tokens": 10}}


def verdict(label: str, quotes: list[tuple[int, str]], reason: str = "It says so.", **parts: Any) -> dict[str, Any]:
    evidence = [{"passage": number, "quote": quote} for number, quote in quotes]
    return {
        "tool": "verdict",
        "evidence": evidence,
        "verdict": {"reason": reason, "passages": [], "label": label, **parts},
    }


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, **arguments}


@contextmanager
def fake_tool_endpoint() -> Iterator[FakeEndpoint]:
    """One that serves until the block ends."""
    endpoint = FakeEndpoint()
    threading.Thread(target=endpoint.server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield endpoint
    finally:
        endpoint.server.shutdown()
        endpoint.server.server_close()


def steps_before(messages: list[dict[str, Any]]) -> int:
    """How many calls the conversation has already."""
    return sum(message["role"] == "assistant" for message in messages)
