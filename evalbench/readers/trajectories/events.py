"""Runs of OpenHands: a record for each task whose history is what the agent did and what came of it, or a file of such events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from evalbench.readers.tools.safe import mapping, objects, sequence
from evalbench.readers.trajectories.about import MARKS, about_of, left_unread
from evalbench.readers.trajectories.looks import Look
from evalbench.readers.trajectories.messages import instruction_of, question_of
from evalbench.readers.trajectories.parts import text_of_content
from evalbench.readers.trajectories.shape import (
    Malformed,
    Source,
    Step,
    Trajectory,
    amount_of,
    first_of,
    json_text,
    mark_of,
    named_calls,
    sum_of,
    time_of,
    word_of,
)

NAMES = ("openhands",)
FILES = "OpenHands' output.jsonl, a task a line with its history of actions and observations; or one run's events"
HELD = "history"
_READ = (HELD, "test_result", "report", "metrics", "metadata", "instance", "error", "git_patch")
_SILENT = frozenset(
    {"null", "recall", "change_agent_state", "agent_state_changed", "condensation", "condense", "pause"}
)
"""What the tool does for itself."""
_OWN = frozenset({"thought", "confirmation_state", "is_confirmed", "security_risk", "is_input", "hidden", "kind"})
"""Fields of an action that are no arguments."""


def recognised(look: Look) -> str:
    """``openhands`` for records with a history of events, pairs of an action and an observation or not, and for a list of events."""
    if look.form not in ("lines", "document"):
        return ""
    held = [_events(record.get(HELD)) for record in look.objects[:5]]
    if held and all(events and all(map(_is_event, events[:20])) for events in held):
        return NAMES[0]
    return NAMES[0] if len(look.first) > 1 and all(map(_is_event, look.first)) else ""


def _is_event(value: Any) -> bool:
    event = mapping(value)
    named = any(isinstance(event.get(key), str) for key in ("action", "observation"))
    new = str(event.get("kind", "")).endswith("Event") and "source" in event
    return new or (named and bool({"args", "extras", "message", "content"} & {*event}) and "source" in event)


def _events(history: Any) -> list[dict[str, Any]]:
    """The events of a history; those of pairs one after the other."""
    return [
        event
        for entry in sequence(history)
        for event in (objects(entry) if isinstance(entry, list) else objects([entry]))
    ]


def read(look: Look, source: Source) -> Iterator[Trajectory]:
    """A trial of each record, or one of a file of events."""
    alone = all(map(_is_event, look.first))
    records = [(1, {HELD: [event for _, event in look.records(source)]})] if alone else look.records(source)
    for row, record in records:
        try:
            yield _of_record(record, row, source)
        except Malformed as error:
            source.fault(row, error)


def _of_record(record: Any, row: int, source: Source) -> Trajectory:
    events = _events(mapping(record).get(HELD))
    if not events:
        raise Malformed(f"expected a list of events under {HELD}, found {type(mapping(record).get(HELD)).__name__}")
    steps = named_calls(step for event in events for step in _steps(event))
    if not steps:
        raise Malformed(f"{HELD}: no action and no observation in {len(events)} events")
    steps = _with_sums(steps, mapping(record.get("metrics")))
    source.leave(left_unread(record, _READ))
    about = about_of(record, source)
    about["model"] = _model(record, events) or about["model"]
    about["mark"] = about["mark"] if about["mark"] is not None else _mark(record)
    made = Trajectory(**{**about, "steps": steps, "row": row})
    return replace(made, question=made.question or question_of(steps), policy=made.policy or instruction_of(steps))


def _model(record: Mapping[str, Any], events: list[dict[str, Any]]) -> str:
    own = mapping(record.get("metadata"))
    stated = (word_of(mapping(own.get(key)).get("model")) for key in ("llm_config", "llm"))
    answered = (word_of(_response(event).get("model")) for event in events)
    return next(filter(None, (*stated, *answered)), "")


def _mark(record: Mapping[str, Any]) -> float | None:
    """Whether the task was solved, by what the record says of its test or report."""
    tested, report = mapping(record.get("test_result")), mapping(record.get("report"))
    places = (tested, mapping(tested.get("report")), mapping(tested.get("result")), report)
    return next((mark for place in places if (mark := mark_of(first_of(place, MARKS))) is not None), None)


def _with_sums(steps: list[Step], metrics: Mapping[str, Any]) -> list[Step]:
    """The cost and the tokens of the whole, which are not kept for each step, with the last of them."""
    usage = mapping(metrics.get("accumulated_token_usage"))
    tokens = sum_of(amount_of(usage.get("prompt_tokens")), amount_of(usage.get("completion_tokens")))
    return [*steps[:-1], steps[-1]._replace(cost=amount_of(metrics.get("accumulated_cost")), tokens=tokens)]


def _steps(event: Mapping[str, Any]) -> Iterator[Step]:
    made = _of_kind(event) if str(event.get("kind", "")).endswith("Event") else _of_event(event)
    time = time_of(event.get("timestamp"))
    yield from (step._replace(time=time) for step in made)


def _of_event(event: Mapping[str, Any]) -> Iterator[Step]:
    action, seen = event.get("action"), event.get("observation")
    args, own = mapping(event.get("args")), mapping(event.get("tool_call_metadata"))
    call_id = word_of(own.get("tool_call_id"))
    said = text_of_content(args.get("content")) or text_of_content(event.get("message"))
    if isinstance(action, str) and action not in _SILENT:
        thought = text_of_content(args.get("thought"))
        if action in ("message", "system"):
            speaker = "system" if action == "system" else "user" if event.get("source") == "user" else "assistant"
            yield Step("message", speaker, text=said)
        elif action in ("finish", "reject"):
            yield Step("message", "assistant", text=text_of_content(args.get("final_thought")) or thought or said)
        elif action == "think":
            yield Step("note", "assistant", text=thought or said)
        elif action == "delegate":
            yield Step("handover", "assistant", word_of(args.get("agent")), text=json_text(args.get("inputs")))
        else:
            if thought:
                yield Step("note", "assistant", text=thought)
            name = word_of(own.get("function_name")) or action
            yield Step("call", "assistant", name, _arguments(event, args, call_id), _id(event.get("id")) or call_id)
    elif isinstance(seen, str) and seen not in _SILENT and event.get("source") != "user":
        extras = mapping(event.get("extras"))
        code = first_of({**mapping(extras.get("metadata")), **extras}, ("exit_code",))
        failed = 1 if seen == "error" else int(code != 0) if isinstance(code, int) else None
        name = word_of(own.get("function_name"))
        text = text_of_content(event.get("content")) or text_of_content(event.get("message"))
        yield Step("result", "tool", name, call_id=_id(event.get("cause")) or call_id, text=text, error=failed)


def _of_kind(event: Mapping[str, Any]) -> Iterator[Step]:
    """The steps of an event of the newer form, whose kind names it."""
    kind, tool, call_id = event["kind"], word_of(event.get("tool_name")), word_of(event.get("tool_call_id"))
    if kind == "MessageEvent":
        message = mapping(event.get("llm_message"))
        speaker = "user" if event.get("source") == "user" else "assistant"
        yield Step("message", speaker, text=text_of_content(message.get("content")))
    elif kind == "SystemPromptEvent":
        yield Step("message", "system", text=text_of_content([mapping(event.get("system_prompt"))]))
    elif kind == "ActionEvent":
        if thought := text_of_content(event.get("thought")):
            yield Step("note", "assistant", text=thought)
        call, action = mapping(event.get("tool_call")), mapping(event.get("action"))
        written = first_of({**mapping(call.get("function")), **call}, ("arguments",))
        if tool == "finish":
            yield Step("message", "assistant", text=text_of_content(action.get("message")))
        else:
            given = written if isinstance(written, str) else json_text(_given(action))
            yield Step("call", "assistant", tool, given, call_id)
    elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        seen = mapping(event.get("observation"))
        text = text_of_content(first_of({**seen, **event}, ("content", "output", "error", "rejection_reason")))
        flag = first_of(seen, ("is_error", "error"))
        failed = (
            int(bool(flag))
            if kind == "ObservationEvent" and flag is not None
            else int(kind == "AgentErrorEvent") or None
        )
        yield Step("result", "tool", tool, call_id=call_id, text=text, error=failed)


def _arguments(event: Mapping[str, Any], args: Mapping[str, Any], call_id: str) -> str:
    """As the model wrote them, where its reply is kept; else the fields of the action."""
    choices = sequence(_response(event).get("choices"))
    message = mapping(mapping(choices[0]).get("message")) if choices else {}
    for call in objects(message.get("tool_calls")):
        written = mapping(call.get("function")).get("arguments")
        if call.get("id") == call_id and isinstance(written, str):
            return written
    return json_text(_given(args))


def _response(event: Mapping[str, Any]) -> dict[str, Any]:
    return mapping(mapping(event.get("tool_call_metadata")).get("model_response"))


def _given(action: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in action.items() if key not in _OWN and value not in (None, "")}


def _id(value: Any) -> str:
    return str(value) if isinstance(value, int) else ""
