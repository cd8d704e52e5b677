"""Items of both halves to the overall score, the verdict, and the file of the method document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.judge.entail import BASELINE
from evalbench.studies.citation.summary import why_nowhere
from evalbench.studies.explainability import inputs
from evalbench.studies.explainability.items import THRESHOLD, WEIGHT, weights_of, with_sums

OVERALL = "XAI_overall_score"
LEAST_ITEMS = core.stats.FEW_UNITS
"""A half of fewer items gives no light."""


def measures() -> tuple[core.Measure, ...]:
    """The overall score as weighted sums over both halves, then the measures of one half."""
    sums = tuple(f"{name}_{what}" for name in inputs.PARTS for what in ("weighted", "n"))
    without = "a half has no value"
    overall = core.Measure(
        OVERALL, sums, lambda a, n, b, m: core.ratio(a, n) + core.ratio(b, m), title="overall score", undefined=without
    )
    return (overall, *_of_half())


def _of_half(threshold: float | None = None) -> tuple[core.Measure, ...]:
    return core.mean_of("score", bands=None if threshold is None else kit.verdicts.pass_mark(threshold)), core.share_of(
        "passed"
    )


def judged_measures() -> tuple[core.Measure, ...]:
    """The figure that rests on the judge: the mean score of the cited answers."""
    return (core.mean_of("score"),)


def rests_on_judge(figure: str, group: Mapping[str, str]) -> bool:
    """Whether a figure could change with the judge: those of the chains of thought could not."""
    return group.get("part") != "cot"


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.share("cot_threshold", "citation_threshold")
    weights = {name: checks.options[name] for name in ("weight_cot", "weight_citation")}
    checks.weights(", ".join(weights), weights, weights)


@kit.slicing.sliced(measures=measures, with_sums=with_sums)
def summarise(
    items: pd.DataFrame,
    *,
    weight_cot: float = WEIGHT,
    weight_citation: float = WEIGHT,
    cot_threshold: float = THRESHOLD,
    citation_threshold: float = THRESHOLD,
    threshold: float = THRESHOLD,
    max_unscored: float = kit.MAX_UNSCORED,
    judge: str = BASELINE,
    cot_unmarked: str = "",
    citation_nowhere: float = 0.0,
    correction_fit: Mapping[str, Any] | None = None,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """The overall score, both halves, and the verdict; options as of ``evaluate``.

    The halves are resampled apart: they are two samples, each of its own size.  The light stays grey where the cited answers
    were judged by ``baseline/lexical``, and where ``cot_unmarked`` is why the final answers of the chains of thought were not
    found rather than wrong, where more than ``max_unscored`` of the cited answers have marks or addresses that lead nowhere
    (``citation_nowhere``: the share that do), or a half has too few items.  ``correction_fit``: see :func:`evalbench.kit.verdicts.worst_group`.
    """
    weights = weights_of(weight_cot, weight_citation)
    thresholds = {"cot": cot_threshold, "citation": citation_threshold}
    rows = with_sums(items, cot_threshold=cot_threshold, citation_threshold=citation_threshold)
    done = {name: _half(rows[rows["part"] == name], name, thresholds[name], seed, n_resamples) for name in inputs.PARTS}
    means = {name: half.estimates[0] for name, half in done.items()}
    n_clusters = rows.groupby("part")[core.clusters.CLUSTER].nunique() if core.clusters.CLUSTER in rows else ()
    overall, replicates = _overall(done, weights, threshold, [int(n) for n in n_clusters])
    corrections = kit.correcting.fixed(
        rows[rows["part"] == "citation"],
        done["citation"].estimates,
        _of_half(citation_threshold),
        "part",
        fit=correction_fit,
    )
    corrected = _corrected(overall, done["cot"], corrections, weights, threshold) if corrections else None
    of_judge = "" if corrected else kit.verdicts.held_back_by(judge)
    against = {
        "cot": cot_unmarked,
        "citation": "; ".join(filter(None, [of_judge, why_nowhere(citation_nowhere, max_unscored)])),
    }
    for name, mean in means.items():
        few = kit.evidence.too_few(mean, least=LEAST_ITEMS)
        of_half = f"of the {inputs.HALVES[name].words} {few}" if few else ""
        against[name] = "; ".join(filter(None, [against[name], of_half]))
    crowds = {name: kit.evidence.unscored_share(mean, max_unscored) for name, mean in means.items()}
    # A half without weight holds nothing back.
    weighing = [name for name in inputs.PARTS if weights[name] > 0]
    held_back = "; ".join(against[name] for name in weighing if against[name])
    too_many = {inputs.HALVES[name].name: crowds[name] for name in weighing if crowds[name]}
    too_much = ", ".join(f"{name}: {share}" for name, share in too_many.items())
    deciding = corrected or overall
    whole = kit.verdicts.held(deciding, held_back, too_much)
    shown = {
        "cot": done["cot"].estimates,
        "citation": corrections.estimates if corrections else done["citation"].estimates,
    }
    halves = [
        kit.verdicts.held(e, against[name] if not e.n_of else "", crowds[name])
        for name, own in shown.items()
        for e in own
    ]
    said = "; ".join(
        f"{inputs.HALVES[name].name.replace('_', ' ')} {_said(e, [*means.values()])}, n {e.n}"
        for name, e in means.items()
    )
    sentence = f"Overall explainability {_said(deciding)}, threshold {threshold:g}: {said}."
    sentence += corrections.sentence("score", corrected) if corrections else ""
    sentence += core.stats.of_few(e.n for e in means.values()) + kit.verdicts.left_out(items)
    if too_many:
        share = core.percent(max_unscored, [max_unscored])
        sentence += f" More than {share} of {' and '.join(too_many)} are unscored: not enough evidence for a light."
    sentence += kit.verdicts.stays_grey(held_back, deciding.light)
    lights = kit.verdicts.pass_mark(threshold).lights(replicates)
    verdict = core.verdict.Verdict(
        light=whole.light,
        sentence=sentence,
        rule=f"overall score: {kit.verdicts.pass_mark(threshold)}",
        stability=kit.correcting.stability(
            [(corrected, kit.verdicts.pass_mark(threshold), False)], corrected.light, seed=seed, n_resamples=n_resamples
        )
        if corrected
        else float(np.mean(lights == overall.light))
        if replicates.size
        else None,
        would_be=None if whole.light == deciding.light else deciding.light,
        decided_by=deciding.place,
    )
    both = (replace(overall, light="unlit", cuts=()), whole) if corrected else (whole,)
    return core.Summary((*both, *halves), verdict)


def _corrected(
    overall: core.Estimate,
    cot: core.measures.Estimated,
    corrections: kit.correcting.Fixed,
    weights: Mapping[str, float],
    threshold: float,
) -> core.Estimate | None:
    """The overall score with the cited answers as labels correct them; None where these are too few."""
    own = next(e for e in corrections.estimates if e.corrects)
    first, drawn = cot.estimates[0], cot.replicates["score"]
    if own.light == "unlit" or own.value is None or (weights["cot"] > 0 and first.value is None):
        return None
    value = weights["citation"] * own.value + (weights["cot"] * (first.value or 0.0) if weights["cot"] > 0 else 0.0)
    low = high = None
    if own.ci_low is not None and own.ci_high is not None and (weights["cot"] == 0 or drawn.size):
        spread = weights["cot"] * float(np.std(drawn)) if weights["cot"] > 0 else 0.0
        half = float(np.hypot(1.959964 * spread, weights["citation"] * (own.ci_high - own.ci_low) / 2))
        low, high = max(0.0, value - half), min(1.0, value + half)
    bands = kit.verdicts.pass_mark(threshold)
    return replace(
        overall,
        metric=f"{OVERALL}{kit.correcting.CORRECTED}",
        title=kit.correcting.title_of(overall.title),
        value=value,
        ci_low=low,
        ci_high=high,
        method="normal, of both halves" if low is not None else "",
        light=bands.light(value),
        cuts=bands.cuts,
        note=f"with the cited answers as {own.n_labels} labels correct them; the light rests on this figure",
        corrects=OVERALL,
        n_labels=own.n_labels,
    )


def _half(rows: pd.DataFrame, name: str, threshold: float, seed: int, n_resamples: int) -> core.measures.Estimated:
    own = int(core.seeds.rng(seed, "explainability", name).integers(2**31))
    group = {"part": name}
    return core.measures.estimate(
        rows, _of_half(threshold), units=rows["id"], seed=own, group=group, n_resamples=n_resamples
    )


def _overall(
    done: Mapping[str, core.measures.Estimated],
    weights: Mapping[str, float],
    threshold: float,
    n_clusters: Sequence[int] = (),
) -> tuple[core.Estimate, np.ndarray[Any, Any]]:
    """The weighted mean of both halves and its replicates; a half without weight may have no value."""
    used = [
        (weight, done[name].estimates[0], done[name].replicates["score"])
        for name, weight in weights.items()
        if weight > 0
    ]
    sized = all(drawn.size for _, _, drawn in used)
    replicates = np.sum([w * drawn for w, _, drawn in used], axis=0) if sized else np.empty(0)
    known = all(e.value is not None for _, e, _ in used)
    value = sum(w * (e.value or 0.0) for w, e, _ in used) if known else None
    note = "" if known and sized else "no interval: a half has fewer than two units" if known else "a half has no value"
    level = core.clusters.widened(min(n_clusters)) if n_clusters else 0.95
    low, high = map(float, core.stats.percentile_interval(replicates, level)) if known and sized else (None, None)
    constant = known and sized and any(not np.ptp(drawn) for _, _, drawn in used)
    if constant:  # a half of equal scores has no spread to draw: its own interval says what it leaves open
        low, high = _of_ends(value or 0.0, used)
    of = "clusters of each half, widened by t" if n_clusters else "each half"
    bands = kit.verdicts.pass_mark(threshold)
    overall = core.Estimate(
        metric=OVERALL,
        title="overall score",
        value=value,
        ci_low=low,
        ci_high=high,
        method="of the ends of both halves' intervals (Zou and Donner 2008)"
        if constant
        else f"percentile bootstrap of {of}, {len(replicates)} resamples"
        if known and sized
        else "",
        n=sum(e.n for _, e, _ in used),
        n_unscored=sum(e.n_unscored for _, e, _ in used),
        n_undefined=sum(e.n_undefined for _, e, _ in used),
        light=bands.light(value),
        cuts=bands.cuts,
        unit="0–1",
        higher_is_better=True,
        note=note,
    )
    return overall, replicates


def _of_ends(
    value: float, used: Sequence[tuple[float, core.Estimate, np.ndarray[Any, Any]]]
) -> tuple[float | None, float | None]:
    """The interval of a weighted sum from those of its parts."""
    ends = [(w, e.value or 0.0, e.ci_low, e.ci_high) for w, e, _ in used]
    if any(low is None or high is None for _, _, low, high in ends):
        return None, None
    below = float(np.hypot.reduce([w * (v - low) for w, v, low, _ in ends if low is not None]))
    above = float(np.hypot.reduce([w * (high - v) for w, v, _, high in ends if high is not None]))
    return max(0.0, value - below), min(1.0, value + above)


def _said(e: core.Estimate, rows: Sequence[core.Estimate] = ()) -> str:
    return "has no value" if e.value is None else core.wording.estimate_text(e, rows)


def final_results(
    summary: core.Summary, parts: Mapping[str, inputs.Part], options: Mapping[str, Any]
) -> dict[str, Any]:
    """The content of ``FINAL_RESULTS_YYYYMMDD.json``: the method document's keys in its order, then the intervals."""
    overall = summary.estimate(OVERALL)
    halves = {name: summary.estimate("score", part=name) for name in inputs.PARTS}
    threshold = options["threshold"]

    def half(name: str, **who: str) -> dict[str, Any]:
        e, limit = halves[name], options[f"{name}_threshold"]
        return {**who, "avg_score": _rounded(e.value), "count": e.n, "pass": _passes(e, limit), "threshold": limit}

    fixed_score = next((e for e in summary.estimates if e.corrects == OVERALL), None)
    corrected = {} if fixed_score is None else {"corrected": _corrected_result(fixed_score, threshold)}
    cot, cited = parts["cot"], parts["citation"]
    return {
        OVERALL: _rounded(overall.value, 3),
        "overall_pass": _passes(overall, threshold),
        "overall_threshold": threshold,
        "cot": half("cot", model=cot.model),
        "citation": half("citation", response_model=cited.model, judge_model=cited.judge),
        "weights": {name: options[name] for name in ("weight_cot", "weight_citation")},
        "intervals": {"level": 0.95, OVERALL: _ends(overall), **{name: _ends(e) for name, e in halves.items()}},
        **corrected,
    }


def _corrected_result(e: core.Estimate, threshold: float) -> dict[str, Any]:
    """The overall score as labels of the cited answers correct it, of which the light is."""
    passes = {OVERALL: _rounded(e.value, 3), "overall_pass": _passes(e, threshold)}
    return {**passes, "interval": _ends(e), "n_labels": e.n_labels}


def _passes(e: core.Estimate, threshold: float) -> bool:
    return kit.verdicts.pass_mark(threshold).light(e.value) == "green"


def _rounded(value: float | None, digits: int = 4) -> float | None:
    """Rounded half up: 0.82275 is 0.823."""
    return None if value is None else float(np.floor(round(value * 10**digits, 6) + 0.5) / 10**digits)


def _ends(e: core.Estimate) -> list[float | None]:
    return [_rounded(e.ci_low), _rounded(e.ci_high)]


def as_bytes(content: Mapping[str, Any]) -> bytes:
    """The file's bytes."""
    return (json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()
