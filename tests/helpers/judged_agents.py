"""Small tables of agents' steps, and what the study of trajectories makes of tables."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalbench import load
from evalbench.core.result import Result
from evalbench.studies import trajectories

KEYS = ["id", "model", "trial"]


def judged(frames: dict[str, pd.DataFrame], **options: Any) -> Result:
    return trajectories.evaluate(load(frames, study="trajectories"), **{"n_resamples": 50, **options})


def runs(table: pd.DataFrame | None) -> set[tuple[str, ...]]:
    return set() if table is None else set(table[KEYS].itertuples(index=False, name=None))


def steps(*rows: tuple[Any, ...], **more: Any) -> pd.DataFrame:
    columns = ["id", "step", "kind", "name", "arguments", "text", "error"]
    return pd.DataFrame([dict(zip(columns, row, strict=False)) for row in rows]).fillna("").assign(**more)
