"""A file of trajectories as a data set folder, written trial by trial: steps, tasks, outcomes and a card."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from evalbench.core.wording import counted, listed
from evalbench.readers.tools.staged import staged
from evalbench.readers.trajectories.frames import TASK, told_of
from evalbench.readers.trajectories.known import sha256_of_runs, stream_trajectories
from evalbench.readers.trajectories.listed_tools import Listed
from evalbench.readers.trajectories.shape import KINDS, Source, Trajectory

CARD = "README.md"
_CELL = str.maketrans({"|": "\\|", "<": "&lt;", "\n": " ", "\r": " "})


@dataclass
class Counts:
    """What a file of trajectories amounts to."""

    form: str = ""
    trials: int = 0
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    models: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    marked: int = 0
    total: float = 0.0
    ended: int = 0
    notes: tuple[str, ...] = ()
    listed: Listed = field(default_factory=Listed)
    tools: list[dict[str, str | None]] = field(default_factory=list)

    def add(self, made: Trajectory) -> None:
        self.trials += 1
        self.models[made.model] += 1
        self.kinds.update(step.kind for step in made.steps)
        self.failed += sum(step.error == 1 for step in made.steps)
        self.ended += bool(made.ended)
        if made.mark is not None:
            self.marked += 1
            self.total += made.mark
        told_of(self.tasks, made)
        self.listed.add(made)

    def lines(self) -> Iterator[str]:
        """What was understood, line by line."""
        yield f"{self.form}: {counted(len(self.tasks), 'task')}, {counted(self.trials, 'trial')}"
        yield f"  models: {listed([name for name in sorted(self.models) if name]) or 'not in the file'}"
        kinds = [counted(self.kinds[kind], kind) for kind in KINDS if self.kinds[kind]]
        yield f"  steps: {counted(self.kinds.total(), 'step')}: {', '.join(kinds)}"
        if self.failed:
            yield f"  results of tools that failed: {self.failed}"
        mean = f"mean {self.total / self.marked:.4g}" if self.marked else "no mark is in the file"
        yield f"  marks: {self.marked} scored, {self.trials - self.marked} unscored; {mean}"
        if self.ended:
            yield f"  trials that ended by a limit or an error: {self.ended}"
        wanted = sum(task["expected"] is not None for task in self.tasks.values())
        if wanted:
            yield f"  tasks with expected calls: {wanted}"
        if self.tools:
            yield f"  tools listed: {len(self.tools)}, {sum(tool['parameters'] is not None for tool in self.tools)} with a schema"
        for note in self.notes:
            yield f"  note: {note}"


def write(path: Path, to: Path | None, model: str = "") -> Counts:
    """Write the folder, trial by trial, and return what is in it; with ``to`` None the trials are only counted.

    Raises ``BadInput`` if the folder is there and not empty, and for what the file is refused for; then nothing is left
    behind.
    """
    if to is None:
        return _counted(path, model)
    with staged(to) as stage:
        with (
            (stage / "steps.jsonl").open("w", encoding="utf-8") as steps,
            (stage / "outcomes.jsonl").open("w", encoding="utf-8") as outcomes,
        ):
            counts = _counted(path, model, steps, outcomes)
        tasks = ({"id": name, **task} for name, task in counts.tasks.items())
        (stage / "tasks.jsonl").write_text("".join(map(_line, tasks)), encoding="utf-8")
        if counts.tools:
            (stage / "tools.jsonl").write_text("".join(map(_line, counts.tools)), encoding="utf-8")
        if not counts.marked and not counts.ended:
            (stage / "outcomes.jsonl").unlink()
        (stage / CARD).write_text(_card(to.name, path, counts), encoding="utf-8")
    return counts


def _counted(path: Path, model: str, steps: TextIO | None = None, outcomes: TextIO | None = None) -> Counts:
    source, counts = Source(path), Counts()
    for made in stream_trajectories(path, model, source):
        counts.add(made)
        if steps is not None and outcomes is not None:
            key = {"id": made.id, "model": made.model or None, "trial": made.trial}
            for i, step in enumerate(made.steps):
                steps.write(_line({**key, "step": i, **step._asdict()}))
            outcomes.write(
                json.dumps(_there({**key, "ended": made.ended}) | {"mark": made.mark}, ensure_ascii=False) + "\n"
            )
    counts.tools = counts.listed.rows(source)
    counts.form, counts.notes = source.form, tuple(source.notes)
    return counts


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(_there(row), ensure_ascii=False, allow_nan=False) + "\n"


def _there(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without what is not known."""
    return {key: value for key, value in row.items() if value is not None and (value != "" or key == "text")}


def _card(name: str, path: Path, counts: Counts) -> str:
    notes = "\n".join(f"- {note.translate(_CELL)}" for note in counts.notes) or "- nothing"
    return f"""# {name.translate(_CELL)}

Runs of agents: {counted(len(counts.tasks), "task")}, {counted(counts.trials, "trial")}, {counted(counts.kinds.total(), "step")}.

- From: `{path.name.translate(_CELL)}`, sha256 {sha256_of_runs(path)}, of the form {counts.form}.
- How made: brought into this form by `evalbench data import`. Nothing was scored anew.
- Licence: that of the runs.
- `steps.jsonl`: a row a step. `tasks.jsonl`: a row a task, with {", ".join(TASK)} where the file has them. `outcomes.jsonl`: a row a trial; a mark
  that is null is unscored.

What was assumed or is worth knowing:

{notes}
"""
