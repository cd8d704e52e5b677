"""A chat endpoint on the loopback that answers by a script, for tests; a fake."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Chat:
    """A running endpoint.

    Parameters
    ----------
    answer : function
        A prompt's reply.
    name : str
        The model's name, address and all.
    answered : list of str
        The prompts that were answered, in their order.
    bodies : list of dict
        The requests whole.
    connected : int
        How many clients are connected.
    logprobs : function
        A reply's log-probabilities as the API has them, where a request asks for some; none by default.
    """

    answer: Callable[[str], str]
    name: str = ""
    answered: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    connected: int = 0
    logprobs: Callable[[str], list[dict[str, Any]] | None] = lambda reply: None


@contextmanager
def chat_endpoint(answer: Callable[[str], str], delay: float = 0.0, **more: Any) -> Iterator[Chat]:
    """Serve ``answer(prompt)`` as chat completions, each after some seconds."""
    counting = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            with counting:
                chat.connected += 1

        def finish(self) -> None:
            with counting:
                chat.connected -= 1
            super().finish()

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = asked["messages"][-1]["content"]
            time.sleep(delay)
            message = {"role": "assistant", "content": chat.answer(prompt)}
            likely = chat.logprobs(message["content"]) if asked.get("logprobs") else None
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = json.dumps(
                {
                    "id": "1", "object": "chat.completion", "created": 0, "model": asked["model"],
                    "choices": [{**choice, "logprobs": {"content": likely}} if likely else choice],
                    "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
                }
            ).encode()  # fmt: skip
            chat.answered.append(prompt)
            chat.bodies.append(asked)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        """Clients that are killed are what is tested: no word about them."""

        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass

    server = Quiet(("127.0.0.1", 0), Handler)
    chat = Chat(answer, f"http://127.0.0.1:{server.server_port}/v1#scripted", **more)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()


def solve(prompt: str) -> str:
    """A solution, always the same, right for one of our problems."""
    return "It makes <<6*9=54>>54.\nThen <<54-14=40>>40.\n#### 40"


def cite(prompt: str) -> str:
    """A cited answer for a question, a verdict for a judge; out of the one source that the prompt shows."""
    if "ENTAILMENT" in prompt:
        return json.dumps({"reason": "it says so", "label": "ENTAILMENT"})
    if "INCORRECT" in prompt:
        return json.dumps({"reason": "it is so", "label": "CORRECT"})
    url = prompt.split("https://", 1)[1].split(",", 1)[0].split()[0]
    entries = [{"n": 1, "claim": "It is so.", "url": f"https://{url}", "title": "", "quote": "not there"}]
    return json.dumps({"answer": "It is so [1].", "citations": entries})
