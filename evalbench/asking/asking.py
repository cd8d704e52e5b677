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
from evalbench.asking.trying import (
    Tried,
    is_score,
    offer_of,
    on_values,
    other_cells,
    read_as_in,
    roles_by_name,
    roles_of_columns,
    tried,
)
from evalbench.core.wording import count, listed
from evalbench.errors import BadInput
from evalbench.readers.dataset import FRAMES, Dataset
from evalbench.readers.files import SHOWN, each_file_once
from evalbench.readers.frames import ROWS_SHOWN
from evalbench.readers.renames import which
from evalbench.readers.role_names import plain, roles, roles_of
from evalbench.readers.row_numbers import note_of, without_row_numbers

if TYPE_CHECKING:
    import pandas as pd

_MADE = {"question_hash", "seconds", "cost", "tokens"}
"""Columns that a reader of a tool's runs makes, which no user has to know."""
_ONE_COLUMN = ("id", "text", "texts", "time")
"""Kinds of roles that one column of a table has."""


def asked(
    data: Any, *, columns: Mapping[str, str] | None = None, root: Path | None = None, shown: str | None = None
) -> Asked:
    """What can be asked of a table, a folder of tables, a data set or frames.

    - ``columns``: Renames, as of a run.
    - ``shown``: The name that commands give to the data; by default as they were given.

    Raises ``BadInput`` if the data cannot be read at all.
    """
    with each_file_once():
        return _asked(data, columns or {}, root, shown)


def _asked(data: Any, columns: Mapping[str, str], root: Path | None, shown: str | None) -> Asked:
    frames, fault = raw_tables(data, root)
    rows = len(next(iter(frames.values()))) if frames else 0
    names = [str(column).strip() for frame in frames.values() for column in frame.columns]
    with tempfile.TemporaryDirectory(prefix="evalbench-") as folder:
        source, n_tried = looked_at(data, frames, Path(folder))
        found = {name: tried(name, source, data, columns, root, names) for name in studies.names()}
    kept = without_row_numbers(frames, columns, index=True)
    everywhere = {role for frame in frames.values() for column in frame.columns for role in roles_of(str(column))}
    for one in found.values():
        everywhere |= one.held - {*one.read.tables} if isinstance(one.read, Dataset) else set()
    columns_of = [(str(name), frame[name]) for frame in kept.values() for name in frame.columns]
    if any(roles_of(column) <= {"score"} and is_score(column, cells) for column, cells in columns_of):
        everywhere.add("numbers")
    name = str(shown or data) if isinstance(data, (str, Path)) else FRAMES
    line = _command_of(name, columns, isinstance(data, (str, Path)))
    offers = [offer_of(study, one, everywhere, names, line) for study, one in found.items()]
    offers.sort(key=lambda o: (not o.ready, -o.used, len(o.missing), o.study))
    if not frames and not offers[0].ready:
        raise fault or BadInput(f"{name}: no table in this folder; one is a file ending in {SHOWN}")
    if fault is not None and not offers[0].ready:
        raise fault
    ready = {offer.study: found[offer.study] for offer in offers if offer.ready}
    agents = found[STUDY].read
    of_a_tool = "question_hash" in names  # rows that its reader made: their columns are none of the file
    runs = roles_of_runs(data, names) if isinstance(agents, Dataset) and not of_a_tool else {}
    read, questions = _roles(frames, ready, columns, _by_refused(found, frames))
    numbers = [
        str(c) for name, frame in frames.items() for c in frame if c not in kept[name] and not read[str(c).strip()]
    ]
    words = _words([(c, cells) for c, cells in columns_of if read[c.strip()] == "score"]) if "imported" in ready else ()
    answered = max(ready.values(), key=lambda one: len(one.groups), default=None)
    return Asked(
        name,
        rows,
        n_tried,
        answered.groups if answered else (),
        {c: role for c, role in (read | runs).items() if not (of_a_tool and c in _MADE)},
        tuple(offers),
        (
            *_notes(rows, n_tried),
            *map(note_of, numbers),
            *words,
            *questions,
            *(told(agents) if STUDY in ready and isinstance(agents, Dataset) else ()),
        ),
        answered.called if answered else "",
    )


def _notes(rows: int, tried: int) -> Iterator[str]:
    if tried < rows:
        yield f"decided from {count(tried)} of {count(rows)} rows; a run reads all of them, and refuses a row that contradicts"


def _words(scores: Sequence[tuple[str, pd.Series]]) -> Iterator[str]:
    """The cells of columns of scores that hold words."""
    for column, cells in scores:
        if found := other_cells(cells):
            shown = listed([f"“{word:.40}” (row {row})" for row, word in found[:ROWS_SHOWN]])
            more = f" and {count(len(found) - ROWS_SHOWN)} more" if len(found) > ROWS_SHOWN else ""
            yield f"column {column}: expected numbers, found {shown}{more}; such a cell is unscored"


def _command_of(name: str, columns: Mapping[str, str], path: bool) -> Callable[[str], str]:
    """How a study is run on the data."""
    if not path:
        return lambda study: f"evalbench.{study}.evaluate(evalbench.load(data, study={study!r}))"
    words = ["--data", name, *(word for source, target in columns.items() for word in ("--map", f"{source}={target}"))]
    return lambda study: shlex.join(["evalbench", "run", study, *words])


def _roles(
    frames: Mapping[str, pd.DataFrame],
    ready: Mapping[str, Tried],
    columns: Mapping[str, str],
    refused: Mapping[str, str],
) -> tuple[dict[str, str], list[str]]:
    """Every column with what it was read as, and a question for each role that several fit: by the first ready study that reads a column, else by its name where that is plain."""
    read: dict[str, str] = {}
    inner: dict[str, list[str]] = {}
    for study, one in ready.items():
        read = {**one.roles, **read}
        for name in one.inner:
            inner.setdefault(name, []).append(study)
    found: dict[str, str] = {}
    asked: list[str] = []
    for frame in frames.values():
        names = [str(column).strip() for column in frame.columns]
        own = {name: read.get(name) or read.get(columns.get(name, "")) or "" for name in names}
        own |= {name: refused.get(name, role) for name, role in own.items() if role in ("", "score")}
        for role, fitting in _by_names([name for name in names if not own[name]], columns).items():
            if role in own.values():
                continue
            named = [name for name in fitting if plain(columns.get(name, name)) == plain(role)] or fitting
            if len(named) == 1 or roles()[role].kind not in _ONE_COLUMN:
                own |= dict.fromkeys(named, role)
            else:
                asked.append(
                    f"{listed(named, last=' and ')} fit {role} equally, and none was read as it{which(named, role)}"
                )
        own |= {name: f"read by {listed(inner[name])}" for name, role in own.items() if not role and name in inner}
        found |= {name: found.get(name) or role for name, role in own.items()}
    return found, list(dict.fromkeys(asked))


def _by_names(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, list[str]]:
    """Role → the columns whose names plainly mean it."""
    found: dict[str, list[str]] = {}
    for name in names:
        of = roles_of(columns.get(name, name))
        if len(of) == 1:
            found.setdefault(next(iter(of)), []).append(name)
    return found


def _by_refused(found: Mapping[str, Tried], frames: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Columns with what studies would read them as that refuse the table for its cells alone."""
    names = [str(column).strip() for column in next(iter(frames.values()), ())]
    out: dict[str, str] = {}
    for study, one in found.items():
        if isinstance(one.read, BadInput) and on_values(one.read):
            out = {**roles_by_name(study, names), **roles_of_columns(study, read_as_in(one.read)), **out}
        elif one.refused is not None and on_values(one.refused):
            out = {**one.roles, **out}
    return out
