"""What can be asked of a table: every study is tried on it."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench import studies
from evalbench.asking.agents import STUDY, roles_of_runs, told
from evalbench.asking.asked import Asked
from evalbench.asking.tables import looked_at, raw_tables
from evalbench.asking.trying import Tried, offer_of, on_values, read_as_in, roles_by_name, roles_of_columns, tried
from evalbench.core.wording import count
from evalbench.errors import BadInput
from evalbench.readers.dataset import FRAMES, Dataset
from evalbench.readers.role_names import roles_of

if TYPE_CHECKING:
    import pandas as pd


def asked(
    data: Any, *, columns: Mapping[str, str] | None = None, root: Path | None = None, shown: str | None = None
) -> Asked:
    """What can be asked of a table, a folder of tables, a data set or frames.

    - ``columns``: Renames, as of a run.
    - ``shown``: The name that commands give to the data; by default as they were given.

    Raises ``BadInput`` if the data cannot be read at all.
    """
    frames, fault = raw_tables(data, root)
    rows = len(next(iter(frames.values()))) if frames else 0
    with tempfile.TemporaryDirectory(prefix="evalbench-") as folder:
        source, n_tried = looked_at(data, frames, Path(folder))
        found = {name: tried(name, source, data, columns or {}, root) for name in studies.names()}
    everywhere = {role for frame in frames.values() for column in frame.columns for role in roles_of(str(column))}
    for one in found.values():
        everywhere |= one.held - {*one.read.tables} if isinstance(one.read, Dataset) else set()
    name = str(shown or data) if isinstance(data, (str, Path)) else FRAMES
    line = _command_of(name, columns or {}, isinstance(data, (str, Path)))
    names = [str(column).strip() for frame in frames.values() for column in frame.columns]
    offers = [offer_of(study, one, everywhere, names, line) for study, one in found.items()]
    offers.sort(key=lambda o: (not o.ready, -o.used, len(o.missing), o.study))
    if fault is not None and not offers[0].ready:
        raise fault
    ready = [found[offer.study] for offer in offers if offer.ready]
    agents = found[STUDY].read
    runs = roles_of_runs(data, names) if isinstance(agents, Dataset) else {}
    answered = max(ready, key=lambda one: len(one.groups), default=None)
    return Asked(
        name,
        rows,
        n_tried,
        answered.groups if answered else (),
        _roles(frames, ready, columns or {}, _by_refused(found, frames)) | runs,
        tuple(offers),
        (
            *_notes(rows, n_tried),
            *(
                told(agents)
                if any(o.ready and o.study == STUDY for o in offers) and isinstance(agents, Dataset)
                else ()
            ),
        ),
        answered.called if answered else "",
    )


def _notes(rows: int, tried: int) -> Iterator[str]:
    if tried < rows:
        yield f"decided from {count(tried)} of {count(rows)} rows; a run reads all of them, and refuses a row that contradicts"


def _command_of(name: str, columns: Mapping[str, str], path: bool) -> Callable[[str], str]:
    """How a study is run on the data."""
    if not path:
        return lambda study: f"evalbench.{study}.evaluate(evalbench.load(data, study={study!r}))"
    words = ["--data", name, *(word for source, target in columns.items() for word in ("--map", f"{source}={target}"))]
    return lambda study: shlex.join(["evalbench", "run", study, *words])


def _roles(
    frames: Mapping[str, pd.DataFrame], ready: Sequence[Tried], columns: Mapping[str, str], refused: Mapping[str, str]
) -> dict[str, str]:
    """Every column with what it was read as: by the first ready study that reads it, else by its name where that is plain."""
    read: dict[str, str] = {}
    for one in ready:
        read = {**one.roles, **read}
    names = dict.fromkeys(str(column).strip() for frame in frames.values() for column in frame.columns)
    return {
        name: read.get(name) or read.get(to := columns.get(name, "")) or refused.get(name) or _by_name(to or name)
        for name in names
    }


def _by_refused(found: Mapping[str, Tried], frames: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Columns with what studies would read them as that refuse the table for its cells alone."""
    names = [str(column).strip() for column in next(iter(frames.values()), ())]
    out: dict[str, str] = {}
    for study, one in found.items():
        if isinstance(one.read, BadInput) and on_values(one.read):
            out = {**roles_by_name(study, names), **roles_of_columns(study, read_as_in(one.read)), **out}
    return out


def _by_name(name: str) -> str:
    found = roles_of(name)
    return next(iter(found)) if len(found) == 1 else ""
