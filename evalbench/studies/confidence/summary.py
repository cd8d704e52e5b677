"""Items to headline figures and their light."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.core.ends import at_an_end
from evalbench.studies.confidence import by_topic, figures, joint, resampled
from evalbench.studies.confidence.clusters import EXACT
from evalbench.studies.confidence.items import MATCH, SCORES, column_of

COVERAGE = 0.8
NO_WRONG, NO_RIGHT = "every answer is right, so that there is nothing to tell apart", "every answer is wrong, so that there is nothing to tell apart"  # fmt: skip
_WORDS = {"auroc": "AUROC", "auprc": "AUPRC", "risk_area": "risk–coverage area"}
_BETTER = {"auroc": True, "auprc": True, "risk_area": False}
_NOISE_DRAWS = 1000


def measures(p_by: str = MATCH) -> tuple[core.Measure, ...]:
    """The figures that are means of items: wrong answers and, where p may be a probability, how far p exceeds the share right."""
    wrong = core.share_of(
        "wrong",
        "error_rate",
        title="wrong answers",
        higher_is_better=False,
        undefined="it is not known which answers are right",
    )
    gap = core.mean_of(
        "gap", "overconfidence", title="mean p − share right", unit="difference", higher_is_better=None, worst=None
    )
    return (wrong, gap) if p_by == MATCH else (wrong,)


def light_of(green_from: float | None, yellow_from: float | None) -> core.verdict.Bands | None:
    """The light of the AUROC of 1 − p; none without thresholds."""
    return kit.verdicts.bands_of(
        kit.rules.rule_of({"green_from": green_from, "yellow_from": yellow_from}, within=(0, 1))
    )


def rests_on_judge(figure: str, group: Mapping[str, str], *, clusters: str = EXACT) -> bool:
    """Whether a figure could change with the judge: it brings answers together, where that is asked of it."""
    return clusters != EXACT and "cluster" in figure


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.share("coverage", "confident_from")
    checks.tried(lambda: light_of(checks.options["green_from"], checks.options["yellow_from"]))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    p_by: str = MATCH,
    coverage: float = COVERAGE,
    confident_from: float = by_topic.CONFIDENT_FROM,
    green_from: float | None = None,
    yellow_from: float | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """The figures of every model and the verdict; options as of ``evaluate``."""
    bands, scores = light_of(green_from, yellow_from), figures.scores_of(items)
    found: list[core.Estimate] = []
    for model, rows in items.groupby("model", sort=True):
        found += _of_model(str(model), rows, scores, p_by, coverage, bands, seed, n_resamples)
    headline = core.Measure(
        joint.METRIC,
        (figures.FIRST, "wrong"),
        lambda a, b: a * np.nan,
        bands=bands,
        title=f"AUROC of {SCORES[figures.FIRST]}",
    )
    lit = [e for e in found if e.metric == joint.METRIC]
    few = {} if bands is None else _too_few(items)
    crowd = [e.group["model"] for e in lit if e.group["model"] in few or kit.evidence.unscored_share(e, max_unscored)]
    # Where missing evidence makes the whole light grey, the stability is that of the figures alone.
    held = (
        () if core.verdict.worst(["grey" if e.group["model"] in crowd else e.light for e in lit]) == "grey" else crowd
    )
    return kit.worst_group(
        items,
        [headline],
        "model",
        over=core.counted(items["id"].nunique(), "question"),
        held_back=few,
        max_unscored=max_unscored,
        notes=[*_turned_round(lit), *(_one_score(items) if bands is None else ())],
        remark=" ".join(filter(None, [_errors(found, unlit=bands is None), by_topic.remark_of(items, confident_from)])),
        estimates=found,
        stable=None
        if bands is None
        else lambda light: joint.stability_of(items, bands, held, light, seed=seed, n_resamples=n_resamples),
        seed=seed,
        n_resamples=n_resamples,
    )


def _turned_round(areas: Sequence[core.Estimate]) -> list[core.Note]:
    """A note where the right answers have the lower scores."""
    names = [e.group["model"] for e in areas if e.ci_high is not None and e.ci_high < 0.5]
    if not names:
        return []
    of = f" of {core.wording.listed(names, 3)}" if len(names) < len(areas) else ""
    short = f"right answers{of} have lower scores than wrong ones: is what is right, or the score, turned round?"
    return [core.Note("instrument", short)]


def _one_score(items: pd.DataFrame) -> list[core.Note]:
    """A note where a model's answers all have one score; beside a light it is the reason for grey."""
    known = items[items[figures.FIRST].notna()]
    alike = known.groupby("model")[figures.FIRST].agg(["nunique", "size"])
    names = [str(m) for m, row in alike.iterrows() if row["nunique"] == 1 and row["size"] > 1]
    of = f" of {core.wording.listed(names, 3)}" if len(names) < len(alike) else ""
    return (
        [core.Note("instrument", f"all answers{of} have the same score, which tells none from another")]
        if names
        else []
    )


def _too_few(items: pd.DataFrame) -> dict[str, str]:
    """Of each model that has too few wrong or right answers for a light, or one score for all: that it is so."""
    known = items[items[figures.FIRST].notna() & items["wrong"].notna()]
    out = {}
    for model, rows in known.groupby("model"):
        own = rows["wrong"]
        if rows[figures.FIRST].nunique() == 1 and len(rows) > 1:
            out[str(model)] = "all answers have the same score, which tells none from another"
            continue
        wrong = int(own.sum())
        least, which = min((wrong, "wrong"), (len(own) - wrong, "right"), key=lambda one: one[0])
        if 0 < least < core.stats.FEW_UNITS:
            out[str(model)] = f"only {core.counted(least, f'{which} answer')}, and a light needs {core.stats.FEW_UNITS}"
    return out


def _errors(found: Sequence[core.Estimate], *, unlit: bool) -> str:
    """How many answers are wrong: what no AUROC says."""
    known = [(e.group["model"], e.value) for e in found if e.metric == "error_rate" and e.value is not None]
    if not known:
        return ""
    few = _scarce(found) if unlit else ""  # which holds a light back
    if len(known) > 3:
        ends = sorted(value for _, value in known)
        return f"Wrong answers: {core.percent(ends[0])} to {core.percent(ends[-1])}.{few}"
    shares = ", ".join(f"{core.percent(v)} ({m})" if len(known) > 1 else core.percent(v) for m, v in known)
    return f"Wrong answers: {shares}.{few}"


def _scarce(found: Sequence[core.Estimate]) -> str:
    """Which model has too few wrong or right answers for the interval of its AUROC."""
    rates = [e for e in found if e.metric == "error_rate" and e.value is not None and e.n >= core.stats.FEW_UNITS]
    wrong = {e.group["model"]: (round((e.value or 0) * e.n), e.n) for e in rates}
    few = [
        (
            f" ({model})" if len(rates) > 1 else "",
            core.counted(min(k, n - k), "wrong answer" if k <= n - k else "right answer"),
        )
        for model, (k, n) in wrong.items()
        if 0 < min(k, n - k) < core.stats.FEW_UNITS
    ]
    return (
        f" Only {', '.join(f'{words}{model}' for model, words in few[:3])}: the interval is too narrow." if few else ""
    )


class _Model(NamedTuple):
    """What the estimates of one model need."""

    rows: pd.DataFrame
    group: Mapping[str, str]
    shape: figures.Shape
    point: Mapping[str, float]
    drawn: Mapping[str, core.arrays.Floats]
    clustered: bool


def _of_model(
    model: str,
    rows: pd.DataFrame,
    scores: Sequence[str],
    p_by: str,
    coverage: float,
    bands: core.verdict.Bands | None,
    seed: int,
    n_resamples: int,
) -> list[core.Estimate]:
    units = resampled.units_of(rows[core.clusters.CLUSTER] if core.clusters.is_clustered(rows) else rows["id"])
    shape = figures.shape_of(rows, scores, p_by, coverage)
    clustered = int(units.max()) + 1 < len(units)
    drawn = figures.replicates_of(shape, units, core.seeds.rng(seed, "bootstrap"), n_resamples)
    one = _Model(rows, {"model": model}, shape, figures.point_of(shape), drawn, clustered)
    sums = core.measures.estimate(
        rows, measures(p_by), units=rows["id"], seed=seed, group=one.group, n_resamples=n_resamples
    ).estimates
    base = sums[0].value
    areas = {(area, name): _area(one, area, name, base) for name in scores for area in figures.AREAS}
    first = areas.pop(("auroc", figures.FIRST))
    if bands is not None:
        first = replace(first, light=bands.light(first.value), cuts=bands.cuts)
    found = [
        first,
        sums[0],
        areas.pop(("auprc", figures.FIRST)),
        areas.pop(("risk_area", figures.FIRST)),
        *_at_coverage(one),
    ]
    if shape.n_bins:
        noise = (
            figures.noise_of_calibration(shape, core.seeds.rng(seed, "confidence/noise"), _NOISE_DRAWS)
            if len(shape.values[0])
            else None
        )
        found.append(_calibration(one, noise))
    return [*found, *sums[1:], *areas.values()]


def _counts(one: _Model, score: str) -> dict[str, Any]:
    """How many items have the score and correctness, how many could not be scored, and the rest."""
    rows = one.rows
    has = (rows[column_of(score)].notna() & rows["wrong"].notna()).to_numpy()
    failed = (rows["unscored"] != "").to_numpy()
    if "cluster_unscored" in rows and "cluster" in score:
        failed = failed | (rows["cluster_unscored"] != "").to_numpy()
    n, lost = int(has.sum()), int((failed & ~has).sum())
    return {"n": n, "n_unscored": lost, "n_undefined": len(rows) - n - lost}


def _estimate(
    one: _Model, metric: str, title: str, score: str, *, unit: str = "0–1", better: bool | None, notes: Sequence[str] = (),
    undefined: str = "", few: Sequence[tuple[int, str]] = (),
) -> core.Estimate:  # fmt: skip
    sizes, value = _counts(one, score), one.point[metric]
    lost = one.rows["unscored"][one.rows["unscored"] != ""]
    if not np.isfinite(value):
        gone = sizes["n_unscored"] == len(one.rows)
        why = (
            f"every item is unscored: {core.unscored.counted(lost)}"
            if gone and len(lost)
            else undefined or "no item has a value"
        )
        return core.Estimate(
            metric=metric,
            title=title,
            value=None,
            unit=unit,
            higher_is_better=better,
            note=why,
            group=one.group,
            **sizes,
        )
    n_units, clusters = sizes["n"], core.clusters.is_clustered(one.rows)
    if clusters:
        n_units = int(
            one.rows.loc[
                one.rows[column_of(score)].notna() & one.rows["wrong"].notna(), core.clusters.CLUSTER
            ].nunique()
        )
    measured = core.stats.with_interval(
        value, one.drawn[metric], n=sizes["n"], n_units=n_units, clustered=one.clustered, clusters=clusters
    )
    if better is not None or metric == "covered":
        least = n_units if metric in figures.AT_COVERAGE else _rarer(one, score) if metric.startswith("auroc") else 0
        ends = at_an_end(value, min(n_units, least), (0.0, 1.0)) if least else None
        measured = measured._replace(ci_low=ends[0], ci_high=ends[1], method="Wilson, all agree") if ends else measured
    scarce = [f"only {words}: the interval is too narrow" for n, words in few if n < core.stats.FEW_UNITS <= sizes["n"]]
    note = "; ".join(filter(None, [*notes, measured.note, *scarce]))
    return core.Estimate(
        metric=metric, title=title, unit=unit, higher_is_better=better, group=one.group,
        **{**measured._asdict(), "note": note, **sizes},
    )  # fmt: skip


def _rarer(one: _Model, score: str) -> int:
    """How many answers the rarer of both kinds has, right or wrong: what an area that touches an end rests on."""
    wrong = one.rows.loc[one.rows[column_of(score)].notna(), "wrong"].dropna()
    return int(min(wrong.sum(), len(wrong) - wrong.sum()))


def _area(one: _Model, area: str, score: str, base: float | None) -> core.Estimate:
    title = f"{_WORDS[area]} of {SCORES[score]}"
    known = one.rows[column_of(score)].notna() & one.rows["wrong"].notna()
    n_wrong = int(one.rows.loc[known, "wrong"].sum())
    n_right = int(known.sum()) - n_wrong
    notes = [] if base is None or area == "auroc" else [f"by chance {base:.3g}, the share of wrong answers"]
    one_class = "" if not known.any() else NO_WRONG if not n_wrong else NO_RIGHT if not n_right else ""
    few = (
        []
        if area == "risk_area"
        else [(n_wrong, core.counted(n_wrong, "wrong answer")), (n_right, core.counted(n_right, "right answer"))]
    )
    return _estimate(
        one,
        f"{area}_{score}",
        title,
        score,
        better=_BETTER[area],
        notes=notes,
        undefined=one_class or _reason(one, score),
        few=few,
    )


def _reason(one: _Model, score: str) -> str:
    """Why no item has a score and correctness."""
    if one.rows["wrong"].isna().all():
        return "it is not known which answers are right"
    return "no answer has this score"


def _at_coverage(one: _Model) -> list[core.Estimate]:
    """The threshold that answers a share of the questions, what it really answers, and the errors that it leaves."""
    at = core.percent(one.shape.coverage)
    titles = {
        "error_at_coverage": "wrong answers from that p on",
        "threshold": f"p from which {at} are answered",
        "covered": f"answered from that p on (asked: {at})",
    }
    return [
        _estimate(
            one,
            name,
            titles[name],
            figures.FIRST,
            better=False if name == "error_at_coverage" else None,
            undefined=_reason(one, figures.FIRST),
        )
        for name in figures.AT_COVERAGE
    ]


def _calibration(one: _Model, noise: figures.Noise | None) -> core.Estimate:
    found = _estimate(
        one, figures.CALIBRATION, "calibration error (ECE) of p", figures.FIRST, better=False, undefined=_reason(one, figures.FIRST),
        notes=[f"right probabilities would have {noise.mean:.2g} on so many answers, at most {noise.high:.2g}"] if noise else [],
    )  # fmt: skip
    if found.value is None or found.ci_low is None or found.ci_high is None or noise is None:
        return found
    # Resamples add a noise of their own to an absolute difference: the interval is centred on the value.
    moved = float(np.nanmean(one.drawn[figures.CALIBRATION])) - found.value
    low, high = (float(np.clip(end - moved, 0, 1)) for end in (found.ci_low, found.ci_high))
    return replace(
        found,
        ci_low=0.0 if found.value <= noise.high else min(low, found.value),
        ci_high=max(high, found.value),
        method=f"{found.method}, centred; from 0 where right probabilities reach the value",
    )
