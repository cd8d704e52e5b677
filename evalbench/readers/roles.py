"""What a column holds, decided once for all studies: by names of ``roles.yaml``, from frames to roles with reasons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.readers.schema import Column, Table
from evalbench.readers.strict_yaml import read_yaml

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Role:
    """What a column can hold: the names that others give to it, and the kind of its cells."""

    name: str
    kind: str
    names: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()


@cache
def roles() -> Mapping[str, Role]:
    """All roles by name."""
    content = read_yaml(Path(__file__).with_name("roles.yaml"))
    return {name: Role(name, **{key: _given(value) for key, value in own.items()}) for name, own in content.items()}


def _given(value: Any) -> Any:
    return tuple(map(plain, value)) if isinstance(value, list) else value


_CAMEL = re.compile(r"(?<=[a-zа-я0-9])(?=[A-ZА-Я])")
_BETWEEN = re.compile(r"[\s_\-./:]+")


def plain(name: str) -> str:
    """A column's name without case, blanks and signs between its words.

    Examples
    --------
    >>> plain("User-Input"), plain("userInput"), plain(" user input "), plain("模型回答")
    ('user input', 'user input', 'user input', '模型回答')
    """
    return _BETWEEN.sub(" ", _CAMEL.sub(" ", str(name).strip())).strip().casefold()


def fit(name: str, column: str) -> int | None:
    """How well a column's name fits a role: 0 the role's own, 1 a name that others give to it, 2 one that may mean it.

    Examples
    --------
    >>> fit("Answer", "answer"), fit("bot_response", "answer"), fit("result", "answer"), fit("colour", "answer")
    (0, 1, 2, None)
    """
    own, role = plain(name), roles().get(column)
    if own == plain(column):
        return 0
    if role is None:
        return None
    return 1 if own in role.names else 2 if own in role.weak else None


# -- earlier names --------------------------------------------------------------------------------


def now(columns: Mapping[str, str], schema: Mapping[str, Table]) -> dict[str, str]:
    """Renames whose targets have the names of today."""
    return {source: _now(target, schema) for source, target in columns.items()}


def _now(name: str, schema: Mapping[str, Table]) -> str:
    if any(table.column(name) for table in schema.values()):
        return name
    return next((own for table in schema.values() if (own := table.now(name)) != name), name)


def with_todays_names(frame: pd.DataFrame, table: Table, renames: Mapping[str, str]) -> pd.DataFrame:
    """A raw frame whose columns of an earlier name have that of today; a note of each is in ``attrs["notes"]``."""
    names = {str(c).strip(): c for c in frame.columns}
    found: dict[Any, str] = {}
    for column in table.columns:
        if column.name in names or column.name in renames.values():
            continue
        old = [name for name in column.was if name in names and name not in renames and table.column(name) is None]
        if len(old) == 1:
            found[names[old[0]]] = column.name
    if not found:
        return frame
    renamed = frame.rename(columns=found)
    said = [read_as(str(old).strip(), new) for old, new in found.items()]
    renamed.attrs |= {**frame.attrs, "notes": [*frame.attrs.get("notes", ()), *said]}
    return renamed


def read_as(source: str, column: str) -> str:
    """The note of a column that was taken for another."""
    return f"column {source} was read as {column}"


# -- names of others ------------------------------------------------------------------------------


def with_roles(frame: pd.DataFrame, table: Table, renames: Mapping[str, str]) -> tuple[pd.DataFrame, list[str]]:
    """A raw frame whose columns of other names have those of a study, where one alone fits, and a note of each.

    - ``renames``: What the user renames; their sources and targets are left alone.
    """
    names = {str(c).strip(): c for c in frame.columns}
    wanted = [c for c in table.columns if c.name not in names and c.name not in renames.values()]
    free = [name for name in names if table.column(name) is None and name not in renames]
    found: dict[str, str] = {}
    for tier in (0, 1):
        for column in wanted:
            fitting = [
                n for n in free if n not in found and fit(n, column.name) == tier and holds(frame[names[n]], column)
            ]
            if column.name not in found.values() and len(fitting) == 1:
                found[fitting[0]] = column.name
    if not found:
        return frame, []
    renamed = frame.rename(columns={names[source]: column for source, column in found.items()})
    renamed.attrs |= frame.attrs
    return renamed, [read_as(source, column) for source, column in found.items()]


_LONGEST_ID = 200
_SAMPLED = 200


def holds(cells: pd.Series, column: Column) -> bool:
    """Whether the first cells of a column may be what another column expects."""
    first: Sequence[Any] = [c for c in cells.head(_SAMPLED) if c is not None and c == c and c != ""]
    if column.type in ("float", "int"):
        return all(_is_number(cell) for cell in first)
    if column.type == "id":
        return not any(isinstance(c, (list, dict)) or len(str(c)) > _LONGEST_ID for c in first)
    if column.type == "text":
        return not any(isinstance(c, (list, dict)) for c in first)
    return True


def _is_number(cell: Any) -> bool:
    try:
        return isinstance(cell, (int, float)) or float(str(cell).strip().replace(",", ".")) is not None
    except ValueError:
        return False
