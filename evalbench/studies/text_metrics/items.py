"""One row per text and model: its scores, the sums behind corpus measures, and why scores are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import kit
from evalbench.text.words import word_counts


def items_of(frame: pd.DataFrame, scored: kit.scoring.Scored) -> pd.DataFrame:
    """The items of scored texts.

    Returns
    -------
    DataFrame
        ``id``, ``model`` if there is one, ``output_words``, a column per metric and part of one, ``METRIC_unscored``
        and ``METRIC_undefined`` with a reason per text where the metric lacks values; ``unscored`` and ``undefined``
        where no metric has a value.
    """
    keys = {key: frame[key].to_numpy() for key in ("id", "model") if key in frame}
    outputs = frame["output"]
    counts = word_counts(["" if text is None else text for text in outputs])
    lengths = {"output_words": np.where(outputs.isna(), np.nan, counts)}
    reasons = {
        f"{name}_{kind}": why
        for kind, of in (("unscored", scored.unscored), ("undefined", scored.undefined))
        for name, why in of.items()
        if (why != "").any()
    }
    scoreless = np.isnan(np.stack([scored.columns[name] for name in scored.unscored])).all(axis=0)
    failed = np.where(scoreless, _distinct(scored.unscored), "")
    without = np.where(scoreless & (failed == ""), _distinct(scored.undefined), "")
    return pd.DataFrame({**keys, **lengths, **scored.columns, **reasons, "unscored": failed, "undefined": without})


def _distinct(reasons: Mapping[str, Any]) -> list[str]:
    """The reasons of each text, each once, in the order of the metrics."""
    return ["; ".join(filter(None, dict.fromkeys(row))) for row in zip(*reasons.values(), strict=True)]


def with_reasons(items: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The items with the reasons of one metric as ``unscored`` and ``undefined``."""
    return items.assign(**{kind: items.get(f"{metric}_{kind}", "") for kind in ("unscored", "undefined")})
