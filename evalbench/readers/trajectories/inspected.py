"""Logs of inspect_ai as trajectories: the messages of samples, epochs as trials, the first scorer's value as the mark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.tools.inspect_logs import VERSION, attached
from evalbench.readers.tools.inspect_scores import value_of
from evalbench.readers.tools.safe import mapping, objects, sequence
from evalbench.readers.tools.shapes import text_of_messages, whole_of
from evalbench.readers.tools.zipped import archive
from evalbench.readers.trajectories.about import ended_of, error_text
from evalbench.readers.trajectories.listed_tools import tools_in
from evalbench.readers.trajectories.looks import Look
from evalbench.readers.trajectories.messages import instruction_of, steps_of, tokens_of
from evalbench.readers.trajectories.shape import (
    Malformed,
    Source,
    Step,
    Trajectory,
    amount_of,
    expected_calls,
    json_text,
    mark_of,
    name_of,
    time_of,
    word_of,
)

NAMES = ("inspect",)
FILES = "inspect_ai logs, .eval or .json, log version 2"
_EXPECTED = ("expected_calls", "expected_tool_calls", "expected", "actions")


def recognised(look: Look) -> str:
    """``inspect`` for an archive with a header or journal of a log, and for a document with its parts."""
    if look.form == "zip":
        try:
            with archive(look.path) as opened:
                return NAMES[0] if {"header.json", "_journal/start.json"} & set(opened.entries) else ""
        except BadInput:
            return ""
    value = look.value
    known = look.form == "document" and isinstance(value, dict) and isinstance(value.get("eval"), dict)
    return NAMES[0] if known and isinstance(value.get("samples"), list) else ""


def read(look: Look, source: Source) -> Iterator[Trajectory]:
    """The samples of a log, one at a time where it is an archive.

    Raises ``BadInput`` for a log of another version, and for an archive that is refused.
    """
    if look.form == "zip":
        with archive(look.path) as opened:
            name = "header.json" if "header.json" in opened.entries else "_journal/start.json"
            header = mapping(opened.document(name))
            names = sorted(n for n in opened.entries if n.startswith("samples/") and n.endswith(".json"))
            _check(header, names, source)
            for name in names:
                yield from _sample(opened.document(name), name, header, source)
        return
    header = mapping(look.value)
    samples = sequence(header.get("samples"))
    _check(header, samples, source)
    for row, sample in enumerate(samples, start=1):
        yield from _sample(sample, row, header, source)


def _check(header: Mapping[str, Any], samples: Any, source: Source) -> None:
    version = header.get("version")
    if version is not None and version != VERSION:
        raise BadInput(f"{source.path}: an inspect log of version {version!r}; known is version {VERSION}")
    if not samples:
        raise BadInput(f"{source.path}: the log was saved without samples, so there are no trajectories in it")


def _sample(sample: Any, row: int | str, header: Mapping[str, Any], source: Source) -> Iterator[Trajectory]:
    if not isinstance(sample, dict):
        source.fault(row, f"expected a sample, found {type(sample).__name__}")
        return
    about = mapping(header.get("eval"))
    kept = mapping(sample.get("attachments"))
    try:
        steps = steps_of(_put_back(sample.get("messages"), kept), source, guess=False)
    except Malformed as error:
        source.fault(row, error)
        return
    steps = timed(steps, objects(sample.get("events")))
    metadata, target = mapping(sample.get("metadata")), sample.get("target")
    broken = sample.get("error")
    ended = ended_of(sample.get("limit")) or (error_text(broken) if broken else "")
    yield Trajectory(
        name_of(sample.get("id")),
        steps,
        word_of(about.get("model")),
        str(whole_of(sample.get("epoch"), 1)),
        mark=_mark(sample, header, source),
        ended=ended,
        question=text_of_messages(attached(sample.get("input"), sample)) or None,
        reference=json_text(target) if target not in (None, "", []) else None,
        expected=next((c for key in _EXPECTED if (c := expected_calls(metadata.get(key))) is not None), None),
        policy=instruction_of(steps),
        tools=tools_in((e for e in objects(sample.get("events")) if e.get("event") == "model"), steps),
        row=row,
    )


def _put_back(value: Any, kept: Mapping[str, Any], depth: int = 12) -> Any:
    """A value whose texts that were moved out to the attachments are in their places again."""
    if isinstance(value, str):
        return kept.get(value.removeprefix("attachment://"), value) if value.startswith("attachment://") else value
    if not depth or not kept:
        return value
    if isinstance(value, list):
        return [_put_back(entry, kept, depth - 1) for entry in value]
    if isinstance(value, dict):
        return {key: _put_back(entry, kept, depth - 1) for key, entry in value.items()}
    return value


def _mark(sample: Mapping[str, Any], header: Mapping[str, Any], source: Source) -> float | None:
    """The value of the log's first scorer, where it is one from 0 to 1."""
    scores = mapping(sample.get("scores"))
    if not scores:
        return None
    listed = [str(s.get("name")).rpartition("/")[2] for s in objects(mapping(header.get("eval")).get("scorers"))]
    first = next((name for name in listed if name in scores), next(iter(scores)))
    if len(scores) > 1:
        named = ", ".join(name[:40] for name in list(scores)[:5])
        source.note(
            f"of several scorers ({named}) the first, {first[:80]}, is the mark; -p outcomes=FILE gives another"
        )
    entry = scores[first]
    value = entry.get("value") if isinstance(entry, dict) else entry
    mark = mark_of(None if isinstance(value, float) and value != value else value_of(value))
    if mark is None:
        source.note(f"{first[:80]}: values that are not marks from 0 to 1 were left unscored")
    return mark


def timed(steps: list[Step], events: list[dict[str, Any]]) -> list[Step]:
    """Steps with the times, durations and tokens that the log's events have; a tool's result without an error worked."""
    tools = {e["id"]: e for e in events if e.get("event") == "tool" and isinstance(e.get("id"), str)}
    replies = iter([e for e in events if e.get("event") == "model"])
    out: list[Step] = []
    asked = True
    for step in steps:
        if step.kind == "result":
            event = mapping(tools.get(step.call_id))
            step = step._replace(
                error=step.error or 0,
                time=step.time or time_of(event.get("completed") or event.get("timestamp")),
                seconds=amount_of(event.get("working_time")),
            )
            asked = True
        elif step.role == "assistant" and asked:
            event, asked = mapping(next(replies, None)), False
            step = step._replace(
                time=step.time or time_of(event.get("completed") or event.get("timestamp")),
                seconds=amount_of(event.get("working_time")),
                tokens=tokens_of(mapping(event.get("output")).get("usage")),
            )
        elif step.role == "user":
            asked = True
        out.append(step)
    return out
