"""Whether calibrated weights and thresholds agree better with people than the defaults, and what they are."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.metrics.matching import COMPONENTS
from evalbench.studies.matching_calibration import doubts, search
from evalbench.studies.matching_calibration.items import DEFAULTS, HELD_OUT

WORDS = {search.F1: "F1", search.SPEARMAN: "rank correlation"}


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Whether they beat the defaults on unseen texts, by how much, and whether weights or thresholds do it."""
    light, objective = summary.verdict.light, str(facts.parameters.get("objective", search.F1))
    gain = next((e for e in summary.estimates if e.metric == f"gain_{objective}"), None)
    pairs = facts.tables["pairs"]
    texts = int(pairs.loc[pairs["human"].notna(), "id"].nunique())
    if gain is None or gain.value is None or light == "grey":
        rests = (
            replace(gain, light="grey") if gain is not None else core.Estimate(metric="gain", value=None, light="grey")
        )
        why = (
            summary.verdict.missing.partition(":")[0]
            or kit.doubts.lacking(rests, facts, "text", texts)
            or kit.saying.lowered(rests.note)
            or "some pairs are lacking"
        )
        said = [f"Whether calibrated weights agree better with people than the defaults is not known: {why}."]
        more = kit.doubts.adding(rests, facts, "text", texts).replace("texts", "texts with verdicts")
        after = _turned(summary) or (None if summary.verdict.missing else more) or None
        return kit.answering.answered(summary, facts, said[0], next=after)
    said = [_whether(summary, facts, objective), _by_what(summary, facts, objective)]
    after = "Use weights.json in the study matching." if light == "green" else "Keep the defaults."
    return kit.answering.answered(summary, facts, kit.doubts.within(said, 38), next=after)


def _turned(summary: core.Summary) -> str:
    return "Check that a verdict of 1 means a match." if doubts.TURNED in summary.verdict.missing else ""


def _whether(summary: core.Summary, facts: Facts, objective: str) -> str:
    held, default = (summary.estimate(objective, settings=name).value or 0.0 for name in (HELD_OUT, DEFAULTS))
    own, first = (_fit(facts, fold) for fold in ("all", "defaults"))
    name = WORDS[objective]
    if not _changed(own, first) and abs(held - default) < 0.005:
        return f"No: calibration changes nothing; no other settings agree better with people than the defaults, {name} {held:.2f} on unseen texts."
    start = {
        "green": "Yes: on unseen texts calibrated settings agree better with people than the defaults",
        "yellow": "No: on unseen texts calibrated settings are not shown to agree better with people than the defaults",
        "red": "No: on unseen texts calibrated settings agree worse with people than the defaults",
    }
    return f"{start[summary.verdict.light]}, {name} {held:.2f} against {default:.2f}."


def _by_what(summary: core.Summary, facts: Facts, objective: str) -> str:
    """Where the gain comes from: the weights, or the thresholds alone."""
    own, default = (_fit(facts, fold) for fold in ("all", "defaults"))
    if summary.verdict.light != "green":
        return ""
    of_weights = next((e for e in summary.estimates if e.metric == f"gain_of_weights_{objective}"), None)
    if of_weights is not None and of_weights.ci_low is not None and of_weights.ci_low > 0:
        heavy = sorted((c for c in COMPONENTS if c in own.index), key=lambda c: -float(own[c]))[:2]
        return f"Most weight goes to {kit.saying.names([c.replace('_', ' ') for c in heavy])}."
    first, last = float(default["score_threshold"]), float(own["score_threshold"])
    moved = f"The threshold does it, {last:.2g} instead of {first:.2g}" if first != last else "The thresholds do it"
    return f"{moved}; other weights are not shown to help."


def _fit(facts: Facts, fold: str) -> pd.Series:
    """The settings of one fit."""
    fits = facts.tables["fits"]
    return fits[fits["fold"] == fold].iloc[0]


def _changed(own: pd.Series, default: pd.Series) -> bool:
    columns = [*(c for c in COMPONENTS if c in own.index), "overlap_threshold", "rule_threshold", "score_threshold"]
    return any(own[c] != default[c] for c in columns if c in own.index)
