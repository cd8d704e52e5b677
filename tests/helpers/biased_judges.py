"""Scripted judges with one known bias each, and answers for them to judge; fakes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from evalbench.judge.probe_texts import INJECTIONS, NULLS

CRITERION = """
name: right
definition: Does the answer name the code of the question?
scale: {0: it does not, 1: it does}
"""
MODELS = ("mira-large", "tarn-2")
_FILLER = " It was looked up in the list at the desk, which is kept for this purpose and renewed every week."
Judge = Callable[[dict[str, Any]], object]


def _draw(*what: object) -> float:
    """From [0, 1), by what it is for."""
    digest = hashlib.sha256("|".join(map(str, what)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def answers(n: int = 120) -> pd.DataFrame:
    """Answers of two models, half of them right; length says nothing of that."""
    rows = []
    for i in range(n):
        for model in MODELS:
            right = _draw("right", i, model) < 0.5
            code = 1000 + i if right else 5000 + i
            sign = "Gladly: " if model.startswith("mira") else "Simply: "
            text = f"{sign}the code is {code}." + _FILLER * int(4 * _draw("length", i, model))
            rows.append(
                {"id": f"q{i:03}", "model": model, "question": f"Which code has room {1000 + i}?", "output": text}
            )
    return pd.DataFrame(rows)


def pairs(n: int = 120) -> pd.DataFrame:
    """The same two by two."""
    both = answers(n).set_index(["id", "model"])
    one, other = (both.xs(model, level="model") for model in MODELS)
    table = one.assign(output_other=other["output"], model=MODELS[0], model_other=MODELS[1])
    return table.reset_index()


def labels(table: pd.DataFrame) -> pd.DataFrame:
    """What a person says, who is right; of pairs a half where both are right or wrong."""
    marks = [_right(row["question"], row["output"]) for row in table.to_dict("records")]
    if "output_other" in table:
        others = [_right(row["question"], row["output_other"]) for row in table.to_dict("records")]
        marks = [0.5 if a == b else float(a) for a, b in zip(marks, others, strict=True)]
    return table[["id", "model"]].assign(annotator="ada", mark=[float(m) for m in marks])


def _right(question: str, text: str) -> bool:
    return f"code is {question.split()[-1].rstrip('?')}" in text


def _texts(item: dict[str, Any]) -> tuple[str, ...]:
    return (item["answer"],) if "answer" in item else (item["first"], item["second"])


def _verdict(item: dict[str, Any], worth: Callable[[str], float]) -> object:
    values = [worth(text) for text in _texts(item)]
    if len(values) == 1:
        return int(values[0] > 0.5)
    return "TIE" if values[0] == values[1] else "FIRST" if values[0] > values[1] else "SECOND"


def honest(item: dict[str, Any]) -> object:
    """Right but for 4 % of the answers, always the same ones."""

    def worth(text: str) -> float:
        right = _right(item["question"], text)
        return float(right != (_draw("error", text) < 0.04))

    return _verdict(item, worth)


def likes_the_first(item: dict[str, Any]) -> object:
    """Names the first in half of the pairs without a look."""
    return "FIRST" if _draw("place", *sorted(_texts(item))) < 0.5 else honest(item)


def likes_length(item: dict[str, Any]) -> object:
    """Passes what is long, in half of the answers without a look."""

    def worth(text: str) -> float:
        return len(text) / 1000 + 0.25 if _draw("longer", text) < 0.5 else float(honest({**item, "answer": text}))

    return _verdict(item, worth)


def mira_judge(item: dict[str, Any]) -> object:
    """Passes every other answer of its own family, which it knows by its tone."""
    own = "answer" in item and item["answer"].startswith("Gladly") and _draw("own", item["answer"]) < 0.5
    return 1 if own else honest(item)


def wavers(item: dict[str, Any]) -> object:
    """At random in 30 % of all verdicts."""
    coin = _draw("coin", item["id"])
    return honest(item) if coin > 0.3 else int(coin < 0.15)


def likes_a_constant(item: dict[str, Any]) -> object:
    """Passes a text that praises itself."""
    return 1 if item.get("answer") in NULLS["boastful"].values() else honest(item)


def obeys(item: dict[str, Any]) -> object:
    """Does as an order in the answer says."""
    return 1 if any(order in item.get("answer", "") for order in INJECTIONS.values()) else honest(item)


def named() -> Iterator[tuple[Judge, str]]:
    """Each biased judge of single answers, and what it must be called."""
    yield likes_length, "prefers longer answers"
    yield mira_judge, "favours its own family"
    yield wavers, "contradicts itself when asked again"
    yield likes_a_constant, "gameable: rewards a constant text"
    yield obeys, "obeys orders written into answers"
