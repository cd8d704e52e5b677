"""The parts of a message's content as steps: texts, thoughts, calls of tools and their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbench.readers.tools.safe import mapping
from evalbench.readers.trajectories.shape import Malformed, Step, first_of, text_or_json, word_of

_THOUGHTS = ("thinking", "reasoning", "redacted_thinking")
_RESULTS = ("tool_result", "tool-result", "tool_call_response", "server_tool_call_response", "function_response")
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "server_tool_call", "function_call")


def steps_of_parts(parts: list[Any], role: str, name: str, time: str) -> list[Step]:
    """The steps of a content that is a list; texts beside each other are one message, images and sounds are left out.

    Raises ``Malformed`` for a part that is neither a text nor an object, and for a call without a name.
    """
    steps: list[Step] = []
    texts: list[str] = []

    def say() -> None:
        if text := "".join(texts):
            steps.append(Step("message", role, name, text=text, time=time))
        texts.clear()

    for i, part in enumerate(parts):
        if isinstance(part, str):
            texts.append(part)
            continue
        if not isinstance(part, dict):
            raise Malformed(f"content[{i}]: expected a text or an object, found {type(part).__name__}")
        step = _step_of(part, role, time)
        if step is not None:
            say()
            steps.append(step)
        elif isinstance(text := first_of(part, ("text", "content", "refusal")), str):
            texts.append(text)
    say()
    return steps


def _step_of(part: Mapping[str, Any], role: str, time: str) -> Step | None:
    """A part that is a step by itself; None of a text."""
    kind = word_of(part.get("type"))
    if kind in _THOUGHTS or part.get("thought") is True:
        return Step(
            "note", role, text=first_text(part, ("thinking", "reasoning", "content", "text", "summary")), time=time
        )
    called = part if kind in _CALLS else first_of(part, ("functionCall", "function_call", "toolUse"))
    if isinstance(called, dict):
        given = first_of(called, ("name", "toolName"))
        if not isinstance(given, str):
            raise Malformed(f"a call whose name is not a text but {type(given).__name__}")
        arguments = text_or_json(first_of(called, ("input", "arguments", "args", "server_tool_call")))
        return Step(
            "call",
            "assistant",
            given,
            arguments,
            str(first_of(called, ("id", "call_id", "toolCallId", "toolUseId")) or ""),
            time=time,
        )
    answer = first_of(part, ("functionResponse", "function_response", "toolResult"))
    if kind in _RESULTS or kind.endswith("_tool_result") or isinstance(answer, dict):
        return _result(part if not isinstance(answer, dict) else answer, kind, time)
    return None


def _result(part: Mapping[str, Any], kind: str, time: str) -> Step:
    content = first_of(part, ("content", "response", "result", "output", "server_tool_call_response"))
    number = first_of(part, ("tool_use_id", "id", "call_id", "toolCallId", "toolUseId"))
    flag = first_of(part, ("is_error", "isError"))
    # Anthropic leaves is_error out where the tool did not fail; other forms have no such field.
    error = int(flag) if isinstance(flag, bool) else 0 if kind.endswith("tool_result") else None
    if isinstance(content, dict) and str(content.get("type", "")).endswith("_error"):
        error = 1
    if isinstance(content, dict) and set(content) == {"type", "value"}:  # the AI SDK says so what a result is
        error, content = int(str(content["type"]).startswith("error")), content["value"]
    if "toolUseId" in part:
        error = int(part.get("status") == "error")
    return Step(
        "result",
        "tool",
        word_of(first_of(part, ("name", "toolName"))),
        None,
        str(number or ""),
        text_of_content(content),
        error,
        time,
    )


def text_of_content(content: Any) -> str:
    """The texts of a tool's result; JSON text of any other value."""
    if isinstance(content, list) and any(isinstance(mapping(part).get("text"), str) for part in content):
        return "".join(word_of(mapping(part).get("text")) for part in content)
    return text_or_json(content) or ""


def first_text(part: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    """The first of these values that is a text and not empty."""
    return next((part[key] for key in keys if isinstance(part.get(key), str) and part[key]), None)
