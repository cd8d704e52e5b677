"""What a file of agents' runs was read as: its columns, and how many trajectories, steps and marks it has."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from evalbench.core.wording import count, counted
from evalbench.readers.dataset import Dataset
from evalbench.readers.trajectories import columns_read, is_own, recognised

STUDY = "trajectories"
_KEYS = ("id", "model", "trial")


def roles_of_runs(data: Any, columns: Collection[str]) -> dict[str, str]:
    """Column → what the readers of trajectories take it for; nothing where the data is not such a file, or a table ``steps`` as it is."""
    path = Path(data).expanduser() if isinstance(data, (str, Path)) else None
    form = recognised(path) if path is not None and path.exists() else None
    if path is None or form is None or (path.is_file() and is_own(path)):
        return {}
    return {name: role for name, role in columns_read(form.partition(", ")[0], columns).items() if role}


def told(read: Dataset) -> Iterator[str]:
    """How it was read, and how much of it there is."""
    yield from (note for note in read.notes if "columns that are not used" not in note)  # a list of all columns follows
    steps, outcomes = read["steps"], read.get("outcomes")
    whole = outcomes if outcomes is not None and not len(steps) else steps
    keys = [key for key in _KEYS if key in whole]
    runs = whole[keys].drop_duplicates()
    marked = 0
    for frame in (steps, outcomes):
        if frame is not None and "mark" in frame:
            own = [key for key in keys if key in frame]
            marked = max(marked, len(frame.loc[frame["mark"].notna(), own].drop_duplicates()))
    parts = [counted(whole["id"].nunique(), "task")]
    parts += [counted(whole["model"].nunique(), "agent")] if "model" in whole else []
    most = int(runs.groupby([key for key in keys if key != "trial"]).size().max()) if len(runs) else 0
    parts += [f"up to {counted(most, 'trial')} of a task"] if most > 1 else []
    of = f"{counted(len(runs), 'trajectory', 'trajectories')} of {', '.join(parts)}, {counted(len(steps), 'step')}"
    yield f"{of}; {count(marked)} of {count(len(runs))} {'has' if marked == 1 else 'have'} a mark"
