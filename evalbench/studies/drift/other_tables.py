"""Tables of other shapes: usual names of columns, lists of messages, a column that divides one table, labels in words, times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from evalbench.studies.drift.times import is_clock, with_times

OTHERS: Mapping[str, tuple[str, ...]] = {
    "request": (
        "prompt", "question", "query", "user_input", "user_message", "instruction", "input", "запрос", "вопрос", "запрос клиента",
    ),
    "response": (
        "completion", "answer", "output", "reply", "model_output", "model_answer", "generated_text", "generation", "assistant",
        "prediction_text", "ответ", "ответ модели",
    ),
    "ts": (
        "timestamp", "created_at", "created", "datetime", "date_time", "logged_at", "start_time", "time", "date",
        "время", "дата", "дата и время",
    ),
    "label": ("correct", "is_correct", "human_label", "верно", "правильно", "разметка", "оценка"),
    "reference": ("ground_truth", "expected_output", "expected", "gold", "target", "true_answer", "эталон"),
}  # fmt: skip
"""Column → names under which it is read too, the likeliest first.  What users clicked is not among them: it is not a label."""
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
RIGHT = (
    "yes", "true", "pass", "passed", "good", "correct", "right", "да", "верно", "правильно", "корректно", "хорошо",
    "是", "对", "正确", "好", "👍",
)  # fmt: skip
WRONG = (
    "no", "false", "fail", "failed", "bad", "incorrect", "wrong", "нет", "неверно", "неправильно", "некорректно", "плохо",
    "否", "错", "错误", "不正确", "差", "👎",
)  # fmt: skip
_TRUTH = {**dict.fromkeys(RIGHT, "1"), **dict.fromkeys(WRONG, "0")}
_MARKS = re.compile(
    r"thumbs?|stars?|ratings?|rated|feedback|scores?|marks?|grades?|verdict|liked?|quality|correctness|labels?|оценк\w*|рейтинг|评分|评价"
)


def reshaped(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables with our names of columns, texts in place of messages, ISO times; one table that a column divides as two.

    Each guess is a note of its table.  What the table already has under our name stays.
    """
    found = with_times({name: _renamed(frame) for name, frame in frames.items()})
    if len(found) == 1 and "oos" in found:
        found = _divided(found["oos"])
    return found


def _renamed(frame: pd.DataFrame) -> pd.DataFrame:
    if frame.columns.has_duplicates:
        return frame
    attrs = dict(frame.attrs)
    said: list[str] = []
    frame = _from_messages(frame, said)
    names = {str(c).strip().casefold(): c for c in reversed(list(frame.columns))}
    taken: dict[Any, str] = {}
    for own, others in OTHERS.items():
        if own in names:
            if names[own] != own:
                taken[names[own]] = own
            continue
        for other in others:
            source = names.get(other)
            if source is None or source in taken or (own == "label" and not _is_label(frame[source])):
                continue
            if own == "ts" and is_clock(frame[source]):
                continue
            taken[source] = own
            said.append(f"column {source} was read as {own}")
            break
    frame = frame.rename(columns=taken)
    if frame.columns.has_duplicates:
        frame = frame.loc[:, ~frame.columns.duplicated()]
    said += _marks_unread(frame)
    frame.attrs = {**attrs, "notes": [*attrs.get("notes", ()), *said]}
    return frame


def _is_label(column: pd.Series) -> bool:
    """Whether a column of another name holds nothing but right and wrong."""
    cells = {str(cell).strip().casefold() for cell in column.dropna()} - {""}
    return bool(cells) and cells <= {"0", "1", "-1", "−1", "0.0", "1.0", "-1.0", *_TRUTH}


def truth_of(cell: Any) -> str | None:
    """``1`` or ``0`` for a word that means right or wrong, else None.

    Examples
    --------
    >>> [truth_of(cell) for cell in ("Good", " неверно", "对", "partly", 1)]
    ['1', '0', '1', None, None]
    """
    return _TRUTH.get(str(cell).strip().casefold())


def _marks_unread(frame: pd.DataFrame) -> list[str]:
    """Of a table without labels and scores: columns that may be marks, and how they would be read."""
    import pandas as pd

    if {"label", "score"} & set(frame.columns):
        return []
    said = []
    for name in frame.columns:
        column = frame[name].dropna()
        if not any(map(_MARKS.fullmatch, re.findall(r"[^\W\d_]+", str(name).casefold()))) or column.empty:
            continue
        numbers = pd.to_numeric(column, errors="coerce")
        low, high = numbers.min(), numbers.max()
        ours = quote(f"{name}=label" if _is_label(column) else f"{name}=score")
        how = f"--map {ours} makes it the key metric"
        if numbers.notna().all() and not _is_label(column) and (low < 0 or high > 1):
            how = f"it holds {low:g} to {high:g}: write (mark − least) / (greatest − least) of its scale, then --map {ours}"
        elif numbers.isna().any() and not _is_label(column):
            how = f"write its words as 1, 0 or a share, then --map {quote(f'{name}=label')}"
        said.append(f"column {name} is not read as a mark of the response; {how}")
    return said


def _from_messages(frame: pd.DataFrame, said: list[str]) -> pd.DataFrame:
    """The last message of the user and the assistant's after it, where rows list messages and name no request."""
    listed = next((c for c in frame.columns if str(c).strip().casefold() in MESSAGES), None)
    if listed is None or "request" in frame or not frame[listed].map(_is_messages).any():
        return frame
    pairs = [_last_exchange(cell) if _is_messages(cell) else (None, None) for cell in frame[listed]]
    texts = {"request": [p[0] for p in pairs]}
    if "response" not in frame:
        texts["response"] = [p[1] for p in pairs]
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
