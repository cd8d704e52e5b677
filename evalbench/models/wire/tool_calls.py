"""Calls of tools as texts: a request and its reply hold ``{"tool": …, "arguments": {…}}``, whatever the endpoint's own form is.

An endpoint that takes tools gets them declared, and the conversation in its own form; one that refuses them gets the texts and
the schema.  Both are one request with one key in the cache, so that the form changes nothing of what is kept and replayed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalbench.models.exchange import Tool

LONGEST_ARGUMENTS = 100_000


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """A call as a text.

    Examples
    --------
    >>> call_text("search", {"query": "opening hours"})
    '{"tool": "search", "arguments": {"query": "opening hours"}}'
    """
    return json.dumps({"tool": name, "arguments": arguments}, ensure_ascii=False)


def declared(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools as an OpenAI-compatible endpoint takes them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters)},
        }
        for tool in tools
    ]


def in_own_form(messages: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """The conversation with calls and results as an endpoint of tools has them: what follows a call is its result.

    Examples
    --------
    >>> [m["role"] for m in in_own_form([{"role": "assistant", "content": call_text("open", {"passage": 2})}, {"role": "user", "content": "…"}])]
    ['assistant', 'tool']
    """
    out: list[dict[str, Any]] = []
    called = ""
    for place, message in enumerate(messages):
        if called:
            out.append({"role": "tool", "tool_call_id": called, "content": message["content"]})
            called = ""
            continue
        call = _call_of(message)
        if call is None or place + 1 == len(messages):
            out.append(dict(message))
            continue
        called = f"call_{place}"
        function = {"name": call["tool"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)}
        calls = [{"id": called, "type": "function", "function": function}]
        out.append({"role": "assistant", "content": "", "tool_calls": calls})
    return out


def _call_of(message: Mapping[str, str]) -> dict[str, Any] | None:
    """The call that a message of the model is; None where it is none, or of another role."""
    if message["role"] != "assistant":
        return None
    try:
        said = json.loads(message["content"])
    except ValueError:
        return None
    return said if isinstance(said, dict) and said.keys() == {"tool", "arguments"} else None


def first_call(message: Mapping[str, Any]) -> str:
    """The first call of an endpoint's message as a text; empty where it holds none that can be read.

    Arguments that are not JSON stay the text that they are.

    Examples
    --------
    >>> first_call({"tool_calls": [{"function": {"name": "open", "arguments": '{"passage": 2}'}}]})
    '{"tool": "open", "arguments": {"passage": 2}}'
    >>> first_call({"tool_calls": [None]})
    ''
    """
    calls = message.get("tool_calls")
    one = calls[0] if isinstance(calls, list) and calls else None
    function = one.get("function") if isinstance(one, dict) else message.get("function_call")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return ""
    given = function.get("arguments")
    if isinstance(given, str):
        try:
            given = json.loads(given[:LONGEST_ARGUMENTS], parse_constant=str)
        except (ValueError, RecursionError):
            given = given[:LONGEST_ARGUMENTS]
    return json.dumps({"tool": function["name"], "arguments": given}, ensure_ascii=False)
