"""OTLP exports in JSON of spans by OpenTelemetry's conventions for generative AI, old and new, and of OpenInference and OpenLLMetry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from evalbench.readers.tools.safe import mapping, objects, sequence
from evalbench.readers.trajectories.looks import Look
from evalbench.readers.trajectories.messages import steps_of
from evalbench.readers.trajectories.shape import (
    Malformed,
    Source,
    Trajectory,
    amount_of,
    entries,
    first_of,
    mark_of,
    name_of,
    sum_of,
    text_or_json,
    time_of,
    word_of,
)
from evalbench.readers.trajectories.spans import Span, refuse_large, trajectories_of

NAMES = ("otlp",)
FILES = "OTLP exports in JSON, a document or a line each, of spans with gen_ai.* attributes or events"
_MODELS = frozenset({"chat", "text_completion", "generate_content", "completion", "inference"})
_OLD = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_KINDS = {"LLM": "model", "TOOL": "tool", "AGENT": "agent", "tool": "tool", "agent": "agent"}
_CUT = "attributes with messages that are not whole JSON, as those that were cut, were left out"
_INVOKED = "invoke_agent "
"""Before the name of an agent, in the name of the span of its work."""
_DEEPEST = 40
_WHOLE = re.compile(r"-?[0-9]{1,20}")


def recognised(look: Look) -> str:
    """``otlp`` for an export whose spans or logs are of generative AI; empty for any other."""
    if look.form not in ("lines", "document") or not look.objects:
        return ""
    known = all("resourceSpans" in record or "resourceLogs" in record for record in look.objects)
    return NAMES[0] if known else ""


def read(look: Look, source: Source) -> Iterator[Trajectory]:
    """The traces of an export; the traces of one ``gen_ai.conversation.id`` are one trajectory."""
    refuse_large(look)
    spans: dict[tuple[str, str], Span] = {}
    logs: list[tuple[int, dict[str, Any]]] = []
    for row, record in look.records(source):
        if not isinstance(record, dict):
            source.fault(row, f"expected an export, found {type(record).__name__}")
            continue
        for raw in _inside(record, "resourceSpans", "scopeSpans", "spans"):
            try:
                span = _span(raw, row, source)
            except Malformed as error:
                source.fault(row, error)
                continue
            spans[span.trace, span.id] = span
        logs += [(row, log) for log in _inside(record, "resourceLogs", "scopeLogs", "logRecords")]
    for row, log in logs:
        try:
            _log(log, spans, source)
        except Malformed as error:
            source.fault(row, error)
    yield from trajectories_of(spans.values(), source)


def _inside(record: Mapping[str, Any], *keys: str) -> Iterator[dict[str, Any]]:
    levels: list[Mapping[str, Any]] = [record]
    for key in keys:
        levels = [entry for level in levels for entry in objects(level.get(key))]
    return (level for level in levels if isinstance(level, dict))


def _span(raw: Mapping[str, Any], row: int, source: Source) -> Span:
    held = attributes_of(raw.get("attributes"))
    start, end = amount_of(raw.get("startTimeUnixNano")) or 0.0, amount_of(raw.get("endTimeUnixNano")) or 0.0
    trace, own = word_of(raw.get("traceId")), word_of(raw.get("spanId"))
    if not trace or not own:
        raise Malformed("a span without traceId and spanId")
    span = Span(
        *(trace, own, _kind(held), row, word_of(raw.get("parentSpanId"))),
        start=start,
        end=end,
        time=time_of(start),
        until=time_of(end),
        seconds=(end - start) / 1e9 if end >= start > 0 else None,
        error=_error(raw, held),
        has_status=True,
    )
    _fill(span, held, word_of(raw.get("name")), source)
    for event in objects(raw.get("events")):
        given = attributes_of(event.get("attributes"))
        _event(span, word_of(event.get("name")), given, given, source)
    return span


def _kind(held: Mapping[str, Any]) -> str:
    vercel = word_of(held.get("ai.operationId"))
    if vercel.startswith("ai."):
        return "tool" if vercel == "ai.toolCall" else "model" if vercel.endswith((".doGenerate", ".doStream")) else ""
    doing = word_of(held.get("gen_ai.operation.name"))
    if doing in _MODELS:
        return "model"
    if doing == "execute_tool":
        return "tool"
    if doing in ("invoke_agent", "create_agent"):
        return "agent"
    kind = first_of(held, ("openinference.span.kind", "traceloop.span.kind"))
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind]
    if "gen_ai.tool.name" in held:
        return "tool"
    return "model" if {"gen_ai.request.model", "gen_ai.prompt.0.role", "gen_ai.prompt.0.content"} & held.keys() else ""


def _error(raw: Mapping[str, Any], held: Mapping[str, Any]) -> str:
    status = mapping(raw.get("status"))
    kind = word_of(held.get("error.type"))
    if status.get("code") in (2, "2", "STATUS_CODE_ERROR") or kind:
        return word_of(status.get("message")) or kind or "error"
    return ""


def _fill(span: Span, held: Mapping[str, Any], title: str, source: Source) -> None:
    """What the attributes of a span say."""
    span.model = word_of(first_of(held, ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name")))
    span.group = name_of(first_of(held, ("gen_ai.conversation.id", "session.id")))
    read = first_of(held, ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"))
    wrote = first_of(
        held, ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
    )
    span.tokens = sum_of(read, wrote)
    span.stopped = word_of(next(iter(sequence(held.get("gen_ai.response.finish_reasons"))), ""))
    span.agent = word_of(first_of(held, ("gen_ai.agent.name", "agent.name")))
    if span.kind == "tool":
        named = first_of(held, ("gen_ai.tool.name", "tool.name", "traceloop.entity.name", "ai.toolCall.name"))
        span.name = word_of(named) or title.removeprefix("execute_tool ")
        span.call_id = name_of(first_of(held, ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")))
        given = first_of(
            held, ("gen_ai.tool.call.arguments", "input.value", "traceloop.entity.input", "ai.toolCall.args")
        )
        answered = first_of(
            held, ("gen_ai.tool.call.result", "output.value", "traceloop.entity.output", "ai.toolCall.result")
        )
        span.arguments, span.result = text_or_json(given), text_or_json(answered)
    elif span.kind == "agent":
        invoked = title.removeprefix(_INVOKED) if title.startswith(_INVOKED) else ""
        span.agent = span.agent or word_of(held.get("traceloop.entity.name")) or invoked
        span.name = span.agent or title
    elif span.kind == "model":
        _messages(span, held, source)
        span.tools = _tools(held, source)


def _messages(span: Span, held: Mapping[str, Any], source: Source) -> None:
    """The messages of a request, of the new conventions or as numbered attributes."""
    system = _json(held.get("gen_ai.system_instructions"), source)
    before = [{"role": "system", "parts": system}] if isinstance(system, list) and system else []
    asked = _json(held.get("gen_ai.input.messages"), source)
    came = _json(held.get("gen_ai.output.messages"), source)
    if asked is None and "ai.prompt.messages" in held:
        asked = _json(held["ai.prompt.messages"], source)
        calls = [{"type": "tool-call", **call} for call in objects(_json(held.get("ai.response.toolCalls"), source))]
        said = [{"type": "text", "text": text}] if (text := word_of(held.get("ai.response.text"))) else []
        came = [{"role": "assistant", "content": [*said, *calls]}] if said or calls else None
    elif asked is None and came is None:
        asked = _numbered(held, "gen_ai.prompt.", "user") or _numbered(held, "llm.input_messages.", "user")
        came = _numbered(held, "gen_ai.completion.", "assistant") or _numbered(
            held, "llm.output_messages.", "assistant"
        )
    if before or asked:
        asked = entries(asked, "gen_ai.input.messages")
        span.asked += steps_of([*before, *asked], source, "gen_ai.input.messages", guess=False)
    if came:
        span.came += steps_of(came, source, "gen_ai.output.messages", guess=False)


def _tools(held: Mapping[str, Any], source: Source) -> list[Any]:
    """The tools that a request lists, as a list or as numbered attributes."""
    listed = _json(first_of(held, ("gen_ai.tool.definitions", "gen_ai.request.tools")), source)
    if isinstance(listed, list):
        return listed
    numbered = _numbered(held, "llm.request.functions.", "") or _numbered(held, "llm.tools.", "")
    if numbered:
        return [mapping(one.get("tool")).get("json_schema") or one.get("json_schema") or one for one in numbered]
    return [*sequence(held.get("ai.prompt.tools"))]


def _json(value: Any, source: Source) -> Any:
    """A value that may be written as JSON text; None, with a note, where that is cut."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        source.note(_CUT)
        return None


def _numbered(held: Mapping[str, Any], prefix: str, role: str) -> list[dict[str, Any]]:
    """Messages that are spread over attributes such as ``gen_ai.prompt.0.content``."""
    tree: dict[str, Any] = {}
    for key, value in held.items():
        if key.startswith(prefix):
            level = tree
            *parts, last = key.removeprefix(prefix).split(".")[:12]
            for part in parts:
                inner = level.setdefault(part, {})
                if not isinstance(inner, dict):
                    break
                level = inner
            else:
                level[last] = value
    found = [_listed(tree[i]) for i in sorted(filter(_is_place, tree), key=int) if isinstance(tree[i], dict)]
    messages = [mapping(entry.get("message")) or entry for entry in found]
    return [{**m, "role": m.get("role") or role, **_unwrapped(m)} for m in messages]


def _is_place(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 9


def _listed(value: Any) -> Any:
    """Objects whose keys are numbers as lists."""
    if not isinstance(value, dict):
        return value
    if value and all(map(_is_place, value)):
        return [_listed(value[i]) for i in sorted(value, key=int)]
    return {key: _listed(entry) for key, entry in value.items()}


def _unwrapped(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = [mapping(call.get("tool_call")) or call for call in objects(message.get("tool_calls"))]
    return {"tool_calls": calls} if calls else {}


def _event(span: Span, name: str, held: Mapping[str, Any], body: Mapping[str, Any], source: Source) -> None:
    """An event of a span, or a log record that belongs to it."""
    if name == "gen_ai.client.inference.operation.details":
        _messages(span, {**body, **held}, source)
    elif name in _OLD:
        message = {"role": _OLD[name], **{k: _loaded(v) for k, v in body.items() if k != "gen_ai.system"}}
        message["role"] = _OLD[name]
        span.asked += steps_of([message], source, name, guess=False)
    elif name == "gen_ai.choice":
        inner = _loaded(body.get("message"))
        given = inner if isinstance(inner, dict) else {"content": inner, **body} if inner is not None else body
        kept = {k: _loaded(v) for k, v in given.items() if k in ("content", "tool_calls", "parts")}
        span.came += steps_of([{"role": "assistant", **kept}], source, name, guess=False)
    elif name == "gen_ai.evaluation.result":
        value = first_of(held, ("gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"))
        span.mark = mark_of(value)


def _loaded(value: Any) -> Any:
    """A list or an object that is written as JSON text; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    shaped = isinstance(found, list) and found and all(isinstance(entry, dict) for entry in found)
    return found if shaped or (isinstance(found, dict) and {"role", "content", "tool_calls"} & found.keys()) else value


def _log(log: Mapping[str, Any], spans: Mapping[tuple[str, str], Span], source: Source) -> None:
    """A log record, added to the span that it belongs to."""
    held = attributes_of(log.get("attributes"))
    name = word_of(log.get("eventName")) or word_of(held.get("event.name"))
    span = spans.get((word_of(log.get("traceId")), word_of(log.get("spanId"))))
    if not name.startswith("gen_ai."):
        return
    if span is None:
        source.note("log records of spans that are not in the file were left out")
        return
    _event(span, name, held, mapping(value_of(log.get("body"))) or held, source)


def attributes_of(listed: Any) -> dict[str, Any]:
    """A list of {key, value} as an object of plain values; an object is itself."""
    if isinstance(listed, dict):
        return listed
    return {
        entry["key"]: value_of(entry.get("value")) for entry in objects(listed) if isinstance(entry.get("key"), str)
    }


def value_of(value: Any, depth: int = _DEEPEST) -> Any:
    """The plain value of an attribute.

    Raises ``Malformed`` for values that are nested beyond all bounds.
    """
    if not isinstance(value, dict):
        return value
    if not depth:
        raise Malformed("an attribute is nested too deeply")
    for key in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        if key in value:
            return value[key]
    if "intValue" in value:
        number = value["intValue"]
        return int(number) if isinstance(number, str) and _WHOLE.fullmatch(number) else number
    if "arrayValue" in value:
        return [value_of(entry, depth - 1) for entry in sequence(mapping(value["arrayValue"]).get("values"))]
    if "kvlistValue" in value:
        pairs = objects(mapping(value["kvlistValue"]).get("values"))
        return {p["key"]: value_of(p.get("value"), depth - 1) for p in pairs if isinstance(p.get("key"), str)}
    return None
