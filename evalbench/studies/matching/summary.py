"""Items to headline figures with intervals and a light."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.measures import Measure, f1_of, mean_of, precision_of, ratio, recall_of
from evalbench.core.result import Summary
from evalbench.core.wording import counted
from evalbench.kit.options import Checks
from evalbench.kit.rules import rule_of
from evalbench.kit.slicing import sliced
from evalbench.kit.verdicts import N_RESAMPLES, SEED, worst_group
from evalbench.metrics.matching import COMPONENTS

if TYPE_CHECKING:
    import pandas as pd

LIGHT_ON = "f1"
LIT = (LIGHT_ON, "match_score", "ha_f1")
"""The measures that the light can be named after."""
VIOLATIONS = "violations"


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
            ("low_overlap", "n_overlap"),
            ratio,
            title="matches with little overlap",
            higher_is_better=False,
            interval="counts",
            undefined="nothing was matched that has a place",
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
    return Measure(column, (column,), np.asarray, title=title, unit=VIOLATIONS, higher_is_better=higher_is_better)


def rules_of(
    light_on: str = LIGHT_ON,
    green_from: float | None = None,
    yellow_from: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
) -> dict[str, dict[str, float]]:
    """The checked thresholds of each figure that has a light, that of ``light_on`` first, also without any.

    Raises
    ------
    BadInput
        Lists thresholds that are no rule or beyond their figure, and unknown figures.

    Examples
    --------
    >>> rules_of(lights={"recall": {"green_from": 0.9, "yellow_from": 0.7}})
    {'f1': {}, 'recall': {'green_from': 0.9, 'yellow_from': 0.7}}
    """
    checks, known = Checks(), {m.metric: m for m in measures()}
    checks.choice("light_on", light_on, LIT)
    own = {"green_from": green_from, "yellow_from": yellow_from}
    found = {light_on: checks.tried(lambda: rule_of(own, within=(0, 1))) or {}}
    for name, rule in lights.items():
        if name not in known:
            checks.choice("lights", name, known)
            continue
        checks.that(not found.get(name), f"lights: {name} has its thresholds in green_from and yellow_from")
        options = {
            "higher_is_better": known[name].higher_is_better,
            "within": (0, math.inf if known[name].unit == VIOLATIONS else 1),
            "of": name,
        }
        found[name] = checks.tried(lambda rule=rule, options=options: rule_of(rule, **options)) or {}  # type: ignore[misc]
    checks.refuse("matching")
    return found


@sliced("sample_id", measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    light_on: str = LIGHT_ON,
    green_from: float | None = None,
    yellow_from: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
    seed: int = SEED,
    n_resamples: int = N_RESAMPLES,
) -> Summary:
    """Headline figures per checker and over all, with the verdict: the worst light of all checkers decides.

    Options as of ``evaluate``.
    """
    n_truth = int(items.drop_duplicates("sample_id")["n_truth"].sum())
    return worst_group(
        items,
        measures(),
        "checker",
        lights=rules_of(light_on, green_from, yellow_from, lights),
        over=f"{counted(n_truth, 'true violation')} in {counted(items['sample_id'].nunique(), 'text')}",
        units="sample_id",
        whole=True,
        seed=seed,
        n_resamples=n_resamples,
    )
