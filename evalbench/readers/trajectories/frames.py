"""All trajectories of a file as tables: steps, tasks and outcomes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.arrays import Ints
from evalbench.readers.tools.safe import finite
from evalbench.readers.trajectories.known import stream_trajectories
from evalbench.readers.trajectories.listed_tools import Listed
from evalbench.readers.trajectories.shape import Source, Step, Trajectory

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ALWAYS = ("id", "step", "kind")
_TEXTS = ("text", "arguments")
"""Columns of which an empty cell says something."""
_REPEATED = ("id", "model", "trial", "kind", "role", "name")
"""Columns of few different texts, which are held once for each piece."""
_NUMBERS = ("error", "seconds", "tokens", "cost")
_PIECE = 20_000
TASK = ("question", "reference", "expected", "policy")


@dataclass(frozen=True)
class Trajectories:
    """The tables of a file of trajectories; a column about which the form says nothing is left out.

    - ``steps``: One row a step: ``id`` (the task), ``model``, ``trial``, ``step`` (from 0 within a trial, in time order), ``kind``,
      ``role``, ``name``, ``arguments`` (JSON text), ``call_id``, ``text``, ``error`` (0 or 1), ``time`` (ISO 8601), ``seconds``,
      ``tokens``, ``cost``, ``parent``; see :class:`~evalbench.readers.trajectories.shape.Step`.
    - ``tasks``: One row a task: ``id``, ``question``, ``reference``, ``expected`` (JSON list of {name, arguments}), ``policy``; of
      several trials the first that says it.
    - ``outcomes``: One row a trial: ``id``, ``model``, ``trial``, ``mark`` (0 to 1, NaN: unscored), ``ended`` (why it ended before
      the agent was done).  It has no rows where the file says neither.
      A limit or an error is the last step, too: a note with the name ``limit`` or ``environment``.
    - ``tools``: One row a tool: ``name``, ``parameters`` (JSON Schema as text, or None); no rows where the file lists none.
    - ``form``: The name of the file's form.
    - ``notes``: Sentences on how it was read.
    """

    steps: pd.DataFrame
    tasks: pd.DataFrame
    outcomes: pd.DataFrame
    tools: pd.DataFrame
    form: str
    notes: tuple[str, ...] = ()


def read_trajectories(path: str | Path, model: str = "", *, in_order: bool = False) -> Trajectories:
    """All trajectories of a file, of any form that :func:`~evalbench.readers.trajectories.recognised` knows.

    Parameters
    ----------
    path : str or Path
    model : str, optional
        The name of the model, where the file has none.
    in_order : bool
        Whether the steps are by the names of their trajectories, instead of as the file has them.

    Raises
    ------
    BadInput
        For a file of no known form, and for what is malformed in it: all faults in one message, with their rows.

    Examples
    --------
    >>> import json, tempfile
    >>> talk = [{"role": "user", "content": "Seat?"}, {"role": "assistant", "content": "12A"}]
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     _ = file.write(json.dumps(talk))
    ...     file.flush()
    ...     read = read_trajectories(file.name, "fern-1b")
    >>> read.form, read.steps[["id", "model", "step", "role", "text"]].values.tolist()
    ('openai-messages', [['t0001', 'fern-1b', 0, 'user', 'Seat?'], ['t0001', 'fern-1b', 1, 'assistant', '12A']])
    """
    path = Path(path).expanduser()
    source = Source(path)
    return tables_of(stream_trajectories(path, model, source), source, in_order)


def tables_of(trajectories: Iterable[Trajectory], source: Source, in_order: bool = False) -> Trajectories:
    """Trajectories as tables; see :class:`Trajectories`."""
    pieces: list[pa.Table] = []
    rows: list[tuple[Any, ...]] = []
    tasks: dict[str, dict[str, Any]] = {}
    outcomes: list[tuple[Any, ...]] = []
    lengths: list[int] = []
    listed = Listed()
    for made in trajectories:
        key = made.id, made.model, made.trial
        rows += ((*key, i, *step) for i, step in enumerate(made.steps))
        if len(rows) >= _PIECE:
            pieces.append(_piece(rows))
            rows = []
        told_of(tasks, made)
        outcomes.append((made.id, made.model, made.trial, made.mark, made.ended))
        lengths.append(len(made.steps))
        listed.add(made)
    pieces.append(_piece(rows))
    order = _order(outcomes, lengths) if in_order else None
    tables = _steps(pieces, outcomes, order), _tasks(tasks), _outcomes(outcomes), listed.frame(source)
    return Trajectories(*tables, source.form, tuple(source.notes))


def _piece(rows: list[tuple[Any, ...]]) -> pa.Table:
    """Rows of steps as columns of Arrow, which take a fourth of the room of Python's texts."""
    import pyarrow as pa

    names = ("id", "model", "trial", "step", *Step._fields)
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    types = {"step": pa.int64(), **dict.fromkeys(_NUMBERS, pa.float64())}
    cells = {}
    for name, column in zip(names, columns, strict=True):
        own = types.get(name, pa.large_string())
        try:
            cells[name] = pa.array(column, own)
        except UnicodeEncodeError:
            cells[name] = pa.array(finite(list(column)), own)
        if name in _REPEATED:
            cells[name] = cells[name].dictionary_encode()
    return pa.table(cells)


def told_of(tasks: dict[str, dict[str, Any]], made: Trajectory) -> None:
    """Add what a trial says of its task, where no trial before said it."""
    task = tasks.setdefault(made.id, dict.fromkeys(TASK))
    for key in TASK:
        if task[key] is None:
            task[key] = getattr(made, key)


def _order(outcomes: list[tuple[Any, ...]], lengths: list[int]) -> Ints:
    """The places of all steps by the names of their trajectories."""
    ends = np.cumsum(lengths, dtype=np.int64)
    own = [
        np.arange(ends[i] - lengths[i], ends[i]) for i in sorted(range(len(outcomes)), key=lambda i: outcomes[i][:3])
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *own])


def _steps(pieces: list[pa.Table], outcomes: list[tuple[Any, ...]], order: Ints | None) -> pd.DataFrame:
    """The frame of all pieces, which are taken apart column by column: twice as much would not always fit."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.concat_tables(pieces)
    pieces.clear()
    kept = [
        name
        for name in whole.column_names
        if name in ALWAYS or (_repeated(outcomes) if name == "trial" else _says(name, _plain(name, whole[name])))
    ]
    columns = dict(zip(kept, whole.select(kept).columns, strict=True))
    del whole
    frames: list[pd.DataFrame] = []
    places = pa.array(order) if order is not None else None
    for name in kept:
        own = _plain(name, columns.pop(name))
        if order is not None:
            own = own.combine_chunks()
            own = own.take(places)
            own = own if name in ("step", *_NUMBERS) else pc.fill_null(own, "")
        frames.append(pa.table({name: own}).to_pandas())
        del own
        pa.default_memory_pool().release_unused()
    whole_frame: pd.DataFrame = pd.concat(frames, axis=1)
    return whole_frame


def _plain(name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of texts, each row with its own."""
    import pyarrow as pa

    return cells.cast(pa.large_string()) if name in _REPEATED else cells


def _says(name: str, cells: pa.ChunkedArray) -> bool:
    import pyarrow.compute as pc

    there = pc.is_valid(cells) if name in _TEXTS or name in _NUMBERS else pc.greater(pc.binary_length(cells), 0)
    return bool(pc.any(there).as_py())


def _repeated(outcomes: list[tuple[Any, ...]]) -> bool:
    """Whether trials have other names than a single 1 each."""
    return any(trial != "1" for _, _, trial, _, _ in outcomes)


def _tasks(tasks: dict[str, dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame([{"id": name, **task} for name, task in tasks.items()], columns=["id", *TASK], dtype=object)
    return frame[["id", *(name for name in TASK if frame[name].notna().any())]]


def _outcomes(outcomes: list[tuple[Any, ...]]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(outcomes, columns=["id", "model", "trial", "mark", "ended"]).astype({"mark": "float64"})
    marked, ended = frame["mark"].notna().any(), frame["ended"].ne("").any()
    left = ["id", *(["model"] if frame["model"].ne("").any() else []), *(["trial"] if _repeated(outcomes) else [])]
    kept = frame[[*left, *(["mark"] if marked else []), *(["ended"] if ended else [])]]
    return kept if marked or ended else kept.iloc[:0]
