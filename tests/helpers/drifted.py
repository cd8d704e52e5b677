"""The study of drift on its samples, every so-manieth row of them."""

from __future__ import annotations

from typing import Any

import pandas as pd
from studied import ROOT

from evalbench import studies
from evalbench.core.result import Result
from evalbench.studies import drift

KEY = {"green_from": 0.7, "yellow_from": 0.65}
QUICK: dict[str, Any] = {"n_resamples": 40, "n_permutations": 19, "key_bands": KEY}


def tables(name: str, every: int = 1) -> dict[str, pd.DataFrame]:
    found = {"oos": "desk_log", "oot": name}
    read = {
        t: pd.read_csv(ROOT / "data" / n / "1.1.0" / f"{t}.csv", dtype=str, keep_default_na=False)
        for t, n in found.items()
    }
    return {t: frame.iloc[::every].reset_index(drop=True) for t, frame in read.items()}


def evaluated(frames: Any, slices: Any = (), **options: Any) -> Result:
    return drift.evaluate(studies.load(frames, study="drift", slices=slices), **{**QUICK, **options})


def small(**options: Any) -> Result:
    return evaluated(tables("desk_log", 6), **{"embed": "", **options})
