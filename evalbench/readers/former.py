"""Columns under the names that a study gave to them before, which still say what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalbench.readers.role_names import fit, plain
from evalbench.readers.role_values import holds
from evalbench.readers.roles import noted

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Column, Table


def under_new_names(frame: pd.DataFrame, former: Mapping[str, str]) -> pd.DataFrame:
    """A raw frame whose columns of former names have the new ones, with a note of each; ``attrs`` are kept.

    A column that has the new name beside the former one holds something else, such as the number of a row: it is left out.

    - ``former``: Former name → new name.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = under_new_names(pd.DataFrame({"id": [7], "text_id": ["a"], "start": [0]}), {"text_id": "id"})
    >>> rows.to_dict("list"), rows.attrs["notes"]
    ({'id': ['a'], 'start': [0]}, ['column text_id was read as id; the column id beside it is not used'])
    """
    names = {str(c).strip(): c for c in frame.columns}
    alike = {plain(old): new for old, new in former.items()}
    found = {name: alike[plain(name)] for name in names if plain(name) in alike}
    if not found or len({*found.values()}) < len(found) or frame.columns.has_duplicates:
        return frame
    beside = {new for new in found.values() if new in names and new not in found}
    said = [
        f"column {old} was read as {new}" + f"; the column {new} beside it is not used" * (new in beside)
        for old, new in found.items()
    ]
    renamed = frame.drop(columns=[names[new] for new in beside])
    return noted(renamed.rename(columns={names[old]: new for old, new in found.items()}), frame, found, said)


def as_before(
    frames: Mapping[str, pd.DataFrame], schema: Mapping[str, Table], renames: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """The raw frames of a study whose columns of former names (``Column.former``) have those of today.

    Where a text has another name beside the former one, that others give to it, neither is taken: which is meant is asked.

    - ``renames``: What the user renames; its sources and targets are left alone.
    """
    asked = {*renames, *renames.values()}
    columns = {name: table.columns for name, table in schema.items() if name in frames}
    former = {
        name: {
            old: c.name
            for c in own
            for old in c.former
            if not asked & {old, c.name} and not _rivals(frames[name], old, c)
        }
        for name, own in columns.items()
    }
    return {name: under_new_names(frame, former.get(name, {})) for name, frame in frames.items()}


def _rivals(frame: pd.DataFrame, old: str, column: Column) -> list[str]:
    """The columns that mean a text just as a former name does, and say something; none where one has today's name."""
    names = [str(c).strip() for c in frame.columns]
    if column.type not in ("text", "texts") or column.name in names:
        return []
    former = {plain(name) for name in column.former}
    others = {
        n: frame[c] for n, c in zip(names, frame.columns, strict=True) if fit(n, column) == 1 and plain(n) not in former
    }
    return [n for n, cells in others.items() if holds(cells, column, 2, others)]
