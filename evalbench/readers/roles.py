"""What a column holds, decided once for all studies: by names of ``roles.yaml``, from frames to roles with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.readers.schema import Column, Table
from evalbench.readers.strict_yaml import read_yaml

if TYPE_CHECKING:
    import pandas as pd


READ_AS = "read_as"
"""In the ``attrs`` of a frame: its columns of other names, and the columns of the study that they were read as."""


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


def fit(name: str, column: Column) -> int | None:
    """How well a name fits a column: 0 its own or its role's, 1 one that others give to it, 2 one that may mean it.

    Examples
    --------
    >>> output = Column("output", "text", role="answer")
    >>> fit("Output", output), fit("bot_response", output), fit("result", output), fit("colour", output)
    (0, 1, 2, None)
    """
    own, role = plain(name), role_of(column)
    if own == plain(column.name):
        return 0
    if role is None:
        return None
    return 0 if own == plain(role.name) else 1 if own in role.names else 2 if own in role.weak else None


def role_of(column: Column) -> Role | None:
    """The role of a study's column, if it has one."""
    return roles().get(column.role or column.name)


def roles_of(name: str) -> frozenset[str]:
    """The roles that a column of this name can have in some table, by the names that others give to it.

    Examples
    --------
    >>> sorted(roles_of("bot_response")), sorted(roles_of("colour"))
    (['answer'], [])
    """
    own = plain(name)
    return frozenset(role.name for role in roles().values() if own == plain(role.name) or own in role.names)


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
    return noted(renamed, frame, {str(old).strip(): new for old, new in found.items()})


def noted(frame: pd.DataFrame, before: pd.DataFrame, found: Mapping[str, str]) -> pd.DataFrame:
    """A frame whose ``attrs`` hold those of another, what its columns were read as, and a note of each."""
    said = [f"column {source} was read as {column}" for source, column in found.items()]
    held = {**before.attrs.get(READ_AS, {}), **found}
    frame.attrs |= {**before.attrs, READ_AS: held, "notes": [*before.attrs.get("notes", ()), *said]}
    return frame


# -- names of others ------------------------------------------------------------------------------


def named(
    frames: Mapping[str, pd.DataFrame], schema: Mapping[str, Table], renames: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """The frames of a study, their columns of other names read as its own; see :func:`with_roles`."""
    held = held_by_others(frames, schema)
    return {
        name: with_roles(frame, schema[name], renames, held) if name in schema else frame
        for name, frame in frames.items()
    }


def held_by_others(frames: Mapping[str, pd.DataFrame], schema: Mapping[str, Table]) -> list[Column]:
    """Columns of tables that are not given, which another table may have."""
    absent = [table for name, table in schema.items() if name not in frames]
    return [column for table in absent for column in table.columns if f"a column {column.name} of" in table.help]


def with_roles(
    frame: pd.DataFrame, table: Table, renames: Mapping[str, str], held: Iterable[Column] = ()
) -> pd.DataFrame:
    """A raw frame whose columns of other names have those of a study, where one alone fits, noted in ``attrs``.

    - ``renames``: What the user renames; their sources and targets are left alone.
    - ``held``: Columns of other tables that this one may have.
    """
    names = {str(c).strip(): c for c in frame.columns}
    own = {c.name for c in table.columns}
    known = [*table.columns, *(column for column in held if column.name not in own)]
    wanted = [c for c in known if c.name not in names and c.name not in renames.values()]
    free = [name for name in names if table.column(name) is None and name not in renames]
    found = _right_answers(free, known, wanted)
    for tier in (0, 1):
        for column in wanted:
            fitting = [n for n in free if n not in found and fit(n, column) == tier and holds(frame[names[n]], column)]
            if column.name not in found.values() and len(fitting) == 1:
                found[fitting[0]] = column.name
    if not found:
        return frame
    renamed = frame.rename(columns={names[source]: column for source, column in found.items()})
    return noted(renamed, frame, found)


_ANSWERS = frozenset({"answer", "ответ", "答案"})
"""Names of the model's answer that are those of the right one where another column is plainly the model's."""


def _right_answers(free: Sequence[str], known: Sequence[Column], wanted: Sequence[Column]) -> dict[str, str]:
    """The column called answer as the reference, where another one has a name of what a model says and none is the reference's."""
    by_role = {role.name: column for column in known if (role := role_of(column)) is not None}
    said, right = by_role.get("answer"), by_role.get("reference")
    if said is None or right is None or right not in wanted or any(fit(name, right) in (0, 1) for name in free):
        return {}
    called = [name for name in free if plain(name) in _ANSWERS]
    others = [name for name in free if name not in called and fit(name, said) in (0, 1)]
    return {called[0]: right.name} if len(called) == 1 and others and said in wanted else {}


_LONGEST_ID = 200
_CLOCK = re.compile(r"\d{1,2}:\d\d(:\d\d)?(\.\d+)?( ?[AaPp]\.?[Mm]\.?)?")
"""A time of day without a day."""
_SAMPLED = 200
_MOST_WORDS, _LONGEST_WORD = 12, 24


def holds(cells: pd.Series, column: Column) -> bool:
    """Whether the first cells of a column may be what another column expects."""
    first: Sequence[Any] = [c for c in cells.head(_SAMPLED) if c is not None and c == c and c != ""]
    role = role_of(column)
    if role is not None and role.kind in ("mark", "flag"):
        return all(_is_number(cell) for cell in first) or _few(first)
    if column.type == "ts":
        return not any(isinstance(cell, str) and _CLOCK.fullmatch(cell.strip()) for cell in first)
    if column.type in ("float", "int"):
        return all(_is_number(cell) for cell in first)
    if column.type == "id":
        return not any(isinstance(c, (list, dict)) or len(str(c)) > _LONGEST_ID for c in first)
    if column.type == "text":
        return not any(isinstance(c, (list, dict)) for c in first)
    return True


def _few(cells: Sequence[Any]) -> bool:
    """Whether cells are words of a scale: a few short ones, most of them again and again."""
    words = {str(cell).strip().casefold() for cell in cells}
    return len(words) <= _MOST_WORDS and all(0 < len(word) <= _LONGEST_WORD for word in words)


def _is_number(cell: Any) -> bool:
    try:
        return isinstance(cell, (int, float)) or float(str(cell).strip().replace(",", ".")) is not None
    except ValueError:
        return False
