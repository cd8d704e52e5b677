"""Texts of a side that are none, or all one: what is compared there is not what the system was asked or said."""

from __future__ import annotations

from typing import Literal, NamedTuple

import pandas as pd

from evalbench import core
from evalbench.text.null_words import is_null_word
from evalbench.text.odd_texts import LEAST, ONE_TEXT_FROM, holds_reasoning, is_error_text

EMPTY = "many responses are empty or errors"
_ALIKE = "are one and the same text"


class Odd(NamedTuple):
    """What is odd about the texts of a side.

    - ``why``: What that leaves without evidence, a clause.
    - ``holds``: The light that it holds back: ``any`` but red, ``green`` alone, or none.
    """

    sentence: str
    why: str = ""
    holds: Literal["any", "green", ""] = ""


def odd_texts(items: pd.DataFrame, most: float) -> list[Odd]:
    """What is odd about the texts of each side, of the sides in order."""
    out = []
    for side, rows in items[items["unscored"] == ""].groupby("side", sort=True):
        for what in ("response", "request"):
            of = f"of {core.counted(len(rows), what)} of {str(side).upper()}"
            found = _of_requests(rows["question"], most) if what == "request" else _of_responses(rows, most)
            out += [o._replace(sentence=f" {core.wording.count(n)} {of} {o.sentence}.") for n, o in found]
    return out


def _of_responses(rows: pd.DataFrame, most: float) -> list[tuple[int, Odd]]:
    texts, plain = rows["answer"], rows["answer"].map(_plain)
    null, error, held = (int(texts.map(test).sum()) for test in (is_null_word, is_error_text, holds_reasoning))
    repeated = int(((plain == rows["question"].map(_plain)) & (plain != "")).sum())
    found = [
        (int((plain == "").sum()), Odd("are empty", EMPTY, "any")),
        (error, Odd("read like an error of an endpoint", EMPTY, "any")),
        (null, Odd("are the word nan, None or null", "many responses are the word nan, None or null", "any")),
        (held, Odd("hold a block of reasoning (<think>)")),
        (repeated, Odd("repeat the request", "many responses repeat their request", "green")),
    ]
    shown = [(n, odd) for n, odd in found if n > most * len(rows)]
    return shown or _alike(plain, "responses")


def _of_requests(texts: pd.Series, most: float) -> list[tuple[int, Odd]]:
    plain = texts.map(_plain)
    found = [
        (int((plain == "").sum()), Odd("are empty", "many requests are empty", "green")),
        (int(texts.map(is_null_word).sum()), Odd("are the word nan, None or null", "many requests are empty", "green")),
    ]
    shown = [(n, odd) for n, odd in found if n > most * len(texts)]
    return shown or _alike(plain, "requests")


def _alike(plain: pd.Series, noun: str) -> list[tuple[int, Odd]]:
    """That nearly all texts are one."""
    counts = plain.value_counts()
    if len(plain) < LEAST or counts.iloc[0] < ONE_TEXT_FROM * len(plain):
        return []
    text = str(counts.index[0])
    shown = f'{_ALIKE}, "{text[:40]}{"…" if len(text) > 40 else ""}"'
    return [(int(counts.iloc[0]), Odd(shown, f"many {noun} {_ALIKE}", "green"))]


def _plain(text: object) -> str:
    return " ".join(str(text).split())
