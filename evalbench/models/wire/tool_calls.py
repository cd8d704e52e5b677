"""Calls of tools as texts: a request and its reply hold ``{"tool": …, "arguments": {…}}``, whatever the endpoint's own form is.

Several calls of one reply are ``{"calls": [{"tool": …, "arguments": {…}}, …]}``; as many messages follow as there are results.
An endpoint that takes tools gets them declared, and the conversation in its own form; one that refuses them gets the texts and
the schema.  Both are one request with one key in the cache, so that the form changes nothing of what is kept and replayed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalbench.models.exchange import Tool

LONGEST_ARGUMENTS = 100_000
MOST_CALLS = 50


def calls_text(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """One call, or several of one reply, as a text.

    Examples
    --------
    >>> calls_text([("search", {"query": "opening hours"})])
    '{"tool": "search", "arguments": {"query": "opening hours"}}'
    >>> calls_text([("open", {"passage": 1}), ("open", {"passage": 2})])[:44]
    '{"calls": [{"tool": "open", "arguments": {"p'
    """
    told = [{"tool": name, "arguments": arguments} for name, arguments in calls]
    return json.dumps(told[0] if len(told) == 1 else {"calls": told}, ensure_ascii=False)


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
    """The conversation with calls and results as an endpoint of tools has them: what follows calls are their results, in order.

    Examples
    --------
    >>> asked = calls_text([("open", {"passage": 2}), ("open", {"passage": 3})])
    >>> own = in_own_form([{"role": "assistant", "content": asked}, *[{"role": "user", "content": "…"}] * 2])
    >>> [m["role"] for m in own], [m["tool_call_id"] for m in own[1:]] == [c["id"] for c in own[0]["tool_calls"]]
    (['assistant', 'tool', 'tool'], True)
    """
    out: list[dict[str, Any]] = []
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if waiting:
            out.append({"role": "tool", "tool_call_id": waiting.pop(0), "content": message["content"]})
            continue
        calls = _calls_of(message)
        if not calls or place + len(calls) >= len(messages):
            out.append(dict(message))
            continue
        waiting = [f"call_{place}" if len(calls) == 1 else f"call_{place}_{n}" for n in range(1, len(calls) + 1)]
        own = [
            {
                "id": name,
                "type": "function",
                "function": {"name": call["tool"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)},
            }
            for name, call in zip(waiting, calls, strict=True)
        ]
        out.append({"role": "assistant", "content": "", "tool_calls": own})
    return out


def in_texts(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The conversation for an endpoint without tools: the results of several calls are one message, by the number of the call.

    Examples
    --------
    >>> asked = calls_text([("open", {"passage": 2}), ("open", {"passage": 3})])
    >>> in_texts([{"role": "assistant", "content": asked}, *[{"role": "user", "content": "…"}] * 2])[1:]
    [{'role': 'user', 'content': 'Result 1 (open):\\n…\\n\\nResult 2 (open):\\n…'}]
    """
    out: list[dict[str, str]] = []
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if waiting:
            headed = f"{waiting.pop(0)}:\n{message['content']}"
            if out[-1]["role"] == "user":
                out[-1] = {"role": "user", "content": f"{out[-1]['content']}\n\n{headed}"}
            else:
                out.append({"role": "user", "content": headed})
            continue
        out.append(dict(message))
        calls = _calls_of(message)
        if len(calls) > 1 and place + len(calls) < len(messages):
            waiting = [f"Result {n} ({call['tool']})" for n, call in enumerate(calls, start=1)]
    return out


def _calls_of(message: Mapping[str, str]) -> list[dict[str, Any]]:
    """The calls that a message of the model is; none where it is none, or of another role."""
    if message["role"] != "assistant":
        return []
    try:
        said = json.loads(message["content"])
    except ValueError:
        return []
    calls = said["calls"] if isinstance(said, dict) and said.keys() == {"calls"} else [said]
    whole = isinstance(calls, list) and all(
        isinstance(one, dict) and one.keys() == {"tool", "arguments"} for one in calls
    )
    return calls if whole else []


def called(message: Mapping[str, Any]) -> str:
    """The calls of an endpoint's message as a text, in their order; empty where it holds none that can be read.

    Read are ``tool_calls``, an old ``function_call``, and blocks ``tool_use`` of a content that is a list.  Arguments that are
    not JSON stay the text that they are; beyond 50 calls none is read.

    Examples
    --------
    >>> called({"tool_calls": [{"function": {"name": "open", "arguments": '{"passage": 2}'}}]})
    '{"tool": "open", "arguments": {"passage": 2}}'
    >>> called({"content": [{"type": "text", "text": "So:"}, {"type": "tool_use", "name": "open", "input": {"passage": 2}}]})
    '{"tool": "open", "arguments": {"passage": 2}}'
    >>> called({"tool_calls": [None]})
    ''
    """
    given, content = message.get("tool_calls"), message.get("content")
    if isinstance(given, list) and given:
        functions = [one.get("function") if isinstance(one, dict) else None for one in given]
    elif isinstance(content, list):
        blocks = [one for one in content if isinstance(one, dict) and one.get("type") == "tool_use"]
        functions = [{"name": one.get("name"), "arguments": one.get("input")} for one in blocks]
    else:
        functions = [message.get("function_call")]
    found = [
        (one["name"], _arguments(one.get("arguments")))
        for one in functions
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    ]
    return calls_text(found[:MOST_CALLS]) if found else ""


def content_text(content: Any) -> str | None:
    """The text of a message's content: a text, or the blocks of text of a list; None where there is none.

    Raises
    ------
    ValueError
        If it is neither.

    Examples
    --------
    >>> content_text([{"type": "text", "text": "At nine."}, {"type": "tool_use", "name": "open", "input": {}}])
    'At nine.'
    """
    if isinstance(content, str | None):
        return content
    if not isinstance(content, list):
        raise ValueError("it is not a text")
    texts = [one["text"] for one in content if isinstance(one, dict) and isinstance(one.get("text"), str)]
    return "".join(texts) if texts else None


def _arguments(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given[:LONGEST_ARGUMENTS], parse_constant=str)
    except (ValueError, RecursionError):
        return given[:LONGEST_ARGUMENTS]
