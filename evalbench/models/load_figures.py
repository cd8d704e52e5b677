"""The figures of a load test, each with its interval: per endpoint and level of concurrency."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.quantiles import quantile, throughput
from evalbench.core.stats import Measured
from evalbench.models.load import Load

if TYPE_CHECKING:
    import pandas as pd

FIGURES = {
    "first_p50": "time to first token, median, s",
    "first_p95": "time to first token, 95th percentile, s",
    "seconds_p50": "whole reply, median, s",
    "seconds_p95": "whole reply, 95th percentile, s",
    "seconds_p99": "whole reply, 99th percentile, s",
    "tokens_per_second": "tokens a second, all requests together",
    "tokens_per_second_each": "tokens a second of one reply after its first token, median",
    "tokens_per_reply": "tokens a reply, mean",
    "cost_per_reply": "cost a reply, mean",
}


@dataclass(frozen=True)
class AtLevel:
    """One endpoint at one level.

    - ``requests``, ``replies``: Sent, and answered whole.
    - ``errors``: By kind.
    - ``counted_by``: Who counted tokens: ``endpoint``, ``pieces``, both, or nobody.
    - ``cost``: Of all replies; NaN where a price or a count is not known.
    - ``figures``: By the names of :data:`FIGURES`.
    """

    model: str
    level: int
    requests: int
    replies: int
    errors: dict[str, int]
    seconds: float
    stopped: str
    counted_by: str
    cost: float
    figures: dict[str, Measured]


def figures(load: Load) -> tuple[AtLevel, ...]:
    """The figures of every endpoint and level, in the order in which they were asked."""
    rows = load.requests
    found = []
    for level in load.levels:
        own = rows[(rows["model"] == level.model) & (rows["level"] == level.level)]
        whole = own[own["error"] == ""]
        found.append(
            AtLevel(
                level.model,
                level.level,
                len(own),
                len(whole),
                dict(sorted(Counter(own.loc[own["error"] != "", "error"]).items())),
                level.seconds,
                level.stopped,
                " and ".join(sorted(set(whole["counted_by"]) - {""})) or "nobody",
                float(whole["cost"].sum(skipna=False)) if len(whole) else 0.0,
                _measured(own, whole, level.seconds),
            )
        )
    return tuple(found)


def _measured(own: pd.DataFrame, whole: pd.DataFrame, seconds: float) -> dict[str, Measured]:
    first, took, tokens, cost = (
        whole[name].to_numpy(dtype=float) for name in ("first", "seconds", "tokens_out", "cost")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where((took > first) & (tokens > 1), (tokens - 1) / (took - first), np.nan)
    return {
        "first_p50": quantile(first, 0.5),
        "first_p95": quantile(first, 0.95),
        "seconds_p50": quantile(took, 0.5),
        "seconds_p95": quantile(took, 0.95),
        "seconds_p99": quantile(took, 0.99),
        "tokens_per_second": throughput(own["tokens_out"].fillna(0), own["seconds"], seconds)
        if len(whole)
        else Measured(None, n=0, note="no replies"),
        "tokens_per_second_each": quantile(each, 0.5),
        "tokens_per_reply": _mean(tokens),
        "cost_per_reply": _mean(cost),
    }


def _mean(values: np.ndarray) -> Measured:
    """A mean with Student's interval; without a value where one of them is not known."""
    from scipy.stats import t

    n = len(values)
    if not n or not np.isfinite(values).all():
        return Measured(None, n=n, note="no replies" if not n else "not known of every reply")
    mean = float(values.mean())
    if n < 2:
        return Measured(mean, n=n, note="no interval: one reply")
    half = float(t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return Measured(mean, mean - half, mean + half, n, "Student's t")
