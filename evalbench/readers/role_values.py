"""Whether the cells of a column may be what another column expects: decided by a sample of its rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalbench.readers.role_names import fit_role, role_of, roles
from evalbench.readers.verdicts import are_verdicts

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Column

_LONGEST_ID = 200
_SAMPLED = 200
_REPEATS = {"id": ("question",), "doc_id": ("text", "contexts")}
"""What an id names: where it repeats and the id does not, the id is that of the row."""
_MOST_WORDS, _LONGEST_WORD = 12, 24
_LONG = 40
"""So many characters a passage has on average, or more, where only a name that may mean passages says so."""
_CLOCK = re.compile(r"\d{1,2}:\d\d(:\d\d)?(\.\d+)?( ?[AaPp]\.?[Mm]\.?)?")
"""A time of day without a day."""
_FLAGS = frozenset(
    {"0", "1", "0.0", "1.0", "true", "false", "yes", "no", "да", "нет", "是", "否", "correct", "incorrect"}
)


def first_cells(cells: pd.Series) -> list[Any]:
    """The first cells that hold something."""
    return [c for c in cells.head(_SAMPLED) if c is not None and not (isinstance(c, float) and c != c) and c != ""]


def holds(cells: pd.Series, column: Column, tier: int, others: Mapping[str, pd.Series]) -> bool:
    """Whether the first cells may be what a column expects.

    - ``tier``: How well the name fits; of 2, which only may mean the column, the values must speak for it.
    - ``others``: All columns of the table, by name.
    """
    first = first_cells(cells)
    role = role_of(column)
    kind = role.kind if role is not None else ""
    if kind in ("mark", "flag"):
        if role is not None and role.name == "human" and _names_people(cells, others):
            return False
        return is_marks(first) and (tier < 2 or kind == "mark" or {*map(_word, first)} <= _FLAGS)
    if column.type == "ts":
        return not any(isinstance(cell, str) and _CLOCK.fullmatch(cell.strip()) for cell in first)
    if column.type in ("float", "int"):
        return all(map(is_number, first))
    if any(isinstance(c, dict) for c in first):
        return column.type in ("json", "spans")
    if column.type == "id":
        fits = not any(isinstance(c, list) or len(str(c)) > _LONGEST_ID for c in first)
        repeats = _REPEATS.get(role.name, ()) if role is not None else ()
        asks = role is not None and role.name == "doc_id" and _has(others, "question")
        scores = role is not None and role.name == "criterion" and all(map(is_number, first))
        return fits and (tier < 2 or not (asks or scores or _counts_rows(cells, others, repeats)))
    if column.type == "text":
        return not any(isinstance(c, list) for c in first) and (tier < 2 or _says_something(first))
    if column.type == "texts":
        return not any(isinstance(part, dict) for c in first if isinstance(c, list) for part in c) and (
            tier < 2 or _fits_texts(first, role.name if role is not None else "")
        )
    return True


def _fits_texts(first: Sequence[Any], role: str) -> bool:
    listed = any(isinstance(c, list) for c in first)
    if role == "samples":
        return listed
    if listed and role == "contexts":
        return any(
            len(str(part)) >= _LONG // 2 or len(str(part).split()) > 2
            for c in first
            if isinstance(c, list)
            for part in c
        )
    texts = [str(c) for c in first]
    return listed or role != "contexts" or sum(map(len, texts)) >= _LONG * max(1, len(texts))


def _says_something(first: Sequence[Any]) -> bool:
    """Whether texts are not all the same, nor all numbers."""
    return len(first) < 3 or (len({*map(str, first)}) > 1 and not all(map(is_number, first)))


def _has(others: Mapping[str, pd.Series], role: str) -> bool:
    """Whether a column is surely of a role: rows that ask something are no documents."""
    return any(fit_role(name, roles()[role]) in (0, 1) for name in others)


def _counts_rows(cells: pd.Series, others: Mapping[str, pd.Series], named: Sequence[str]) -> bool:
    """Whether each row has a name of its own although what would be named repeats: then the name is the row's."""
    known = [roles()[name] for name in named]
    held = [own for name, own in others.items() if any(fit_role(name, role) in (0, 1) for role in known)]
    return not cells.astype(str).duplicated().any() and any(own.astype(str).duplicated().any() for own in held)


def _names_people(cells: pd.Series, others: Mapping[str, pd.Series]) -> bool:
    """Whether a column called after people says who gave a mark: words that mean neither right nor wrong, and are nobody else's marks."""
    words = {_word(cell) for cell in first_cells(cells)}
    if (
        fit_role(str(cells.name), roles()["annotator"]) not in (0, 1)
        or all(map(is_number, words))
        or are_verdicts(words)
    ):
        return False
    return not any(words & {*map(_word, first_cells(own))} for name, own in others.items() if name != cells.name)


def is_marks(first: Sequence[Any]) -> bool:
    """Whether cells are numbers, or words of a scale: a few short ones."""
    if all(map(is_number, first)):
        return True
    words = {_word(cell) for cell in first}
    return len(words) <= _MOST_WORDS and all(0 < len(word) <= _LONGEST_WORD for word in words)


def _word(cell: Any) -> str:
    return str(cell).strip().casefold()


def is_number(cell: Any) -> bool:
    """Whether a cell is a number, or the text of one, with a point or a comma."""
    try:
        return isinstance(cell, (int, float)) or float(str(cell).strip().replace(",", ".")) is not None
    except ValueError:
        return False
