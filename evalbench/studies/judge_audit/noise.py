"""Where the noise of a judge's rate comes from: answers, several trials of them, or the same verdict asked again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.judge_audit import figures, inputs
from evalbench.studies.judge_audit.items import NOMINAL, NULL_ANSWER


def noise_of(items: pd.DataFrame, readings: inputs.Readings) -> dict[str, Any]:
    """Of every judge the variance of its rate, by its source, for ``Result.trials``; empty where nothing was repeated.

    Of pairs the order with the most verdicts counts, so that a liking for a place is not taken for noise.
    """
    verdicts = readings.verdicts
    plain = verdicts[(verdicts["probe"] == "") & verdicts["mark"].notna()]
    titles = {m.metric: (m.title, m.unit) for m in figures.unlit("random")}
    noise = []
    for name, rows in items[items["undefined"] != NULL_ANSWER].groupby("judge", sort=True):
        first = rows.iloc[0]
        known = set(zip(rows["id"], rows["model"], strict=True))
        own = plain[(plain["judge"] == first["asked"]) & (plain[inputs.CRITERION] == first[inputs.CRITERION])]
        own = own[[pair in known for pair in zip(own["id"], own["model"], strict=True)]]
        if own.empty or str(first["scale"]) == NOMINAL:
            continue
        own = own[own["order"] == own["order"].value_counts().sort_index().idxmax()]
        item = own.groupby(["id", "model"], sort=True).ngroup().to_numpy()
        answer = own.groupby(["id", "model", "trial"], sort=True).ngroup().to_numpy()
        if not np.bincount(item).max() > 1:
            continue
        split = core.noise.noise_split(own["mark"].to_numpy(dtype=float), item, answer)
        metric = figures.NAIVE[str(first["scale"])]
        if split is not None:
            title, unit = titles[metric]
            noise.append(
                {"judge": str(name), "metric": metric, "title": title, "unit": unit, **kit.trial_tables.of_split(split)}
            )
    return {"noise": noise} if noise else {}
