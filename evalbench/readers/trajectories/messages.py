"""Messages of chats as steps: those of OpenAI, of the Responses API, Anthropic, Gemini, LangChain, inspect and OpenTelemetry.

A message is read by its own form, since logs of one system hold several of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evalbench.readers.tools.safe import mapping, sequence
from evalbench.readers.trajectories.parts import steps_of_parts
from evalbench.readers.trajectories.shape import (
    Malformed,
    Source,
    Step,
    amount_of,
    entries,
    first_of,
    json_text,
    named_calls,
    reads_as_error,
    sum_of,
    text_or_json,
    time_of,
    word_of,
)

ROLE: Mapping[str, str] = {
    **dict.fromkeys(("user", "human", "HumanMessage", "HumanMessageChunk"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "agent", "bot", "gpt", "AIMessage", "AIMessageChunk"), "assistant"),
    **dict.fromkeys(("system", "developer", "SystemMessage"), "system"),
    **dict.fromkeys(("tool", "function", "ToolMessage", "FunctionMessage", "tool_result", "observation"), "tool"),
}
GUESSED = (
    "the format has no field for failures of tools: results were read as failed that begin with Error, a traceback or HTTP with a "
    "status of 400 or more, or are an object with an error, is_error true, ok or success false, or the status error or failed"
)
_TIMES = ("timestamp", "time", "created_at", "created", "ts")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_TIMED, _THOUGHT = frozenset(_TIMES), frozenset(_THOUGHTS)
_USED = frozenset(("usage", "usage_metadata", "cost", "seconds", "duration", "generation_time_seconds"))
_CALLS = ("arguments", "input", "action", "code", "queries", "query", "args")


def steps_of(messages: Any, source: Source, what: str = "messages", guess: bool = True) -> list[Step]:
    """The steps of messages, in their order; a result has the name of the call that it answers.

    - ``guess``: Whether a result without a field for failures is read for one, with a note; it is right otherwise.

    Raises ``Malformed`` for what is not a list of objects, and for a part that no form has.
    """
    out: list[Step] = []
    for i, message in enumerate(entries(messages, what)):
        try:
            out += steps_of_message(message, source, guess)
        except Malformed as error:
            raise Malformed(f"{what}[{i}]: {error}") from None
    return named_calls(out)


def role_of(message: Mapping[str, Any]) -> str:
    """The role of a message, by any name that a format has for it; empty where it is not one."""
    role = message.get("role")
    if role is None:
        role = message.get("type")
    return ROLE.get(role, "") if isinstance(role, str) else ""


def is_message(value: Any) -> bool:
    """Whether a value is a message, or an item of the Responses API."""
    if not isinstance(value, dict):
        return False
    value = unwrapped(value)
    if role_of(value) and ("content" in value or "parts" in value or "tool_calls" in value or "function_call" in value):
        return True
    return is_item(value)


def is_item(message: Mapping[str, Any]) -> bool:
    """Whether an object is an item of the Responses API, other than a message with a role."""
    kind = message.get("type")
    return isinstance(kind, str) and (
        kind == "reasoning"
        or (kind.endswith(("_call", "_call_output", "_call_response", "_approval_request")) and kind != "tool_call")
    )


def steps_of_message(message: Mapping[str, Any], source: Source, guess: bool = True) -> list[Step]:
    """The steps of one message: what was thought, said and called, or what a tool answered."""
    message = unwrapped(message)
    if "role" not in message and is_item(message):
        return _steps_of_item(message, source, guess)
    role = role_of(message)
    time = "" if _TIMED.isdisjoint(message) else time_of(first_of(message, _TIMES))
    if role == "tool":
        return _results(message, time, source, guess)
    if not role and "role" in message:
        raise Malformed(f"the role {str(message['role'])[:40]!r} is not known")
    content = message.get("content")
    if content is None:
        content = message.get("parts")
    steps: list[Step] = []
    thought = None if _THOUGHT.isdisjoint(message) else first_of(message, _THOUGHTS)
    if isinstance(thought, str) and thought:
        steps.append(Step("note", role, text=thought, time=time))
    name = word_of(message.get("name"))
    if isinstance(content, list):
        steps += steps_of_parts(content, role, name, time)
    elif content:
        steps.append(Step("message", role, name, text=json_text(content), time=time))
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        steps.append(Step("message", role, name, text=refusal, time=time))
    calls = message.get("tool_calls")
    if calls:
        steps += [call_of(call, time) for call in entries(calls, "tool_calls")]
    called = message.get("function_call")
    if called is not None and not calls:
        steps.append(call_of(mapping(called), time))
    if not steps:
        steps.append(Step("message", role, name, text="" if content is None else json_text(content), time=time))
    if guess:
        steps = [guessed(step, source) if step.kind == "result" and step.error is None else step for step in steps]
    return with_usage(steps, message)


def unwrapped(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message out of what it is wrapped in: LangChain's serialised form, a choice of a completion, an Anthropic stream."""
    kwargs = message.get("kwargs")
    if isinstance(kwargs, dict) and isinstance(message.get("id"), list):
        return {"type": str(message["id"][-1]) if message["id"] else "", **kwargs, **_further(kwargs)}
    data = message.get("data")
    if isinstance(data, dict) and "role" not in message and "content" in data:
        return {"type": message.get("type"), **data, **_further(data)}
    return {**message, **_further(message)} if "additional_kwargs" in message else message


def _further(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = mapping(message.get("additional_kwargs")).get("tool_calls")
    return {"tool_calls": calls} if calls and not message.get("tool_calls") else {}


def call_of(call: Mapping[str, Any], time: str = "") -> Step:
    """A call: OpenAI's with a function in it, or name and arguments by themselves.

    Raises ``Malformed`` for a call whose name is not a text.
    """
    function = call.get("function")
    inner = function if isinstance(function, dict) else mapping(call.get("custom")) or call
    name = first_of(inner, ("name", "function_name", "function", "tool_name"))
    if not isinstance(name, str):
        raise Malformed(f"a call whose name is not a text but {type(name).__name__}")
    arguments = first_of(inner, ("arguments", "args", "input", "parameters"))
    number = first_of(call, ("call_id", "tool_call_id", "id"))
    return Step("call", "assistant", name, text_or_json(arguments), str(number or ""), time=time)


def _results(message: Mapping[str, Any], time: str, source: Source, guess: bool) -> list[Step]:
    """What tools answered in one message: of parts that are results each, of anything else one result."""
    content = first_of(message, ("content", "output", "result", "parts"))
    if isinstance(content, list):
        found = steps_of_parts(content, "tool", "", time)
        if found and all(step.kind == "result" for step in found):
            return [guessed(step, source) if guess and step.error is None else step for step in found]
        text = "".join(step.text or "" for step in found)
    else:
        text = text_or_json(content) or ""
    name = first_of(message, ("name", "function", "tool_name"))
    number = first_of(message, ("tool_call_id", "call_id"))
    several = sequence(message.get("tool_call_ids"))
    number = message.get("id") if number is None and not several else number or next(iter(several), "")
    error = failed(message)
    if error is None and guess:
        source.note(GUESSED)
        error = reads_as_error(text)
    return with_usage([Step("result", "tool", word_of(name), None, str(number or ""), text, error, time)], message)


def failed(message: Mapping[str, Any]) -> int | None:
    """Whether a result says that the tool failed: by ``error``, ``is_error`` or ``status``; None where it says nothing."""
    for key in ("is_error", "isError"):
        if isinstance(message.get(key), bool):
            return int(message[key])
    if "error" in message:
        return int(bool(message["error"]))
    if (status := message.get("status")) is None:
        return None
    if status in ("error", "failed", "failure"):
        return 1
    return 0 if status in ("success", "ok", "completed") else None


def guessed(step: Step, source: Source) -> Step:
    """A result of a format without a field for failures, read for one, with a note."""
    source.note(GUESSED)
    return step._replace(error=reads_as_error(step.text))


def _steps_of_item(item: Mapping[str, Any], source: Source, guess: bool) -> list[Step]:
    """An item of the Responses API that has no role; a call that the endpoint itself answered is call and result."""
    kind, time = str(item["type"]), time_of(first_of(item, _TIMES))
    number = str(first_of(item, ("call_id", "id", "approval_request_id")) or "")
    if kind == "reasoning":
        parts = item.get("summary") or item.get("content")
        texts = (
            [word_of(part.get("text")) for part in entries(parts, "summary")] if isinstance(parts, list) else [parts]
        )
        text = "\n".join(text for text in texts if isinstance(text, str) and text)
        return [Step("note", "assistant", text=text or None, time=time)]
    if kind.endswith(("_call_output", "_call_response")):
        return _results({**item, "id": number}, time, source, guess)
    name = word_of(item.get("name")) or kind.removesuffix("_call")
    arguments = text_or_json(first_of(item, _CALLS))
    steps = [Step("call", "assistant", name, arguments, number, time=time)]
    answered = first_of(item, ("output", "outputs", "results", "result"))
    if answered is not None or item.get("error"):
        said = text_or_json(answered if answered is not None else item.get("error"))
        steps.append(Step("result", "tool", name, None, number, said, failed(item), time))
    return steps


def with_usage(steps: list[Step], message: Mapping[str, Any]) -> list[Step]:
    """The steps of a message, the first of which has its tokens, cost and duration, where the message says them."""
    if _USED.isdisjoint(message):
        return steps
    usage = message.get("usage") or message.get("usage_metadata")
    tokens = tokens_of(usage) if usage else None
    cost = amount_of(message.get("cost"))
    seconds = amount_of(first_of(message, ("seconds", "duration", "generation_time_seconds")))
    if tokens is None and cost is None and seconds is None:
        return steps
    return [steps[0]._replace(tokens=tokens, cost=cost, seconds=seconds), *steps[1:]]


def tokens_of(usage: Any) -> float | None:
    """All tokens of a request, read and written, by any provider's names; those of a cache are among those that were read."""
    usage = mapping(usage)
    whole = amount_of(first_of(usage, ("total_tokens", "totalTokens", "total", "totalTokenCount")))
    if whole is not None:
        return whole
    cached = [usage.get(key) for key in ("cache_read_input_tokens", "cache_creation_input_tokens")]
    read = first_of(usage, ("input_tokens", "prompt_tokens", "promptTokens", "input", "promptTokenCount"))
    wrote = first_of(
        usage, ("output_tokens", "completion_tokens", "completionTokens", "output", "candidatesTokenCount")
    )
    return sum_of(read, wrote, *cached)


def instruction_of(steps: Iterable[Step]) -> str | None:
    """The instruction that the system was given: its texts of role system before anyone else spoke."""
    texts = []
    for step in steps:
        if step.role != "system":
            break
        if step.text:
            texts.append(step.text)
    return "\n\n".join(texts) or None


def question_of(steps: Iterable[Step]) -> str | None:
    """The first message of the user."""
    return next((step.text for step in steps if step.role == "user" and step.kind == "message" and step.text), None)
