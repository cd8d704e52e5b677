"""What the page says besides figures, and the file of weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core
from evalbench.metrics.matching import Thresholds
from evalbench.studies.matching.pairs import HA_WEIGHTS, STD_WEIGHTS
from evalbench.studies.matching_calibration import inputs, search

WEIGHTS = {"std": STD_WEIGHTS, "ha": HA_WEIGHTS}


def weights_of(score: str, setting: search.Setting) -> dict[str, Any]:
    """A setting as parameters of ``matching``: only the calibrated score changes, the other keeps the defaults."""
    weights = dict(zip(WEIGHTS[score], setting.weights, strict=True))
    if score == "ha":
        return {"ha_weights": weights, "ha_thresholds": setting.thresholds._asdict()}
    o, r, s = setting.thresholds
    return {
        "std_weights": weights, "overlap_threshold": o, "rule_threshold": r, "score_threshold": s,
        "ha_thresholds": Thresholds()._asdict(),
    }  # fmt: skip


def weights_file(
    weights: Mapping[str, Any], label: core.result.DataLabel, parameters: Mapping[str, Any], summary: core.Summary
) -> bytes:
    """What ``matching`` takes as ``weights_file``: parameters, and where they came from."""
    content = {
        "schema_version": 1,
        "parameters": dict(weights),
        "calibrated_by": "matching_calibration",
        "data": {"name": label.name, "version": label.version, "sha256": label.sha256, "synthetic": label.synthetic},
        "options": dict(parameters),
        "light": summary.verdict.light,
        "sentence": summary.verdict.sentence,
    }
    return (json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def remarks(judged: pd.DataFrame, score: str, found: Mapping[str, Any]) -> list[str]:
    """How many verdicts there are, and what was found."""
    counts = judged["verdicts"].str.count(",") + 1
    silent = judged["verdicts"] == inputs.NO_VERDICTS
    split = int((judged["human"].isna() & ~silent).sum())
    out = [
        f"{len(judged)} judged pairs, {int((counts > 1).sum())} of them by several annotators"
        + (f"; on {split} the annotators are split, which are left out" if split else "")
        + (f"; {int(silent.sum())} have no verdict and are left out." if silent.any() else ".")
    ]
    weights = ", ".join(f"{k} {v:g}" for k, v in found[f"{score}_weights"].items())
    limits = found["ha_thresholds"] if score == "ha" else {k: found[f"{k}_threshold"] for k in search.SEARCHED}
    bounds = ", ".join(f"{k} > {v:g}" for k, v in limits.items())
    other = "std" if score == "ha" else "ha"
    out.append(
        f"weights.json, from all texts: {weights}; {bounds}. It changes the {score} score of matching and leaves the {other} score alone."
    )
    return out


def worth(summary: core.Summary, objective: str) -> list[str]:
    """Whether the weights add anything to the thresholds."""
    gain = next((e for e in summary.estimates if e.metric == f"gain_of_weights_{objective}"), None)
    if gain is None or gain.ci_low is None or gain.ci_high is None or objective != "f1":
        return []
    said = core.wording.estimate_text(gain)
    if gain.ci_low > 0:
        return [f"The weights add to what the thresholds alone gain: {said}."]
    return [
        f"No gain of the weights over the thresholds alone is shown: {said}; thresholds are the simpler change (weights=False)."
    ]


def described(options: Mapping[str, Any]) -> tuple[str, ...]:
    """How the figures were computed, a line each."""
    what = {
        "f1": "F1 = 2tp / (2tp + fp + fn) of calls against verdicts",
        "spearman": "Spearman's ρ of score and verdict",
    }
    verdict = {
        inputs.MAJORITY: "the verdict of most annotators, ties left out",
        inputs.MEAN: "the share of annotators who say yes, which counts in part for tp, fp and fn",
    }
    return (
        f"Searched: weights of the {options['score']} score (non-negative, sum 1, steps of 0.01) and the thresholds of "
        f"{', '.join(options['thresholds']) or 'nothing'}; highest {what[options['objective']]}; of equally good settings the one nearest the defaults.",
        f"Humans: {verdict[options['consensus']]}.",
        f"Held out: {options['n_folds']} folds of whole texts; every pair is called by the settings that were found on the other folds. "
        "In training: by those that saw it.  Thresholds alone: searched for with the default weights.",
        "A pair is called a match above all thresholds; the one-to-one assignment of matching plays no part.",
        "Defaults: weights and thresholds of violations (docs/methods.md), Metrics: summary. Intervals come from "
        "resampling texts; they do not include variation from training on other texts, for which see the spread of the "
        "folds' weights.",
        "Light: the 95 % interval of held out − defaults; its stability asks how often another draw of texts, with an interval as "
        "wide, gives the same light.",
    )
