"""One stage of the cascade, or some, run on a few questions with a scripted judge (a fake: a function in this process)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from evalbench import load
from evalbench.studies import cascade

ASKED = {"id": ["q1"], "question": ["When does the pool open?"]}
NINE, TEN = "The pool opens at 9.", "The pool opens at 10."


def run(
    rows: dict[str, list[Any]], stage: int | list[int], tables: dict[str, pd.DataFrame] | None = None, **options: Any
) -> Any:
    frame = pd.DataFrame({**ASKED, **rows}) if "id" not in rows else pd.DataFrame(rows)
    chosen = [stage] if isinstance(stage, int) else stage
    return cascade.evaluate(
        load({"items": frame, **(tables or {})}, study="cascade"), run_stages=chosen, n_resamples=20, **options
    )


def outcome(result: Any, name: str = "q1") -> str:
    return str(result.items.set_index("id").loc[name, "outcome"])


def account(result: Any, stage: int) -> Any:
    return result.tables["stages"].set_index("stage").loc[stage]


def says(**by_field: Any) -> Callable[[dict[str, Any]], Any]:
    """A judge that answers by the field that tells its tasks apart."""

    def scripted(item: dict[str, Any]) -> Any:
        for field, reply in by_field.items():
            if field in item:
                return reply(item) if callable(reply) else reply
        raise AssertionError(f"not expected: {sorted(item)}")

    return scripted


def many(n: int, differ: int) -> dict[str, list[Any]]:
    return {
        "id": [f"q{i:03}" for i in range(n)],
        "question": [f"When does pool {i} open?" for i in range(n)],
        "answer_a": [NINE] * n,
        "answer_b": [TEN] * differ + [NINE] * (n - differ),
    }
