"""Tables of other shapes: usual names of columns, lists of messages, a column that divides one table, times as numbers or with dots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.readers.tools.shapes import WORDS

if TYPE_CHECKING:
    import pandas as pd

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
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[ T]+(\d{1,2}:\d\d(?::\d\d)?))?")
_SECONDS, _MILLISECONDS = (10**8, 10**10), (10**11, 10**13)


def reshaped(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables with our names of columns, texts in place of messages, ISO times; one table that a column divides as two.

    Each guess is a note of its table.  What the table already has under our name stays.
    """
    found = {name: _renamed(frame) for name, frame in frames.items()}
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
            if source is not None and source not in taken and (own != "label" or _is_label(frame[source])):
                taken[source] = own
                said.append(f"column {source} was read as {own}")
                break
    frame = frame.rename(columns=taken)
    if frame.columns.has_duplicates:
        frame = frame.loc[:, ~frame.columns.duplicated()]
    frame = _with_times(frame, said)
    frame.attrs = {**attrs, "notes": [*attrs.get("notes", ()), *said]}
    return frame


def _is_label(column: pd.Series) -> bool:
    """Whether a column of another name holds nothing but right and wrong."""
    cells = {str(cell).strip().casefold() for cell in column.dropna()} - {""}
    return bool(cells) and cells <= {"0", "1", "-1", "−1", "0.0", "1.0", "-1.0", *WORDS}


def _from_messages(frame: pd.DataFrame, said: list[str]) -> pd.DataFrame:
    """The last message of the user and the assistant's after it, where rows list messages and name no request."""
    import pandas as pd

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


def _with_times(frame: pd.DataFrame, said: list[str]) -> pd.DataFrame:
    """Seconds or milliseconds since 1970, and days with dots, as ISO 8601, where the whole column is written so."""
    import pandas as pd

    if "ts" not in frame:
        return frame
    column = frame["ts"]
    known = column.map(lambda cell: not (cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())))
    cells = column[known]
    if cells.empty or cells.map(lambda cell: isinstance(cell, bool)).any():
        return frame
    out = column.astype(object)
    if cells.map(lambda cell: isinstance(cell, str) and _DOTTED.fullmatch(cell.strip()) is not None).all():
        out[known] = [_iso(_DOTTED.fullmatch(cell.strip())) for cell in cells]
        said.append("ts: days are read as day.month.year")
        return frame.assign(ts=out)
    numbers = pd.to_numeric(cells, errors="coerce") if cells.map(_is_number).all() else pd.Series([np.nan])
    for (low, high), unit, name in ((_SECONDS, 1, "seconds"), (_MILLISECONDS, 1000, "milliseconds")):
        if ((numbers >= low) & (numbers < high)).all():
            moments = pd.to_datetime((numbers.astype(float) * 1000 / unit).round().astype("int64"), unit="ms", utc=True)
            out[known] = moments.dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ").tolist()
            said.append(f"ts: numbers are read as {name} since 1970, UTC")
            return frame.assign(ts=out)
    return frame


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float | np.number) or (
        isinstance(cell, str) and re.fullmatch(r"\d{9,13}(\.\d+)?", cell.strip()) is not None
    )


def _iso(match: re.Match[str] | None) -> str:
    assert match is not None
    day, month, year, clock = match.groups()
    hour = f"T{clock:0>5}" if clock and clock.count(":") == 1 else f"T{clock:0>8}" if clock else ""
    return f"{year}-{month:0>2}-{day:0>2}{hour}"


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
