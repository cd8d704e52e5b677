"""Exports of tracing services: runs of LangSmith, traces and observations of Langfuse."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from evalbench.readers.tools.safe import mapping, objects, sequence
from evalbench.readers.trajectories.listed_tools import LISTS
from evalbench.readers.trajectories.looks import Look
from evalbench.readers.trajectories.messages import is_message, steps_of, tokens_of, unwrapped
from evalbench.readers.trajectories.shape import (
    Malformed,
    Source,
    Trajectory,
    amount_of,
    first_of,
    json_text,
    mark_of,
    name_of,
    seconds_between,
    sum_of,
    text_or_json,
    time_of,
    word_of,
)
from evalbench.readers.trajectories.spans import Span, refuse_large, trajectories_of

NAMES = ("langsmith", "langfuse")
FILES = "runs of LangSmith, with child_runs or a trace_id; traces of Langfuse with observations, or observations"
_RUNS: Mapping[str, str] = {"llm": "model", "tool": "tool", "retriever": "tool"}
_OBSERVATIONS: Mapping[str, str] = {
    **dict.fromkeys(("GENERATION", "EMBEDDING"), "model"),
    **dict.fromkeys(("TOOL", "RETRIEVER"), "tool"),
    "AGENT": "agent",
}
_TYPES = frozenset({*_OBSERVATIONS, "SPAN", "EVENT", "CHAIN", "EVALUATOR", "GUARDRAIL"})
_DEEPEST = 30


def recognised(look: Look) -> str:
    """``langsmith`` or ``langfuse``; empty for any other file."""
    if look.form not in ("lines", "document") or not look.objects:
        return ""
    first = look.objects[0]
    if isinstance(first.get("run_type"), str) and ("inputs" in first or "child_runs" in first):
        return NAMES[0]
    observations = first.get("observations")
    if isinstance(observations, list) and (not observations or _observed(mapping(observations[0]))):
        return NAMES[1]
    return NAMES[1] if _observed(first) and ("traceId" in first or "trace_id" in first) else ""


def _observed(record: Mapping[str, Any]) -> bool:
    return word_of(record.get("type")) in _TYPES and ("startTime" in record or "start_time" in record)


def read(look: Look, source: Source) -> Iterator[Trajectory]:
    """The traces of an export, each a trajectory."""
    refuse_large(look)
    spans: list[Span] = []
    for row, record in look.records(source):
        try:
            if not isinstance(record, dict):
                raise Malformed(f"expected an object, found {type(record).__name__}")
            found = _runs(record, row, source) if source.form == "langsmith" else _observations(record, row, source)
            spans += list(found)
        except Malformed as error:
            source.fault(row, error)
    yield from trajectories_of(spans, source)


def _runs(run: Mapping[str, Any], row: int, source: Source, trace: str = "", depth: int = _DEEPEST) -> Iterator[Span]:
    """A run of LangSmith and those within it."""
    own = name_of(run.get("id"))
    trace = name_of(run.get("trace_id")) or trace or own
    if not own:
        raise Malformed("a run without an id")
    if not depth:
        raise Malformed("runs are nested too deeply")
    about = mapping(mapping(run.get("extra")).get("metadata"))
    kind = _RUNS.get(word_of(run.get("run_type")), "")
    span = _timed(Span(trace, own, kind, row, name_of(run.get("parent_run_id"))), run)
    span.name, span.error = word_of(run.get("name")), word_of(run.get("error"))
    span.group = name_of(first_of(about, ("thread_id", "session_id", "conversation_id")))
    span.task = name_of(run.get("reference_example_id"))
    rated = mapping(run.get("feedback_stats"))
    if len(rated) == 1:
        span.mark = mark_of(mapping(next(iter(rated.values()))).get("avg"))
    if kind == "model":
        span.model = word_of(first_of(about, ("ls_model_name", "model_name", "model")))
        span.tokens = amount_of(run.get("total_tokens"))
        span.cost = amount_of(run.get("total_cost"))
        _spoken(span, run.get("inputs"), run.get("outputs"), source)
        given = mapping(mapping(run.get("extra")).get("invocation_params"))
        span.tools = [one for key in LISTS for one in sequence(given.get(key))]
    elif kind == "tool":
        _acted(span, run.get("inputs"), run.get("outputs"))
    yield span
    for inner in objects(run.get("child_runs")):
        yield from _runs({**inner, "parent_run_id": inner.get("parent_run_id") or own}, row, source, trace, depth - 1)


def _observations(record: Mapping[str, Any], row: int, source: Source) -> Iterator[Span]:
    """The observations of a trace of Langfuse, or a single one."""
    held = record.get("observations")
    if not isinstance(held, list):
        yield _observation(record, "", row, source)
        return
    trace = name_of(record.get("id"))
    session = name_of(record.get("sessionId"))
    spans = [_observation(entry, trace, row, source) for entry in objects(held)]
    marks = [mark for score in objects(record.get("scores")) if (mark := mark_of(score.get("value"))) is not None]
    for i, span in enumerate(spans):
        span.group = session
        span.mark = marks[0] if i == 0 and len(marks) == 1 else None
    if len(marks) > 1:
        source.note("traces with several marks were left unscored")
    yield from spans


def _observation(entry: Mapping[str, Any], trace: str, row: int, source: Source) -> Span:
    own, trace = name_of(entry.get("id")), trace or name_of(first_of(entry, ("traceId", "trace_id")))
    if not own or not trace:
        raise Malformed("an observation without id and traceId")
    kind = _OBSERVATIONS.get(word_of(entry.get("type")), "")
    above = name_of(first_of(entry, ("parentObservationId", "parent_observation_id")))
    span = _timed(Span(trace, own, kind, row, above), entry)
    span.name = word_of(entry.get("name"))
    if entry.get("level") == "ERROR":
        span.error = word_of(first_of(entry, ("statusMessage", "status_message"))) or "error"
    if kind == "model":
        span.model = word_of(first_of(entry, ("model", "providedModelName", "provided_model_name")))
        span.tokens = tokens_of(first_of(entry, ("usageDetails", "usage_details", "usage")))
        costs = mapping(first_of(entry, ("costDetails", "cost_details")))
        span.cost = amount_of(first_of(entry, ("calculatedTotalCost", "totalCost", "total_cost"))) or sum_of(
            costs.get("total")
        )
        _spoken(span, entry.get("input"), entry.get("output"), source)
        span.tools = [one for key in LISTS for one in sequence(mapping(_loaded(entry.get("input"))).get(key))]
    elif kind == "tool":
        _acted(span, entry.get("input"), entry.get("output"))
    return span


def _timed(span: Span, record: Mapping[str, Any]) -> Span:
    span.time = time_of(first_of(record, ("start_time", "startTime")))
    span.until = time_of(first_of(record, ("end_time", "endTime"))) or span.time
    span.start, span.end = _seconds(span.time), _seconds(span.until)
    span.seconds = seconds_between(span.time, span.until) if first_of(record, ("end_time", "endTime")) else None
    return span


def _seconds(time: str) -> float:
    """Seconds since 1970 of a time of :func:`time_of`, in UTC where it has no zone; 0 of none."""
    if not time:
        return 0.0
    moment = datetime.fromisoformat(time)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _spoken(span: Span, asked: Any, came: Any, source: Source) -> None:
    """The messages that a model was given, and those that it gave."""
    span.asked = steps_of(messages_in(asked, "user"), source, "inputs")
    span.came = steps_of(messages_in(came, "assistant"), source, "outputs")


def _acted(span: Span, given: Any, came: Any) -> None:
    """What a tool was given, and what it answered."""
    held = _loaded(given)
    inner = mapping(held)
    if {"name", "args", "id"} <= inner.keys():
        span.name, span.call_id, held = word_of(inner["name"]) or span.name, name_of(inner["id"]), inner["args"]
    elif set(inner) == {"input"}:
        held = _loaded(inner["input"])
    span.arguments = text_or_json(held)
    answer = _loaded(came)
    answer = answer["output"] if isinstance(answer, dict) and set(answer) == {"output"} else answer
    if isinstance(answer, dict):
        message = unwrapped(answer)
        if "content" in message:
            span.call_id = span.call_id or name_of(message.get("tool_call_id"))
            span.error = span.error or ("error" if message.get("status") == "error" else "")
            answer = message["content"]
    span.result = text_or_json(answer)


def messages_in(value: Any, role: str, depth: int = 6) -> list[Any]:
    """The messages in what a model was given or gave, in any of the shapes that tracing services keep; a text is one of ``role``."""
    value = _loaded(value)
    if value is None or value in ({}, []):
        return []
    if isinstance(value, str) or not depth:
        return [{"role": role, "content": value if isinstance(value, str) else json_text(value)}]
    if isinstance(value, list):
        if isinstance(value[0], list):
            return messages_in(value[0], role, depth - 1)
        if all(map(is_message, value)):
            return value
        return (
            messages_in(value[0], role, depth - 1) if len(value) == 1 else [{"role": role, "content": json_text(value)}]
        )
    if isinstance(value, dict):
        if is_message(value):
            return [value]
        for key in ("messages", "generations", "choices", "message", "output", "input", "text", "content"):
            if value.get(key) is not None:
                system = (
                    [{"role": "system", "content": value["system"]}] if isinstance(value.get("system"), str) else []
                )
                inner = sequence(value[key])[:1] if key in ("generations", "choices") else value[key]
                return [*system, *messages_in(inner, role, depth - 1)]
    return [{"role": role, "content": json_text(value)}]


def _loaded(value: Any) -> Any:
    """A value that is written as JSON text; any other as it is."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
