"""Clusters and slices of a data set carried to the items of a study, in columns of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalbench.core.clusters import CLUSTER
from evalbench.core.slices import SLICE
from evalbench.errors import BadInput
from evalbench.readers.grouping import cell_text

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.dataset import Dataset


def carried(
    items: pd.DataFrame,
    data: Dataset,
    *,
    unit: str = "id",
    names: Mapping[str, str] = {},
    where: Mapping[str, Any] = {},
) -> pd.DataFrame:
    """The items with the columns that the data set's ``cluster`` and ``slices`` name.

    Parameters
    ----------
    unit : str
        The items' column of the resampling unit.
    names : mapping of str to str
        Table → the items' column that holds its ``id``, where that has another name there.
    where : mapping of str to bool array
        Table → the items that are made of its rows, where these are not all.

    Returns
    -------
    DataFrame
        With ``cluster``, a text, where the data set has clusters (of several columns a JSON list), and a column
        ``slice:NAME`` for each slice.  An item without a value has the empty text.

    Raises
    ------
    BadInput
        Where a column has several values for one item, or cluster for one unit; all at once.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalbench import load
    >>> rows = pd.DataFrame({"id": ["a", "b"], "output": ["x", "y"], "topic": ["law", None]})
    >>> data = load({"items": rows}, study="text_metrics", slices="topic")
    >>> carried(pd.DataFrame({"id": ["b", "a"]}), data).to_dict("list")
    {'id': ['b', 'a'], 'slice:topic': ['', 'law']}
    """
    grouping = data.grouping
    if not grouping.columns or items.empty:
        return items
    faults: list[str] = []
    known = {
        c: _values(items, data, c, unit, names, where, faults, of_unit=c in grouping.cluster) for c in grouping.columns
    }
    if faults:
        raise BadInput.listing(f"{data.label}: clusters and slices:", faults)
    found: dict[str, Any] = {}
    if grouping.cluster:
        each = [known[c] for c in grouping.cluster]
        found[CLUSTER] = (
            each[0] if len(each) == 1 else [json.dumps(v, ensure_ascii=False) for v in zip(*each, strict=True)]
        )
    return items.assign(**found, **{f"{SLICE}{c}": known[c] for c in grouping.slices})


def _values(
    items: pd.DataFrame,
    data: Dataset,
    column: str,
    unit: str,
    names: Mapping[str, str],
    where: Mapping[str, Any],
    faults: list[str],
    *,
    of_unit: bool,
) -> list[str]:
    """The column's value for each item; of the tables that have it, the first that knows the item counts."""
    import pandas as pd

    out = pd.Series("", index=range(len(items)), dtype=object)
    tables = list(_tables(items, data, column, names))
    if not tables:
        within = ", ".join(data.files.get(name, name) for name, frame in data.tables.items() if column in frame)
        faults.append(f"{column}: {within} has it, but no column that names an item ({unit})")
    for name, frame, shared in tables:
        here = pd.Series(True, index=items.index) if name not in where else pd.Series(where[name], index=items.index)
        keys = _deciding(frame, column, shared, unit, of_unit=of_unit)
        source = data.files.get(name, name)
        if keys is None:
            also = " and ".join(shared)
            faults.append(_ambiguous(frame, column, [unit] if of_unit and unit in shared else shared, source, also))
            continue
        rows = frame.drop_duplicates(keys)
        value = dict(zip(_places(rows, keys), rows[column], strict=True))
        own = [value.get(place, "") if there else "" for place, there in zip(_places(items, keys), here, strict=True)]
        out = out.where(out != "", pd.Series(own, dtype=object))
    if of_unit and not faults:
        units = items[unit].astype(str).to_numpy()
        several = pd.Series(out.to_numpy()).groupby(units).nunique()
        if (several > 1).any():
            first = several.index[several > 1][0]
            faults.append(f"{column}: a cluster holds whole units, but {unit} {first!r} has several values of it")
    return out.tolist()


def _tables(
    items: pd.DataFrame, data: Dataset, column: str, names: Mapping[str, str]
) -> Iterator[tuple[str, pd.DataFrame, list[str]]]:
    """The tables that have the column and name items: name, keys and column as texts, and the keys."""
    for name, frame in (data.given or data.tables).items():
        if column not in frame:
            continue
        renamed = {"id": names[name]} if name in names else {}
        keys = {renamed.get(key, key): key for key in data.keys.get(name, ()) if key in frame}
        shared = [key for key in keys if key in items]
        if shared:
            texts = {key: frame[keys[key]].map(cell_text) for key in shared}
            value = frame[column].map(cell_text)
            yield name, frame[[]].assign(**texts, **({} if column in texts else {column: value})), shared


def _places(rows: pd.DataFrame, keys: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(rows[key].map(cell_text) for key in keys), strict=True))


def _deciding(frame: pd.DataFrame, column: str, shared: Sequence[str], unit: str, *, of_unit: bool) -> list[str] | None:
    """The fewest keys that settle the column's value: the unit alone, one key alone, or all; None where none do."""
    first = [unit] if unit in shared else []
    ways = [[key] for key in (*first, *(key for key in shared if key != unit))] + [list(shared)]
    for keys in ways[:1] if of_unit and first else ways:
        if column in keys or not frame.drop_duplicates([*keys, column]).duplicated(keys).any():
            return keys
    return None


def _ambiguous(frame: pd.DataFrame, column: str, keys: Sequence[str], source: str, also: str) -> str:
    distinct = frame.drop_duplicates([*keys, column])
    first = distinct[distinct.duplicated(keys)].iloc[0]
    at = (frame[list(keys)] == first[list(keys)]).all(axis=1)
    values = ", ".join(map(repr, frame.loc[at, column].drop_duplicates().head(3)))
    place = ", ".join(f"{key} {first[key]!r}" for key in keys)
    return f"{column}: {source} has several values of it for one item ({values} for {place}); an item is one {also}"
