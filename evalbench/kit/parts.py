"""What a study makes of each row of tables that do not fit: part by part, joined as if it had been made in one piece."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.notes import Note
from evalbench.core.progress import at
from evalbench.core.result import Stored
from evalbench.core.schedulers import SCHEDULER
from evalbench.errors import BadInput
from evalbench.kit import trials as several_trials
from evalbench.kit import workers
from evalbench.kit.judging import Heard
from evalbench.kit.trials import Trials
from evalbench.readers.dealt import MOST_HANDS, OF_ALL, Hand, Values, deal, ends_of, ranges_of, values_of
from evalbench.readers.grouping import cell_text
from evalbench.readers.large import STREAM, Large
from evalbench.readers.large import is_dealt as is_dealt
from evalbench.readers.runs import PARTS, RUN_FOLDER

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from evalbench.readers.dataset import Dataset
    from evalbench.readers.schema import Table

ITEMS, _TEXTS, _KEPT, _SAID, _SAMPLE = "items", "texts of all", "texts that are kept", "said.json", "of the sample"
_ROWS, _GROUPS = "rows of trials", "groups of "
ANSWER = "answer"
"""The purpose of a call that asks for what is judged."""
ROWS = 100_000
"""About so many rows are in a part."""
EXTREMES = 50
"""So many of the lowest and of the highest of each score, and of the unscored, keep their texts in memory."""


@dataclass(frozen=True)
class Made:
    """What is made of rows before anything is averaged over them.

    Attributes
    ----------
    items : DataFrame
        As those of a result.
    texts : DataFrame or None
        What was judged, with the keys of the items; of a table in parts those of its sample and of the extreme items.
    tables : mapping of str to DataFrame
        Finer rows.
    notes : tuple of str
    accounting : mapping
        See :class:`evalbench.core.result.Result`.
    n : int
        All texts, or what else the items are made of.
    trials : Trials
    rows : DataFrame or None
        The items of every trial.
    judge : str
        Who was asked, if anybody was.
    sample : sequence of bool
        Which texts are of the sample that notes on writing are made of: of a table in one piece all.
    stored : mapping of str to Stored
        Tables that are larger on disk than in memory.
    numbered : str
        The column of the tables in which what ``n`` counts is numbered from 0.
    nested : mapping of str to sequence of str
        Table → its columns of lists and objects, as JSON has them.
    data : Dataset or None
        What the items were made of, if not the tables as given; of those in parts the names, clusters and slices of all rows alone.
    """

    items: pd.DataFrame
    texts: pd.DataFrame | None = None
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    accounting: Mapping[str, Any] = field(default_factory=dict)
    n: int = 0
    trials: Trials = field(default_factory=Trials)
    rows: pd.DataFrame | None = None
    judge: str = ""
    sample: Sequence[bool] | None = None
    stored: Mapping[str, Stored] = field(default_factory=dict)
    numbered: str = ""
    nested: Mapping[str, Sequence[str]] = field(default_factory=dict)
    data: Dataset | None = None

    def heard(self) -> list[Heard]:
        """The judge with its prompts, for a correction."""
        calls = self.tables.get("calls")
        own = () if calls is None else (calls[calls["purpose"] != ANSWER],)
        return [Heard(self.judge, (), own, {})] if self.judge else []

    @property
    def sampled(self) -> pd.DataFrame:
        """The texts that notes on writing are made of."""
        assert self.texts is not None
        return self.texts if self.sample is None else self.texts[np.asarray(self.sample)].reset_index(drop=True)


Make = Callable[["Dataset", Mapping[str, Any]], Made]


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

    What is made of a row must not depend on rows of other ids, but by what the schema names in ``of_all``.

    Parameters
    ----------
    make : callable
        A function of a module, which other processes find by its name.
    schema : mapping of str to Table
        Says which tables go with one that is dealt; the others are not in the parts.
    here : bool
        Whether all parts are made in this process, since what they share is: a budget of calls, a function.
    together : bool
        Whether all rows are one part, since what is made of them hangs on all of them.

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
    faults: list[str] = []
    with workers.workers(1 if here else min(workers.processes(), len(tasks))) as over:
        for n, found in enumerate(over(_one, tasks), 1):
            faults += found
            at("making items of parts", n, len(tasks))
    if faults:
        raise BadInput.listing(f"{data.label}: faults in parts of it:", dict.fromkeys(faults))
    shutil.rmtree(folder / "dealt")
    return _joined([task.folder for task in tasks], keeper, data)


def _tasks(
    make: Make, data: Dataset, options: Mapping[str, Any], schema: Mapping[str, Table], folder: Path, *, together: bool
) -> list[_Task]:
    """A task for each range of ids that has rows in any table: in a file those of tables that do not fit, in memory those of others."""
    several = {name: frame.attrs[STREAM] for name, frame in data.tables.items() if is_dealt(frame)}
    first = {
        id(one): name for name, one in reversed(several.items())
    }  # of tables that the study makes of the same rows
    large = {name: one for name, one in several.items() if first[id(one)] == name}
    beside = {
        name: data[name]
        for name, table in schema.items()
        if table.dealt and name in data.tables and name not in several
    }
    of_ids = {name: frame for name, frame in beside.items() if schema[name].column("id")}
    rows = sum(one.rows for one in large.values())
    n = 1 if together else min(MOST_HANDS, math.ceil(rows / ROWS))
    ends = ends_of(data[max(large, key=lambda name: large[name].rows)]["id"].tolist(), n)
    hands, of_all = {}, {}
    for name, one in large.items():
        named = {**{own: source for source, own in data.read_as.get(name, {}).items()}, **one.renamed}
        wanted = schema[name].of_all if name in schema else ()
        hands[name], of_all[name] = deal(one, ends, folder / "dealt" / name, named, wanted)
    for name, frame in beside.items():
        known = {tuple(c for c in columns if c in frame): values_of(frame, columns) for columns in schema[name].of_all}
        of_all[name] = Values({columns: found for columns, found in known.items() if found is not None})
    ranges = {name: ranges_of(frame["id"].tolist(), ends) for name, frame in of_ids.items()}
    alike = replace(data, tables={name: beside[name] for name in beside if name not in of_ids}, rows={}, given={})
    tasks = []
    for i in range(len(ends) + 1):
        own = {name: frame[ranges[name] == i].reset_index(drop=True) for name, frame in of_ids.items()}
        dealt = {name: several[i] for name, several in hands.items()}
        if any(hand.rows for hand in dealt.values()) or any(map(len, own.values())):
            tasks.append(_Task(make, dealt, large, own, of_all, alike, options, folder / f"{i:06}"))
    return tasks


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
        return error.faults or (str(error),)
    unfinished = Path(tempfile.mkdtemp(dir=task.folder.parent))
    tables = {name: _in_json(table, found.nested.get(name, ())) for name, table in found.tables.items()}
    frames = {ITEMS: found.items, **tables, **_groups(found.data or data, task.large, found.items)}
    frames |= {} if found.rows is None else {_ROWS: found.rows}
    if found.texts is not None:
        frames |= {_TEXTS: found.texts, _KEPT: _kept(found, found.texts, next(iter(task.large.values())))}
    for name, frame in frames.items():
        _plain(frame.reset_index(drop=True)).to_parquet(unfinished / f"{name}.parquet", index=False)
    notes = [note.row() if isinstance(note, Note) else note for note in found.notes]
    trials = {"by": found.trials.by, "groups": dict(found.trials.groups), "notes": found.trials.notes}
    said: dict[str, Any] = {"notes": notes, "accounting": found.accounting, "judge": found.judge, "trials": trials}
    said |= {"n": found.n, "numbered": found.numbered, "nested": {name: [*own] for name, own in found.nested.items()}}
    (unfinished / _SAID).write_text(json.dumps(said), encoding="utf-8")
    unfinished.rename(task.folder)
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
            found[f"{_GROUPS}{name}"] = own.apply(lambda cells: cells.map(cell_text)).drop_duplicates()
    return found


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Without what readers noted on it, which no file holds."""
    frame.attrs = {}
    return frame


def _kept(found: Made, texts: pd.DataFrame, large: Large) -> pd.DataFrame:
    """The texts of the sample, and those that are shown as the worst or the best."""
    ids = found.items["id"].to_numpy()
    chosen = large.sampled_of(texts["id"])
    extreme = {
        ids[i]
        for name, column in found.items.select_dtypes("float").items()
        for order in (column.to_numpy(), -column.to_numpy())
        for i in np.argsort(order, kind="stable")[:EXTREMES]
    }
    if "unscored" in found.items:
        extreme |= set(ids[np.flatnonzero((found.items["unscored"] != "").to_numpy())[:EXTREMES]])
    shown = chosen | texts["id"].isin(extreme).to_numpy()
    return texts.assign(**{_SAMPLE: chosen})[shown]


def _joined(folders: Sequence[Path], keeper: Any, data: Dataset) -> Made:
    """The parts, which follow each other as their ids do, as one."""
    from evalbench.models.accounting import merged

    said = [json.loads((folder / _SAID).read_text(encoding="utf-8")) for folder in folders]
    notes = [
        note if isinstance(note, str) else Note(note["kind"], note["short"], note["note"])
        for one in said
        for note in one["notes"]
    ]
    groups = {name: _frame(folders, own) for name in data.tables if _has(folders, own := f"{_GROUPS}{name}")}
    found = Made(
        items=_frame(folders, ITEMS),
        tables={name: _table(folders, name, said) for name in _tables(folders)},
        notes=tuple(dict.fromkeys(notes)),
        accounting=merged(one["accounting"] for one in said),
        n=sum(one["n"] for one in said),
        trials=several_trials.joined(Trials(**one["trials"]) for one in said),
        rows=_frame(folders, _ROWS) if _has(folders, _ROWS) else None,
        judge=said[0]["judge"],
        data=replace(data, tables={**data.tables, **groups}),
    )
    if not _has(folders, _TEXTS):
        return found
    kept = _frame(folders, _KEPT, objects=True)
    texts = Path(keeper.name) / "texts.parquet"
    _one_file(folders, _TEXTS, texts)
    stored = {"texts": Stored(texts, keeper)}
    return replace(found, texts=kept.drop(columns=_SAMPLE), sample=kept[_SAMPLE].tolist(), stored=stored)


def _in_json(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """A table whose lists and objects are texts."""
    cells: dict[str, Any] = {
        name: [None if cell is None else json.dumps(cell) for cell in frame[name]] for name in columns
    }
    return frame.assign(**cells)


def _table(folders: Sequence[Path], name: str, said: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A finer table of all parts, its numbers and its lists and objects as if it had been made in one piece."""
    import pandas as pd

    first = np.cumsum([0, *(one["n"] for one in said)])[:-1]
    numbered, nested = said[0]["numbered"], said[0]["nested"].get(name, ())
    frame = _frame(folders, name, dict(zip(folders, first.tolist(), strict=True)), numbered)
    cells = {
        column: pd.Series([json.loads(cell) if isinstance(cell, str) else None for cell in frame[column]], dtype=object)
        for column in nested
    }
    return frame.assign(**cells)


def _has(folders: Sequence[Path], name: str) -> bool:
    """Whether the parts have a table."""
    return (folders[0] / f"{name}.parquet").exists()


def _tables(folders: Sequence[Path]) -> list[str]:
    """The finer tables that any part has."""
    own = (ITEMS, _TEXTS, _KEPT, _ROWS)
    found = (file.stem for folder in folders for file in sorted(folder.glob("*.parquet")))
    return list(dict.fromkeys(name for name in found if name not in own and not name.startswith(_GROUPS)))


def _frame(
    folders: Sequence[Path], name: str, first: Mapping[Path, int] = {}, numbered: str = "", *, objects: bool = False
) -> pd.DataFrame:
    """A table of all parts; a column that some parts lack has nulls there.

    - ``first``: What is added to the numbers of each part, those of the column ``numbered``.
    - ``objects``: Whether cells are Python's own, as readers give texts, which take several times the memory of Arrow's.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = [file for folder in folders if (file := folder / f"{name}.parquet").exists()]
    tables = [_added(pq.read_table(file, memory_map=True), numbered, first.get(file.parent, 0)) for file in files]
    tables = [table for table in tables if len(table)] or tables[:1]  # without rows it is not known what columns hold
    table = pa.concat_tables(tables, promote_options="permissive")
    del tables
    if objects:
        cells = {column: pd.Series(table.column(column).to_pylist(), dtype=object) for column in table.column_names}
        return pd.DataFrame(cells).astype({_SAMPLE: bool})
    frame: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True)
    return frame


def _added(table: pa.Table, column: str, number: int) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    if column not in table.column_names:
        return table
    moved = pc.add(table.column(column).cast(pa.int64()), number)
    return table.set_column(table.column_names.index(column), column, moved)


def _one_file(folders: Sequence[Path], name: str, path: Path) -> None:
    """A table of all parts as one Parquet file, of which never more than a part is in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = [folder / f"{name}.parquet" for folder in folders]
    schema = pa.unify_schemas([pq.read_schema(file) for file in files], promote_options="permissive")
    with pq.ParquetWriter(path, schema) as whole:
        for file in files:
            table = pq.read_table(file)
            lacking = [name for name in schema.names if name not in table.column_names]
            for column in lacking:
                table = table.append_column(column, pa.nulls(len(table), schema.field(column).type))
            whole.write_table(table.select(schema.names).cast(schema))
