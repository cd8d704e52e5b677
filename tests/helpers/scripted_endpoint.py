"""A chat endpoint on the loopback that gives one reply to every request, for tests; a fake."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from loopback import Answer, loopback


class ScriptedEndpoint:
    """A loopback endpoint for tests that gives one reply, whatever it is, to every request and keeps what it was asked.

    ``streams`` is what it gives where a stream is wanted, ``lacks`` the end of a path that is a 404.
    """

    def __init__(self) -> None:
        self.status, self.body = 200, b""
        self.headers: dict[str, str] = {}
        self.streams = b""
        self.lacks = "no such page"
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.url = self.name = ""

    def post(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Answer:
        self.asked.append((path, headers, body))
        status = 404 if path.endswith(self.lacks) else self.status
        return Answer(status, self.headers, self.streams if body.get("stream") else self.body)

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
    with loopback(endpoint.post) as address:
        endpoint.url = f"{address}/v1"
        endpoint.name = f"{endpoint.url}#tiny"
        yield endpoint
