"""Statistics of texts over all rows of tables of which only a sample was read: one process, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.psi import EPSILON, N_BINS
from evalbench.core.seeds import keys
from evalbench.kit import workers
from evalbench.kit.workers import Mapped
from evalbench.metrics.text_streams import MOST_TOKENS, Known, StreamedStatistics, TextCounts, known_from
from evalbench.readers.large import LARGE_ROWS, STREAM, Large
from evalbench.readers.partitions import ids_of, texts_of, times_of

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.partitions import Part

TEXTS = ("question", "answer")


class Window(NamedTuple):
    """Rows of a side: all, or those within a half-open window of time (UTC)."""

    low: pd.Timestamp | None = None
    high: pd.Timestamp | None = None


@dataclass(frozen=True)
class Streamed:
    """What was counted over all rows.

    Attributes
    ----------
    columns : mapping of str to StreamedStatistics
    outside : int
        Rows on neither side: without a time, or in neither window.
    """

    columns: Mapping[str, StreamedStatistics] = field(repr=False)
    outside: int = 0


class _Task(NamedTuple):
    """A part of a table, and which of its rows are on which side."""

    part: Part
    columns: Mapping[str, str]
    sides: tuple[tuple[str, Window], ...]


def is_large(*frames: pd.DataFrame) -> bool:
    """Whether a table is a sample of a larger one."""
    return any(STREAM in frame.attrs for frame in frames)


def streamed(
    tables: Mapping[str, Large],
    sample: pd.DataFrame,
    *,
    windows: Mapping[str, Window] | None = None,
    columns: Sequence[str] = TEXTS,
    languages: Sequence[str] = (),
    n_bins: int = N_BINS,
    epsilon: float = EPSILON,
    most_tokens: int = MOST_TOKENS,
    seed: int = 0,
    mapped: Mapped | None = None,
) -> Streamed:
    """Count the texts of both sides, all rows.

    Parameters
    ----------
    tables : mapping of str to Large
        ``oos`` and ``oot``, or one table that windows divide, under either name.
    sample : DataFrame
        The rows that were read, with ``side`` (``oos`` or ``oot``) and the columns: they settle the stop-words and which tokens
        are counted whatever happens.
    windows : mapping of str to Window, optional
        Side → its rows.
    columns : sequence of str
        Of texts.
    languages, seed
        As :func:`evalbench.metrics.text_statistics.text_statistics`; rows are named ``side/id``.
    n_bins, epsilon
        As :func:`evalbench.core.psi.psi_of_numbers`.
    most_tokens : int
        See :data:`~evalbench.metrics.text_streams.MOST_TOKENS`.
    mapped : callable, optional
        ``map``, or one of :mod:`evalbench.kit.workers`; by default the workers of the scheduler whose address the environment variable
        :data:`~evalbench.core.schedulers.SCHEDULER` holds, without one processes of this machine.

    Raises
    ------
    BadInput
        For columns that a part lacks, and cells of other types, with file and row.
    """
    ends = dict(windows or {})
    known = {
        name: known_from([text if isinstance(text, str) else "" for text in sample[name]], languages)
        for name in columns
    }
    one = len(tables) == 1
    tasks = []
    for side, table in tables.items():
        own = {name: table.renamed.get(name, name) for name in ("id", "time", *columns)}
        sides = tuple((s, ends.get(s, Window())) for s in (("oos", "oot") if one else (side,)))
        tasks += [_Task(part, own, sides) for part in table.parts]
    count = partial(_counted, known=known, most=most_tokens, seed=seed)
    counts, outside = {name: TextCounts(known[name], most_tokens) for name in columns}, 0
    with nullcontext(mapped) if mapped else workers.workers(_processes(tables)) as over:
        for found, left in over(count, tasks):
            outside += left
            for name in columns:
                counts[name].join(found[name])
    return Streamed({name: counts[name].statistics(n_bins=n_bins, epsilon=epsilon) for name in columns}, outside)


def _processes(tables: Mapping[str, Large]) -> int:
    """As many as pay: to begin one takes as long as counting some hundred thousand rows."""
    rows = sum(table.rows for table in tables.values())
    return min(workers.processes(), 1 + rows // LARGE_ROWS)


def _counted(task: _Task, *, known: Mapping[str, Known], most: int, seed: int) -> tuple[dict[str, TextCounts], int]:
    """The counts of one part, and its rows that are on neither side."""
    timed = any(window != Window() for _, window in task.sides)
    names = [*(("id", "time") if timed else ("id",)), *known]
    counts, outside = {name: TextCounts(known[name], most) for name in known}, 0
    for where, batch in task.part.batches([task.columns[name] for name in names]):
        cells = dict(zip(names, batch.columns, strict=True))
        ids = ids_of(where, cells["id"], task.columns["id"])
        which = _sides(task, times_of(where, cells["time"], task.columns["time"]) if timed else None, len(batch))
        kept = np.flatnonzero(which >= 0)
        outside += len(which) - len(kept)
        if not len(kept):
            continue
        key = keys(seed, "halves", (f"{task.sides[which[i]][0]}/{ids[i]}" for i in kept))
        current = np.array([side == "oot" for side, _ in task.sides])[which[kept]]
        for name in known:
            texts = texts_of(where, cells[name], task.columns[name])
            counts[name].add(texts if len(kept) == len(which) else texts.take(kept), current, key)
    return counts, outside


def _sides(task: _Task, times: pd.Series | None, n: int) -> Any:
    """The place of each row's side, −1 for none."""
    which = np.full(n, -1, dtype=np.int64)
    for place, (_, window) in enumerate(task.sides):
        own = np.ones(n, dtype=bool)
        if times is not None:
            own &= times.notna().to_numpy()
            if window.low is not None:
                own &= (times >= window.low).to_numpy()
            if window.high is not None:
                own &= (times < window.high).to_numpy()
        which[own & (which < 0)] = place
    return which
