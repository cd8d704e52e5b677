"""Recall by cell of the grid, and the depth at which it falls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.metrics.needle import fall_of, falls, largest_fall

GRID = ["model", "haystack", "length", "depth"]
ALPHA = 0.05
N_PERMUTATIONS = 2000


def cells(items: pd.DataFrame) -> pd.DataFrame:
    """Recall of each model, haystack, length and depth with its interval (:func:`shares`), and how many replies have no score.

    Of several needles in a context the shares found are added up; the interval is then wider than it need be.
    """
    table = shares(items, GRID)
    unscored = (items["unscored"] != "").groupby([items[c] for c in GRID], sort=True, dropna=False).sum()
    return table.assign(n_unscored=unscored.to_numpy())[[*GRID, "n", "n_unscored", "recall", "low", "high"]]


def shares(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Recall of each group with the interval of :func:`evalbench.core.stats.clustered_wilson` over needles, or clusters.

    Returns: ``by``, ``n`` (scored replies), ``recall``, ``low``, ``high``; no interval where several replies are all
    about one needle.
    """
    rows = items[[*by, "recall"]].assign(unit=core.clusters.drawn_together(items, items["needle"]))
    groups = rows.groupby(list(by), sort=True, dropna=False)
    table = groups["recall"].count().rename("n").reset_index()
    rows["group"] = groups.ngroup()
    # Shares are added in order of their value, so that the order of rows changes no bit.
    each = rows.sort_values("recall").groupby(["group", "unit"])["recall"].agg(["sum", "count"]).reset_index()
    low, high = core.stats.clustered_wilson(each["sum"], each["count"], each["group"], len(table))
    n = table["n"].to_numpy(float)
    found = np.bincount(each["group"], each["sum"], len(table))
    return table.assign(recall=found / np.where(n > 0, n, np.nan), low=low, high=high)


def falls_of(items: pd.DataFrame, least_fall: float, seed: int, n_resamples: int) -> pd.DataFrame:
    """Where recall falls along the depths: of each model and haystack, for every length and for all together.

    - ``least_fall``: See :func:`evalbench.metrics.needle.falls`.
    - ``seed``, ``n_resamples``: Of the interval.

    Returns: ``model, haystack, length`` (none: all), ``depth`` (none where recall falls nowhere), ``before`` and
    ``recall``; ``p_holm``: as large a fall anywhere when the replies about a needle are dealt to its depths at random,
    Holm over the model's rows; ``shown``: whether there is a fall and p is at most 0.05; ``low`` and ``high``: the
    middle 95 % of the depths in the resamples of needles that have a fall, where one is shown.
    """
    rows: list[dict[str, Any]] = []
    known = items[items["recall"].notna() & items["depth"].notna()]
    for (model, haystack), own in known.groupby(["model", "haystack"], sort=True):
        lengths = sorted(own["length"].dropna().unique())
        parts = [(length, own[own["length"] == length]) for length in lengths]
        parts += [(np.nan, own)] if len(parts) != 1 else []
        for length, part in parts:
            if part["depth"].nunique() > 1:
                rows.append(
                    {
                        "model": model,
                        "haystack": haystack,
                        "length": length,
                        **_fall(part, least_fall, seed, n_resamples),
                    }
                )
    table = pd.DataFrame(rows)
    if table.empty:
        return table
    table["p_holm"] = table.groupby("model")["p"].transform(lambda p: core.significance.holm(p.to_numpy()))
    table["shown"] = table["depth"].notna() & (table["p_holm"] <= ALPHA)
    table.loc[~table["shown"], ["low", "high"]] = np.nan
    return table.drop(columns="p")


def _fall(part: pd.DataFrame, least_fall: float, seed: int, n_resamples: int) -> dict[str, Any]:
    depths = np.array(sorted(part["depth"].unique()))
    columns: dict[str, Any] = {f"d{j}": part["recall"].where(part["depth"] == d) for j, d in enumerate(depths)}
    names = [*columns, *(f"#{name}" for name in columns)]
    sums, units = core.measures.unit_sums(columns, names, core.clusters.drawn_together(part, part["needle"]))

    def recall(of: core.arrays.Floats) -> core.arrays.Floats:
        total, n = of[:, : len(depths)], of[:, len(depths) :]
        found: core.arrays.Floats = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
        return found

    whole = recall(sums.sum(axis=0, keepdims=True))
    point, low, high = fall_of(whole[0], least_fall), np.nan, np.nan
    if point.at >= 0 and len(units) > 1:
        at = falls(core.stats.bootstrap_sums(sums, recall, core.seeds.rng(seed, "falls"), n_resamples), least_fall)
        fell = depths[at[at >= 0]]
        low, high = np.quantile(fell, [0.025, 0.975], method="inverted_cdf") if len(fell) else (np.nan, np.nan)
    return {
        "depth": depths[point.at] if point.at >= 0 else np.nan,
        "low": float(low),
        "high": float(high),
        "before": point.before,
        "recall": point.value,
        "p": _p_of_fall(part, float(largest_fall(whole)[0]), seed) if point.at >= 0 else 1.0,
        "needles": len(units),
    }


def _p_of_fall(part: pd.DataFrame, observed: float, seed: int) -> float:
    """How often a fall as large as the observed one appears when each needle's replies are dealt to its depths at random.

    Those of a cluster are dealt together: what was at one depth stays at one.
    """
    clustered = core.clusters.is_clustered(part)
    unit = part[core.clusters.CLUSTER] if clustered else part["needle"]
    placed = part.assign(length=part["length"].fillna(-1), unit=unit)
    means = placed.groupby(["unit", "needle", "length", "depth"], sort=True)["recall"].mean().unstack("depth")
    table = means.to_numpy(float)
    units, of_row = np.unique(means.index.get_level_values("unit"), return_inverse=True)
    places = np.tile(np.arange(table.shape[1]), (len(units), 1))
    draw = core.seeds.rng(seed, "falls/permutation")
    dealt, means_of = np.empty_like(table), np.empty((N_PERMUTATIONS, table.shape[1]))
    # One mean by depth of every deal; the order of the rows is that of the index.
    for i in range(N_PERMUTATIONS):
        if clustered:
            dealt = np.take_along_axis(table, draw.permuted(places, axis=1)[of_row], axis=1)
        else:
            draw.permuted(table, axis=1, out=dealt)
        known = np.isfinite(dealt)
        n = known.sum(axis=0)
        means_of[i] = np.where(known, dealt, 0).sum(axis=0) / np.where(n > 0, n, np.nan)
    as_large = int((largest_fall(means_of) >= observed - 1e-9).sum())
    return (1 + as_large) / (1 + N_PERMUTATIONS)
