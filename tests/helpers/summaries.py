"""Summaries built by hand, for the words of answers: a figure of a model in one line."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalbench.core.result import Estimate, Summary
from evalbench.core.verdict import Light, Verdict

CUT = (0.8,)


def fig(metric: str, value: float | None, model: str = "oak", **more: Any) -> Estimate:
    """A figure of 40 items with an interval of 0.05 to either side."""
    known: dict[str, Any] = {"unit": "0–1", "higher_is_better": True, "n": 0 if value is None else 40}
    known |= {"ci_low": value - 0.05, "ci_high": value + 0.05} if value is not None else {"note": "nothing has a value"}
    return Estimate(metric=metric, value=value, **{**known, "group": {"model": model} if model else {}, **more})


def summary(light: Light, *own: Estimate, decided: Estimate | None = None, **more: Any) -> Summary:
    """Decided by the first lit figure with that light unless another one is stated."""
    lit = next((e for e in own if e.light == light != "unlit"), None)
    by = decided or lit
    return Summary(own, Verdict(light, "…", decided_by=by.place if by else None, **more))


def compared(metric: str, *rows: tuple[str, str, float, str], unit: str = "0–1") -> dict[str, pd.DataFrame]:
    """The table of compared models: A, B, the difference, its outcome."""
    columns = ["model_a", "model_b", "difference", "outcome"]
    return {"comparisons": pd.DataFrame(rows, columns=columns).assign(metric=metric, unit=unit)}
