"""Columns under the names that a study gave to them before, which still say what they hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from evalbench.core.notes import Note
from evalbench.core.wording import listed
from evalbench.readers.role_names import fit, plain
from evalbench.readers.role_values import holds
from evalbench.readers.roles import noted

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Column, Table

_TEXTS = ("text", "texts")


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

    Where a text has another name beside the former one, that others give to it, neither is taken: which is meant is asked.  A
    table that has a former name of an id or a time, too, was written for the study: there the former name is meant, with a note.

    - ``renames``: What the user renames; its sources and targets are left alone.
    """
    return {
        name: _as_before(frame, schema[name].columns, {*renames, *renames.values()}) if name in schema else frame
        for name, frame in frames.items()
    }


def _as_before(frame: pd.DataFrame, columns: Sequence[Column], asked: Collection[str]) -> pd.DataFrame:
    names = {plain(str(c)) for c in frame.columns}
    former = {old: c for c in columns for old in c.former if not {old, c.name} & {*asked}}
    held = {old: c for old, c in former.items() if plain(old) in names}
    rivals = {old: found for old, c in held.items() if (found := _rivals(frame, c))}
    ours = any(column.type not in _TEXTS for column in held.values())
    out = under_new_names(frame, {old: c.name for old, c in former.items() if ours or old not in rivals})
    said = [
        Note("mixed", f"column {old} was read as {held[old].name}, and {listed(found)} beside it is not used")
        for old, found in rivals.items()
        if ours
    ]
    return noted(out, out, {}, said) if said else out


def _rivals(frame: pd.DataFrame, column: Column) -> list[str]:
    """The columns that mean a text just as a former name does, and say something; none where one has today's name."""
    names = [str(c).strip() for c in frame.columns]
    if column.type not in _TEXTS or column.name in names:
        return []
    former = {plain(name) for name in column.former}
    others = {
        n: frame[c] for n, c in zip(names, frame.columns, strict=True) if fit(n, column) == 1 and plain(n) not in former
    }
    return [n for n, cells in others.items() if holds(cells, column, 2, others)]
