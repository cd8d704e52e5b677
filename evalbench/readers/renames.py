"""Columns under other names: renamed as asked, and values within objects as columns of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from shlex import quote, split
from typing import TYPE_CHECKING, Any

from evalbench.readers.role_names import fit, fit_role, plain, role_called

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Table

_NAMED = 8
_MEANT = re.compile(r"meant\? \(--map ('(?:[^']|'\"'\"')*'|[^\s)]+)\)")


def usual(name: str, others: Iterable[str]) -> str:
    """Which of a table's other columns is probably meant by a column, by the names that others give to it.

    Examples
    --------
    >>> usual("answer", ["user_input", "response"])
    "; is 'response' meant? (--map response=answer)"
    >>> usual("answer", ["score"])
    ''
    """
    role = role_called(name)
    given = [str(other).strip() for other in others]
    tiers = [(other, fit_role(other, role)) for other in given] if role is not None else []
    for tier in (0, 1, 2):
        found = [other for other, own in tiers if own == tier and other != name]
        if found:
            return meant(found[0], name) if len(found) == 1 else which(found, name)
    return ""


def which(found: Sequence[str], name: str) -> str:
    """The question which of several columns is meant, with the option for each."""
    ways = [f"{one!r} (--map {quote(one + '=' + name)})" for one in found]
    return f"; which is meant: {' or '.join(ways)}?"


def meant(found: str, name: str) -> str:
    """The question that a message ends with, and the option for it."""
    return f"; is {found!r} meant? (--map {quote(f'{found}={name}')})"


def options_in(texts: Iterable[str]) -> list[str]:
    """The options of questions that messages end with, as a shell takes them: those of usual names, the first for each column.

    Examples
    --------
    >>> options_in([f"column answer: is missing{meant('ответ модели', 'answer')}", meant('query', 'question'), meant('a', 'b')])
    ["'ответ модели=answer'", 'query=question']
    """
    found: dict[str, str] = {}
    for option in (match[1] for text in texts for match in _MEANT.finditer(text)):
        source, _, target = split(option)[0].rpartition("=")
        if target not in found.values() and usual(target, [source]):
            found.setdefault(source, target)
    return [quote(f"{source}={target}") for source, target in found.items()]


def all_at_once(texts: Iterable[Any]) -> str:
    """A line with the options of :func:`options_in` where there are several; else nothing."""
    options = options_in(map(str, texts))
    return f"\nall at once: {' '.join(f'--map {option}' for option in options)}" if len(options) > 1 else ""


def adapted(
    frames: Mapping[str, pd.DataFrame],
    columns: Mapping[str, str],
    adapt: Callable[[Mapping[str, pd.DataFrame]], Mapping[str, pd.DataFrame]] | None,
) -> tuple[Mapping[str, pd.DataFrame], Mapping[str, str]]:
    """The frames of a study that reads further forms, their columns renamed first, and the renames that are left to do."""
    if adapt is None:
        return frames, columns
    done = {name: renamed_columns(frame, columns) for name, frame in frames.items()}
    if any(clashes for _, clashes in done.values()):
        return adapt(frames), columns
    for name, (frame, _) in done.items():
        frame.attrs.update(frames[name].attrs)
    left = unfound(columns, frames.values())
    inner = {name: renamed_within(frame, left) for name, (frame, _) in done.items()}
    left = {source: target for source, target in left.items() if not any(source in used for _, used in inner.values())}
    return adapt({name: frame for name, (frame, _) in inner.items()}), left


def todays_targets(columns: Mapping[str, str], schema: Mapping[str, Table]) -> dict[str, str]:
    """Renames with today's names of the columns that they name as a study did before, or as others do.

    Examples
    --------
    >>> from evalbench.readers.schema import Column, Table
    >>> todays_targets({"bot": "output", "n": "topic"}, {"items": Table((Column("answer", "text"),))})
    {'bot': 'answer', 'n': 'topic'}
    """
    own = {column.name: column for table in schema.values() for column in table.columns}
    former = {old: column.name for column in own.values() for old in column.former}

    def today(target: str) -> str:
        meant = [name for name, column in own.items() if fit(target, column) in (0, 1)]
        return target if target in own else former.get(target) or (meant[0] if len(meant) == 1 else target)

    return {source: today(target) for source, target in columns.items()}


def renamed_within(frame: pd.DataFrame, columns: Mapping[str, str]) -> tuple[pd.DataFrame, set[str]]:
    """A raw frame with keys of the objects that its cells list renamed, and the names that were found there."""
    used: set[str] = set()

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(one) for one in value]
        if isinstance(value, dict):
            used.update(key for key in value if key in columns)
            return {columns.get(key, key): renamed(one) for key, one in value.items()}
        return value

    if not columns:
        return frame, used
    listing = [name for name in frame.columns if frame[name].map(lambda cell: isinstance(cell, list)).any()]
    if not listing:
        return frame, used
    out = frame.assign(**{str(name): frame[name].map(renamed) for name in listing})
    out.attrs.update(frame.attrs)
    return out, used


def without_left_out(
    frames: Mapping[str, pd.DataFrame], columns: Mapping[str, str]
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """The frames without the columns that are renamed to nothing, and the renames that are left; a name that no table has is one."""
    out: dict[str, pd.DataFrame] = dict(frames)
    gone = {source for source, target in columns.items() if not target}
    for name, frame in frames.items():
        if held := [c for c in frame.columns if str(c).strip() in gone]:
            out[name] = frame.drop(columns=held)
            out[name].attrs |= frame.attrs
    present = {str(c).strip() for frame in frames.values() for c in frame.columns}
    return out, {source: target for source, target in columns.items() if target or source not in present}


def renamed_columns(raw: pd.DataFrame, columns: Mapping[str, str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """A raw frame with its columns renamed, and what is wrong with the names, by column."""
    names = {str(c): str(c).strip() for c in raw.columns}
    faults: dict[str, str] = {}
    found: dict[str, pd.Series] = {}
    taken = {own for name, own in names.items() if not {own, name} & set(columns)}
    for source, target in columns.items():
        held = next((name for name, own in names.items() if source in (name, str(name).strip())), None)
        cells = within(raw, source) if held is None else None
        if held is None and cells is None:
            continue
        if target in taken:
            way_out = f"rename that one too (--map {target}=NAME)"
            faults[target] = f"already exists, so {source} cannot be renamed to it; {way_out}"
            continue
        taken.add(target)
        if cells is not None:
            found[target] = cells
        elif held is not None:
            names[held] = target
    renamed = raw.rename(columns=names).assign(**found)
    doubled = renamed.columns.duplicated()
    for name in dict.fromkeys(map(str, renamed.columns[doubled])):
        faults.setdefault(name, "appears more than once, apart from spaces around its name")
    return renamed.loc[:, ~doubled], faults


def within(raw: pd.DataFrame, path: str) -> pd.Series | None:
    """The cells of a nested value such as ``scores.overall`` or ``choices.0.text``; None where no row has it."""
    import pandas as pd

    names = {str(c).strip(): c for c in raw.columns}
    head, _, rest = path.partition(".")
    if not rest or head not in names:
        return None
    cells = pd.Series([_inner(cell, rest.split(".")) for cell in raw[names[head]]], index=raw.index, dtype=object)
    return cells if cells.notna().any() else None


def _inner(value: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def nested_names(raw: pd.DataFrame, most: int = 50) -> list[str]:
    """The names by which :func:`within` finds values of objects."""
    found: dict[str, None] = {}

    def enter(value: Any, path: str) -> None:
        if isinstance(value, dict) and path.count(".") < 5:
            for key, inner in value.items():
                enter(inner, f"{path}.{key}")
        elif "." in path and len(found) < most:
            found[path] = None

    for name in raw.columns:
        for cell in raw[name].head(200):
            if isinstance(cell, dict):
                enter(cell, str(name).strip())
    return list(found)


def unfound(columns: Mapping[str, str], frames: Iterable[pd.DataFrame]) -> dict[str, str]:
    """The renames whose source no table has, as a column or within objects."""
    given = list(frames)
    present = {str(c).strip() for frame in given for c in frame.columns}
    return {
        source: target
        for source, target in columns.items()
        if source.strip() not in present and all(within(frame, source) is None for frame in given)
    }


def found_in(columns: Mapping[str, str], frames: Iterable[pd.DataFrame]) -> dict[str, str]:
    """The renames whose source some table has."""
    gone = unfound(columns, frames)
    return {source: target for source, target in columns.items() if source not in gone}


def unknown_renames(
    columns: Mapping[str, str], frames: Iterable[pd.DataFrame], schema: Mapping[str, Table] = {}
) -> list[str]:
    """What is wrong with the sources of renames that no table has, and with targets that are nearly a column of the schema."""
    given = list(frames)
    present = list(dict.fromkeys(str(c).strip() for frame in given for c in frame.columns))
    return [
        f"no table has a column {source!r} to rename{_instead(source, target, present)}"
        for source, target in unfound(columns, given).items()
    ] + _mistyped_targets(columns, schema)


def _mistyped_targets(columns: Mapping[str, str], schema: Mapping[str, Table]) -> list[str]:
    """What is wrong with renames to a name that no table of a study has, where it is nearly one that it has."""
    own = {name for table in schema.values() for c in table.columns for name in (c.name, *c.former)}
    unknown = {source: to for source, to in columns.items() if to and to not in own and role_called(to) is None}
    near = {source: get_close_matches(to, sorted(own), n=1, cutoff=0.8) for source, to in unknown.items()}
    return [
        f"no column is called {unknown[source]!r}, as --map {source}={unknown[source]} says; did you mean {found[0]}?"
        for source, found in near.items()
        if found
    ]


def _instead(source: str, target: str, present: Sequence[str]) -> str:
    """What a rename of a column that is not there may have meant: the other way round, a near name, or nothing."""
    if target in present and role_called(source) is not None:
        return f"; did you mean --map {target}={source}?"
    near = [] if target in present else get_close_matches(source, sorted(present), n=1)
    near = near or ([name for name in present if plain(source) in plain(name)] if target not in present else [])
    if near:
        return f"; did you mean {near[0]!r}?"
    there = f"; {target} exists, without a rename" if target in present else ""
    more = f" and {len(present) - _NAMED} more" if len(present) > _NAMED else ""
    return f"{there}; there are {', '.join(present[:_NAMED])}{more}"
