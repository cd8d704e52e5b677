"""Recall by cell of the grid, and the depth at which it falls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.arrays import Floats
from evalbench.core.measures import unit_sums
from evalbench.core.seeds import rng
from evalbench.core.stats import bootstrap_sums, wilson
from evalbench.metrics.needle import fall_of, falls

if TYPE_CHECKING:
    import pandas as pd

GRID = ["model", "haystack", "length", "depth"]
SHOWN = 0.95
"""A fall is shown where so many resamples have one."""
MOST_LINES = 200


def cells(items: pd.DataFrame) -> pd.DataFrame:
    """Recall of each model, haystack, length and depth, with Wilson's interval, and how many replies have no score.

    Of several needles in a context the shares found are added up; Wilson's interval is then wider than it need be.
    """
    groups = items.groupby(GRID, sort=True, dropna=False)
    table = groups["recall"].agg(total="sum", n="count").reset_index()
    table["n_unscored"] = (
        (items["unscored"] != "").groupby([items[c] for c in GRID], sort=True, dropna=False).sum().to_numpy()
    )
    n = table["n"].to_numpy(float)
    with np.errstate(all="ignore"):
        table["recall"] = table.pop("total").to_numpy(float) / np.where(n > 0, n, np.nan)
        some = n > 0
        low, high = np.full(len(n), np.nan), np.full(len(n), np.nan)
        low[some], high[some] = wilson(table["recall"].to_numpy()[some] * n[some], n[some])
    return table.assign(low=low, high=high)


def falls_of(items: pd.DataFrame, least_fall: float, seed: int, n_resamples: int) -> pd.DataFrame:
    """Where recall falls along the depths: of each model and haystack, for every length and for all together.

    Returns
    -------
    DataFrame
        ``model, haystack, length`` (none: all), ``depth`` with ``low`` and ``high`` (none where recall falls nowhere),
        ``before`` and ``recall``, ``share`` of the resamples that have a fall, and ``shown``: whether 95 % have one.
        The interval is that of the depths in the resamples of needles that have a fall; its ends are depths of the grid.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    known = items[items["recall"].notna() & items["depth"].notna()]
    for (model, haystack), own in known.groupby(["model", "haystack"], sort=True):
        lengths = sorted(own["length"].dropna().unique())
        parts = [(length, own[own["length"] == length]) for length in lengths]
        parts += [(np.nan, own)] if len(parts) != 1 else []
        for length, part in parts[:MOST_LINES]:
            found = _fall(part, least_fall, seed, n_resamples)
            if found:
                rows.append({"model": model, "haystack": haystack, "length": length, **found})
    return pd.DataFrame(rows)


def _fall(part: pd.DataFrame, least_fall: float, seed: int, n_resamples: int) -> dict[str, Any]:
    depths = np.array(sorted(part["depth"].unique()))
    if len(depths) < 2:
        return {}
    columns: dict[str, Any] = {f"d{j}": part["recall"].where(part["depth"] == d) for j, d in enumerate(depths)}
    names = [*columns, *(f"#{name}" for name in columns)]
    sums, units = unit_sums(columns, names, part["needle"])

    def recall(of: Floats) -> Floats:
        total, n = of[:, : len(depths)], of[:, len(depths) :]
        found: Floats = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
        return found

    point = fall_of(recall(sums.sum(axis=0, keepdims=True))[0], least_fall)
    at = np.full(1, point.at)
    if len(units) > 1:
        at = falls(bootstrap_sums(sums, recall, rng(seed, "falls"), n_resamples), least_fall)
    fell = depths[at[at >= 0]]
    share = float((at >= 0).mean())
    shown = bool(point.at >= 0 and share >= SHOWN and len(units) > 1)
    ends = np.quantile(fell, [0.025, 0.975], method="inverted_cdf") if shown else (np.nan, np.nan)
    return {
        "depth": depths[point.at] if point.at >= 0 else np.nan,
        "low": float(ends[0]),
        "high": float(ends[1]),
        "before": point.before,
        "recall": point.value,
        "share": share,
        "needles": len(units),
        "shown": shown,
    }
