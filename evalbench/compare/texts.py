"""What both sides said of a unit: the texts of its rows in the tables of both runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.compare.sides import Group, Side
from evalbench.errors import BadInput
from evalbench.readers.runs import CALLS, read_frame

if TYPE_CHECKING:
    import pandas as pd

_NO_TEXTS = {"lang"}


class Said(NamedTuple):
    """A text of a unit, as each side has it; the empty text where a side has none."""

    name: str
    reference: str
    side: str


def said(reference: Side, side: Side, unit: str, cases: Sequence[tuple[str, Group]]) -> list[list[Said]]:
    """The texts of some units, those that differ first.

    Tables with several rows a unit, a line for each, say something only where no other text differs.

    - ``unit``: The column that names a unit.
    - ``cases`` (sequence of (unit, group)): Groups as both sides have them.

    Returns: One list a case; empty where the runs kept no table of texts that has the unit.
    """
    wanted = {name for name, _ in cases}
    tables = [tables_of(one, unit, wanted) for one in (reference, side)]
    names = [name for name in tables[0] if name in tables[1]]
    return [
        _of_case(reference, side, unit, name, group, [(n, tables[0][n], tables[1][n]) for n in names])
        for name, group in cases
    ]


def tables_of(side: Side, unit: str, wanted: set[str]) -> dict[str, pd.DataFrame]:
    """The rows of the wanted units in each table that has them."""
    found = {}
    for name, file in side.results["tables"].items() if side.folder else ():
        if file == CALLS:
            continue
        try:
            frame = read_frame(side.folder / file)
        except BadInput:
            continue
        if unit in frame:
            found[name] = frame[frame[unit].astype(str).isin(wanted)]
    return found


def _of_case(
    reference: Side,
    side: Side,
    unit: str,
    case: str,
    group: Group,
    tables: Sequence[tuple[str, pd.DataFrame, pd.DataFrame]],
) -> list[Said]:
    texts: list[Said] = []
    lists: list[Said] = []
    names = {unit, *reference.results["by"], *side.results["by"], reference.results["id"], side.results["id"]}
    for name, before, after in tables:
        left, right = (
            _rows(frame, unit, case, {**one.whose(), **group}) for frame, one in ((before, reference), (after, side))
        )
        columns = [c for c in _text_columns(before, names) if c in _text_columns(after, names)]
        if _one_row_each(before, names) and _one_row_each(after, names) and max(len(left), len(right)) <= 1:
            texts += [Said(c, _one(left, c), _one(right, c)) for c in columns]
        else:
            lists.append(Said(name, _lines(left, columns), _lines(right, columns)))
    if all(one.reference == one.side for one in texts):
        texts += [one for one in lists if one.reference != one.side]
    known = [one for one in texts if one.reference or one.side]
    return sorted(known, key=lambda one: one.reference == one.side)


def _one_row_each(frame: pd.DataFrame, names: set[str]) -> bool:
    return not frame.duplicated([c for c in frame if c in names]).any()


def _rows(frame: pd.DataFrame, unit: str, case: str, group: Mapping[str, Any]) -> pd.DataFrame:
    kept = frame[unit].astype(str) == case
    for column, value in group.items():
        if column in frame and column != unit:
            kept &= frame[column].astype(str) == value
    return frame[kept]


def _text_columns(frame: pd.DataFrame, keys: set[str]) -> list[str]:
    return [c for c in map(str, frame) if c not in keys | _NO_TEXTS and frame.dtypes[c].kind not in "biufcmM"]


def _one(rows: pd.DataFrame, column: str) -> str:
    return "" if rows.empty else text_of(rows[column].iloc[0])


def _lines(rows: pd.DataFrame, columns: Sequence[str]) -> str:
    cells = ([text_of(value) for value in row] for row in rows[list(columns)].itertuples(index=False))
    return "\n".join(" · ".join(filter(None, row)) for row in cells)


def text_of(value: Any) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "\n".join(map(str, value))
    return "" if value is None or value != value or type(value).__name__ == "NAType" else str(value)
