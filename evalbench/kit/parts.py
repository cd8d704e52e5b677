"""What a study makes of each row of a table that does not fit: part by part, joined as if it had been made in one piece."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
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
from evalbench.readers.dealt import Hand, deal
from evalbench.readers.large import STREAM, Large
from evalbench.readers.runs import PARTS, RUN_FOLDER

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.dataset import Dataset

ITEMS, _TEXTS, _KEPT, _SAID, _SAMPLE = "items", "texts of all", "texts that are kept", "said.json", "of the sample"
_ROWS = "rows of trials"
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
    texts : DataFrame
        What was judged, with the keys of the items; of a table in parts those of its sample and of the extreme items.
    tables : mapping of str to DataFrame
        Finer rows.
    notes : tuple of str
    accounting : mapping
        See :class:`evalbench.core.result.Result`.
    n : int
        All texts.
    trials : Trials
    rows : DataFrame or None
        The items of every trial.
    judge : str
        Who was asked, if anybody was.
    sample : sequence of bool
        Which texts are of the sample that notes on writing are made of: of a table in one piece all.
    stored : mapping of str to Stored
        Tables that are larger on disk than in memory.
    """

    items: pd.DataFrame
    texts: pd.DataFrame
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    accounting: Mapping[str, Any] = field(default_factory=dict)
    n: int = 0
    trials: Trials = field(default_factory=Trials)
    rows: pd.DataFrame | None = None
    judge: str = ""
    sample: Sequence[bool] | None = None
    stored: Mapping[str, Stored] = field(default_factory=dict)

    def heard(self) -> list[Heard]:
        """The judge with its prompts, for a correction."""
        calls = self.tables.get("calls")
        own = () if calls is None else (calls[calls["purpose"] != ANSWER],)
        return [Heard(self.judge, (), own, {})] if self.judge else []

    @property
    def sampled(self) -> pd.DataFrame:
        """The texts that notes on writing are made of."""
        return self.texts if self.sample is None else self.texts[np.asarray(self.sample)].reset_index(drop=True)


Make = Callable[["Dataset", Mapping[str, Any]], Made]


class _Task(NamedTuple):
    """A part: its rows, what is made of them, and the folder for it."""

    make: Make
    hand: Hand
    large: Large
    table: str
    data: Dataset
    options: Mapping[str, Any]
    folder: Path


def made(make: Make, data: Dataset, options: Mapping[str, Any], *, here: bool = False) -> Made:
    """What ``make(data, options)`` makes, of a table that was dealt of all its rows.

    Each row's part must not depend on rows of other ids.

    Parameters
    ----------
    make : callable
        A function of a module, which other processes find by its name.
    here : bool
        Whether all parts are made in this process, since what they share is: a budget of calls, a function.

    Raises
    ------
    BadInput
        What is wrong with rows of any part: all of it.
    """
    table = next((name for name, frame in data.tables.items() if is_dealt(frame)), "")
    if not table:
        return make(data, options)
    large = data[table].attrs[STREAM]
    keeper = tempfile.TemporaryDirectory(prefix=PARTS, dir=_place())
    folder = Path(keeper.name)
    at("dealing rows into parts")
    hands = deal(large, [str(one) for one in data[table]["id"]], folder / "dealt", ROWS)
    alike = _without_rows(data)
    tasks = [_Task(make, hand, large, table, alike, options, folder / f"{i:06}") for i, hand in enumerate(hands)]
    faults: list[str] = []
    with workers.workers(1 if here else min(workers.processes(), len(tasks))) as over:
        for n, found in enumerate(over(_one, tasks), 1):
            faults += found
            at("making items of parts", n, len(tasks))
    if faults:
        raise BadInput.listing(f"{data.label}: faults in parts of it:", faults)
    shutil.rmtree(folder / "dealt")
    return _joined([task.folder for task in tasks], keeper)


def is_dealt(frame: pd.DataFrame) -> bool:
    """Whether a table is a sample of one that is read part by part."""
    large = frame.attrs.get(STREAM)
    return large is not None and large.dealt


def _place() -> str | None:
    """Where parts lie: in the folder of the run, for workers of other machines in this one, else among temporary files."""
    return os.environ.get(RUN_FOLDER) or (os.getcwd() if os.environ.get(SCHEDULER) else None)


def _without_rows(data: Dataset) -> Dataset:
    """What is known of the data but their rows, to be sent to other processes."""
    return replace(data, tables={}, rows={}, given={})


def _one(task: _Task) -> Sequence[str]:
    """Make a part, and write it down whole or not at all; the faults of its rows."""
    if task.folder.exists():
        return ()
    try:
        data = task.data.of({task.table: task.hand.frame(task.large)})
        found = task.make(data, task.options)
    except BadInput as error:
        return error.faults or (str(error),)
    unfinished = Path(tempfile.mkdtemp(dir=task.folder.parent))
    kept = _kept(found, task.large)
    frames = {ITEMS: found.items, _TEXTS: found.texts, _KEPT: kept, **found.tables}
    frames |= {} if found.rows is None else {_ROWS: found.rows}
    for name, frame in frames.items():
        _plain(frame.reset_index(drop=True)).to_parquet(unfinished / f"{name}.parquet", index=False)
    notes = [note.row() if isinstance(note, Note) else note for note in found.notes]
    trials = {"by": found.trials.by, "groups": dict(found.trials.groups), "notes": found.trials.notes}
    said = {"notes": notes, "accounting": found.accounting, "n": found.n, "judge": found.judge, "trials": trials}
    (unfinished / _SAID).write_text(json.dumps(said), encoding="utf-8")
    unfinished.rename(task.folder)
    return ()


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Without what readers noted on it, which no file holds."""
    frame.attrs = {}
    return frame


def _kept(found: Made, large: Large) -> pd.DataFrame:
    """The texts of the sample, and those that are shown as the worst or the best."""
    ids = found.items["id"].to_numpy()
    chosen = large.sampled_of(found.texts["id"])
    extreme = {
        ids[i]
        for name, column in found.items.select_dtypes("float").items()
        for order in (column.to_numpy(), -column.to_numpy())
        for i in np.argsort(order, kind="stable")[:EXTREMES]
    }
    if "unscored" in found.items:
        extreme |= set(ids[np.flatnonzero((found.items["unscored"] != "").to_numpy())[:EXTREMES]])
    shown = chosen | found.texts["id"].isin(extreme).to_numpy()
    return found.texts.assign(**{_SAMPLE: chosen})[shown]


def _joined(folders: Sequence[Path], keeper: Any) -> Made:
    """The parts, which follow each other as their ids do, as one."""
    from evalbench.models.accounting import merged

    said = [json.loads((folder / _SAID).read_text(encoding="utf-8")) for folder in folders]
    notes = [
        note if isinstance(note, str) else Note(note["kind"], note["short"], note["note"])
        for one in said
        for note in one["notes"]
    ]
    kept = _frame(folders, _KEPT, objects=True)
    texts = Path(keeper.name) / "texts.parquet"
    _one_file(folders, _TEXTS, texts)
    return Made(
        items=_frame(folders, ITEMS),
        texts=kept.drop(columns=_SAMPLE),
        tables={name: _frame(folders, name) for name in _tables(folders)},
        notes=tuple(dict.fromkeys(notes)),
        accounting=merged(one["accounting"] for one in said),
        n=sum(one["n"] for one in said),
        trials=several_trials.joined(Trials(**one["trials"]) for one in said),
        rows=_frame(folders, _ROWS) if (folders[0] / f"{_ROWS}.parquet").exists() else None,
        judge=said[0]["judge"],
        sample=kept[_SAMPLE].tolist(),
        stored={"texts": Stored(texts, keeper)},
    )


def _tables(folders: Sequence[Path]) -> list[str]:
    """The finer tables that any part has."""
    own = (ITEMS, _TEXTS, _KEPT, _ROWS)
    found = (file.stem for folder in folders for file in sorted(folder.glob("*.parquet")) if file.stem not in own)
    return list(dict.fromkeys(found))


def _frame(folders: Sequence[Path], name: str, *, objects: bool = False) -> pd.DataFrame:
    """A table of all parts; a column that some parts lack has nulls there.

    - ``objects``: Whether cells are Python's own, as readers give texts, which take several times the memory of Arrow's.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = [file for folder in folders if (file := folder / f"{name}.parquet").exists()]
    tables = [pq.read_table(file, memory_map=True) for file in files]
    table = pa.concat_tables(tables, promote_options="permissive")
    del tables
    if objects:
        cells = {column: pd.Series(table.column(column).to_pylist(), dtype=object) for column in table.column_names}
        return pd.DataFrame(cells).astype({_SAMPLE: bool})
    frame: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True)
    return frame


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
