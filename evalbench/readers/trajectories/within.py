"""Records of trials that hold their steps as a list, under the names that people give to the columns of a table of steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from evalbench.readers.tools.safe import sequence
from evalbench.readers.trajectories.about import about_of, left_unread
from evalbench.readers.trajectories.flags import flags_of
from evalbench.readers.trajectories.flat import filled, steps_of_row
from evalbench.readers.trajectories.kinds import kind_of
from evalbench.readers.trajectories.looks import Look, sole_list
from evalbench.readers.trajectories.messages import instruction_of, question_of
from evalbench.readers.trajectories.shape import (
    Malformed,
    Source,
    Step,
    Trajectory,
    entries,
    first_of,
    name_of,
    named_calls,
)
from evalbench.readers.trajectories.step_columns import ARGUMENTS, KINDS, OUTPUTS, TEXTS, TOOLS

NAMES = ("steps-of-trials",)
FILES = "a record for each trial with its steps as a list under steps: kinds, or tools with their arguments and output"
HELD = "steps"
_LONGEST_ID = 80


def recognised(look: Look) -> str:
    """``steps-of-trials`` for records, or a list of them under one key, each with a list of steps; else empty."""
    records = look.first[:5] if all(map(_holds, look.first[:5])) else _listed(look)[:5]
    return NAMES[0] if records and all(map(_holds, records)) else ""


def _listed(look: Look) -> list[Any]:
    key = sole_list(look.value, _holds) if look.form == "document" else ""
    return look.value[key] if key else []


def _holds(record: Any) -> bool:
    held = sequence(record.get(HELD)) if isinstance(record, dict) else []
    return bool(held) and all(map(_is_step, held[:20]))


def _is_step(step: Any) -> bool:
    if not isinstance(step, dict):
        return False
    if kind_of(first_of(step, KINDS)):
        return True
    return isinstance(first_of(step, TOOLS), str) and any(key in step for key in (*ARGUMENTS, *OUTPUTS, *TEXTS))


def read(look: Look, source: Source) -> Iterator[Trajectory]:
    """A trial of each record; its steps are numbered by their order.

    The task is what the record names so, ``task`` too where that is one short word; else its id.
    """
    if not all(map(_holds, look.first[:5])):
        look = look.inside(sole_list(look.value, _holds))
    for row, record in look.records(source):
        try:
            yield _of_record(record, row, source)
        except Malformed as error:
            source.fault(row, error)


def _of_record(record: Any, row: int, source: Source) -> Trajectory:
    if not isinstance(record, dict):
        raise Malformed(f"expected an object with {HELD}, found {type(record).__name__}")
    rows = [filled(step) for step in entries(record.get(HELD), HELD)]
    flags = flags_of([rows], {key for cells in rows for key in cells}, (), source)
    steps: list[Step] = []
    for i, cells in enumerate(rows):
        try:
            steps += steps_of_row(cells, flags, source)
        except Malformed as error:
            raise Malformed(f"{HELD}[{i}]: {error}") from None
    steps = named_calls(steps)
    said: Mapping[str, Any] = {key: value for key, value in record.items() if key != HELD}
    task = name_of(said.get("task"))
    short = bool(task) and " " not in task and len(task) <= _LONGEST_ID and not name_of(said.get("task_id"))
    if short:
        said = {**{key: value for key, value in said.items() if key != "task"}, "task_id": task}
    source.leave(left_unread(said, ()))
    made = Trajectory(**{**about_of(said, source), "steps": steps, "row": row})
    return replace(made, question=made.question or question_of(steps), policy=made.policy or instruction_of(steps))
