"""From judged pairs to figures: agreement with the humans by settings, what calibration gains, and a light."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evalbench.core.agreement import krippendorff_alpha
from evalbench.core.compared import ALPHA
from evalbench.core.comparison import compare_measures
from evalbench.core.correlation import midranker, pearson_kernel
from evalbench.core.measures import Measure, estimate, f1_of, mean_of, precision_of, ratio, recall_of
from evalbench.core.result import Estimate, Summary
from evalbench.core.seeds import rng
from evalbench.core.stats import Measured, bootstrap_weights, light_stability, with_interval
from evalbench.core.verdict import Case, Rules, Verdict, When
from evalbench.core.wording import estimate_text, p_equals, value_text
from evalbench.studies.matching_calibration.verdicts import BOUNDS, DEFAULTS, HELD_OUT, SETTINGS, TRAINED

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]

# The interval of the gain decides: better or worse only where it leaves 0 out.
RULE = Rules(
    (
        Case("green", "calibrated agrees better on texts it has not seen", all_of=(When("gain_low", ">", 0),)),
        Case("red", "calibrated agrees worse on texts it has not seen", all_of=(When("gain_high", "<", 0),)),
    ),
    otherwise="yellow",
)
_DIFFERENCES = (
    ("gain", HELD_OUT, DEFAULTS), ("gain_of_weights", HELD_OUT, BOUNDS), ("overfit", TRAINED, HELD_OUT),
)  # fmt: skip
_NAMES = {"f1": "F1", "spearman": "Spearman's ρ"}


def measures() -> tuple[Measure, ...]:
    """Agreement of a setting's calls with the humans, over judged pairs."""
    return (
        f1_of("tp", "fp", "fn", undefined="neither the humans nor the settings call any pair a match"),
        precision_of("tp", "fp", undefined="no pair is called a match"),
        recall_of("tp", "fn", undefined="the humans call no pair a match"),
        mean_of("agreement", worst=None, undefined="no pair has a verdict"),
    )


def summarise(items: pd.DataFrame, *, objective: str = "f1", seed: int = 0, n_resamples: int = 2000) -> Summary:
    """Headline figures per settings, the gain of calibration on held-out folds, and the verdict, from items alone.

    Parameters
    ----------
    items : DataFrame
        One row per judged pair and settings, see :func:`evalbench.studies.matching_calibration.verdicts.items_of`.
    objective : {"f1", "spearman"}
        The figure that was calibrated and that the verdict judges.
    seed, n_resamples : int

    Returns
    -------
    Summary
        ``gain_…``: held out − defaults; ``gain_of_weights_…``: held out − thresholds alone; ``overfit_…``: in training −
        held out; ``alpha_of_annotators``.
        Intervals resample texts.
    """
    known = items[items["undefined"] == ""]
    split = int(items["pair_id"].nunique()) - _pairs(known)
    rows: list[Estimate] = []
    for name in SETTINGS:
        own = known[known["settings"] == name]
        if len(own):
            done = estimate(
                own, measures(), units=own["sample_id"], seed=seed, group={"settings": name}, n_resamples=n_resamples
            )
            rows += [replace(e, n_undefined=split) for e in done.estimates]
    correlations = _correlations(known, seed, n_resamples)
    rows += [
        _estimate("spearman", found, {"settings": name}, n_undefined=split)
        for name, (found, _) in correlations.items()
        if name in SETTINGS
    ]
    gains, replicates = _gains(known, correlations, objective, seed, n_resamples)
    rows += [
        _estimate(name, found, {}, unit="difference", n_undefined=split, higher=name.startswith("gain"))
        for name, found in gains.items()
    ]
    rows.append(_alpha(items, seed, n_resamples))
    verdict = _verdict(rows, known, objective, seed, replicates)
    first = [objective, *(f"{name}_{objective}" for name, _, _ in _DIFFERENCES)]
    order = {name: i for i, name in enumerate(dict.fromkeys([*first, *(e.metric for e in rows)]))}
    lit = [replace(e, light=verdict.light) if e.metric == first[1] else e for e in rows]
    return Summary(tuple(sorted(lit, key=lambda e: order[e.metric])), verdict)


def _pairs(known: pd.DataFrame) -> int:
    return int(known["pair_id"].nunique())


def _estimate(
    metric: str, found: Measured, group: Mapping[str, str], *, unit: str = "−1–1", higher: bool | None = True, n_undefined: int = 0
) -> Estimate:  # fmt: skip
    return Estimate(
        metric=metric, value=found.value, ci_low=found.ci_low, ci_high=found.ci_high, method=found.method, n=found.n,
        n_undefined=n_undefined, unit=unit, higher_is_better=higher, note=found.note, group=dict(group),
    )  # fmt: skip


def _wide(known: pd.DataFrame, column: str) -> pd.DataFrame:
    return known.pivot(index="pair_id", columns="settings", values=column).sort_index()


def _correlations(known: pd.DataFrame, seed: int, n_resamples: int) -> dict[str, tuple[Measured, Floats]]:
    """Spearman's ρ of score and humans by settings, and its differences, from one set of resampled texts."""
    wide = _wide(known, "score")
    if not len(wide):
        return {}
    first = known.drop_duplicates("pair_id").set_index("pair_id").loc[wide.index]
    units, human = first["sample_id"].to_numpy(dtype=str), first["human"].to_numpy(dtype=float)
    names = [n for n in SETTINGS if n in wide]
    ranks = [midranker(wide[n].to_numpy(dtype=float).round(12)) for n in names]
    of_human = midranker(human)

    def coefficients(weights: Floats) -> Floats:
        y = of_human(weights)
        return np.stack([pearson_kernel(weights, rank(weights), y) for rank in ranks], axis=1)

    point = coefficients(np.ones((1, len(wide))))[0]
    drawn = bootstrap_weights(units, coefficients, rng(seed, "calibration/spearman"), n_resamples)
    pairs = {n: (float(point[j]), drawn[:, j]) for j, n in enumerate(names)}
    for label, a, b in _DIFFERENCES:
        if a in pairs and b in pairs:
            pairs[label] = (pairs[a][0] - pairs[b][0], pairs[a][1] - pairs[b][1])
    n_units = len(np.unique(units))
    return {name: (_measured(value, r, len(wide), n_units), r) for name, (value, r) in pairs.items()}


def _measured(value: float, replicates: Floats, n: int, n_units: int) -> Measured:
    if not np.isfinite(value):
        return Measured(None, n=n, note="the scores or the verdicts are constant")
    return with_interval(value, replicates, n=n, n_units=n_units, clustered=True)


def _gains(
    known: pd.DataFrame, correlations: Mapping[str, tuple[Measured, Floats]], objective: str, seed: int, n_resamples: int
) -> tuple[dict[str, Measured], Floats]:  # fmt: skip
    """What calibration gains on held-out folds, how much of its training figure was overfitting, and the gain's replicates."""
    if objective == "spearman":
        found = {f"{k}_spearman": correlations[k][0] for k, _, _ in _DIFFERENCES if k in correlations}
        return found, correlations["gain"][1] if "gain" in correlations else np.empty(0)
    wide = {c: _wide(known, c) for c in ("tp", "fp", "fn")}
    if not set(SETTINGS) <= set(wide["tp"].columns):
        return {}, np.empty(0)
    units = known.drop_duplicates("pair_id").set_index("pair_id").loc[wide["tp"].index, "sample_id"]
    sums = {f"{c} {name}": table[name].to_numpy(dtype=float) for c, table in wide.items() for name in table}

    def difference(metric: str, a: str, b: str) -> Measure:
        names = tuple(f"{c} {name}" for name in (a, b) for c in ("tp", "fp", "fn"))
        return Measure(metric, names, _f1_difference, unit="difference", undefined="one of the two has no F1")

    listed = [difference(f"{name}_f1", a, b) for name, a, b in _DIFFERENCES]
    done = estimate(sums, listed, units=units, seed=seed, n_resamples=n_resamples)
    found = {e.metric: Measured(e.value, e.ci_low, e.ci_high, e.n, e.method, e.note) for e in done.estimates}
    return found, done.replicates["gain_f1"]


def _f1_difference(*sums: Floats) -> Floats:
    (tp, fp, fn), (tp_b, fp_b, fn_b) = sums[:3], sums[3:]
    return ratio(2 * tp, 2 * tp + fp + fn) - ratio(2 * tp_b, 2 * tp_b + fp_b + fn_b)


def _alpha(items: pd.DataFrame, seed: int, n_resamples: int) -> Estimate:
    """Krippendorff's α of the annotators, over the pairs with two verdicts or more."""
    pairs = items.drop_duplicates("pair_id")
    verdicts = [json.loads(text) for text in pairs["verdicts"]]
    units = np.repeat(pairs["pair_id"].to_numpy(dtype=str), [len(v) for v in verdicts])
    ratings = np.array([x for v in verdicts for x in v], dtype=float)
    binary = bool(np.isin(ratings, (0, 1)).all())
    found = krippendorff_alpha(units, ratings, "nominal" if binary else "interval", seed=seed, n_resamples=n_resamples)
    return _estimate("alpha_of_annotators", found, {})


def _verdict(rows: list[Estimate], known: pd.DataFrame, objective: str, seed: int, replicates: Floats) -> Verdict:
    name = _NAMES[objective]
    at = {(e.metric, e.group.get("settings", "")): e for e in rows}
    gain = at.get((f"gain_{objective}", ""))
    over = f"{_pairs(known)} judged pairs of {known['sample_id'].nunique()} texts"
    if gain is None or gain.value is None or gain.ci_low is None or gain.ci_high is None:
        why = gain.note if gain is not None else "not all settings are there"
        return Verdict("grey", f"What calibration gains is undefined: {why}; {over}.", str(RULE))
    light = RULE.light({"gain_low": gain.ci_low, "gain_high": gain.ci_high})
    # How the light would fall if the gain came out otherwise, with an interval as wide as this one.
    shifted = {"gain_low": replicates - gain.value + gain.ci_low, "gain_high": replicates - gain.value + gain.ci_high}
    word = {"green": "better by", "red": "worse by", "yellow": "no difference shown:"}[light]
    shown = gain if light != "red" else replace(gain, value=-gain.value, ci_low=-gain.ci_high, ci_high=-gain.ci_low)
    p = _p_value(known, seed, shown=light != "yellow") if objective == "f1" else ""
    defaults, bounds, held, trained = (at[objective, s] for s in SETTINGS)
    alone = f"thresholds alone {value_text(bounds, rows)}, " if objective == "f1" else ""
    sentence = (
        f"On texts it has not seen, calibrated {name} {estimate_text(held, rows)}, the seed's defaults {estimate_text(defaults, rows)}: {word} {estimate_text(shown)}{p}; "
        f"{alone}in training {value_text(trained, rows)}. {over}."
    )
    stability = light_stability(RULE, shifted, light)
    return Verdict(light, sentence, str(RULE), stability, decided_by=gain.place)


def _p_value(known: pd.DataFrame, seed: int, *, shown: bool) -> str:
    """The test beside the interval, which decides: where the two do not agree, the sentence says so."""
    held, defaults = (known[known["settings"] == s] for s in (HELD_OUT, DEFAULTS))
    found = compare_measures(
        held, defaults, measures()[:1], units_a=held["sample_id"], units_b=defaults["sample_id"], seed=seed, n_resamples=1
    ).comparisons[0]  # fmt: skip
    if found.p is None:
        return ""
    return f", p {p_equals(found.p)}" + (" (the interval decides)" if (found.p <= ALPHA) != shown else "")
