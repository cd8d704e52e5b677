"""Cells that list identifiers: of what a search found, the best first, or of what is relevant, with grades where they are there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.readers.role_names import plain, roles
from evalbench.readers.written import value_of

if TYPE_CHECKING:
    import pandas as pd

_BETWEEN = (";", "|", ",", " ")
_GRADES = ("relevance", "score", "rank")
_LONGEST_ID = 100


class Found(NamedTuple):
    """One identifier of a list, with its grade, score or rank where the list has one."""

    id: str
    value: float | None = None
    of: str = ""


def lists_ids(cells: pd.Series) -> bool:
    """Whether the cells of a column, those that are not null, list identifiers, and some of them several.

    Examples
    --------
    >>> import pandas as pd
    >>> lists_ids(pd.Series([["p1", "p2"], []])), lists_ids(pd.Series(["p1;p2", "p3"])), lists_ids(pd.Series(["Where is it?"]))
    (True, True, False)
    """
    known = [cell for cell in cells if cell is not None and cell == cell and cell != ""]
    if not any(isinstance(cell, (list, Mapping)) or (isinstance(cell, str) and _parts(cell)) for cell in known):
        return False
    return all(ids_in(cell) is not None for cell in known)


def ids_in(cell: Any) -> list[Found] | None:
    """The identifiers of a cell: a list of them or of objects, an object of grades by identifier, or a text with separators.

    Examples
    --------
    >>> [one.id for one in ids_in("p1, p2")], ids_in({"p1": 2, "p2": 0})[0], ids_in([{"doc_id": "p1", "score": 0.5}])
    (['p1', 'p2'], Found(id='p1', value=2.0, of='relevance'), [Found(id='p1', value=0.5, of='score')])
    >>> ids_in(["It is a sentence that was retrieved, and no identifier of one; sentences are long." * 2]) is None
    True
    """
    value = value_of(cell) if isinstance(cell, str) else cell
    if value is None and isinstance(cell, str):
        value = _parts(cell) or ([cell.strip()] if cell.strip() and not cell.strip().count(" ") else None)
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        value = [value]
    if isinstance(value, Mapping):
        pairs = list(value.items())
        numbers = all(isinstance(grade, (int, float)) and not isinstance(grade, bool) for _, grade in pairs)
        return [Found(str(key), float(grade), "relevance") for key, grade in pairs] if numbers else None
    if not isinstance(value, list):
        return None
    found = [_of_object(one) if isinstance(one, Mapping) else _plain(one) for one in value]
    return None if any(one is None for one in found) else [one for one in found if one is not None]


def _plain(one: Any) -> Found | None:
    held = isinstance(one, (str, int)) and not isinstance(one, bool) and 0 < len(str(one).strip()) <= _LONGEST_ID
    return Found(str(one).strip()) if held else None


def _of_object(one: Mapping[Any, Any]) -> Found | None:
    held = {plain(str(key)): cell for key, cell in one.items()}
    known = (*("passage id", "corpus id", "doc id"), *roles()["doc_id"].names, *roles()["doc_id"].weak)
    id = next(
        (held[name] for name in known if isinstance(held.get(name), (str, int)) and not isinstance(held[name], bool)),
        None,
    )
    if id is None:
        return None
    for of in _GRADES:
        for name in (of, *roles()[of].names):
            if isinstance(held.get(name), (int, float)) and not isinstance(held[name], bool):
                return Found(str(id), float(held[name]), of)
    return Found(str(id))


def _parts(text: str) -> list[str] | None:
    """What stands between separators, where each part is one word."""
    between = next((sign for sign in _BETWEEN if sign in text.strip()), None)
    parts = [part.strip() for part in re.split(re.escape(between), text)] if between else []
    parts = [part for part in parts if part]
    if len(parts) < 2 or any(" " in part or len(part) > _LONGEST_ID for part in parts):
        return None
    # Words between blanks are a sentence, unless each has a digit, as numbered passages do.
    return parts if between != " " or all(any(sign.isdigit() for sign in part) for part in parts) else None


def in_order(cells: pd.Series, column: str) -> tuple[pd.Series, list[str]]:
    """The identifiers of each cell, the best first: in the order of the list, or of its ranks; and what is wrong, by row."""
    import pandas as pd

    out, faults = [], []
    for row, cell in cells.items():
        found = ids_in(cell)
        if found is None:
            faults.append(not_ids(row, column, cell))
            found = []
        values = [one.value for one in found if one.value is not None]
        falling = values == sorted(values, reverse=True)
        if len(values) == len(found) and found and found[0].of == "rank":
            found = sorted(found, key=lambda one: one.value or 0)
        elif not falling and (isinstance(cell, Mapping) or values != sorted(values)):
            faults.append(f"row {row}: {column} is not in the order of its scores; the best must be first")
        out.append([one.id for one in found])
    return pd.Series(out, index=cells.index, dtype=object), faults


def not_ids(row: Any, column: str, cell: Any) -> str:
    """What is said of a cell that lists no identifiers."""
    return f"row {row}: {column} must be a list of passage ids; [] where there are none, found {str(cell)[:60]}"
