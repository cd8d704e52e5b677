"""The transcripts of inspect_scout's database: Parquet files with a row for each run of an agent, its messages as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.tools.safe import objects, parsed
from evalbench.readers.trajectories.about import ended_of, error_text
from evalbench.readers.trajectories.inspected import timed
from evalbench.readers.trajectories.looks import Look
from evalbench.readers.trajectories.messages import instruction_of, question_of, steps_of
from evalbench.readers.trajectories.shape import Malformed, Source, Trajectory, mark_of, name_of, word_of

NAMES = ("inspect-scout",)
FILES = "Parquet files of a transcript database"
READ = ("messages", "events", "task_set", "task_repeat", "agent", "error", "limit")
_KEY = ("task_set", "task_id", "agent", "model", "task_repeat")


class _Names(NamedTuple):
    """What tells the runs of a file apart.

    - ``sets``: Whether tasks are of several sets.
    - ``agents``: Whether several agents run one model.
    - ``repeats``: Whether a task's repeats are numbered, each once.
    """

    sets: bool
    agents: bool
    repeats: bool


def recognised(look: Look) -> str:
    """``inspect-scout`` for a Parquet file with ``transcript_id`` and messages; else empty."""
    known = look.form == "parquet" and look.first and all("transcript_id" in record for record in look.objects)
    return NAMES[0] if known else ""


def read(look: Look, source: Source) -> Iterator[Trajectory]:
    """The runs of a file, one at a time; a row without messages is left out, with a note.

    A task's name has that of its set before it where there are several sets; a model's that of its agent where it has several.
    """
    names = _names_of(look)
    empty = 0
    for row, record in look.records(source):
        if not record.get("messages"):
            empty += 1
            continue
        try:
            yield _of_record(record, row, names, source)
        except Malformed as error:
            source.fault(row, error)
    if empty:
        source.note(f"{empty} of the transcripts are without messages and were left out")


def _names_of(look: Look) -> _Names:
    import pyarrow.parquet as pq

    there = [name for name in _KEY if name in pq.read_schema(look.path).names]
    cells = pq.read_table(look.path, columns=there).to_pandas().astype(str)
    agents = "agent" in cells and "model" in cells and cells.groupby("model")["agent"].nunique().max() > 1
    return _Names(
        "task_set" in cells and cells["task_set"].nunique() > 1,
        bool(agents),
        bool(there) and not cells.duplicated().any(),
    )


def _of_record(record: Mapping[str, Any], row: int, names: _Names, source: Source) -> Trajectory:
    if not isinstance(record["messages"], list):
        raise Malformed("messages: expected a JSON list")
    steps = timed(steps_of(record["messages"], source, guess=False), _events(record, source))
    task, model = name_of(record.get("task_id")), word_of(record.get("model"))
    agent = word_of(record.get("agent"))
    error = record.get("error")
    made = Trajectory(
        task or name_of(record["transcript_id"]),
        steps,
        model or agent,
        name_of(record.get("task_repeat")) if names.repeats and task else "",
        mark=_mark(record, source),
        ended=ended_of(_limit(record.get("limit"))) or (error_text(error) if error else ""),
        question=question_of(steps),
        policy=instruction_of(steps),
        row=row,
    )
    if names.sets and task and (of := name_of(record.get("task_set"))):
        made = replace(made, id=f"{of}/{task}")
    return replace(made, model=f"{agent}, {model}") if names.agents and agent and model else made


def _events(record: Mapping[str, Any], source: Source) -> list[dict[str, Any]]:
    """The events, which have the times and tokens that messages lack."""
    try:
        return objects(parsed(record.get("events") or "[]", "events"))
    except BadInput as error:
        source.note(f"times and tokens are not known of all transcripts: {error}")
        return []


def _limit(kind: Any) -> Any:
    return {"type": kind} if isinstance(kind, str) and kind else None


def _mark(record: Mapping[str, Any], source: Source) -> float | None:
    """What the scorer says: success, else the score, where it is one from 0 to 1."""
    if isinstance(record.get("success"), bool):
        return float(record["success"])
    score = record.get("score")
    if score is None:
        return None
    try:
        value = parsed(score, "score") if isinstance(score, str) else score
    except BadInput:
        value = score
    mark = mark_of(value)
    if mark is None:
        source.note("score: values that are not marks from 0 to 1 were left unscored")
    return mark
