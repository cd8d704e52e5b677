"""Items to headline figures with intervals and a light."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.measures import Measure, f1_of, mean_of, precision_of, ratio, recall_of
from evalbench.core.result import Summary
from evalbench.core.wording import counted
from evalbench.kit.verdicts import worst_group
from evalbench.metrics.matching import COMPONENTS

if TYPE_CHECKING:
    import pandas as pd

LIGHT_ON = "f1"
LIT = (LIGHT_ON, "match_score", "ha_f1")
"""The measures that can have a light."""


def measures() -> tuple[Measure, ...]:
    """The study's headline figures."""
    macro: dict[str, Any] = {"worst": None, "undefined": "no sample has a value"}
    none: dict[str, Any] = {"undefined": "nothing was matched"}
    return (
        f1_of("tp", "fp", "fn", title="F1"),
        Measure(
            "match_score",
            ("ha_score_sum", "n_truth"),
            ratio,
            title="match score",
            undefined="there is no true violation",
        ),
        precision_of("tp", "fp"),
        recall_of("tp", "fn"),
        f1_of("ha_tp", "ha_fp", "ha_fn", "ha_f1", title="human-aligned F1"),
        precision_of("ha_tp", "ha_fp", "ha_precision", title="human-aligned precision"),
        recall_of("ha_tp", "ha_fn", "ha_recall", title="human-aligned recall"),
        Measure("match_quality", ("ha_score_sum", "ha_tp"), ratio, title="match quality", **none),
        *(_matched(component) for component in COMPONENTS),
        Measure(
            "low_overlap_share",
            ("low_overlap", "tp"),
            ratio,
            title="matches with little overlap",
            higher_is_better=False,
            interval="counts",
            **none,
        ),
        mean_of("sample_f1", "macro_f1", title="mean F1 over texts", **macro),
        mean_of("sample_precision", "macro_precision", title="mean precision over texts", **macro),
        mean_of("sample_recall", "macro_recall", title="mean recall over texts", **macro),
        _count("tp", "true positives"),
        _count("fp", "false positives", higher_is_better=False),
        _count("fn", "false negatives", higher_is_better=False),
    )


def _matched(component: str) -> Measure:
    return Measure(
        f"matched_{component}",
        (f"sum_{component}", f"n_{component}"),
        ratio,
        title=f"{component.replace('_', ' ')} of matched pairs",
        undefined="no matched pair has this part",
        interval="counts" if component == "category_match" else "bootstrap",
    )


def _count(column: str, title: str, *, higher_is_better: bool = True) -> Measure:
    return Measure(column, (column,), np.asarray, title=title, unit="violations", higher_is_better=higher_is_better)


def summarise(
    items: pd.DataFrame,
    *,
    light_on: str = LIGHT_ON,
    yellow_from: float | None = None,
    green_from: float | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Summary:
    """Headline figures per checker and over all, with the verdict: the worst checker decides; options as of ``evaluate``."""
    n_truth = int(items.drop_duplicates("sample_id")["n_truth"].sum())
    return worst_group(
        items,
        measures(),
        "checker",
        lights={light_on: () if yellow_from is None or green_from is None else (yellow_from, green_from)},
        over=f"{counted(n_truth, 'true violation')} in {counted(items['sample_id'].nunique(), 'text')}",
        units="sample_id",
        whole=True,
        seed=seed,
        n_resamples=n_resamples,
    )
