"""Tables that nobody would hand in on purpose: a study's sample, cut down and broken at random; each made from its number."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

Frames = dict[str, pd.DataFrame]
ODD: tuple[Any, ...] = (
    None, float("nan"), pd.NA, pd.NaT, "", " ", "\t\n", "0", "007", "None", "nan", "[", "[]", '["a"]', "[[0, 1]]", "[[5, 2]]", "{}", "\x00", "\ud800",
    "\u202e", "\u200b", "é", "e\u0301", "你好", "Ответ: 5", "#### 1", "<<1+1=2>>", "<<1/0=1>>", "a" * 5000, "[1][2]", 0, 1, -1, 0.5, 1e308, -0.0,
    float("inf"), float("-inf"), 2**70, True, False, b"bytes", [], [None], ["a", "b"], [["a"]], [1, 2], {}, {"a": 1}, {"n": 1, "claim": None},
    [{"n": 1, "claim": "x"}], [{"n": "one"}], (), (1, 2), {"a"}, frozenset(), np.array([1.0, 2.0]), np.int64(3), np.float32(0.25), np.bool_(True),
    decimal.Decimal("1.5"), datetime.datetime(2026, 1, 1), datetime.date(2026, 1, 1), datetime.timedelta(1), pd.Timestamp("2026-01-01", tz="UTC"),
    complex(1, 2), object, len,
)  # fmt: skip
DTYPES = ("category", "string", "Int64", "float64", "boolean", "object", "complex128", "datetime64[ns]")


def _cells(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    """Some cells of a column hold something odd."""
    if frame.empty or not len(frame.columns):
        return frame
    at = draw.randrange(len(frame.columns))
    values = frame.iloc[:, at].tolist()
    for i in range(len(values)):
        if draw.random() < draw.choice((0.2, 1.0)):
            values[i] = draw.choice(ODD)
    return _replaced(frame, at, values)


def _constant(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    if not len(frame.columns):
        return frame
    at, value = draw.randrange(len(frame.columns)), draw.choice(ODD)
    return _replaced(frame, at, [value] * len(frame))


def _replaced(frame: pd.DataFrame, at: int, values: list[Any]) -> pd.DataFrame:
    cells = np.empty(len(values), dtype=object)
    cells[:] = values
    columns = [frame.iloc[:, i] for i in range(len(frame.columns))]
    columns[at] = pd.Series(cells, index=frame.index, name=frame.columns[at], dtype=object)
    out = pd.concat(columns, axis=1)
    out.columns = frame.columns
    return out


def _dropped(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    if not len(frame.columns):
        return frame
    at = draw.randrange(len(frame.columns))
    return frame.iloc[:, [i for i in range(len(frame.columns)) if i != at]]


def _doubled_column(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    if not len(frame.columns):
        return frame
    at = draw.randrange(len(frame.columns))
    return frame.iloc[:, [*range(len(frame.columns)), at]]


def _doubled_rows(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    return pd.concat([frame, frame.head(draw.randint(1, 2))])


def _dtype(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    if not len(frame.columns) or frame.columns.has_duplicates:
        return frame
    name = draw.choice(list(frame.columns))
    try:
        return frame.astype({name: draw.choice(DTYPES)})
    except Exception:  # that column cannot be of that type: another fault another time
        return frame


def _renamed(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    if not len(frame.columns):
        return frame
    odd = draw.choice((None, 3, "", " id", "ID", "unscored", "undefined", "n", ("a", "b"), float("nan"), "\u202ex"))
    names = list(frame.columns)
    names[draw.randrange(len(names))] = odd
    out = frame.copy()
    out.columns = pd.Index(names, tupleize_cols=False)
    return out


def _index(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    index = draw.choice(
        (
            lambda n: [0] * n,
            lambda n: [None] * n,
            lambda n: [("a", i) for i in range(n)],
            lambda n: list("zyxwvutsrqponmlkjihgfedcba")[:n],
        )
    )
    return frame.set_axis(index(len(frame)), axis=0) if len(frame) <= 26 else frame


def _added(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    names = (
        "model",
        "system",
        "annotator",
        "criterion",
        "score",
        "context",
        "samples",
        "lang",
        "spans",
        "start",
        "trial",
        "extra",
        "final",
        "reference",
    )
    cells = np.empty(len(frame), dtype=object)
    cells[:] = [draw.choice(ODD) for _ in range(len(frame))]
    return (
        frame.assign(**{draw.choice(names): pd.Series(cells, index=frame.index, dtype=object)})
        if not frame.columns.has_duplicates
        else frame
    )


def _empty(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    return frame.head(0) if draw.random() < 0.7 else pd.DataFrame(index=frame.index)


def _few(frame: pd.DataFrame, draw: random.Random) -> pd.DataFrame:
    return frame.head(draw.randint(1, 2))


MUTATIONS: tuple[Callable[[pd.DataFrame, random.Random], pd.DataFrame], ...] = (
    _cells, _cells, _cells, _constant, _dropped, _doubled_column, _doubled_rows, _dtype, _renamed, _index, _added, _empty, _few,
)  # fmt: skip


def broken(sample: Mapping[str, pd.DataFrame], number: int) -> Any:
    """Frames of a study made from its sample and a number: some rows, one to four faults; seldom not even frames."""
    draw = random.Random(f"frame {number}")
    main = next(iter(sample.values()))
    key = main.columns[0]
    kept = main[key].drop_duplicates().head(draw.choice((1, 2, 3, 5, 8, 12)))
    frames: Frames = {
        name: (
            frame[frame[key].isin(kept)] if key in frame and frame[key].isin(kept).any() else frame.head(12)
        ).reset_index(drop=True)
        for name, frame in sample.items()
    }
    for _ in range(draw.choice((1, 1, 2, 2, 3, 4))):
        name = draw.choice(list(frames))
        frames[name] = draw.choice(MUTATIONS)(frames[name], draw)
    if draw.random() < 0.04:
        frames.pop(draw.choice(list(frames)))
    if draw.random() < 0.02:
        return {**frames, "no_such_table": pd.DataFrame({"a": [1]})}
    if draw.random() < 0.02:
        return {**frames, draw.choice(list(sample)): draw.choice((None, [], {}, "text", 3, {"id": ["a"]}))}
    return frames
