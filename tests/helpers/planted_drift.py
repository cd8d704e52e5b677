"""Planted tables of the studies of two sides: a validation and what came later, two models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
from planted import FEW, IDS, TWO, Frames, N, Planted, Tables, ids, items, lights, otherwise

# -- drift -----------------------------------------------------------------------------------------

SUBJECTS = ("the lift", "the keys", "a bicycle", "the heating", "my parcel")


def log(
    label: Callable[[int], Any], n: int = 120, letter: str = "a", said: str = "Please ask the caretaker about"
) -> pd.DataFrame:
    return pd.DataFrame({
        "id": [f"{letter}{i:03}" for i in range(n)],
        "question": [f"What do I do with {SUBJECTS[i * 7 % 5]} of flat {i * 3 % 11}?" for i in range(n)],
        "answer": [f"{said} {SUBJECTS[i * 7 % 5]} of flat {i * 3 % 11}." for i in range(n)],
        "label": [label(i) for i in range(n)],
    })  # fmt: skip


def mostly(i: int) -> int:
    return int(i % 5 != 0)


def later(
    label: Callable[[int], Any] = mostly, n: int = 120, before: Callable[[int], Any] = mostly, **more: Any
) -> Frames:
    return {"oos": log(before), "oot": log(label, n, "b", **more)}


DRIFTED = {"embed": "", "tests": ["key_metric", "statistics"], "n_permutations": 19}
DRIFT: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: later(lambda i: 0), r"\b0\.0|0%|drop", DRIFTED, lights("red")),
    "all_right": Planted(later, r"no drop|level", DRIFTED),
    "one_absent": Planted(lambda: later(lambda i: mostly(i) if i < FEW else None), r"\b3\b|three|117|98%", DRIFTED),
    "two_units": Planted(lambda: later(n=2), TWO, DRIFTED),
    "off_by_one": "rows have no positions; a label that is off by one is another quality",
    "other_ids": "the two sides have ids of their own, and are not joined",
    "all_equal": Planted(lambda: later(lambda i: 1, before=lambda i: 1), r"1\.00|no drop", DRIFTED),
}

# -- cascade ---------------------------------------------------------------------------------------

OPENS, VAGUE = "It opens at {}.", "Go there from {} on, or later."


def pairs(n: int = N, a: str = OPENS, b: str = VAGUE) -> pd.DataFrame:
    return items(
        n, question=lambda i: f"When does the pool in Mill Street {i} open?",
        answer_a=lambda i: a.format(i + 7), answer_b=lambda i: b.format(i + 7),
    )  # fmt: skip


def likes_a(item: dict[str, Any]) -> str:
    """A judge, a fake: it finds better what says "opens"."""
    first, second = ("opens" in item[key] for key in ("first", "second"))
    return "TIE" if first == second else "FIRST" if first else "SECOND"


def labelled(n: int = N, first: int = 0) -> pd.DataFrame:
    """People's marks of both answers: A is right, B is not."""
    rows = [(name, model, mark) for name in ids(N)[first : first + n] for model, mark in (("fern", 2), ("oak", 0))]
    return pd.DataFrame(rows, columns=["id", "model", "mark"])


def with_models(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(model_a="fern", model_b="oak")


COMPARED = {"strong": likes_a, "run_stages": [1, 2, 9], "embed": "jaccard"}
BY_LABELS = {"run_stages": [1, 2, 3, 13], "embed": "jaccard"}
CASCADE: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: {"items": pairs(a=VAGUE, b=OPENS)}, r"A is worse than B", COMPARED, lights("red")),
    "all_right": Planted(lambda: {"items": pairs()}, r"A.* better", COMPARED),
    "one_absent": Planted(lambda: {"items": with_models(pairs()), "labels": labelled(FEW)}, r"37", BY_LABELS),
    "two_units": Planted(lambda: {"items": pairs(2)}, TWO, COMPARED),
    "off_by_one": "answers have no positions",
    "other_ids": Planted(
        lambda: {"items": with_models(pairs()), "labels": otherwise(labelled(), "id")}, IDS, BY_LABELS, refused=IDS
    ),
    "all_equal": Planted(lambda: {"items": pairs(b=OPENS)}, r"same|equal|par|equivalent", COMPARED),
}

TABLES: Tables = {"drift": DRIFT, "cascade": CASCADE}
