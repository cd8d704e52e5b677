"""Tables of other shapes: lists of messages, marks, a column that divides one table, times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from evalbench import readers
from evalbench.readers.schema import Column
from evalbench.studies.drift.times import with_times

MESSAGES = ("messages", "conversation", "conversations", "dialog", "dialogue")
DIVIDING = (
    "part",
    "split",
    "side",
    "sample",
    "set",
    "subset",
    "dataset",
    "period",
    "stage",
    "environment",
    "env",
    "выборка",
    "часть",
)
OOS_WORDS = frozenset({
    "oos", "reference", "ref", "baseline", "base", "validation", "valid", "val", "dev", "before", "old", "then", "past",
    "эталон", "валидация", "до", "старая", "старое",
})  # fmt: skip
OOT_WORDS = frozenset({
    "oot", "current", "cur", "production", "prod", "live", "after", "new", "now", "recent", "monitoring",
    "продакшен", "прод", "после", "новая", "новое",
})  # fmt: skip
_MARKS = re.compile(
    r"thumbs?|stars?|ratings?|rated|feedback|scores?|marks?|grades?|verdict|liked?|quality|correctness|labels?|оценк\w*|рейтинг|评分|评价"
)


def reshaped(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables with texts in place of messages, marks as labels, ISO times; one table that a column divides as two.

    Each guess is a note of its table.  What the table already has under our name stays.
    """
    found = with_times({name: _read(frame) for name, frame in frames.items()})
    if len(found) == 1 and "oos" in found:
        found = _divided(found["oos"])
    return found


def _read(frame: pd.DataFrame) -> pd.DataFrame:
    if frame.columns.has_duplicates:
        return frame
    said: list[str] = []
    read = _with_label(_from_messages(frame, said)).copy(deep=False)
    said += _marks_unread(read)
    read.attrs |= {"notes": [*read.attrs.get("notes", ()), *said]}
    return read


def _with_label(frame: pd.DataFrame) -> pd.DataFrame:
    """The only column of marks that holds nothing but right and wrong as the label, where there is none."""
    if {"label", "score"} & set(frame.columns):
        return frame
    marks = [name for name in map(str, frame.columns) if _is_mark(name) and readers.verdicts.are_verdicts(frame[name])]
    if len(marks) != 1:
        return frame
    return readers.roles.noted(frame.rename(columns={marks[0]: "label"}), frame, {marks[0]: "label"})


def _is_mark(name: str) -> bool:
    """Whether a column's name is that of marks."""
    known = [readers.role_names.fit(name, Column("label", "float", role=role)) for role in ("correct", "mark")]
    return any(tier is not None for tier in known) or any(
        map(_MARKS.fullmatch, re.findall(r"[^\W\d_]+", str(name).casefold()))
    )


def _marks_unread(frame: pd.DataFrame) -> list[str]:
    """Of a table without labels and scores: columns that may be marks, and how they would be read."""
    import pandas as pd

    if {"label", "score"} & set(frame.columns):
        return []
    said = []
    for name in frame.columns:
        column = frame[name].dropna()
        if not _is_mark(str(name)) or column.empty:
            continue
        numbers = pd.to_numeric(column, errors="coerce")
        low, high = numbers.min(), numbers.max()
        ours = quote(f"{name}=label" if readers.verdicts.are_verdicts(column) else f"{name}=score")
        how = f"--map {ours} makes it the key metric"
        if numbers.notna().all() and not readers.verdicts.are_verdicts(column) and (low < 0 or high > 1):
            how = f"it holds {low:g} to {high:g}: write (mark − least) / (greatest − least) of its scale, then --map {ours}"
        elif numbers.isna().any() and not readers.verdicts.are_verdicts(column):
            how = f"write its words as 1, 0 or a share, then --map {quote(f'{name}=label')}"
        said.append(f"column {name} is not read as a mark of the response; {how}")
    return said


def _from_messages(frame: pd.DataFrame, said: list[str]) -> pd.DataFrame:
    """The last message of the user and the assistant's after it, where rows list messages and name no request."""
    listed = next((c for c in frame.columns if str(c).strip().casefold() in MESSAGES), None)
    if listed is None or "question" in frame or not frame[listed].map(_is_messages).any():
        return frame
    pairs = [_last_exchange(cell) if _is_messages(cell) else (None, None) for cell in frame[listed]]
    texts = {"question": [p[0] for p in pairs]}
    if "answer" not in frame:
        texts["answer"] = [p[1] for p in pairs]
    said.append(f"{listed}: the last message of the user is the request, the assistant's after it the response")
    columns = {name: pd.Series(cells, index=frame.index, dtype=object) for name, cells in texts.items()}
    return frame.drop(columns=listed).assign(**columns)


def _is_messages(cell: Any) -> bool:
    return (
        isinstance(cell, list | np.ndarray)
        and len(cell) > 0
        and all(isinstance(m, Mapping) and ("role" in m or "from" in m) for m in cell)
    )


def _last_exchange(messages: Iterable[Mapping[str, Any]]) -> tuple[Any, Any]:
    request = response = None
    for message in messages:
        role = str(message.get("role", message.get("from"))).casefold()
        text = next((message[key] for key in ("content", "value", "text") if key in message), None)
        if isinstance(text, list | np.ndarray):
            text = "\n".join(str(part.get("text", "")) for part in text if isinstance(part, Mapping))
        if role in ("user", "human"):
            request, response = text, None
        elif role in ("assistant", "gpt", "model", "ai", "bot"):
            response = text
    return request, response


def _divided(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """One table as two, where a column has one word for OOS and one for OOT."""
    for column in frame.columns:
        if str(column).strip().casefold() not in DIVIDING:
            continue
        words = frame[column].map(lambda cell: cell.strip().casefold() if isinstance(cell, str) else "")
        there = set(words)
        if len(there) == 2 and len(there & OOS_WORDS) == 1 and len(there & OOT_WORDS) == 1:
            sides = {"oos": next(iter(there & OOS_WORDS)), "oot": next(iter(there & OOT_WORDS))}
            parts = {side: frame[words == word].drop(columns=column) for side, word in sides.items()}
            said = f"column {column}: {sides['oos']} is OOS, {sides['oot']} is OOT"
            for part in parts.values():
                part.attrs = {**frame.attrs, "notes": [*frame.attrs.get("notes", ()), said]}
            return parts
    return {"oos": frame}
