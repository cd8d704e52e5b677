"""Sessions in small, and the study of their lengths."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalbench import dialogue, load
from evalbench.core.result import Result


def turns(lengths: dict[str, int], **columns: Any) -> pd.DataFrame:
    """Sessions of so many answers, each after a turn of the user; a column's value by session, or one of all."""
    rows = []
    for name, n in lengths.items():
        own = {key: value[name] if isinstance(value, dict) else value for key, value in columns.items()}
        for i in range(n):
            rows += [
                {"session_id": name, "turn": 2 * i + 1, "role": "user", **own},
                {"session_id": name, "turn": 2 * i + 2, "role": "assistant", **own},
            ]
    return pd.DataFrame(rows)


def result_of(frame: pd.DataFrame, **options: Any) -> Result:
    return dialogue.evaluate(load({"turns": frame}, study="dialogue"), **{"n_resamples": 50, **options})
