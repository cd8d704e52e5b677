"""A chat endpoint on loopback that answers as a script says: a fake judge for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class ScriptedJudge:
    """``answer`` maps a prompt to the reply's text; every prompt is kept."""

    answer: Callable[[str], str]
    prompts: list[str] = field(default_factory=list)
    name: str = ""


@pytest.fixture
def scripted_judge() -> Iterator[ScriptedJudge]:
    """Set ``.answer`` before use; ``.name`` is the model's name."""
    script = ScriptedJudge(lambda prompt: "{}")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = asked["messages"][0]["content"]
            script.prompts.append(prompt)
            message = {"role": "assistant", "content": script.answer(prompt)}
            reply: dict[str, Any] = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "scripted",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
            }
            body = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    script.name = f"http://127.0.0.1:{server.server_address[1]}/v1#scripted"
    yield script
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A cache folder that nobody else uses: a fake judge's replies must not be found by another test."""
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
