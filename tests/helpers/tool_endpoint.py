"""A chat endpoint on the loopback that calls tools by a script, for tests of judges that look things up; a fake."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from loopback import Answer, as_json, loopback

Says = Callable[[list[dict[str, Any]]], Any]


class FakeEndpoint:
    """Replies by ``says(messages)``: a mapping is a call of a tool, a list several of one reply, a text a text.

    - ``tools``: ``takes`` them, ``refuses`` them with a 400, or ``ignores`` them.
    - ``calls_as``: How calls come: ``tool_calls``, or ``blocks`` of the content.
    """

    def __init__(self) -> None:
        self.says: Says = lambda messages: verdict("SUPPORTED", [(1, "opens at nine")])
        self.tools, self.calls_as = "takes", "tool_calls"
        self.asked: list[dict[str, Any]] = []
        self.model = ""

    def post(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Answer:
        self.asked.append(body)
        if "tools" in body and self.tools == "refuses":
            return as_json({"error": {"message": "this model does not support tools"}}, 400)
        said = self.says(body["messages"])
        choice = {"index": 0, "message": self.message(said, "tools" in body), "finish_reason": "stop"}
        usage = {"prompt_tokens": 50, "completion_tokens": 10}
        return as_json({"model": "tiny", "choices": [choice], "usage": usage})

    def message(self, said: Any, tools: bool) -> dict[str, Any]:
        several = said if isinstance(said, list) else [said]
        if isinstance(said, str) or not tools or self.tools != "takes":
            texts = [one if isinstance(one, str) else json.dumps(one) for one in several]
            return {"role": "assistant", "content": "\n".join(texts)}
        calls = [(one["tool"], _arguments(one)) for one in several]
        if self.calls_as == "blocks":
            blocks = [
                {"type": "tool_use", "id": f"t{n}", "name": name, "input": given}
                for n, (name, given) in enumerate(calls)
            ]
            return {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, *blocks]}
        functions = [{"name": name, "arguments": json.dumps(given)} for name, given in calls]
        own = [{"id": f"x{n}", "type": "function", "function": function} for n, function in enumerate(functions)]
        return {"role": "assistant", "content": None, "tool_calls": own}


def _arguments(said: dict[str, Any]) -> dict[str, Any]:
    if said["tool"] == "verdict":
        return {"evidence": said["evidence"], **said["verdict"]}
    return {name: value for name, value in said.items() if name != "tool"}


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
    with loopback(endpoint.post) as address:
        endpoint.model = f"{address}/v1#tiny"
        yield endpoint


def steps_before(messages: list[dict[str, Any]]) -> int:
    """How many calls the conversation has already."""
    return sum(message["role"] == "assistant" for message in messages)
