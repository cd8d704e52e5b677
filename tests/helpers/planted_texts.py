"""Planted tables of the studies of answers: solutions, needles, similarity to references, dialogues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
from planted import ABSENT, LATE, TWO, Frames, N, Planted, Tables, ids, items, lights, one_table, with_late

# -- cot_levels ------------------------------------------------------------------------------------


def solution(i: int, wrong: int = 0) -> str:
    total = i + 3 + 4
    return f"She has {i + 3} + 4 = <<{i + 3}+4={total + wrong}>>{total + wrong} pears.\n#### {total + wrong}"


def problems(
    response: Callable[[int], str] = solution, n: int = N, reference: Callable[[int], str] = solution
) -> pd.DataFrame:
    return items(
        n, question=lambda i: f"Ann has {i + 3} pears and buys 4. How many?", reference=reference, answer=response
    )


COT: dict[str, Planted | str] = {
    "nothing_right": Planted(
        one_table(problems(lambda i: f"Perhaps many.\n#### {900 + i}")), r"0\.0% passed|0% passed"
    ),
    "all_right": Planted(one_table(problems(reference=lambda i: f"#### {i + 7}")), r"100(\.0)?% passed"),
    "one_absent": Planted(one_table(with_late(problems(), "model", "id")), ABSENT),
    "two_units": Planted(one_table(problems(n=2)), TWO),
    "off_by_one": "a solution has no positions; an answer that is one off is a wrong one",
    "other_ids": "one table, without a join",
    "all_equal": Planted(one_table(problems()), r"1\.00"),
}

# -- needle ----------------------------------------------------------------------------------------


def needles(reply: Callable[[int], str], n: int = N) -> pd.DataFrame:
    return items(
        n, question=lambda i: f"How many keys has house {i}?", reference=lambda i: str(i % 9 + 1), answer=reply,
        length=lambda i: 1000 * (i % 2 + 1), depth=lambda i: i // 2 % 4 / 4,
    )  # fmt: skip


def kept(i: int) -> str:
    return f"It has {i % 9 + 1}."


FOUND = {"yellow_from": 0.7, "green_from": 0.9}
NEEDLE: dict[str, Planted | str] = {
    "nothing_right": Planted(one_table(needles(lambda i: f"There are 1{i % 9 + 1}7 keys.")), r"0\.0|differ", FOUND),
    "all_right": Planted(one_table(needles(kept)), r"1\.00", FOUND),
    "one_absent": Planted(one_table(with_late(needles(kept), "model", "id")), ABSENT, FOUND),
    "two_units": Planted(one_table(needles(kept, 2)), TWO, FOUND),
    "off_by_one": "depth and length are a design, not positions that a model gives",
    "other_ids": "replies carry their question and what is expected: no join",
    "all_equal": Planted(one_table(needles(kept)), r"1\.00", FOUND),
}

# -- text_metrics ----------------------------------------------------------------------------------


def answers(output: Callable[[int], Any], n: int = N) -> pd.DataFrame:
    return items(n, output=output, reference=lambda i: f"The pool of house {i} opens at {i % 12} in the morning")


def same(i: int) -> str:
    return f"The pool of house {i} opens at {i % 12} in the morning"


CLOSE = {"metrics": ["f1_score", "exact_match"], "lights": {"f1_score": {"green_from": 0.6, "yellow_from": 0.3}}}
METRICS: dict[str, Planted | str] = {
    "nothing_right": Planted(one_table(answers(lambda i: "nan")), r"0\.0", CLOSE),
    "all_right": Planted(one_table(answers(same)), r"1\.00", CLOSE),
    "one_absent": Planted(one_table(with_late(answers(same), "model", "id")), ABSENT, CLOSE),
    "two_units": Planted(one_table(answers(same, 2)), TWO, CLOSE),
    "off_by_one": "texts are compared, not positions",
    "other_ids": "one table, without a join",
    "all_equal": Planted(one_table(answers(same)), r"1\.00", CLOSE),
}

# -- dialogue --------------------------------------------------------------------------------------


def turns(
    n: int = N, resolved: Any = 1, first: int = 1, answers: int = 2, case: bool = False, **more: Any
) -> pd.DataFrame:
    """Sessions of two answers each; the model's turns may write the session otherwise than the user's."""
    rows = []
    for name in ids(n, "s"):
        for i in range(answers):
            said = name.upper() + " " if case else name
            rows.append({"session_id": name, "turn": 2 * i + first, "role": "user", "resolved": resolved, **more})
            rows.append(
                {"session_id": said, "turn": 2 * i + 1 + first, "role": "assistant", "resolved": resolved, **more}
            )
    return pd.DataFrame(rows)


def sessions(**options: Any) -> Callable[[], Frames]:
    return lambda: {"turns": turns(**options)}


DIALOGUE: dict[str, Planted | str] = {
    "nothing_right": Planted(sessions(resolved=0), r"given up|not resolved|abandoned|unresolved|none .*resolved"),
    "all_right": Planted(sessions(), r"2\.00"),
    "one_absent": Planted(lambda: {"turns": with_late(turns(), "model", "session_id")}, LATE),
    "two_units": Planted(sessions(n=2), TWO),
    "off_by_one": Planted(
        sessions(first=0),
        r"2\.00",
        lights=lights("green"),
        because="turns are put in order: from 0 or from 1 is the same",
    ),
    "other_ids": Planted(
        sessions(case=True), r"\bcase\b|blank|without (an answer|a turn)", lights=lights("grey", "unlit")
    ),
    "all_equal": Planted(sessions(answers=4), r"4\.00"),
}

TABLES: Tables = {"cot_levels": COT, "needle": NEEDLE, "text_metrics": METRICS, "dialogue": DIALOGUE}
