"""What may go into a pack of some of a run's items: nothing that another item left behind."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from evalbench.explorer.conditions import CALL_ID, as_text, written
from evalbench.explorer.rows import Rows

Group = tuple[str | None, ...]
Belongs = Callable[[str, str, Sequence[str | None], str, Mapping[str, Any]], bool]
"""Table, id, texts of its further keys, the rest of a call's id, the row → whether it may be packed."""


_PARTS = re.compile(r"\|| / ")
"""Between the parts of a call's name: the item's id, whose answer it is of, and more."""


class _Id(NamedTuple):
    """The groups of the items of an id: those that are packed, and those that are not."""

    kept: list[Group]
    others: list[Group]

    def strangers(self) -> set[str]:
        """Values by which only items that are not packed are named."""
        ours = {value for group in self.kept for value in group}
        return {value for group in self.others for value in group if value is not None and value not in ours}

    def is_ours(self, named: set[str]) -> bool:
        """Whether these words name an item that is packed and none that is not."""
        differing = [i for i, values in enumerate(zip(*self.kept, *self.others, strict=True)) if len({*values}) > 1]
        fits = [[all(group[i] in named for i in differing) for group in groups] for groups in self]
        return any(fits[0]) and not any(fits[1])


def belonging(rows: Rows, sql: str, values: Sequence[Any]) -> Belongs:
    """Whether a row of a linked table may go into a pack of the items of a condition.

    A row of a table with groups: one of a packed item's group. A call, where other items of its id are not packed: one that names a
    packed item, by the parts of its name or its own column, and no other, so that one that does not say whose it is stays out. No row in which a text is the name of a group that only items
    that are not packed have.
    """
    found: dict[str, _Id] = {}
    names = ", ".join(as_text(name, "i") for name in (rows.id, *rows.by))
    for id_, *group, kept in rows.database.stream(f"SELECT {names}, {sql} FROM items i", values):
        if id_ is not None:
            found.setdefault(id_, _Id([], []))[0 if kept else 1].append(tuple(group))
    strangers = functools.cache(lambda id_: found[id_].strangers())

    def belongs(table: str, id_: str, group: Sequence[str | None], rest: str, row: Mapping[str, Any]) -> bool:
        own, (key, *by) = found[id_], rows.linked[table]
        parts = {*rest.split("|")[1:], *_PARTS.split(str(row.get(CALL_ID, "")))[1:]}
        if own.others and not strangers(id_).isdisjoint(parts.union(v for v in row.values() if isinstance(v, str))):
            return False
        if key != rows.id:
            return not own.others or own.is_ours(parts.union(written(row[name]) for name in rows.by if name in row))
        at = [rows.by.index(name) for name in by]
        return any(tuple(each[i] for i in at) == tuple(group) for each in own.kept)

    return belongs
