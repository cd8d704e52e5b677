"""Documents that list the rows of other tables as those tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalbench.errors import BadInput
from evalbench.readers.files import records_frame
from evalbench.readers.schema import Table

if TYPE_CHECKING:
    import pandas as pd


def _lists_rows(cells: pd.Series) -> bool:
    """Whether a column lists the rows of a table: lists throughout, and objects in them; a list of texts is a value."""
    listed = [v for v in cells if v is not None]
    return all(isinstance(v, list) for v in listed) and any(isinstance(r, dict) for v in listed for r in v)


def unnested(frame: pd.DataFrame, schema: Mapping[str, Table], source: str) -> dict[str, pd.DataFrame]:
    """Tables out of documents that list the rows of other tables; empty if nothing is nested.

    The documents' own columns are the table whose required columns they hold best; each listed row takes
    over its document's identifiers.
    """
    keys = {key: name for name, table in schema.items() for key in (name, table.nested) if key and key in frame.columns}
    keys = {k: n for k, n in keys.items() if not schema[n].whole and _lists_rows(frame[k])}
    if not keys:
        return {}
    outer = frame.drop(columns=list(keys))
    rest = [name for name in schema if name not in keys.values()]
    tables = {rest[-1]: outer} if rest else {}
    for key, name in keys.items():
        records, rows = [], []
        inherited = [c.name for c in schema[name].columns if c.name in outer.columns]
        for number, listed in frame[key].items():
            shared = {c: outer.at[number, c] for c in inherited}
            for record in listed or []:
                if not isinstance(record, dict):
                    raise BadInput(f"{source}: row {number}: {key} must list objects, found {type(record).__name__}")
                records.append({**shared, **record})
                rows.append(number)
        tables[name] = records_frame(records, rows)
    return tables
