"""A filter as SQL over the items ``i`` of a run: names are looked up among its columns, values are parameters."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol

from evalbench.errors import BadInput
from evalbench.explorer.database import PLACE, Column, quoted
from evalbench.readers.where import Term, parse

CALL_ID = "item_id"
"""The column of the table of calls that begins with the item's id."""
MARK = "mark"
"""What a filter calls a reader's own verdict, see :func:`mark_name`."""
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf)")
"""A number in a filter; where.js reads the same."""
_LENGTH = re.compile(r"length\((.+)\)", re.DOTALL)
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")


class Views(Protocol):
    """The items of a run and the tables linked to them.

    - ``linked``: Table → the columns by which it is.
    - ``behind``: Name → the columns of linked tables that have it, where the items have none.
    """

    id: str
    by: list[str]
    results: dict[str, Any]
    columns: dict[str, Column]
    linked: dict[str, list[str]]
    behind: dict[str, list[Column]]

    def columns_of(self, table: str) -> list[Column]: ...

    def marked(self, words: Sequence[str]) -> list[int]: ...


def condition(rows: Views, where: str) -> tuple[str, list[Any]]:
    """The condition of a filter, and its values.

    Raises ``BadInput`` for a filter that cannot be read, or names no column.
    """
    found, values = ["true"], []
    for term in parse(where):
        sql, own = _term(rows, term)
        found.append(f"NOT coalesce({sql}, false)" if term.negated else f"coalesce({sql}, false)")
        values += own
    return " AND ".join(found), values


def mark_name(columns: Container[str]) -> str:
    """What a filter calls a reader's own verdict: ``mark``, or ``my_mark`` where the run has a column of this name.

    Examples
    --------
    >>> mark_name(["id"]), mark_name(["id", "mark"])
    ('mark', 'my_mark')
    """
    name = MARK
    while name in columns:
        name = f"my_{name}"
    return name


def length_of(name: str, columns: Container[str]) -> str:
    """The column of whose texts a filter asks the length; empty where it names a column, or anything else. where.js reads the same.

    Examples
    --------
    >>> length_of("length(question)", ["question"]), length_of("length(question)", ["length(question)"]), length_of("question", [])
    ('question', '', '')
    """
    found = None if name in columns else _LENGTH.fullmatch(name)
    return found[1] if found else ""


def as_text(column: str, alias: str) -> str:
    """A column as a text, by which ids of any type are equal."""
    return f"CAST({alias}.{quoted(column)} AS VARCHAR)"


def _term(rows: Views, term: Term) -> tuple[str, list[Any]]:
    if not term.column:
        return _anywhere(rows, term.values[0])
    if term.column == "light" and "light" not in rows.columns:
        return _of_light(rows, term)
    name = length_of(term.column, rows.columns) or term.column
    column = rows.columns.get(name)
    if column is None and term.column == mark_name(rows.columns):
        return _marked(rows, term)
    if column is None:
        near = get_close_matches(name, rows.columns, n=1, cutoff=0.7)
        hint = f"did you mean {near[0]}? There" if near else "there"
        raise BadInput(f"filter: there is no column {name!r}; {hint} are {', '.join(map(str, rows.columns))}")
    if column.table == "items":
        return _compared("i", column, term)
    return _behind(rows, rows.behind[column.name], term)


def _behind(rows: Views, columns: Sequence[Column], term: Term) -> tuple[str, list[Any]]:
    """Items to which a row of any of these tables belongs that fulfils a condition.

    A table whose column is of a kind that the value cannot be fits nothing; where this holds for all, the first says so.
    """
    found, values, faults = [], [], []
    for column in columns:
        try:
            sql, own = _compared("t", column, term)
        except BadInput as error:
            faults.append(error)
            continue
        found.append(_linked(rows, column.table, sql))
        values += own
    if not found:
        raise faults[0]
    return f"({' OR '.join(found)})", values


def _compared(alias: str, column: Column, term: Term) -> tuple[str, list[Any]]:
    text = as_text(column.name, alias)
    if term.column != column.name:
        return _of_length(text, column, term)
    if term.values == ("",):
        empty = f"({text} IS NULL OR {text} = '')"
        return (empty if term.operator == "=" else f"NOT {empty}"), []
    if term.operator == "~":
        return _any(f"contains(lower({text}), lower(?))", term.values), list(term.values)
    if (
        column.kind in ("text", "list")
        and term.operator not in ("=", "!=")
        and any(map(_NUMBER.fullmatch, term.values))
    ):
        ask = f"; its length is length({column.name}){term.operator}{term.values[0]}" if column.kind == "text" else ""
        raise BadInput(f"filter: {column.name} is a column of {column.kind}s, not of numbers{ask}")
    own = f"CAST({alias}.{quoted(column.name)} AS DOUBLE)" if column.kind == "number" else text
    read = {"number": _number, "yes/no": _yes_or_no}.get(column.kind, lambda _, value: value)
    values: list[Any] = [read(column.name, value) for value in term.values]
    if term.operator == "!=":
        return f"{own} NOT IN ({', '.join('?' * len(values))})", values
    return _any(f"{own} {term.operator} ?", values), values


def _of_length(text: str, column: Column, term: Term) -> tuple[str, list[Any]]:
    """The number of a text's characters, compared; null has none."""
    if column.kind != "text":
        raise BadInput(f"filter: only texts have a length; the kind of {column.name} is {column.kind}")
    if term.operator == "~" or term.values == ("",):
        raise BadInput(f"filter: a length is a number, such as {term.column}>200")
    values: list[Any] = [_number(term.column, value) for value in term.values]
    if term.operator == "!=":
        return f"length({text}) NOT IN ({', '.join('?' * len(values))})", values
    return _any(f"length({text}) {term.operator} ?", values), values


def _any(sql: str, values: Sequence[Any]) -> str:
    return "(" + " OR ".join([sql] * len(values)) + ")"


def _number(name: str, value: str) -> float:
    if not _NUMBER.fullmatch(value):
        raise BadInput(f"filter: {name} is a column of numbers; {value!r} is not a number")
    return float(value)


def _yes_or_no(name: str, value: str) -> str:
    if value.lower() in (*_YES, *_NO):
        return "true" if value.lower() in _YES else "false"
    raise BadInput(f"filter: {name} is true or false; not {value!r}")


def _anywhere(rows: Views, text: str) -> tuple[str, list[Any]]:
    """Any text of the item, its own or of a linked table."""
    found, values = [], []
    for table in ("items", *rows.linked):
        alias = "i" if table == "items" else "t"
        keys = rows.linked.get(table, ())
        as_items = keys if rows.id in keys else ()
        names = [c.name for c in rows.columns_of(table) if c.kind in ("text", "list") and c.name not in as_items]
        if names:
            sql = " OR ".join(f"contains(lower({as_text(name, alias)}), lower(?))" for name in names)
            found.append(f"({sql})" if table == "items" else _linked(rows, table, sql))
            values += [text] * len(names)
    return f"({' OR '.join(found) or 'false'})", values


def _linked(rows: Views, table: str, sql: str) -> str:
    """Items to which a row of a linked table belongs that fulfils a condition."""
    keys = rows.linked[table]
    if keys[0] != rows.id:  # a call's id begins with the item's, up to a bar
        parts = f"SELECT string_split({as_text(keys[0], 't')}, '|') p FROM {quoted(table)} t WHERE {sql}"
        ends = f"SELECT p, unnest(range(1, len(p) + 1)) n FROM ({parts})"
        return f"{as_text(rows.id, 'i')} IN (SELECT array_to_string(p[:n], '|') FROM ({ends}))"
    ours, theirs = (", ".join(as_text(key, alias) for key in keys) for alias in ("i", "t"))
    return f"({ours}) IN (SELECT {theirs} FROM {quoted(table)} t WHERE {sql})"


def _of_light(rows: Views, term: Term) -> tuple[str, list[Any]]:
    """Items of groups that have a figure with one of these lights."""
    if term.operator not in ("=", "!="):
        raise BadInput(f"filter: a light is equal or not equal (light=red), not {term.operator}")
    groups = [group for light, group in lights(rows.results, rows.by) if light in term.values]
    sql = " OR ".join(
        "(" + " AND ".join(f"{as_text(name, 'i')} = ?" for name in group) + ")" if group else "true" for group in groups
    )
    values = [value for group in groups for value in group.values()]
    fits = f"coalesce({sql or 'false'}, false)"
    return (f"NOT {fits}" if term.operator == "!=" else fits), values


def _marked(rows: Views, term: Term) -> tuple[str, list[Any]]:
    """Items that a reader marked so; ``mark=`` asks for those without a mark, ``mark!=`` for the others."""
    if term.operator not in ("=", "!="):
        raise BadInput(f"filter: a mark is equal or not equal ({term.column}=wrong), not {term.operator}")
    within = f"i.{PLACE} IN (SELECT unnest(CAST(? AS BIGINT[])))"
    if term.values == ("",):
        return (f"NOT {within}" if term.operator == "=" else within), [rows.marked(("",))]
    places = rows.marked(term.values)
    return within, [sorted({*rows.marked(("",))} - {*places}) if term.operator == "!=" else places]


def lights(results: Mapping[str, Any], by: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """The light of each figure, with the group that it is of, as texts."""
    return [
        (str(row.get("light") or "unlit"), {name: written(row[name]) for name in by if row.get(name) is not None})
        for row in results["summary"]
    ]


def written(value: Any) -> str:
    """A value as :func:`as_text` writes it.

    Examples
    --------
    >>> written(True), written(1.0), written("True")
    ('true', '1.0', 'True')
    """
    text = str(value)
    return text.lower() if text in ("True", "False") and not isinstance(value, str) else text
