"""Logs of coding agents' sessions: Claude Code and Codex, a line an event, and ATIF, a document or a line a session."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalbench.readers.tools.safe import mapping, objects
from evalbench.readers.trajectories.about import about_of
from evalbench.readers.trajectories.listed_tools import tools_in
from evalbench.readers.trajectories.looks import Look
from evalbench.readers.trajectories.messages import instruction_of, question_of, steps_of_message, tokens_of, with_usage
from evalbench.readers.trajectories.parts import text_of_content
from evalbench.readers.trajectories.shape import (
    Malformed,
    Source,
    Step,
    Trajectory,
    amount_of,
    entries,
    name_of,
    named_calls,
    sum_of,
    time_of,
    word_of,
)
from evalbench.readers.trajectories.spans import refuse_large

NAMES = ("claude-code", "codex", "atif")
FILES = "session logs of Claude Code and Codex (JSON Lines), trajectories in ATIF (steps with a source)"
_SOURCES: Mapping[str, str] = {"user": "user", "agent": "assistant", "system": "system"}
_PAYLOADS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})


@dataclass
class Session:
    """The steps of a session so far.

    - ``replies``: The first step of each reply, by its id: a reply is written in several lines that repeat its usage.
    """

    row: int
    model: str = ""
    steps: list[Step] = field(default_factory=list)
    replies: dict[str, int] = field(default_factory=dict)

    def made(self, name: str) -> Trajectory:
        steps = named_calls(self.steps)
        asked, policy = question_of(steps), instruction_of(steps)
        return Trajectory(name, steps, self.model, question=asked, policy=policy, row=self.row)


def recognised(look: Look) -> str:
    """``claude-code``, ``codex`` or ``atif``; empty for any other file."""
    held = look.objects
    if not held or len(held) < len(look.first):
        return ""
    if all(_is_atif(record) for record in held):
        return NAMES[2]
    if look.form != "lines":
        return ""
    if all(word_of(record.get("type")) in _PAYLOADS and isinstance(record.get("payload"), dict) for record in held):
        return NAMES[1]
    said = [r for r in held if isinstance(r.get("message"), dict) and word_of(r.get("type")) in ("user", "assistant")]
    return NAMES[0] if said and all("sessionId" in r for r in said) and all("type" in r for r in held) else ""


def _is_atif(record: Mapping[str, Any]) -> bool:
    steps = record.get("steps")
    known = isinstance(steps, list) and bool(steps) and all("source" in mapping(s) for s in steps[:20])
    return known and ("agent" in record or word_of(record.get("schema_version")).startswith("ATIF"))


def read(look: Look, source: Source) -> Iterator[Trajectory]:
    """The sessions of a log."""
    if source.form == "atif":
        for row, record in look.records(source):
            try:
                yield _atif(record, row, source)
            except Malformed as error:
                source.fault(row, error)
        return
    refuse_large(look)
    sessions: dict[str, Session] = {}
    current = ""
    for row, event in look.records(source):
        if not isinstance(event, dict):
            source.fault(row, f"expected an event, found {type(event).__name__}")
            continue
        try:
            if source.form == "codex":
                current = _codex(event, sessions, current, row, source)
            else:
                _claude(event, sessions, row, source)
        except Malformed as error:
            source.fault(row, error)
    yield from (session.made(name) for name, session in sessions.items() if session.steps)


def _claude(event: Mapping[str, Any], sessions: dict[str, Session], row: int, source: Source) -> None:
    """An event of Claude Code; what the program itself put in is a note, and not said by the user."""
    name = name_of(event.get("sessionId"))
    kind, message = event.get("type"), event.get("message")
    if not name or kind not in ("user", "assistant", "system"):
        return
    agent = (name_of(event.get("agentId")) or "sidechain") if event.get("isSidechain") is True else ""
    # An agent below writes a log of its own, with the name of the session.
    session = sessions.setdefault(f"{name}/{agent}" if agent not in ("", "sidechain") else name, Session(row))
    time, parent = time_of(event.get("timestamp")), word_of(event.get("parentUuid"))
    if kind == "system":
        session.steps.append(
            Step("note", "system", agent, text=word_of(event.get("content")), time=time, parent=parent)
        )
        return
    if not isinstance(message, dict):
        raise Malformed(f"message: expected an object, found {type(message).__name__}")
    session.model = session.model or _model(message)
    steps = [
        step._replace(
            time=step.time or time, parent=parent, name=step.name or (agent if step.kind == "message" else "")
        )
        for step in steps_of_message({**message, "role": message.get("role") or kind}, source)
    ]
    if event.get("isMeta") is True or event.get("isCompactSummary") is True or event.get("isApiErrorMessage") is True:
        steps = [step._replace(kind="note") if step.kind == "message" else step for step in steps]
    reply = name_of(message.get("id"))
    if reply and reply in session.replies:
        first = session.replies[reply]
        tokens = max((t for t in (session.steps[first].tokens, steps[0].tokens) if t is not None), default=None)
        session.steps[first] = session.steps[first]._replace(tokens=tokens)
        steps[0] = steps[0]._replace(tokens=None)
    elif reply:
        session.replies[reply] = len(session.steps)
    session.steps += steps


def _model(message: Mapping[str, Any]) -> str:
    name = word_of(message.get("model"))
    return "" if name.startswith("<") else name


def _codex(event: Mapping[str, Any], sessions: dict[str, Session], current: str, row: int, source: Source) -> str:
    """An event of Codex; the name of the session that goes on."""
    kind, held = event.get("type"), mapping(event.get("payload"))
    time = time_of(event.get("timestamp"))
    if kind == "session_meta":
        current = name_of(held.get("id")) or current
        if (instructions := text_of_content(held.get("instructions"))) and current not in sessions:
            sessions[current] = Session(row, steps=[Step("message", "system", text=instructions, time=time)])
    session = sessions.setdefault(current, Session(row))
    if kind == "turn_context":
        session.model = session.model or word_of(held.get("model"))
    elif kind == "compacted":
        session.steps.append(Step("note", "system", text=word_of(held.get("message")), time=time))
    elif kind == "response_item":
        steps = [_exit(step) for step in steps_of_message(held, source)]
        session.steps += [step._replace(time=step.time or time) for step in steps]
    elif kind == "event_msg" and held.get("type") == "token_count":
        _spent(session, tokens_of(mapping(held.get("info")).get("last_token_usage")))
    return current


def _exit(step: Step) -> Step:
    """A result whose text is an object with an exit code: the tool failed where it is not 0."""
    if step.kind != "result" or not (step.text or "").startswith("{"):
        return step
    try:
        held = mapping(json.loads(step.text or ""))
    except (ValueError, RecursionError):
        return step
    code = mapping(held.get("metadata")).get("exit_code")
    if not isinstance(code, int) or isinstance(code, bool):
        return step
    return step._replace(error=int(code != 0), text=word_of(held.get("output")) or step.text)


def _spent(session: Session, tokens: float | None) -> None:
    """Tokens of the last request, with the last step of the model that has none yet."""
    for i in range(len(session.steps) - 1, max(-1, len(session.steps) - 20), -1):
        step = session.steps[i]
        if step.role == "assistant":
            if step.tokens is None:
                session.steps[i] = step._replace(tokens=tokens)
            return


def _atif(record: Any, row: int, source: Source) -> Trajectory:
    if not isinstance(record, dict):
        raise Malformed(f"expected a trajectory, found {type(record).__name__}")
    agent = mapping(record.get("agent"))
    steps: list[Step] = []
    for i, entry in enumerate(entries(record.get("steps"), "steps")):
        try:
            steps += _atif_step(entry, source)
        except Malformed as error:
            raise Malformed(f"steps[{i}]: {error}") from None
    steps = named_calls(steps)
    about = about_of({**mapping(record.get("extra")), **{k: v for k, v in record.items() if k != "agent"}}, source)
    about["model"] = word_of(agent.get("model_name")) or about["model"] or word_of(agent.get("name"))
    about["question"] = about["question"] or question_of(steps)
    about["policy"] = about["policy"] or instruction_of(steps)
    return Trajectory(**{**about, "steps": steps, "tools": tools_in((agent, record), steps), "row": row})


def _atif_step(entry: Mapping[str, Any], source: Source) -> list[Step]:
    """One step of ATIF: what was thought and said, what was called, what came back."""
    role = _SOURCES.get(word_of(entry.get("source")))
    if role is None:
        raise Malformed(f"the source {str(entry.get('source'))[:40]!r} is not known")
    metrics, time = mapping(entry.get("metrics")), time_of(entry.get("timestamp"))
    message = {"role": role, "content": entry.get("message"), "reasoning_content": entry.get("reasoning_content")}
    calls = entries(entry.get("tool_calls"), "tool_calls")
    steps = steps_of_message({**message, "tool_calls": calls}, source)
    tokens = sum_of(metrics.get("prompt_tokens"), metrics.get("completion_tokens"))
    spent = {
        "cost": amount_of(metrics.get("cost_usd")),
        "usage": {"total_tokens": tokens} if tokens is not None else None,
    }
    steps = with_usage([step._replace(time=time) for step in steps], spent)
    for result in objects(mapping(entry.get("observation")).get("results")):
        answer = {"role": "tool", "content": result.get("content"), "tool_call_id": result.get("source_call_id")}
        steps += [step._replace(time=time) for step in steps_of_message(answer, source)]
        for under in objects(result.get("subagent_trajectory_ref")):
            steps.append(Step("handover", "assistant", name_of(under.get("session_id")), time=time))
    return steps
