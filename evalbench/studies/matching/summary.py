"""Items to headline figures with intervals and a light."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.metrics.matching import COMPONENTS

LIGHT_ON = "f1"
FLOOR = 0.8
"""Below this match quality a light is at best yellow; 0: whatever it is, as in the method document."""
UNKNOWN, NOTHING_THERE = ABSENT = ("unknown", "nothing")
LIT = (LIGHT_ON, "match_score", "ha_f1")
"""The measures that the light can be named after."""
VIOLATIONS = "violations"


def measures() -> tuple[core.Measure, ...]:
    """The study's headline figures."""
    macro: dict[str, Any] = {"worst": None, "interval": "bounded", "undefined": "no sample has a value"}
    none: dict[str, Any] = {"undefined": "nothing was matched", "interval": "counts"}
    return (
        core.measures.f1_of("tp", "fp", "fn", title="F1", interval="counts"),
        core.Measure(
            "match_score",
            ("ha_score_sum", "n_truth"),
            core.ratio,
            title="match score",
            interval="counts",
            undefined="there is no true violation",
        ),
        core.measures.precision_of("tp", "fp"),
        core.measures.recall_of("tp", "fn"),
        core.measures.f1_of("ha_tp", "ha_fp", "ha_fn", "ha_f1", title="human-aligned F1", interval="counts"),
        core.measures.precision_of("ha_tp", "ha_fp", "ha_precision", title="human-aligned precision"),
        core.measures.recall_of("ha_tp", "ha_fn", "ha_recall", title="human-aligned recall"),
        core.Measure("match_quality", ("ha_score_sum", "ha_tp"), core.ratio, title="match quality", **none),
        *(_matched(component) for component in COMPONENTS),
        core.Measure(
            "low_overlap_share",
            ("low_overlap", "n_overlap"),
            core.ratio,
            title="matches with little overlap",
            higher_is_better=False,
            interval="counts",
            undefined="nothing was matched that has a place",
        ),
        core.mean_of("sample_f1", "macro_f1", title="mean F1 over texts", **macro),
        core.mean_of("sample_precision", "macro_precision", title="mean precision over texts", **macro),
        core.mean_of("sample_recall", "macro_recall", title="mean recall over texts", **macro),
        _count("tp", "true positives"),
        _count("fp", "false positives", higher_is_better=False),
        _count("fn", "false negatives", higher_is_better=False),
    )


def _matched(component: str) -> core.Measure:
    return core.Measure(
        f"matched_{component}",
        (f"sum_{component}", f"n_{component}"),
        core.ratio,
        title=f"{component.replace('_', ' ')} of matched pairs",
        undefined="no matched pair has this part",
        interval="counts",
    )


def _count(column: str, title: str, *, higher_is_better: bool = True) -> core.Measure:
    return core.Measure(column, (column,), np.asarray, title=title, unit=VIOLATIONS, higher_is_better=higher_is_better)


def rules_of(
    light_on: str = LIGHT_ON,
    green_from: float | None = None,
    yellow_from: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
) -> dict[str, dict[str, float]]:
    """The checked thresholds of each figure that has a light, that of ``light_on`` first, also without any.

    Raises ``BadInput``: Lists thresholds that are no rule or beyond their figure, and unknown figures.

    Examples
    --------
    >>> rules_of(lights={"recall": {"green_from": 0.9, "yellow_from": 0.7}})
    {'f1': {}, 'recall': {'green_from': 0.9, 'yellow_from': 0.7}}
    """
    checks = kit.Checks()
    checks.choice("light_on", light_on, LIT)
    own = {light_on if light_on in LIT else "f1": {"green_from": green_from, "yellow_from": yellow_from}}
    found = checks.tried(lambda: kit.rules.rules_of(lights, kit.rules.figures_of(measures(), VIOLATIONS), own))
    checks.refuse("matching")
    return found or {}


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.choices(absent=ABSENT)
    checks.share("floor")
    checks.tried(lambda: rules_of(**kit.taken(rules_of, checks.options)))


@kit.slicing.sliced("id", measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    floor: float = FLOOR,
    absent: str = UNKNOWN,
    light_on: str = LIGHT_ON,
    green_from: float | None = None,
    yellow_from: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Headline figures per checker and over all, with the verdict: the worst light of all checkers decides.

    Options as of ``evaluate``.
    """
    n_truth = int(items.drop_duplicates("id")["n_truth"].sum())
    return kit.worst_group(
        items,
        measures(),
        "model",
        lights=rules_of(light_on, green_from, yellow_from, lights),
        over=f"{core.counted(n_truth, 'true violation')} in {core.counted(items['id'].nunique(), 'text')}",
        units="id",
        whole=True,
        headline="match_quality",
        floor=floor,
        faults=_unnamed(items),
        absent=kit.evidence.absent_of(
            items[items["n_truth"] > 0],
            "model",
            "id",
            unit="text",
            counted="counted as texts in which nothing was found",
            stated=absent == NOTHING_THERE,
        ),
        remark=_how_good(items),
        seed=seed,
        n_resamples=n_resamples,
    )


def _unnamed(items: pd.DataFrame) -> dict[str, str]:
    """Why every light is grey where the rules of more than a few true violations are a missing value written as a word."""
    once = items.drop_duplicates("id")
    n, of = int(once["n_unnamed"].sum()) if "n_unnamed" in items else 0, int(once["n_truth"].sum())
    if n <= kit.MAX_UNSCORED * of:
        return {}
    why = f"the rule of {n} of {core.counted(of, 'true violation')} is the word nan, None or null"
    return dict.fromkeys(map(str, items["model"].unique()), why)


def _how_good(items: pd.DataFrame) -> str:
    """The match score of every checker, and how much the places and rules of its matches are alike; of many the ends."""
    said = []
    for checker, own in items.groupby("model", sort=True):
        score, overlap, rule = (
            float(own[part].sum() / own[of].sum()) if own[of].sum() else np.nan
            for part, of in (
                ("ha_score_sum", "n_truth"),
                ("sum_text_overlap", "n_text_overlap"),
                ("sum_rule_similarity", "n_rule_similarity"),
            )
        )
        parts = [f"{name} {x:.2f}" for name, x in (("overlap", overlap), ("rules alike", rule)) if x == x]
        if score == score:
            said.append((score, f"{score:.2f} ({', '.join([str(checker), *parts])})"))
    said.sort()
    return (
        f"Match score {'; '.join(text for _, text in (said if len(said) < 4 else (said[0], said[-1])))}."
        if said
        else ""
    )
