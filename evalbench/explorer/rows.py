"""The rows of a run, asked for by filter: its items, and the tables that are linked to them, of which nothing is loaded whole.

A table that has a column for the item's id is *linked*: its columns can be filtered by, its texts are searched, and its
rows are shown with the item.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput
from evalbench.explorer.conditions import CALL_ID, as_text, condition, written
from evalbench.explorer.database import ASKED_FOR, PLACE, Column, Database, quoted
from evalbench.explorer.mark_files import marked
from evalbench.readers import runs
from evalbench.readers.former_names import renamed_of

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from evalbench.core.result import Summary

    Places = npt.NDArray[np.integer[Any]]

LONGEST = 300
"""Letters of a text in a list of items."""
_ITEM = f"SELECT {PLACE}, * EXCLUDE ({PLACE}) FROM items i"
MOST_LINKED = 200
"""Rows of a table, and items of other groups, that are shown with an item."""
_KEPT = 32
_KEPT_PLACES = 4


class Rows:
    """The items of a finished run and the tables linked to them.

    - ``folder``: Of the run.

    Raises ``BadInput`` if it is no finished run, a file of it lies elsewhere or cannot be read, or DuckDB is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = runs.read_results(folder)
        self.id, self.by = str(self.results["id"]), [str(name) for name in self.results["by"]]
        files = {**self.results["tables"], "items": runs.ITEMS}
        self.database = Database({name: _own_file(folder, file) for name, file in files.items()})
        self.columns = {column.name: column for column in self.columns_of("items")}
        if missing := [name for name in (self.id, *self.by) if name not in self.columns]:
            raise BadInput(f"{folder / runs.ITEMS}: has no column {', '.join(missing)}, which results.json names")
        self.linked: dict[str, list[str]] = {}
        self.behind: dict[str, list[Column]] = {}
        self._found: dict[tuple[str, str, str], Places] = {}
        self.summaries: dict[str, Summary] = {}
        for name in self.results["tables"]:
            self._link(name)
        self.n = int(self.database.one("SELECT count(*) FROM items"))

    def columns_of(self, table: str) -> list[Column]:
        return self.database.columns(table)

    def _link(self, table: str) -> None:
        names = [column.name for column in self.columns_of(table)]
        keys = (
            [key for key in (self.id, *self.by) if key in names]
            if self.id in names
            else [ASKED_FOR if ASKED_FOR in names else CALL_ID]
        )
        if keys[0] in names:
            self.linked[table] = keys
            for column in self.columns_of(table):
                if self.columns.setdefault(column.name, column).table != "items":
                    self.behind.setdefault(column.name, []).append(column)

    def count(self, where: str = "") -> int:
        """How many items a filter leaves."""
        return len(self._fitting(where)) if where.strip() else self.n

    def _fitting(self, where: str, sort: str | None = None) -> Places:
        """The places in the file of the items that a filter leaves, in an order (any by default); of the last filters they are kept."""
        sql, values = condition(self, where)
        of_filter = sql, repr(values)
        order = self._order(sort or "")
        for (*filter_, ordered), kept in self._found.items():
            if tuple(filter_) == of_filter and (sort is None or ordered == order):
                return kept
        found = self.database.arrays(f"SELECT {PLACE} FROM items i WHERE {sql}{order}", values)
        places: Places = found[PLACE].astype(np.int32)
        self._found = dict([*self._found.items(), ((*of_filter, order), places)][-_KEPT_PLACES:])
        return places

    def keep_summary(self, where: str, summary: Summary) -> None:
        """Keep what the study says of the items of a filter under the run's own options, with those asked for last."""
        self.summaries = dict([*self.summaries.items(), (where, summary)][-_KEPT:])

    def page(self, where: str = "", sort: str = "", offset: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """Some of the items that a filter leaves, with long texts cut.

        - ``sort``: A column of the items, falling with ``-`` before it; nulls are last. By default in the order of the
          file.
        """
        order = self._order(sort)
        if where.strip():
            places = self._fitting(where, sort)[offset : offset + limit].tolist()
            sql, values = f"WHERE {PLACE} IN (SELECT unnest(CAST(? AS BIGINT[]))){order}", [places]
        else:
            sql, values = f"{order} LIMIT ? OFFSET ?", [limit, offset]
        found = self.database.records(f"{_ITEM} {sql}", values)
        return [{name: shortened(value) for name, value in row.items()} for row in found]

    def neighbours(self, row: int, where: str = "", sort: str = "") -> dict[str, int | None]:
        """Where an item is among those that a filter leaves: ``at`` (from 0), ``previous`` and ``next``; None where there is none."""
        places = self._fitting(where, sort)
        if not len(found := np.flatnonzero(places == row)):
            return {"at": None, "previous": None, "next": None}
        at = int(found[0])
        return {
            "at": at,
            "previous": int(places[at - 1]) if at else None,
            "next": int(places[at + 1]) if at + 1 < len(places) else None,
        }

    def places(self, where: str = "", sort: str = "", sample: int | None = None) -> Places:
        """The places in the file of the items that a filter leaves.

        - ``sample``: At most so many, drawn evenly by a fixed hash of their places.
        """
        if sample is None:
            return self._fitting(where, sort)
        sql, values = condition(self, where)
        drawn = f"SELECT {PLACE} FROM items i WHERE {sql} ORDER BY hash({PLACE}) LIMIT ?"
        found: Places = np.sort(self.database.arrays(drawn, [*values, sample])[PLACE])
        return found

    def frame(self, where: str = "", sort: str = "", sample: int | None = None) -> pd.DataFrame:
        """The items that a filter leaves, with the types that their file gives them; see :meth:`places`."""
        if not where.strip() and not sort and (sample is None or self.n <= sample):
            return runs.read_frame(self.folder / runs.ITEMS)
        return self.at(self.places(where, sort, sample))

    def at(self, places: Sequence[int] | Places) -> pd.DataFrame:
        """The items at these places of the file, with the types that it gives them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        taken = pq.read_table(self.folder / runs.ITEMS).take(pa.array(places, type=pa.int64()))
        frame: pd.DataFrame = taken.to_pandas()
        named = frame.rename(columns=renamed_of(self.folder / runs.ITEMS, map(str, frame.columns)))
        return named.reset_index(drop=True)

    def item(self, row: int) -> dict[str, Any]:
        """An item with all that is linked to it, and the items of the same id in other groups; texts are whole.

        Raises ``BadInput`` where no item has this place.
        """
        id_ = self.texts_of(row)[self.id]
        own = self.database.records(f"{_ITEM} WHERE {PLACE} = ?", [row])[0]
        others = self.database.records(
            f"{_ITEM} WHERE {as_text(self.id, 'i')} = ? AND {PLACE} <> ? ORDER BY {PLACE} LIMIT {MOST_LINKED}",
            [id_, row],
        )
        tables = {table: self._of_item(table, id_) for table in self.linked}
        return {
            "row": row,
            "item": {name: value for name, value in own.items() if name != "row"},
            "place": {name: own[name] for name in (self.id, *self.by)},
            "tables": {name: rows for name, rows in tables.items() if rows},
            "others": others,
        }

    def texts_of(self, row: int) -> dict[str, str | None]:
        """The id and the group of an item, as texts.

        Raises ``BadInput`` where no item has this place.
        """
        names = (self.id, *self.by)
        texts = ", ".join(as_text(name, "i") for name in names)
        found = self.database.fetch(f"SELECT {texts} FROM items i WHERE {PLACE} = ?", [row])
        if not found:
            raise BadInput(f"there is no item {row}; there are {self.n}, the first is 0")
        return dict(zip(names, found[0], strict=True))

    def _of_item(self, table: str, id_: str | None) -> list[dict[str, Any]]:
        """Rows of all groups: what others answered to the same question is read beside it."""
        key = self.linked[table][0]
        own = as_text(key, "t")
        sql = f"{own} = ?" if key == self.id else f"({own} = ? OR starts_with({own}, ? || '|'))"
        values = [id_] * sql.count("?")
        return self.database.records(
            f"SELECT * EXCLUDE ({PLACE}) FROM {quoted(table)} t WHERE {sql} ORDER BY {PLACE} LIMIT {MOST_LINKED}",
            values,
        )

    def first_places(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[int | None]:
        """The place of the first item that has these values in these columns, for each row of values; None where none has."""
        wanted = ", ".join(f"({', '.join('?' * len(names))})" for _ in rows)
        columns = ", ".join(as_text(name, "i") for name in names)
        values = [tuple(written(value) for value in row) for row in rows]
        if not rows:
            return []
        found = self.database.fetch(
            f"SELECT {columns}, min({PLACE}) FROM items i WHERE ({columns}) IN ({wanted}) GROUP BY ALL",
            [value for row in values for value in row],
        )
        places = {tuple(row[:-1]): int(row[-1]) for row in found}
        return [places.get(row) for row in values]

    def place_of(self, id_: Any, **group: Any) -> int:
        """The place of the item with this id, of this group.

        Raises ``BadInput`` where there is none, or where several have it, which are listed.
        """
        if unknown := [name for name in group if name not in self.by]:
            groups = ", ".join(self.by) or "nothing"
            raise BadInput(f"{', '.join(unknown)}: items of this run differ by {groups}")
        wanted = {self.id: written(id_), **{name: written(value) for name, value in group.items()}}
        names = ", ".join(map(quoted, (PLACE, *self.by)))
        sql = " AND ".join(f"{as_text(name, 'i')} = ?" for name in wanted)
        found = self.database.fetch(f"SELECT {names} FROM items i WHERE {sql} LIMIT 20", list(wanted.values()))
        said = ", ".join(f"{name}={value}" for name, value in wanted.items())
        if not found:
            raise BadInput(f"no item has {said}")
        if len(found) > 1:
            which = "; ".join(", ".join(f"{n}={v}" for n, v in zip(self.by, row[1:], strict=True)) for row in found)
            raise BadInput(f"{len(found)} items have {said}: {which or 'the id is not unique'}")
        return int(found[0][0])

    def marked(self, words: Sequence[str]) -> list[int]:
        """The places of the items that a reader marked so; see :func:`evalbench.explorer.mark_files.marked`."""
        return marked(self.folder, words)

    def own_column(self, name: str) -> Column:
        """A column of the items themselves.

        Raises ``BadInput`` where they have no such column.
        """
        column = self.columns.get(name)
        if column is None or column.table != "items":
            own = [c.name for c in self.columns.values() if c.table == "items"]
            raise BadInput(f"the items have no column {name!r}; they have {', '.join(own)}")
        return column

    def _order(self, sort: str) -> str:
        if not sort:
            return f" ORDER BY {PLACE}"
        falls = sort.startswith("-") and sort not in self.columns
        name = quoted(self.own_column(sort[1:] if falls else sort).name)
        return f" ORDER BY i.{name} {'DESC' if falls else 'ASC'} NULLS LAST, {PLACE}"


def _own_file(folder: Path, name: str) -> Path:
    """A file of the run, which is no link that leads out of its folder."""
    path = (folder / name).resolve()
    if path.parent != folder.resolve():
        raise BadInput(f"{folder / name}: leads out of the run's folder; it is not opened")
    if not path.is_file():
        raise BadInput(f"{folder}: has no {name}; is it the folder of a finished run?")
    return path


def shortened(value: Any) -> Any:
    """A text, or the texts of a list, of at most :data:`LONGEST` letters.

    Examples
    --------
    >>> len(shortened("a" * 1000)), shortened(3)
    (300, 3)
    """
    if isinstance(value, str) and len(value) > LONGEST:
        return value[: LONGEST - 1] + "…"
    return [shortened(each) for each in value[:20]] if isinstance(value, list) else value
