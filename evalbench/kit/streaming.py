"""Statistics of texts over all rows of tables of which only a sample was read: one process, or a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.psi import EPSILON, N_BINS
from evalbench.core.schedulers import checked_address
from evalbench.core.seeds import keys
from evalbench.errors import BadInput
from evalbench.metrics.text_streams import MOST_TOKENS, Known, StreamedStatistics, TextCounts, known_from
from evalbench.readers.large import STREAM, Large
from evalbench.readers.partitions import ids_of, texts_of, times_of

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.partitions import Part

TEXTS = ("question", "answer")
SCHEDULER = "EVALBENCH_SCHEDULER"
"""The environment variable with the address of a Dask scheduler, whose workers see the files under the same paths."""
_PATIENCE = "20s"
_SHAPING = ("evalbench", "numpy", "pandas", "pyarrow", "regex", "stopwords")
Mapped = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


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
        ``map``, or that of :func:`on_cluster`; by default the workers of the scheduler whose address the environment variable
        :data:`SCHEDULER` holds, without one this process.

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
    with nullcontext(mapped) if mapped else _workers(os.environ.get(SCHEDULER, "")) as over:
        for found, left in over(count, tasks):
            outside += left
            for name in columns:
                counts[name].join(found[name])
    return Streamed({name: counts[name].statistics(n_bins=n_bins, epsilon=epsilon) for name in columns}, outside)


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


@contextmanager
def _workers(address: str) -> Iterator[Mapped]:
    """A map over this process, or over the workers of a scheduler, whose versions must be ours."""
    if not address:
        yield map
        return
    from distributed import Client

    address = checked_address(address, SCHEDULER)
    try:
        client = Client(address, set_as_default=False, timeout=_PATIENCE)
    except (OSError, TypeError, ValueError) as error:
        raise BadInput(f"{SCHEDULER} {address}: no connection ({error})") from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise BadInput(f"{SCHEDULER} {address}: has no workers")
        ours = _versions()
        apart = [
            f"{worker}: {name} {theirs.get(name, 'missing') if isinstance(theirs, dict) else theirs}, here {version}"
            for worker, theirs in client.run(_versions, on_error="return").items()
            for name, version in ours.items()
            if not isinstance(theirs, dict) or theirs.get(name) != version
        ]
        if apart:
            raise BadInput.listing(f"{SCHEDULER} {address}: workers differ from this process:", apart)
        yield on_cluster(client)


def _versions() -> dict[str, str]:
    """What shapes the counts."""
    import platform
    from importlib.metadata import version

    return {"python": platform.python_version(), **{name: version(name) for name in _SHAPING}}


def on_cluster(client: Any) -> Mapped:
    """A map over the workers of a Dask cluster, a part each; what they find is joined as it comes.

    Parameters
    ----------
    client : distributed.Client
        Its workers need this version of evalbench and the files under the same paths.

    Raises
    ------
    BadInput
        What a part raises, such as a file that a worker does not find.
    """

    def mapped(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterable[Any]:
        from distributed import as_completed

        futures = client.map(work, list(tasks), pure=False)
        try:
            for done in as_completed(futures, loop=client.loop):
                yield done.result()
                done.release()
        except BadInput as error:
            raise BadInput(f"on a worker of the cluster: {error}") from error
        finally:
            client.cancel(futures)

    return mapped
