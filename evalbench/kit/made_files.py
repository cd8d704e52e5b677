"""What is made of a part of tables, in files of a folder; and the folders of all parts, joined as if it had been made in one piece."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.notes import Note
from evalbench.core.result import Stored
from evalbench.kit import trials as several_trials
from evalbench.kit.made import Made
from evalbench.kit.trials import Trials
from evalbench.readers.frames import in_one_piece

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from evalbench.readers.dataset import Dataset

ITEMS, TEXTS, ROWS, CASES, SAID = "items", "texts of all", "rows of trials", "cases", "said.json"
GROUPS, KEPT = "groups of ", "kept of "
_SAMPLE = "of the sample"
_GROUPED = ("model", "augmentation")
EXTREMES = 50
"""So many of the lowest and of the highest of each score, and of the unscored, of each group keep their texts in memory."""


def write(
    found: Made, folder: Path, groups: Mapping[str, pd.DataFrame], sampled: Callable[[Iterable[str]], Any]
) -> None:
    """Write what was made of a part, whole or not at all.

    - ``groups``: Table → what names its items, with their clusters and slices.
    - ``sampled``: Which ids are of the sample.
    """
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent))
    tables = {name: _in_json(table, found.nested.get(name, ())) for name, table in found.tables.items()}
    larger = {name: found.trials.named(tables[name]) for name in found.larger if name in tables}
    frames = {ITEMS: found.items, **tables, **larger, **{f"{GROUPS}{name}": own for name, own in groups.items()}}
    frames |= {} if found.rows is None else {ROWS: found.rows}
    if larger or found.texts is not None:
        frames[CASES] = cases = _extreme(_cases_of(found))
        frames |= {f"{KEPT}{name}": _rows_of(table, cases["id"]) for name, table in larger.items()}
    if found.texts is not None:
        chosen = np.asarray(sampled(found.texts["id"]))
        shown = found.texts["id"].isin(frames[CASES]["id"]).to_numpy()
        frames[TEXTS] = found.trials.named(found.texts)
        frames[f"{KEPT}{TEXTS}"] = frames[TEXTS].assign(**{_SAMPLE: chosen})[chosen | shown]
    for name, frame in frames.items():
        _plain(frame.reset_index(drop=True)).to_parquet(unfinished / f"{name}.parquet", index=False)
    notes = [note.row() if isinstance(note, Note) else note for note in found.notes]
    trials = {"by": found.trials.by, "groups": dict(found.trials.groups), "notes": found.trials.notes}
    said: dict[str, Any] = {"notes": notes, "accounting": found.accounting, "judge": found.judge, "trials": trials}
    said |= {"n": found.n, "numbered": found.numbered, "nested": {name: [*own] for name, own in found.nested.items()}}
    said |= {"sums": found.sums, "tables": [*tables], "larger": [*found.larger], "prompts": found.prompts}
    (unfinished / SAID).write_text(json.dumps(said), encoding="utf-8")
    unfinished.rename(folder)


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Without what readers noted on it, which no file holds."""
    frame.attrs = {}
    return frame


def _in_json(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """A table whose lists and objects are texts."""
    cells: dict[str, Any] = {
        name: [None if cell is None else json.dumps(cell) for cell in frame[name]] for name in columns
    }
    return frame.assign(**cells)


def _cases_of(found: Made) -> pd.DataFrame:
    """What cases are shown by: the scores of each row, by model, and whether there is none."""
    rows = found.items if found.rows is None else found.rows
    keys = [key for key in ("id", *_GROUPED) if key in rows]
    unscored = rows["unscored"] != "" if "unscored" in rows else False
    orders = {f"order {name}": np.asarray(values, dtype=float) for name, values in found.orders.items()}
    return rows[[*keys, *rows.select_dtypes("float")]].assign(**orders, unscored=unscored)


def _extreme(cases: pd.DataFrame) -> pd.DataFrame:
    """The cases that may be shown as the worst or the best of their group."""
    by = [name for name in _GROUPED if name in cases]
    groups: Any = cases.groupby(by, sort=False).indices.values() if by else [np.arange(len(cases))]
    chosen = np.zeros(len(cases), dtype=bool)
    for places in groups:
        for column in cases.select_dtypes("float"):
            values = cases[column].to_numpy()[places]
            for order in (values, -values):
                chosen[places[np.argsort(order, kind="stable")[:EXTREMES]]] = True
        chosen[places[cases["unscored"].to_numpy()[places]][:EXTREMES]] = True
    return cases[chosen]


def _rows_of(table: pd.DataFrame, ids: Iterable[str]) -> pd.DataFrame:
    """The rows of a finer table that belong to some items; calls name theirs in a list."""
    known = {*ids}
    if "id" in table:
        return table[table["id"].isin(known)]
    asked = table["asked_for"] if "asked_for" in table else [()] * len(table)
    names = (name.partition("|")[0] for name in table["item_id"])
    return table[[name in known or not known.isdisjoint(own) for name, own in zip(names, asked, strict=True)]]


class _Parts(NamedTuple):
    """The folders of all parts, in the order of their ids, and what each says."""

    folders: Sequence[Path]
    said: Sequence[Mapping[str, Any]]

    def has(self, name: str) -> bool:
        """Whether any of them has a table."""
        return bool(self.files(name))

    def tables(self) -> list[str]:
        """The finer tables that any of them has."""
        return list(dict.fromkeys(name for one in self.said for name in one["tables"]))

    def files(self, name: str) -> dict[Path, int]:
        """The files of a table, and by how much its numbers are to be raised in each."""
        first = np.cumsum([0, *(one["n"] for one in self.said)])[:-1].tolist()
        found = {folder / f"{name}.parquet": n for folder, n in zip(self.folders, first, strict=True)}
        return {file: n for file, n in found.items() if file.exists()}

    @property
    def numbered(self) -> str:
        """The column that is numbered from 0 in each of them."""
        return str(self.said[0]["numbered"])

    def arrow(self, name: str) -> list[pa.Table]:
        """A table, part by part."""
        import pyarrow.parquet as pq

        files = self.files(name).items()
        return [_raised(pq.read_table(file, memory_map=True), self.numbered, n) for file, n in files]

    def frame(self, name: str, ids: Iterable[str] | None = None) -> pd.DataFrame:
        """A table of all of them, its numbers and its lists and objects as if it had been made in one piece.

        - ``ids``: The items whose rows are wanted; by default all.
        """
        import pandas as pd
        import pyarrow as pa

        tables = self.arrow(name)
        tables = [table for table in tables if len(table)] or tables[:1]  # without rows what columns hold is not known
        widest = sorted(
            tables, key=lambda own: -own.num_columns
        )  # columns that some parts lack are where others have them
        names = list(dict.fromkeys(name for own in widest for name in own.column_names))
        table = pa.concat_tables(tables, promote_options="permissive").select(names)
        del tables, widest
        lists = {field.name for field in table.schema if pa.types.is_list(field.type)}
        nested = {*self.said[0]["nested"].get(name, ())}
        columns: dict[str, pd.Series] = {}
        for column in table.column_names:  # one by one: of no other is there a second copy
            own, table = table.select([column]), table.drop_columns([column])
            if column in lists:
                columns[column] = pd.Series(own.column(0).to_pylist(), dtype=object)
            elif column in nested:
                cells = (json.loads(cell) if isinstance(cell, str) else None for cell in own.column(0).to_pylist())
                columns[column] = pd.Series([*cells], dtype=object)
            else:
                columns[column] = own.to_pandas(split_blocks=True, self_destruct=True)[column]
            del own
            pa.default_memory_pool().release_unused()
        frame = pd.DataFrame(columns, copy=False)
        return frame if ids is None else _rows_of(frame, ids).reset_index(drop=True)

    def texts(self, ids: Iterable[str]) -> pd.DataFrame:
        """The texts of the sample and of some items; cells are Python's own, as readers give them."""
        import pandas as pd
        import pyarrow as pa

        table = pa.concat_tables(self.arrow(f"{KEPT}{TEXTS}"), promote_options="permissive")
        cells = {column: pd.Series(table.column(column).to_pylist(), dtype=object) for column in table.column_names}
        frame = pd.DataFrame(cells).astype({_SAMPLE: bool})
        return frame[frame[_SAMPLE] | frame["id"].isin({*ids})].reset_index(drop=True)

    def stored(self, name: str, path: Path, keeper: object) -> Stored:
        """A table of all of them as one Parquet file, of which never more than a part is in memory."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = pa.unify_schemas([pq.read_schema(file) for file in self.files(name)], promote_options="permissive")
        with pq.ParquetWriter(path, schema) as whole:
            for file, n in self.files(name).items():
                table = _raised(pq.read_table(file), self.numbered, n)
                for column in [name for name in schema.names if name not in table.column_names]:
                    table = table.append_column(column, pa.nulls(len(table), schema.field(column).type))
                whole.write_table(table.select(schema.names).cast(schema))
        return Stored(path, keeper)


def _raised(table: pa.Table, column: str, by: int) -> pa.Table:
    """With the numbers of a column raised."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column not in table.column_names:
        return table
    moved = pc.add(table.column(column).cast(pa.int64()), by)
    return table.set_column(table.column_names.index(column), column, moved)


def joined(folders: Sequence[Path], keeper: Any, data: Dataset) -> Made:
    """The parts, which follow each other as their ids do, as one.

    - ``keeper``: What keeps their folder.
    """
    from evalbench.models.accounting import merged

    parts = _Parts(folders, [json.loads((folder / SAID).read_text(encoding="utf-8")) for folder in folders])
    said = parts.said
    notes = [
        note if isinstance(note, str) else Note(note["kind"], note["short"], note["note"])
        for one in said
        for note in one["notes"]
    ]
    groups = {name: parts.frame(own) for name in data.tables if parts.has(own := f"{GROUPS}{name}")}
    shown = _extreme(parts.frame(CASES))["id"].tolist() if parts.has(CASES) else []
    larger = [name for name in said[0]["larger"] if parts.has(name)]
    place = Path(keeper.name)
    found = Made(
        items=in_one_piece(parts.frame(ITEMS)),
        tables={
            name: parts.frame(f"{KEPT}{name}", shown) if name in larger else parts.frame(name)
            for name in parts.tables()
        },
        notes=tuple(dict.fromkeys(notes)),
        accounting=merged(one["accounting"] for one in said),
        n=sum(one["n"] for one in said),
        trials=several_trials.joined(Trials(**one["trials"]) for one in said),
        rows=parts.frame(ROWS) if parts.has(ROWS) else None,
        judge=said[0]["judge"],
        stored={name: parts.stored(name, place / f"all {name}.parquet", keeper) for name in larger},
        data=replace(data, tables={**data.tables, **groups}),
        sums=summed(one["sums"] for one in said),
        prompts=tuple(dict.fromkeys(prompt for one in said for prompt in one["prompts"])),
    )
    if not parts.has(TEXTS):
        return found
    texts, all_texts = parts.texts(shown), parts.stored(TEXTS, place / "texts.parquet", keeper)
    stored = {**found.stored, "texts": all_texts}
    return replace(found, texts=texts.drop(columns=_SAMPLE), sample=texts[_SAMPLE].tolist(), stored=stored)


def summed(several: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts, and counts by name, added up.

    Examples
    --------
    >>> summed([{"texts": 2, "languages": {"en": 2}}, {"texts": 3, "languages": {"de": 1, "en": 2}}])
    {'texts': 5, 'languages': {'en': 4, 'de': 1}}
    """
    out: dict[str, Any] = {}
    for one in several:
        for name, value in one.items():
            out[name] = summed([out.get(name, {}), value]) if isinstance(value, Mapping) else out.get(name, 0) + value
    return out
