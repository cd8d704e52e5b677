"""Two answers side by side under names of others, who won, and marks of each: as the tables of the study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, errors, readers
from evalbench.studies.cascade.people import WINNERS

SIDES = ("a", "b")
_TIES = (
    "tie",
    "draw",
    "both",
    "equal",
    "same",
    "neither",
    "ничья",
    "平局",
    "tie (bothbad)",
    "both bad",
    "bothbad",
    "=",
)
_NOT_JUDGED = {*readers.tables.NOT_GIVEN, *("-", "–", "—", "?", "not judged", "unjudged", "not labelled", "not labeled", "no label"),
               *("skip", "skipped", "не оценено", "нет оценки", "пропуск", "未评", "未标注", "跳过")}  # fmt: skip
_FIRST, _SECOND = ("a", "1", "left", "first"), ("b", "2", "right", "second")


def answers(items: pd.DataFrame, columns: tuple[readers.Column, ...]) -> pd.DataFrame:
    """The items whose two columns of answers, and no others, are answer_a and answer_b; conversations as their last answers."""
    own = {f"answer_{side}" for side in SIDES}
    others = [column for column in columns if column.name not in own]
    parts = [] if "output" in items else readers.wide.of_answers(items, others, {})
    if len(parts) != len(SIDES) or not own & {*items} <= {part.column for part in parts}:
        return items
    held = {str(c).strip(): c for c in items.columns}
    out, asked = items.drop(columns=[held[part.column] for part in parts]), None
    for side, part in zip(SIDES, parts, strict=True):
        cells = items[held[part.column]]
        if cells.map(lambda cell: isinstance(cell, list)).any():
            talks = [{"messages": cell} for cell in cells]
            said = [readers.replies.exchange_of(talk) for talk in talks]
            asked = asked or [readers.replies.asked_in(talk) for talk in talks]
            cells = pd.Series([one.answers[0].text if one else None for one in said], items.index, dtype=object)
        out[f"answer_{side}"] = cells
        if not part.numbered and f"model_{side}" not in items:
            out[f"model_{side}"] = part.name
    if asked is not None and "question" not in items:
        out["question"] = asked
    found = {part.column: f"answer_{side}" for side, part in zip(SIDES, parts, strict=True) if part.column not in own}
    return readers.roles.noted(out, items, found)


def winners(items: pd.DataFrame, names: Mapping[str, str], columns: tuple[readers.Column, ...]) -> pd.DataFrame | None:
    """The table of winners, where the items have a column of them: id, winner, annotator.

    A column of which most cells name a side is one, and any that is plainly called so; words that mean no verdict are empty cells.
    """
    free = [str(c) for c in items.columns if all(str(c) != column.name for column in columns)]
    wins = readers.Column("winner", "text")
    sides = {
        c: items[c].map(lambda cell: _side(cell, names)) for c in free if readers.role_names.fit(c, wins) is not None
    }
    own = [c for c, side in sides.items() if _names_sides(side, readers.role_names.fit(c, wins) == 0)]
    if len(own) != 1 or "id" not in items:
        return None
    winner, cells = sides[own[0]], items[own[0]].map(_word)
    said = [f"column {own[0]} was read as winner"] if own[0] != "winner" else []
    if (none := (winner == "") & (cells != "")).any():
        words = ", ".join(f'"{word}"' for word in dict.fromkeys(cells[none]))
        said.append(f"column {own[0]}: {core.counted(int(none.sum()), 'cell')} without a winner ({words}), as if empty")
    out = pd.DataFrame({"id": items["id"], "winner": winner})
    people = readers.Column("annotator", "id"), readers.Column("judge", "id")
    who = [c for c in free if any(readers.role_names.fit(c, column) in (0, 1) for column in people)]
    out = out.assign(annotator=items[who[0]]) if len(who) == 1 else out
    return readers.roles.noted(out, pd.DataFrame(), {own[0]: "winner"}, said)


def _names_sides(sides: pd.Series, called: bool) -> bool:
    """Whether most cells that hold something name a side; some do where the column is called the winner."""
    known = sides[sides != ""].isin(WINNERS)
    return bool(len(known)) and (called or known.mean() > 0.5)


def _word(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell).strip()


def _side(cell: Any, names: Mapping[str, str]) -> str:
    """A winner's side, nothing for a word that means no verdict; what names no side stays as it is."""
    word = _word(cell)
    for side, own in names.items():
        if word == own:
            return side
    if word.casefold() in _NOT_JUDGED:
        return ""
    plain = readers.role_names.plain(word)
    if plain in _TIES or plain.startswith("tie"):
        return "tie"
    last = plain.split()[-1:] if len(plain.split()) <= 2 else []
    return "a" if last and last[0] in _FIRST else "b" if last and last[0] in _SECOND else word


def marks(items: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame | None:
    """The table of labels, where the items have marks of both answers, of which more is better."""
    if not {"id", "mark_a", "mark_b"} <= {*items}:
        return None
    parts = [pd.DataFrame({"id": items["id"], "model": names[side], "mark": items[f"mark_{side}"]}) for side in SIDES]
    return pd.concat(parts, ignore_index=True)


def ask_of_marks(items: pd.DataFrame, columns: tuple[readers.Column, ...]) -> None:
    """Refuse marks of both answers, of which nothing shows whether more is better."""
    mark, own = readers.role_names.roles()["mark"], {column.name for column in columns}
    stems = {"mark", "points", *mark.names, *mark.weak}
    found = [part for c in items.columns if str(c) not in own and (part := readers.wide.parted(str(c), stems))]
    pairs = [
        part.column
        for part in found
        if readers.role_values.is_marks(readers.role_values.first_cells(items[part.column]))
    ]
    if len(pairs) == len(SIDES):
        better = " ".join(f"--map {c}=mark_{side}" for c, side in zip(pairs, SIDES, strict=True))
        out = " ".join(f"--map {c}=" for c in pairs)
        raise errors.BadInput(
            f"the columns {pairs[0]} and {pairs[1]} mark the two answers, and nothing shows whether more is better: if it is, {better}; if "
            f"less is better, turn them round first; to compare the answers without them, {out}"
        )
