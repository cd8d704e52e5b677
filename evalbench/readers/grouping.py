"""Columns of a table that say which rows belong together: clusters, drawn together, and slices, looked at apart."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Table

_FEWEST_EACH = 3
_FEWEST_ITEMS = 60
_MOST_SHARE = 0.25
_NAMES = frozenset(("passage", "doc", "document", "source", "article", "context", "conversation", "session", "file"))
_ENDINGS = ("id", "ids", "name", "number", "title")


class Grouping(NamedTuple):
    """Which columns are clusters, and which are slices."""

    cluster: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.cluster, *self.slices]))


UNGROUPED = Grouping()


def grouping_of(
    cluster: str | Sequence[str],
    slices: str | Sequence[str],
    tables: Mapping[str, pd.DataFrame],
    read_as: Mapping[str, str] = {},
) -> tuple[Grouping, list[str]]:
    """The columns named, and what is wrong with them: those that no table has.

    A text is one column, or several with commas between where no column has the whole as its name.

    - ``read_as``: Columns that were read under another name, which may be named by both.

    Examples
    --------
    >>> import pandas as pd
    >>> tables = {"items": pd.DataFrame({"id": [1], "topic": ["a"], "lang": ["en"]})}
    >>> grouping_of("topic", "lang,topic", tables)[0]
    Grouping(cluster=('topic',), slices=('lang', 'topic'))
    >>> grouping_of("", ["tpoic"], tables)[1]
    ["slices: no table has a column 'tpoic'; did you mean topic?"]
    """
    there = list(dict.fromkeys(str(c) for frame in tables.values() for c in frame.columns))
    found, faults = [], []
    for option, given in (("cluster", cluster), ("slices", slices)):
        names = _names(given, [*there, *read_as])
        if names is None:
            faults.append(f"{option} must be the name of a column or a list of them, got {given!r}")
            names = []
        names = [name if name in there else read_as.get(name, name) for name in names]
        for name in names:
            if name not in there:
                near = get_close_matches(name, there, n=1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(there[:40])}"
                faults.append(f"{option}: no table has a column {name!r}; {hint}")
        found.append(tuple(dict.fromkeys(names)))
    return Grouping(*found), faults


def options_of(grouping: Grouping, tables: Iterable[pd.DataFrame]) -> dict[str, list[str]]:
    """Those of the columns that some tables have, as :func:`grouping_of` takes them."""
    there = {str(c) for frame in tables for c in frame.columns}
    return {option: [c for c in names if c in there] for option, names in grouping._asdict().items()}


def _names(given: Any, there: Sequence[str]) -> list[str] | None:
    if isinstance(given, str):
        parts = [part.strip() for part in given.split(",")]
        several = given not in there and len(parts) > 1 and all(part in there for part in parts)
        return parts if several else [given.strip()] if given.strip() else []
    if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) and name for name in given):
        return None
    return [str(name) for name in given]


def cell_text(value: Any) -> str:
    """A cell as the name of a cluster or a slice; empty for one without a value.

    Examples
    --------
    >>> [cell_text(v) for v in ("law", 2.0, None, float("nan"), True, ["a"])]
    ['law', '2', '', '', 'true', '["a"]']
    """
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def unused_clusters(
    tables: Mapping[str, pd.DataFrame], schema: Mapping[str, Table], grouping: Grouping, sources: Mapping[str, str]
) -> list[str]:
    """Notes on columns that look as if several items came from one place, and that no option names.

    Such a column is one that the schema does not know, whose name says where a row comes from (``passage``, ``doc_id``,
    ``source``); no cell is empty, each value has at least 3 items, and there are at most a quarter as many values as items,
    of at least 60 items.
    """
    if grouping.cluster:
        return []
    notes = []
    for name, frame in tables.items():
        keys = [c for c in schema[name].unique if c in frame]
        others = [c for c in frame.columns if schema[name].column(str(c)) is None and c not in grouping.slices]
        places = [column for column in others if _says_where(str(column))]
        n = frame[keys[0]].nunique() if keys and places else 0
        for column in places if n >= _FEWEST_ITEMS else ():
            each = frame.drop_duplicates(keys[0])[column].map(cell_text).value_counts()
            if "" not in each.index and 2 <= len(each) <= _MOST_SHARE * n and each.min() >= _FEWEST_EACH:
                notes.append(
                    f"{sources[name]}: the {n} items share {len(each)} values of column {column}: if items of one value are "
                    f"alike, the intervals are too narrow; cluster={column} draws them together"
                )
    return notes


def _says_where(column: str) -> bool:
    words = column.casefold().replace("-", "_").replace(" ", "_").split("_")
    return words[-1] in _NAMES or (words[-1] in _ENDINGS and not _NAMES.isdisjoint(words[:-1]))


def keys_of(schema: Mapping[str, Table]) -> Mapping[str, tuple[str, ...]]:
    """The columns of each table that name things."""
    return {name: tuple(_identifiers(table.columns)) for name, table in schema.items()}


def _identifiers(columns: Iterable[Any]) -> list[str]:
    return [column.name for column in columns if column.type == "id"]
