"""What a study makes of each row of tables that do not fit: part by part, joined as if it had been made in one piece."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.core.progress import at
from evalbench.core.schedulers import SCHEDULER
from evalbench.errors import BadInput
from evalbench.kit import made_files, workers
from evalbench.kit.made import Made as Made
from evalbench.kit.made import Make
from evalbench.kit.made import prompts_of as prompts_of
from evalbench.kit.options import taken
from evalbench.kit.sampling import sample_ids
from evalbench.readers.dealt import MOST_HANDS, OF_ALL, Hand, Values, deal, ends_of, ids_of_all, ranges_of, values_of
from evalbench.readers.grouping import cell_text
from evalbench.readers.large import STREAM, Large
from evalbench.readers.large import is_dealt as is_dealt
from evalbench.readers.runs import PARTS, RUN_FOLDER

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.dataset import Dataset
    from evalbench.readers.schema import Table

ROWS = 100_000
"""At most so many rows are in a part, about."""


class _Task(NamedTuple):
    """A part: its rows, what is made of them, and the folder for it.

    - ``beside``: Rows of tables that fit.
    - ``of_all``: What is known of all rows of each table.
    """

    make: Make
    hands: Mapping[str, Hand]
    large: Mapping[str, Large]
    beside: Mapping[str, pd.DataFrame]
    of_all: Mapping[str, Values]
    data: Dataset
    options: Mapping[str, Any]
    folder: Path


def made(
    make: Make,
    data: Dataset,
    options: Mapping[str, Any],
    schema: Mapping[str, Table] = {},
    *,
    here: bool = False,
    together: bool = False,
) -> Made:
    """What ``make(data, options)`` makes, of tables that were dealt of all their rows.

    What is made of a row must not depend on rows of other ids, but by what the schema names in ``of_all``. Of a study that looks at a sample
    (``n_samples``) its rows alone are dealt, and the parts get no such option.

    Parameters
    ----------
    make : callable
        A function of a module, which other processes find by its name.
    schema : mapping of str to Table
        Says which tables go with one that is dealt; the others are not in the parts.
    here : bool
        Whether all parts are made in this process, since what they share is: a budget of calls, a function.
    together : bool
        Whether all rows are made in one piece, since what is made of them hangs on all of them.

    Raises
    ------
    BadInput
        What is wrong with rows of any part: all of it.
    """
    if not any(map(is_dealt, data.tables.values())):
        return replace(found := make(data, options), data=found.data or data)
    keeper = tempfile.TemporaryDirectory(prefix=PARTS, dir=_place())
    folder = Path(keeper.name)
    at("dealing rows into parts")
    tasks = _tasks(make, data, options, schema, folder, together=together)
    if together:
        data = _rows_of(tasks[0])
        return replace(make(data, tasks[0].options), data=data)
    faults: list[str] = []
    with workers.workers(1 if here else min(workers.processes(), len(tasks))) as over:
        for n, found in enumerate(over(_one, tasks), 1):
            faults += found
            at("making items of parts", n, len(tasks))
    if faults:
        raise BadInput.listing(f"{data.label}: faults in parts of it:", dict.fromkeys(faults))
    shutil.rmtree(folder / "dealt")
    return made_files.joined([task.folder for task in tasks], keeper, data)


def _tasks(
    make: Make, data: Dataset, options: Mapping[str, Any], schema: Mapping[str, Table], folder: Path, *, together: bool
) -> list[_Task]:
    """A task for each range of ids that has rows in any table: in a file those of tables that do not fit, in memory those of others."""
    several = {name: frame.attrs[STREAM] for name, frame in data.tables.items() if is_dealt(frame)}
    of_rows = {
        id(one.parts): name for name, one in reversed(several.items())
    }  # of tables that the study makes of the same
    large = {name: one for name, one in several.items() if of_rows[id(one.parts)] == name}
    beside = {
        name: data[name]
        for name, table in schema.items()
        if table.dealt and name in data.tables and name not in several
    }
    of_ids = {name: frame for name, frame in beside.items() if schema[name].by_ids}
    named = {
        name: {**{own: source for source, own in data.read_as.get(name, {}).items()}, **one.renamed}
        for name, one in large.items()
    }
    first = max(large, key=lambda name: large[name].rows)
    only = None
    if options.get("n_samples"):
        ids = {name: ids_of_all(one, named[name].get("id", "id")) for name, one in large.items()}
        only = _sample({**{name: frame["id"].tolist() for name, frame in of_ids.items()}, **ids}, data, options)
    rows = len(only) if only else sum(one.rows for one in large.values())
    n = 1 if together else min(MOST_HANDS, math.ceil(rows / min(ROWS, *(one.part_rows for one in large.values()))))
    ends = ends_of([*only] if only else data[first]["id"].tolist(), n)
    hands, of_all = {}, {}
    for name, one in large.items():
        wanted = schema[name].of_all if name in schema else ()
        hands[name], of_all[name] = deal(one, ends, folder / "dealt" / name, named[name], wanted, only)
    for name, frame in beside.items():
        known = {tuple(c for c in columns if c in frame): values_of(frame, columns) for columns in schema[name].of_all}
        of_all[name] = Values({columns: found for columns, found in known.items() if found is not None})
    if only:
        options = {**options, "n_samples": 0}
        large = {name: one.of([*only]) for name, one in large.items()}
        of_ids = {name: frame[frame["id"].isin(only)] for name, frame in of_ids.items()}
    ranges = {name: ranges_of(frame["id"].tolist(), ends) for name, frame in of_ids.items()}
    alike = replace(data, tables={name: beside[name] for name in beside if name not in of_ids}, rows={}, given={})
    tasks = []
    for i in range(len(ends) + 1):
        own = {name: frame[ranges[name] == i].reset_index(drop=True) for name, frame in of_ids.items()}
        dealt = {name: several[i] for name, several in hands.items()}
        if any(hand.rows for hand in dealt.values()) or any(map(len, own.values())):
            tasks.append(_Task(make, dealt, large, own, of_all, alike, options, folder / f"{i:06}"))
    return tasks


def _sample(ids: Mapping[str, Sequence[str]], data: Dataset, options: Mapping[str, Any]) -> set[str]:
    """The ids of the sample that a study looks at, of its first table; and those of other tables that this one lacks."""
    main = ids[next(name for name in data.tables if name in ids)]
    chosen, known = {*sample_ids(main, **taken(sample_ids, options))}, {*main}
    return chosen | {one for own in ids.values() for one in own if one not in known}


def _place() -> str | None:
    """Where parts lie: in the folder of the run, for workers of other machines in this one, else among temporary files."""
    return os.environ.get(RUN_FOLDER) or (os.getcwd() if os.environ.get(SCHEDULER) else None)


def _one(task: _Task) -> Sequence[str]:
    """Make a part, and write it down whole or not at all; the faults of its rows."""
    if task.folder.exists():
        return ()
    try:
        data = _rows_of(task)
        found = task.make(data, task.options)
    except BadInput as error:
        return [f"{error.head} {fault}".lstrip() for fault in error.faults] or (str(error),)
    large = next(iter(task.large.values()))
    made_files.write(found, task.folder, _groups(found.data or data, task.large, found.items), large.sampled_of)
    return ()


def _rows_of(task: _Task) -> Dataset:
    """The tables of a part."""
    read = task.data.of({name: hand.frame(task.large[name]) for name, hand in task.hands.items()})
    tables = {**task.data.tables, **task.beside, **read.tables}
    for name, known in task.of_all.items():
        tables[name].attrs[OF_ALL] = known
    return replace(read, tables=tables, keys=task.data.keys)


def _groups(data: Dataset, large: Iterable[str], items: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What names the items in the tables that do not fit, with their clusters and slices, as texts."""
    found = {}
    for name in large:
        columns = [column for column in data.grouping.columns if column in data[name]]
        if columns:
            keys = [key for key in data.keys[name] if key in data[name] and (key == "id" or key in items)]
            own = data[name][list(dict.fromkeys([*keys, *columns]))]
            found[name] = own.apply(lambda cells: cells.map(cell_text)).drop_duplicates()
    return found
