"""Items of both halves to the overall score, the verdict, and the file with the seed's keys."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.measures import Estimated, Measure, estimate, mean_of, ratio, share_of
from evalbench.core.result import Estimate, Summary
from evalbench.core.seeds import rng
from evalbench.core.stats import of_few, percentile_interval
from evalbench.core.unscored import counted
from evalbench.core.verdict import Light, Verdict
from evalbench.core.wording import estimate_text, percent
from evalbench.studies._passing import bands_of, held, held_back_by, reaches, too_many_unscored
from evalbench.studies.explainability.parts import PARTS, STUDY_OF, Part

if TYPE_CHECKING:
    import pandas as pd


def measures() -> tuple[Measure, ...]:
    """The overall score as weighted sums over both halves, then the figures of one half."""
    sums = tuple(f"{name}_{what}" for name in PARTS for what in ("weighted", "n"))
    overall = Measure(
        "XAI_overall_score", sums, lambda a, n, b, m: ratio(a, n) + ratio(b, m), undefined="a half has no value"
    )
    return (overall, *_of_half())


def _of_half(threshold: float | None = None) -> tuple[Measure, ...]:
    return mean_of("score", bands=None if threshold is None else bands_of(threshold)), share_of("passed")


def with_sums(
    items: pd.DataFrame,
    *,
    weight_cot: float = 0.5,
    weight_citation: float = 0.5,
    cot_threshold: float = 0.8,
    citation_threshold: float = 0.8,
) -> pd.DataFrame:
    """The items with what the figures sum beside their columns: who passed, and each half's weighted scores.

    A half without weight counts 0 whatever its scores.
    """
    weights = dict(zip(PARTS, _weights(weight_cot, weight_citation), strict=True))
    scored = items["score"].notna()
    columns = {}
    for name, weight in weights.items():
        here = items["part"] == name
        columns[f"{name}_weighted"] = (weight * items["score"]).where(here, 0.0).where(scored)
        columns[f"{name}_n"] = (here | (weight == 0)).astype(float).where(scored)
    thresholds = items["part"].map({"cot": cot_threshold, "citation": citation_threshold})
    return items.assign(passed=reaches(items["score"], thresholds), **columns)


def _weights(cot: float, citation: float) -> np.ndarray:
    return np.array([cot, citation]) / (cot + citation)


def summarise(
    items: pd.DataFrame,
    *,
    weight_cot: float = 0.5,
    weight_citation: float = 0.5,
    cot_threshold: float = 0.8,
    citation_threshold: float = 0.8,
    threshold: float = 0.8,
    max_unscored: float = 0.05,
    judge: str = "baseline/lexical",
    cot_unmarked: str = "",
    seed: int = 0,
    n_resamples: int = 2000,
) -> Summary:
    """The overall score, both halves, and the verdict.

    The halves are resampled apart: they are two samples, each of its own size.

    Parameters
    ----------
    items : DataFrame
        ``id, part, score, unscored``.
    weight_cot, weight_citation, cot_threshold, citation_threshold, threshold, max_unscored
        See :func:`evaluate`.
    judge : str
        Who judged the cited answers: on ``baseline/lexical`` the light stays grey.
    cot_unmarked : str
        Why the final answers of the chains of thought were not found rather than wrong; then the light stays grey.
    seed, n_resamples : int

    Returns
    -------
    Summary
    """
    thresholds = {"cot": cot_threshold, "citation": citation_threshold}
    done = {name: _half(items[items["part"] == name], name, thresholds[name], seed, n_resamples) for name in PARTS}
    weights = _weights(weight_cot, weight_citation)
    overall, replicates = _overall(done, weights, threshold)
    why = {"cot": cot_unmarked, "citation": held_back_by(judge)}
    # A half without weight holds nothing back.
    weighing = [name for name, w in zip(PARTS, weights, strict=True) if w > 0]
    held_back = "; ".join(why[name] for name in weighing if why[name])
    verdict = _verdict(items, done, overall, replicates, threshold, max_unscored, held_back, weighing)
    crowded = {name: too_many_unscored(items[items["part"] == name], max_unscored) for name in PARTS}
    half = [e for name in PARTS for e in held(done[name].estimates, why[name] or crowded[name])]
    held_overall = held_back or "".join(crowded[name] for name in weighing)
    return Summary((*held([overall], held_overall), *half), verdict)


def _half(rows: pd.DataFrame, name: str, threshold: float, seed: int, n_resamples: int) -> Estimated:
    own = int(rng(seed, "explainability", name).integers(2**31))
    return estimate(
        rows.assign(passed=reaches(rows["score"], threshold)),
        _of_half(threshold),
        units=rows["id"],
        seed=own,
        group={"part": name},
        n_resamples=n_resamples,
    )


def _overall(done: Mapping[str, Estimated], weights: np.ndarray, threshold: float) -> tuple[Estimate, np.ndarray]:
    """The weighted mean of both halves and its replicates; a half without weight may have no value."""
    used = [(name, w) for name, w in zip(PARTS, weights, strict=True) if w > 0]
    means = [done[name].estimates[0] for name, _ in used]
    replicates = (
        np.stack([done[name].replicates["score"] for name, _ in used])
        if _all_sized(done, used)
        else np.empty((len(used), 0))
    )
    values = np.array([w for _, w in used]) @ replicates
    common: dict[str, Any] = {
        "metric": "XAI_overall_score", "n": sum(e.n for e in means), "n_unscored": sum(e.n_unscored for e in means),
        "n_undefined": sum(e.n_undefined for e in means), "unit": "0–1", "higher_is_better": True, "cuts": bands_of(threshold).cuts,
    }  # fmt: skip
    if any(e.value is None for e in means):
        return Estimate(value=None, note="a half has no value", light="grey", **common), values
    value = sum(w * (e.value or 0.0) for (_, w), e in zip(used, means, strict=True))
    light = bands_of(threshold).light(value)
    if not values.size:
        return Estimate(value=value, note="no interval: a half has fewer than two units", light=light, **common), values
    low, high = (float(end) for end in percentile_interval(values))
    method = f"percentile bootstrap of each half, {len(values)} resamples"
    return Estimate(value=value, ci_low=low, ci_high=high, method=method, light=light, **common), values


def _all_sized(done: Mapping[str, Estimated], used: list[tuple[str, float]]) -> bool:
    return all(done[name].replicates["score"].size for name, _ in used)


def _verdict(
    items: pd.DataFrame,
    done: Mapping[str, Estimated],
    overall: Estimate,
    replicates: np.ndarray,
    threshold: float,
    max_unscored: float,
    held_back: str,
    weighing: Collection[str],
) -> Verdict:
    halves = {name: done[name].estimates[0] for name in PARTS}
    said = "; ".join(
        f"{STUDY_OF[name].replace('_', ' ')} {_said(e, tuple(halves.values()))}, n {e.n}" for name, e in halves.items()
    )
    sentence = f"Overall explainability {_said(overall)}, threshold {threshold:g}: {said}."
    sentence += of_few(e.n for e in halves.values())
    left_out = counted(items["unscored"])
    if left_out:
        sentence += f" {int((items['unscored'] != '').sum())} of {len(items)} could not be scored ({left_out})."
    shares = (items["unscored"] != "").groupby(items["part"]).mean()
    crowded = [STUDY_OF[str(name)] for name, share in shares.items() if name in weighing and share > max_unscored]
    if crowded:
        sentence += f" That is more than {percent(max_unscored, [max_unscored])} of {' and '.join(crowded)}: not enough evidence for a light."
    if held_back:
        alone = "" if overall.light == "grey" else f"; the figures alone would give {overall.light}"
        sentence += f" {held_back}, so the light stays grey{alone}."
    light: Light = "grey" if crowded or held_back else overall.light
    lights = bands_of(threshold).lights(replicates)
    stability = float(np.mean(lights == overall.light)) if replicates.size else None
    rule = f"overall score: green ≥ {threshold:g}; red < {threshold:g}"
    would_be = None if light == overall.light else overall.light
    return Verdict(light, sentence, rule, stability, would_be, overall.place)


def _said(e: Estimate, rows: Sequence[Estimate] = ()) -> str:
    return "has no value" if e.value is None else estimate_text(e, rows)


def final_results(summary: Summary, parts: Mapping[str, Part], options: Mapping[str, Any]) -> dict[str, Any]:
    """The content of ``FINAL_RESULTS_YYYYMMDD.json``: the seed's keys in its order, intervals under a key of their own."""
    overall = summary.estimate("XAI_overall_score")
    halves = {name: summary.estimate("score", part=name) for name in PARTS}

    def half(name: str, who: dict[str, str]) -> dict[str, Any]:
        e = halves[name]
        limit = options[f"{name}_threshold"]
        passed = {"pass": _passes(e, limit), "threshold": limit}
        return {**who, "avg_score": _rounded(e.value), "count": e.n, **passed}

    cot, cited = parts["cot"], parts["citation"]
    return {
        "XAI_overall_score": _rounded(overall.value, 3),
        "overall_pass": _passes(overall, options["threshold"]),
        "overall_threshold": options["threshold"],
        "cot": half("cot", {"model": cot.model}),
        "citation": half("citation", {"response_model": cited.model, "judge_model": cited.judge}),
        "weights": {"weight_cot": options["weight_cot"], "weight_citation": options["weight_citation"]},
        "intervals": {
            "level": 0.95,
            "XAI_overall_score": _ends(overall),
            "cot": _ends(halves["cot"]),
            "citation": _ends(halves["citation"]),
        },
    }


def _passes(e: Estimate, threshold: float) -> bool:
    return bands_of(threshold).light(e.value) == "green"


def _rounded(value: float | None, digits: int = 4) -> float | None:
    """Rounded half up: 0.82275 is 0.823."""
    return None if value is None else float(np.floor(round(value * 10**digits, 6) + 0.5) / 10**digits)


def _ends(e: Estimate) -> list[float | None]:
    return [_rounded(e.ci_low), _rounded(e.ci_high)]


def as_bytes(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()
