"""Chats: a list of messages, records that each hold one, or lines of either; messages of OpenAI, the Responses API or Anthropic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalbench.readers.tools.safe import mapping, sequence
from evalbench.readers.trajectories.about import about_of, ended_of, left_unread
from evalbench.readers.trajectories.listed_tools import tools_in
from evalbench.readers.trajectories.looks import Look, sole_list
from evalbench.readers.trajectories.messages import (
    ROLE,
    instruction_of,
    is_item,
    is_message,
    question_of,
    steps_of,
    tokens_of,
)
from evalbench.readers.trajectories.parts import text_of_content
from evalbench.readers.trajectories.shape import (
    Malformed,
    Source,
    Step,
    Trajectory,
    first_of,
    name_of,
    named_calls,
    time_of,
    word_of,
)

NAMES = ("openai-messages", "openai-responses", "anthropic-messages")
FILES = "a list of messages, or a record, line or row of Parquet with messages for each trial, of OpenAI's chat, Responses API or Anthropic"
KEYS = (
    "messages",
    "traj",
    "trajectory",
    "conversation",
    "conversations",
    "history",
    "transcript",
    "chat",
    "items",
    "contents",
)
_GROUPS = ("trajectory_id", "conversation_id", "session_id", "thread_id", "trace_id", "task_id", "run_id")
READ = (
    *KEYS,
    "system",
    "request",
    "body",
    "config",
    "response",
    "choices",
    "tools",
    "functions",
    "object",
    "created",
    "created_at",
)
_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use")


def recognised(look: Look) -> str:
    """The name of the form, one of :data:`NAMES`; empty where there are no messages."""
    if look.form not in ("lines", "document", "parquet") or not look.first:
        return ""
    records = look.first[:5]
    if not _shown(records[0]) and (key := sole_list(look.value, lambda entry: bool(_shown(entry)))):
        records = look.value[key][:5]
    if not _shown(records[0]) or not all(map(is_message, _shown(records[0]))):
        return ""
    shown = [message for record in records for message in _shown(record) if isinstance(message, dict)]
    if any(is_item(message) or "output_text" in _kinds(message) for message in shown):
        return NAMES[1]
    if any(_kinds(message) & {*_BLOCKS} for message in shown):
        return NAMES[2]
    return NAMES[0]


def _shown(record: Any) -> list[Any]:
    """The messages by which a record is known: of a record some of those it holds, of a list some of it, or itself."""
    if isinstance(record, list):
        return record[:50] if record and all(map(is_message, record[:50])) else []
    if not isinstance(record, dict):
        return []
    if _is_response(record):
        return list(record["output"][:50]) or [{"type": "reasoning"}]
    held = held_in(record)
    if held is not None:
        return list(held[:50])
    return [record] if is_message(record) and isinstance(record.get("role", record.get("type")), str) else []


def _kinds(message: Mapping[str, Any]) -> set[str]:
    return {word_of(mapping(part).get("type")) for part in sequence(message.get("content"))}


def held_in(record: Mapping[str, Any]) -> list[Any] | None:
    """The messages of a record; None where it holds none."""
    for key in KEYS:
        value = record.get(key)
        if isinstance(value, list) and value and is_message(value[0]):
            return value
    asked = mapping(record.get("request")) or mapping(record.get("body"))
    return held_in(asked) if asked and asked is not record else None


def _is_response(record: Mapping[str, Any]) -> bool:
    held = record.get("output")
    return isinstance(held, list) and (
        record.get("object") == "response" or (bool(held) and all(map(is_message, held[:50])))
    )


def read(look: Look, source: Source) -> Iterator[Trajectory]:
    """The trajectories of a file that :func:`recognised` knows."""
    whole = sole_list(look.value, lambda entry: bool(_shown(entry)))
    if whole and not _shown(look.value):
        look = look.inside(whole)
    first = look.first[0]
    if isinstance(first, dict) and is_message(first) and held_in(first) is None and not _is_response(first):
        yield from _of_messages(look, source)
    elif all(isinstance(record, dict) and _is_response(record) for record in look.first):
        yield from _of_responses(look, source)
    else:
        for row, record in look.records(source):
            try:
                yield of_record(record, row, source)
            except Malformed as error:
                source.fault(row, error)


def _of_messages(look: Look, source: Source) -> Iterator[Trajectory]:
    """A file whose records are messages: one trajectory, or one for each value of a column that groups them."""
    key = next((key for key in _GROUPS if all(name_of(r.get(key)) for r in look.objects)), "")
    kept: list[Any] = []
    began, group = 1, ""
    for row, message in look.records(source):
        if not isinstance(message, dict):
            source.fault(row, f"expected a message, found {type(message).__name__}")
            continue
        own = name_of(message.get(key)) if key else ""
        if kept and own != group:
            yield from _one(kept, group, began, source)
            kept, began = [], row
        group = own
        kept.append(message)
    yield from _one(kept, group, began, source)


def _one(messages: list[Any], group: str, row: int, source: Source) -> Iterator[Trajectory]:
    if not messages:
        return
    try:
        steps = steps_of(messages, source)
        model = next((name for m in messages if (name := word_of(m.get("model")))), "")
        yield Trajectory(group, steps, model, question=question_of(steps), policy=instruction_of(steps), row=row)
    except Malformed as error:
        source.fault(row, error)


def _of_responses(look: Look, source: Source) -> Iterator[Trajectory]:
    """Replies of the Responses API; one that goes on from the reply before it is of the same trajectory."""
    kept: list[tuple[int, dict[str, Any]]] = []
    for row, record in look.records(source):
        if not isinstance(record, dict):
            source.fault(row, f"expected a response, found {type(record).__name__}")
            continue
        before = record.get("previous_response_id")
        if kept and not (isinstance(before, str) and before == kept[-1][1].get("id")):
            yield from _chained(kept, source)
            kept = []
        kept.append((row, record))
    if kept:
        yield from _chained(kept, source)


def _chained(records: list[tuple[int, dict[str, Any]]], source: Source) -> Iterator[Trajectory]:
    steps: list[Step] = []
    row, first = records[0]
    try:
        for _, record in records:
            steps += response_steps(record, source)
        steps = named_calls(steps)
        about = about_of({k: v for k, v in first.items() if k not in ("output", "input", "instructions")}, source)
        policy = text_of_content(first.get("instructions")) or instruction_of(steps)
        last = mapping(records[-1][1].get("incomplete_details")).get("reason")
        about["ended"] = f"limit: {last}" if isinstance(last, str) else about.get("ended", "")
        about["question"] = about.get("question") or question_of(steps)
        tools = tools_in((record for _, record in records), steps)
        yield Trajectory(**{**about, "steps": steps, "policy": policy or None, "tools": tools, "row": row})
    except Malformed as error:
        source.fault(row, error)


def response_steps(record: Mapping[str, Any], source: Source) -> list[Step]:
    """The steps of one reply: what was asked, then what came; its tokens are with the first that came."""
    asked = record.get("input")
    before = (
        [Step("message", "user", text=asked, time=time_of(record.get("created_at")))]
        if isinstance(asked, str) and asked
        else steps_of(asked, source, "input")
        if isinstance(asked, list)
        else []
    )
    came = steps_of(record.get("output"), source, "output")
    tokens = tokens_of(record.get("usage"))
    if came:
        time = time_of(record.get("created_at"))
        came = [step._replace(time=step.time or time) for step in came]
        came[0] = came[0]._replace(tokens=tokens)
    return [*before, *came]


def of_record(record: Any, row: int, source: Source) -> Trajectory:
    """The trajectory of a record that holds messages, or is a list of them.

    Raises ``Malformed`` for any other record, and for messages that are none.
    """
    if isinstance(record, list):
        steps = steps_of(record, source)
        return Trajectory("", steps, question=question_of(steps), policy=instruction_of(steps), row=row)
    if not isinstance(record, dict):
        raise Malformed(f"expected an object with messages, found {type(record).__name__}")
    if _is_response(record):
        steps = response_steps(record, source)
    else:
        held = held_in(record)
        key = next((key for key in KEYS if record.get(key) and held in (None, record[key])), "")
        if held is None and not key:
            raise Malformed(f"no messages; they are looked for under {', '.join(KEYS)}")
        messages = record[key] if held is None else [*held, *_came(record)]
        steps = steps_of(messages, source, key or "request.messages")
    about = about_of(record, source)
    if not _is_response(record):
        source.leave(left_unread(record, READ))
    given = record.get("system") if record.get("system") is not None else mapping(record.get("request")).get("system")
    if given and not any(step.role == "system" for step in steps):
        steps = [Step("message", "system", text=text_of_content(given)), *steps]
    about["policy"] = about["policy"] or instruction_of(steps)
    about["question"] = about["question"] or question_of(steps)
    about["ended"] = about["ended"] or ended_of(_finish(record))
    asked = [mapping(record.get(key)) for key in ("request", "body", "metadata", "config")]
    about["tools"] = tools_in((record, *asked, mapping(asked[3].get("config"))), steps)
    return Trajectory(**{**about, "steps": steps, "row": row})


def _finish(record: Mapping[str, Any]) -> Any:
    """Why the reply of a request ended, where a record holds it."""
    answer = mapping(record.get("response")) or record
    choice = mapping((sequence(answer.get("choices")) or [None])[0])
    return first_of(choice, ("finish_reason",)) or first_of(answer, ("stop_reason",))


def _came(record: Mapping[str, Any]) -> list[Any]:
    """The message that a request was answered by, where a record holds both."""
    answer = mapping(record.get("response")) or record
    choices = sequence(answer.get("choices"))
    if choices and isinstance(message := mapping(choices[0]).get("message"), dict):
        return [{**message, **{key: answer[key] for key in ("usage", "created") if key in answer}}]
    if answer is not record and ROLE.get(str(first_of(answer, ("role",)))) and "content" in answer:
        return [answer]
    return []
