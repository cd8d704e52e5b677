"""The interactions of a log store as trajectories: a request that repeats what was said before it goes on with it."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.readers.tools.safe import mapping, objects
from evalbench.readers.trajectories.about import ended_of, error_text
from evalbench.readers.trajectories.frames import Trajectories, tables_of
from evalbench.readers.trajectories.messages import call_of, instruction_of, is_message, question_of, steps_of
from evalbench.readers.trajectories.shape import (
    Source,
    Step,
    Trajectory,
    amount_of,
    finished,
    mark_of,
    name_of,
    sum_of,
    time_of,
    word_of,
)

if TYPE_CHECKING:
    import pandas as pd

FORM = "log-store"


@dataclass
class _Run:
    """The requests of one trajectory so far."""

    id: str
    row: int
    model: str
    steps: list[Step] = field(default_factory=list)
    mark: float | None = None
    ended: str = ""


def of_log(frame: pd.DataFrame, name: str) -> Trajectories:
    """The interactions of a log store, in the order of time, as tables.

    A request whose messages begin with all that an earlier trajectory asked and got goes on with it; any other begins one of its own,
    named as its interaction.  The mark is the annotators' label of the last interaction that has one.  Calls of tools are those
    that the log's hook kept; what a tool answered is in the next request.

    Raises ``BadInput`` for interactions whose messages no form has: all in one message.
    """
    source = Source(Path(name), form=FORM)
    rows = ({str(key): value for key, value in row.items()} for row in frame.to_dict("records"))
    runs = list(_runs(zip((int(i) for i in frame.index), rows, strict=True), source))
    source.refuse()
    return tables_of((finished(run, source) for run in runs), source)


def _runs(rows: Iterable[tuple[int, Mapping[str, Any]]], source: Source) -> Iterator[Trajectory]:
    runs: list[_Run] = []
    waiting: dict[bytes, deque[_Run]] = {}
    for number, row in rows:
        try:
            asked, came = _steps(row, source)
        except ValueError as error:
            source.fault(number, error)
            continue
        place, run = _earlier(asked, waiting)
        if run is None:
            run = _Run(name_of(row.get("id")), number, word_of(row.get("model")))
            runs.append(run)
        # A reply is kept without the ids of its calls; the next request has them.
        run.steps = [
            step._replace(call_id=step.call_id or again.call_id) if step.kind == "call" else step
            for step, again in zip(run.steps, asked[:place], strict=True)
        ]
        time = time_of(row.get("time"))
        run.steps += [step._replace(time=step.time or time) for step in (*asked[place:], *came)]
        mark = mark_of(row.get("label"))
        run.mark = run.mark if mark is None else mark
        run.ended = _ended(row)
        waiting.setdefault(_digest([*asked, *came])[-1], deque()).append(run)
    for run in runs:
        yield Trajectory(
            *(run.id, run.steps, run.model, "1", run.mark, run.ended),
            question=question_of(run.steps),
            policy=instruction_of(run.steps),
            row=run.row,
        )


def _earlier(asked: list[Step], waiting: Mapping[bytes, deque[_Run]]) -> tuple[int, _Run | None]:
    """How many steps of a request an earlier trajectory had, and that one; the longest, and of equal ones the oldest."""
    digests = _digest(asked)
    for place in range(len(digests) - 1, -1, -1):
        if found := waiting.get(digests[place]):
            return place + 1, found.popleft()
    return 0, None


def _digest(steps: Iterable[Step]) -> list[bytes]:
    """A hash of all steps up to each one; ids of calls are no part of it, since replies are kept without them."""
    whole = hashlib.blake2b(digest_size=16)
    out = []
    for step in steps:
        said = [step.kind, step.role, step.name if step.kind == "call" else "", _plain(step.arguments), step.text]
        whole.update(json.dumps(said).encode())
        out.append(whole.copy().digest())
    return out


def _plain(arguments: str | None) -> Any:
    try:
        return json.dumps(json.loads(arguments or "null"), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def _steps(row: Mapping[str, Any], source: Source) -> tuple[list[Step], list[Step]]:
    """What an interaction asked, and what it got."""
    stages = _stages(row)
    messages = stages.get("messages")
    if isinstance(messages, list) and messages and all(map(is_message, messages)):
        asked = steps_of(messages, source)
    else:
        asked = [Step("message", "user", text=word_of(row.get("question")))]
    said = word_of(row.get("answer"))
    came = [Step("message", "assistant", text=said)] if said else []
    came += [call_of(call) for call in objects(stages.get("tool_calls"))]
    came = came or [Step("message", "assistant", text="")]
    tokens = sum_of(row.get("input_tokens"), row.get("output_tokens"))
    cost, seconds = amount_of(row.get("cost")), amount_of(row.get("latency"))
    came[0] = came[0]._replace(tokens=tokens, cost=cost, seconds=seconds)
    return asked, came


def _ended(row: Mapping[str, Any]) -> str:
    error = word_of(row.get("error"))
    return error_text(error) if error else ended_of(_stages(row).get("finish"))


def _stages(row: Mapping[str, Any]) -> dict[str, Any]:
    held = row.get("stages")
    return mapping(json.loads(held) if isinstance(held, str) and held else held)
