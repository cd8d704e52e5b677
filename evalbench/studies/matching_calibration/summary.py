"""From judged pairs to figures: agreement with the humans by settings, what calibration gains, and a light."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.matching_calibration import doubts, inputs, search
from evalbench.studies.matching_calibration.items import BOUNDS, DEFAULTS, HELD_OUT, SETTINGS, TRAINED

Correlations = dict[str, tuple[core.stats.Measured, core.arrays.Floats]]

# The interval of the gain decides: better or worse only where it leaves 0 out.
RULE = core.verdict.Rules(
    (
        core.verdict.Case(
            "green",
            "calibrated agrees better on texts it has not seen",
            all_of=(core.verdict.When("gain_low", ">", 0),),
        ),
        core.verdict.Case(
            "red", "calibrated agrees worse on texts it has not seen", all_of=(core.verdict.When("gain_high", "<", 0),)
        ),
    ),
    otherwise="yellow",
)
_COUNTS = ("tp", "fp", "fn")
_f1 = core.measures.f1_of(*_COUNTS).value
CORRELATION: dict[str, Any] = {"unit": "−1–1", "higher_is_better": True}
NAMES = {search.F1: "F1", search.SPEARMAN: "Spearman's ρ"}
_DIFFERENCES = {"gain": (HELD_OUT, DEFAULTS), "gain_of_weights": (HELD_OUT, BOUNDS), "overfit": (TRAINED, HELD_OUT)}


def measures() -> tuple[core.Measure, ...]:
    """Agreement of a setting's calls with the humans, over judged pairs."""
    return (
        core.measures.f1_of(
            *_COUNTS, title=NAMES[search.F1], undefined="neither the humans nor the settings call any pair a match"
        ),
        core.measures.precision_of("tp", "fp", undefined="no pair is called a match"),
        core.measures.recall_of("tp", "fn", undefined="the humans call no pair a match"),
        core.mean_of("agreement", worst=None, undefined="no pair has a verdict"),
    )


@kit.slicing.sliced(inputs.UNIT, measures=measures)
def summarise(
    items: pd.DataFrame, *, objective: str = search.F1, seed: int = kit.SEED, n_resamples: int = kit.N_RESAMPLES
) -> core.Summary:
    """Headline figures per settings, the gain of calibration on held-out folds, and the verdict; options as of ``evaluate``.

    ``gain_…``: held out − defaults; ``gain_of_weights_…``: held out − thresholds alone; ``overfit_…``: in training −
    held out; ``alpha_of_annotators``.  Intervals resample texts.
    """
    known = items[items["undefined"] == ""]
    drawn: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    correlations = _correlations(known, **drawn)
    gains, replicates = _gains(known, correlations, objective, **drawn)
    by_rank = [
        core.Estimate(
            metric=search.SPEARMAN,
            title=NAMES[search.SPEARMAN],
            group={"settings": name},
            **CORRELATION,
            **found._asdict(),
        )
        for name, (found, _) in correlations.items()
        if name in SETTINGS
    ]
    rows = [*kit.verdicts.by_group(known, measures(), "settings", units=inputs.UNIT, **drawn), *by_rank, *gains]
    split = int(items["pair_id"].nunique() - known["pair_id"].nunique())
    rows = [*(replace(e, n_undefined=split) for e in rows), _alpha(items, **drawn)]
    doubt = doubts.why_grey(rows[-1], known) if objective == search.F1 else doubts.of_annotators(rows[-1])
    verdict = _verdict(rows, known, objective, seed, replicates, doubt)
    first = [objective, *(f"{name}_{objective}" for name in _DIFFERENCES)]
    order = {name: i for i, name in enumerate(dict.fromkeys([*first, *(e.metric for e in rows)]))}
    rows.sort(key=lambda e: (order[e.metric], SETTINGS.index(e.group.get("settings", DEFAULTS))))
    lit = (replace(e, light=verdict.light) if e.metric == first[1] else e for e in rows)
    return core.Summary(tuple(lit), verdict)


def _correlations(known: pd.DataFrame, seed: int, n_resamples: int) -> Correlations:
    """Spearman's ρ of score and humans by settings, and its differences, from one set of resampled texts."""
    wide = known.pivot(index="pair_id", columns="settings", values="score").sort_index()
    if not len(wide):
        return {}
    first = known.drop_duplicates("pair_id").set_index("pair_id").loc[wide.index]
    units, human = (
        core.clusters.drawn_together(first, first[inputs.UNIT].to_numpy(dtype=str)),
        first["human"].to_numpy(dtype=float),
    )
    names = [n for n in SETTINGS if n in wide]
    ranks = [core.correlation.midranker(wide[n].to_numpy(dtype=float).round(12)) for n in names]
    of_human = core.correlation.midranker(human)

    def coefficients(weights: core.arrays.Floats) -> core.arrays.Floats:
        y = of_human(weights)
        return np.stack([core.correlation.pearson_kernel(weights, rank(weights), y) for rank in ranks], axis=1)

    point = coefficients(np.ones((1, len(wide))))[0]
    drawn = core.stats.bootstrap_weights(units, coefficients, core.seeds.rng(seed, "calibration/spearman"), n_resamples)
    pairs = {n: (float(point[j]), drawn[:, j]) for j, n in enumerate(names)}
    widths = dict.fromkeys(pairs, 1.0)
    for label, (a, b) in _DIFFERENCES.items():
        if a in pairs and b in pairs:
            pairs[label] = (pairs[a][0] - pairs[b][0], pairs[a][1] - pairs[b][1])
            widths[label] = 2.0
    size: dict[str, Any] = {"n": len(wide), "n_units": len(np.unique(units))}
    constant = core.stats.Measured(None, n=len(wide), note="the scores or the verdicts are constant")
    return {
        name: (
            core.ends.with_width(
                core.stats.with_interval(value, r, **size, clustered=True, clusters=core.clusters.is_clustered(first)),
                size["n_units"],
                (-widths[name], widths[name]),
                loss=3,
            )
            if np.isfinite(value)
            else constant,
            r,
        )
        for name, (value, r) in pairs.items()
    }


def _gains(
    known: pd.DataFrame, correlations: Correlations, objective: str, seed: int, n_resamples: int
) -> tuple[list[core.Estimate], core.arrays.Floats]:
    """What calibration gains on held-out folds, how much of its training figure was overfitting, and the gain's replicates."""
    words = {"gain": "gain in", "gain_of_weights": "gain of the weights in", "overfit": "overfitting in"}
    better: dict[str, dict[str, Any]] = {
        name: {
            "title": f"{words[name]} {NAMES[objective]}",
            "unit": "difference",
            "higher_is_better": name != "overfit",
        }
        for name in _DIFFERENCES
    }
    if objective == search.SPEARMAN:
        there = {name: correlations[name] for name in _DIFFERENCES if name in correlations}
        gains = [
            core.Estimate(metric=f"{k}_{search.SPEARMAN}", **better[k], **found._asdict())
            for k, (found, _) in there.items()
        ]
        return gains, there["gain"][1] if "gain" in there else np.empty(0)
    if not set(SETTINGS) <= set(known["settings"]):
        return [], np.empty(0)
    wide = known.pivot(index="pair_id", columns="settings", values=list(_COUNTS)).sort_index()
    sums = {f"{c} {name}": wide[c, name].to_numpy(dtype=float) for c in _COUNTS for name in SETTINGS}
    listed = [
        core.Measure(
            f"{label}_{search.F1}",
            tuple(f"{c} {name}" for name in pair for c in _COUNTS),
            lambda *sums: _f1(*sums[:3]) - _f1(*sums[3:]),
            undefined="one of the two has no F1",
            **better[label],
        )
        for label, pair in _DIFFERENCES.items()
    ]
    first = known.drop_duplicates("pair_id").set_index("pair_id").loc[wide.index]
    if core.clusters.is_clustered(first):
        sums[core.clusters.CLUSTER] = first[core.clusters.CLUSTER].to_numpy()
    done = core.measures.estimate(sums, listed, units=first[inputs.UNIT], seed=seed, n_resamples=n_resamples)
    n_texts = len(np.unique(np.asarray(sums.get(core.clusters.CLUSTER, first[inputs.UNIT]), dtype=str)))
    return [_with_width(e, n_texts) for e in done.estimates], done.replicates[f"gain_{search.F1}"]


def _with_width(e: core.Estimate, n_texts: int) -> core.Estimate:
    """A difference of two F1 that is the same in all resamples, with the bound that so many texts give."""
    found = core.stats.Measured(e.value, e.ci_low, e.ci_high, e.n, e.method, e.note)
    return replace(e, **core.ends.with_width(found, n_texts, (-1.0, 1.0))._asdict())


def _alpha(items: pd.DataFrame, seed: int, n_resamples: int) -> core.Estimate:
    """Krippendorff's α of the annotators, over the pairs with two verdicts or more."""
    pairs = items.drop_duplicates("pair_id")
    verdicts = [json.loads(text) for text in pairs["verdicts"]]
    units = np.repeat(pairs["pair_id"].to_numpy(dtype=str), [len(v) for v in verdicts])
    ratings = np.array([x for v in verdicts for x in v], dtype=float)
    binary = bool(np.isin(ratings, (0, 1)).all())
    level: core.agreement.Level = "nominal" if binary else "interval"
    clustered = core.clusters.is_clustered(pairs)
    found = core.agreement.krippendorff_alpha(
        units, ratings, level, seed=seed, n_resamples=0 if clustered else n_resamples
    )
    if clustered:
        wide = np.full((len(verdicts), max(map(len, verdicts), default=0)), np.nan)
        for row, given in zip(wide, verdicts, strict=True):
            row[: len(given)] = given
        found = core.agreement.clustered_alpha(
            found, wide, level, pairs[core.clusters.CLUSTER].to_numpy(), seed, n_resamples
        )
    return core.Estimate(
        metric="alpha_of_annotators", title="Krippendorff's α of the annotators", **CORRELATION, **found._asdict()
    )


def _verdict(
    rows: list[core.Estimate],
    known: pd.DataFrame,
    objective: str,
    seed: int,
    replicates: core.arrays.Floats,
    doubt: str,
) -> core.verdict.Verdict:
    name = NAMES[objective]
    at = {(e.metric, e.group.get("settings", "")): e for e in rows}
    gain = at.get((f"gain_{objective}", ""))
    over = f"{known['pair_id'].nunique()} judged pairs of {known[inputs.UNIT].nunique()} texts"
    if gain is None or gain.value is None or gain.ci_low is None or gain.ci_high is None:
        why = gain.note if gain is not None else "some settings have no pairs"
        return core.verdict.Verdict("grey", f"The gain of calibration is undefined: {why}; {over}.", str(RULE))
    light = RULE.light({"gain_low": gain.ci_low, "gain_high": gain.ci_high})
    # How the light would fall if the gain came out otherwise, with an interval as wide as this one.
    shifted = {"gain_low": replicates - gain.value + gain.ci_low, "gain_high": replicates - gain.value + gain.ci_high}
    word = {"green": "a gain of", "red": "a loss:", "yellow": "no difference shown:"}[light]
    p = _p_value(known, seed, shown=light != "yellow") if objective == search.F1 else ""
    defaults, bounds, held, trained = (at[objective, s] for s in SETTINGS)
    alone = f"thresholds alone {core.wording.value_text(bounds, rows)}, " if objective == search.F1 else ""
    sentence = (
        f"Held-out texts: calibrated {name} {core.wording.estimate_text(held, rows)}, default {core.wording.estimate_text(defaults, rows)}, "
        f"{word} {core.wording.estimate_text(gain)}{p}; {alone}in training {core.wording.value_text(trained, rows)}. {over}."
    )
    few = kit.evidence.gate(
        "gain", gain.value, None, None, known[inputs.UNIT].nunique(), threshold=-np.inf, unit="judged text"
    )
    stability = core.stability.light_stability(RULE, shifted, light)
    if doubt:
        sentence += kit.verdicts.stays_grey(f"{doubt[:1].upper()}{doubt[1:]}", light)
        return core.verdict.Verdict("grey", sentence, str(RULE), stability, light, gain.place, missing=doubt)
    if few.allowed:
        return core.verdict.Verdict(light, sentence, str(RULE), stability, decided_by=gain.place)
    sentence += kit.verdicts.stays_grey(f"{few.why_not[:1].upper()}{few.why_not[1:]}", light)
    return core.verdict.Verdict("grey", sentence, str(RULE), stability, light, gain.place)


def _p_value(known: pd.DataFrame, seed: int, *, shown: bool) -> str:
    """The test beside the interval, which decides: where the two do not agree, the sentence says so."""
    held, defaults = (known[known["settings"] == s] for s in (HELD_OUT, DEFAULTS))
    found = core.comparison.compare_measures(
        held,
        defaults,
        measures()[:1],
        units_a=held[inputs.UNIT],
        units_b=defaults[inputs.UNIT],
        seed=seed,
        n_resamples=1,
    ).comparisons[0]
    if found.p is None:
        return ""
    return f", p {core.wording.p_equals(found.p)}" + (
        " (the interval decides)" if (found.p <= core.compared.ALPHA) != shown else ""
    )
