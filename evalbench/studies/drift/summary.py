"""Items to the figures of the five tests, their lights and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.drift import drops, figures, inputs, key_of_all_rows, texts, unread_texts
from evalbench.studies.drift.lights import (
    LIGHTS_ON,
    NEW_TOKENS,
    PRESETS,
    PSI_LIGHTS_ON,
    RELIABLE_FROM,
    TESTS,
    TITLES,
    bands_for,
    rules_of,
)
from evalbench.studies.drift.statistics import Statistic

OTHER_MODELS = 0.1
"""By how much the share of a model must differ between the sides to be said."""
SAME_ROWS, SWAPPED, EARLY, OTHER_MODEL = (
    "are the same rows as in OOS", "the two may be swapped", "are dated before the end of OOS", "a change may be the model's",
)  # fmt: skip
"""What else than time lies between the samples, in words that the sentence has."""
LIGHT_ON, PRESET, PSI_LIGHT_ON, NEW_TOKENS_AS = LIGHTS_ON[0], PRESETS[0], PSI_LIGHTS_ON[0], NEW_TOKENS[0]


@dataclass(frozen=True)
class Found:
    """All that the tests found.

    - ``quality``: The key metric of OOS and OOT.
    """

    tests: list[figures.Test]
    quality: list[core.Estimate]
    statistics: list[Statistic]
    forecast: core.global_drift.GlobalDrift | None

    @property
    def lights(self) -> Mapping[str, str]:
        return {test.name: test.light for test in self.tests}


def settings_of(options: Mapping[str, Any]) -> figures.Settings:
    """Those of the options that the tests take."""
    return figures.Settings(**{f.name: options[f.name] for f in fields(figures.Settings) if f.name in options})


def found_of(items: pd.DataFrame, tests: Sequence[str], settings: figures.Settings, metric: str = "") -> Found:
    """The tests that were asked for, on any part of the items."""
    rows = items.sort_values(["side", "id"], kind="stable", ignore_index=True)
    weights, blocks = figures.joint_weights(rows, settings.seed, settings.n_resamples)
    quality = figures.qualities(
        rows, settings, f"key metric ({metric})" if metric and metric != inputs.AUTO else "key metric"
    )
    if settings.all_rows:
        quality = [key_of_all_rows.quality(q, settings.all_rows[q.group["side"]]) for q in quality]
    done: list[figures.Test] = []
    found: list[Statistic] = []
    prediction = None
    for name in (name for name in TESTS if name in tests):
        if name == "key_metric":
            done.append(drops.key_metric(rows, weights, settings, quality))
        elif name == "statistics":
            test, found = texts.statistics(rows, weights, blocks, settings)
            done.append(test)
        elif name == "separability":
            done.append(texts.separability(rows, settings))
        elif name == "local_drift":
            done.append(drops.local(rows, weights, settings))
        else:
            test, prediction = drops.global_(rows, settings)
            done.append(test)
    first = next((test.name for test in done if figures.held_by_judge(test, settings.judge_drift) is not test), "")
    lit = [figures.held_by_judge(test, settings.judge_drift, again=test.name != first) for test in done]
    return Found(lit, quality, found, prediction)


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    given = checks.options
    checks.tried(lambda: kit.rules.rule_of(given["key_bands"], within=(0, 1), of="key_bands"))
    checks.tried(lambda: rules_of(given["lights"]))
    checks.choices(light_on=LIGHTS_ON, preset=PRESETS, psi_light_on=PSI_LIGHTS_ON, new_tokens=NEW_TOKENS)
    checks.at_least(2, "n_bins")
    draws = given["n_permutations"]
    few = f"n_permutations must be at least 19 (or 0 with psi_light_on raw), got {draws!r}"
    checks.that(draws >= 19 or (draws == 0 and given["psi_light_on"] == "raw"), few)
    checks.inside(0, 0.1, "epsilon")
    checks.within(-1, 1, "reliable_from")


@kit.slicing.sliced(measures=figures.measures, with_sums=figures.with_sums)
def summarise(
    items: pd.DataFrame,
    *,
    metric: str = inputs.AUTO,
    tests: Sequence[str] = TESTS,
    light_on: str = LIGHT_ON,
    key_bands: Mapping[str, float] = {},
    lights: Mapping[str, Mapping[str, float]] = {},
    preset: str = PRESET,
    psi_light_on: str = PSI_LIGHT_ON,
    new_tokens: str = NEW_TOKENS_AS,
    languages: Sequence[str] = (),
    n_bins: int = core.psi.N_BINS,
    epsilon: float = core.psi.EPSILON,
    n_permutations: int = core.psi.N_PERMUTATIONS,
    reliable_from: float | None = None,
    size: int = core.global_drift.LEAST_SIZE,
    all_rows: Mapping[str, Any] | None = None,
    judge_drift: Mapping[str, Any] | None = None,
    halved_at: str = "",
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """The figures of every test and the verdict: the worst light of the tests decides; options as of ``evaluate``."""
    given = locals()
    if all_rows and len(items) != all_rows["sampled"]:  # a slice of the rows that were read
        given["all_rows"] = all_rows = None
    settings = settings_of({**given, "reliable_from": RELIABLE_FROM if reliable_from is None else reliable_from})
    found = found_of(items, tests, settings, metric)
    lit = [test for test in found.tests if test.light != "unlit"]
    alone = core.verdict.worst([test.light for test in lit])
    total, lost = len(items), int((items["unscored"] != "").sum())
    crowd = figures.crowded_sides(items, max_unscored, all_rows)
    too_many = "; ".join(
        f"{core.percent(share, [max_unscored])} of {side.upper()} unscored" for side, share in crowd.items()
    )
    odd = unread_texts.odd_texts(items, max_unscored)
    missing = next(
        (o.why for o in odd if (o.holds == "any" and alone != "red") or (o.holds == "green" and alone == "green")), ""
    )
    unjudged = figures.RESTING[0] in tests and not any(test.name in figures.RESTING for test in lit)
    light = "grey" if (crowd and lit) or missing or (unjudged and alone == "green") else alone
    own = {test.name: test.estimates for test in found.tests}
    first = own.pop("key_metric", [])
    every = [*first, *found.quality, *(e for estimates in own.values() for e in estimates)]
    shown = [
        *(kit.verdicts.held(e, "", too_many or kit.evidence.unscored_share(e, max_unscored)) for e in every),
        *kit.anchors.judge_estimates(judge_drift),
    ]
    decided = next((test for test in lit if test.light == alone), None)
    n_of = {side: all_rows[side]["rows"] if all_rows else (items["side"] == side).sum() for side in inputs.SIDES}
    sizes = {side: core.counted(int(n), "row") for side, n in n_of.items()}
    halved = f": one table, halved at {halved_at}, since no windows were given" if halved_at else ""
    crowded_out = bool(crowd and lit)
    sentence = "".join(
        (
            _crowd(alone, crowd, max_unscored) if crowded_out else "",
            "; ".join(_said(test, found, lights=not crowded_out) for test in found.tests),
            f". {sizes['oos']} of OOS, {sizes['oot']} of OOT{halved}." if lost < total else ".",
            "".join(o.sentence for o in odd),
            _apart(items),
            kit.sentences.left_out(items),
            _labelled(found),
            _without_labels(found) if lost < total else "",
            "" if crowded_out else _without_bands(found.tests, settings),
            f" {judge_drift['sentence']}" if judge_drift else "",
        )
    )
    sentence = sentence[:1].upper() + sentence[1:]
    place = {"metric": decided.decided or decided.estimates[0].metric} if decided else None
    verdict = core.verdict.Verdict(
        light,
        sentence,
        _rule(found, settings),
        _stability(lit, alone),
        None if alone == light else alone,
        place,
        missing=missing if light == "grey" else "",
    )
    return core.Summary(tuple(shown), verdict)


def _crowd(alone: str, crowd: Mapping[str, float], max_unscored: float) -> str:
    """Why no test has a light, before anything of their figures; a green that is not there is not named."""
    shares = " and ".join(f"{core.percent(share, [max_unscored])} of {side.upper()}" for side, share in crowd.items())
    would_be = f"; the figures alone would give {alone}" if alone in ("red", "yellow") else ""
    return (
        f"no test has a light: {shares} are unscored, more than {core.percent(max_unscored, [max_unscored])}{would_be}. "
        "Of the rows that could be scored: "
    )


def _said(test: figures.Test, found: Found, *, lights: bool = True) -> str:
    """A test in words: its light unless none may have one, and the figure behind it."""
    title = TITLES[test.name]
    if test.light == "unlit":
        return f"{title}: not judged, {test.why}"
    if test.light == "grey":
        return f"{title}: grey, {test.why}"
    e = next((e for e in test.estimates if e.metric == test.decided), test.estimates[0])
    figure = core.wording.estimate_text(e)
    lit, by_bands = (f"{title}: {test.light},", _by_bands(e)) if lights else (f"{title}:", "")
    if test.name == "key_metric":
        before, after = (core.wording.value_text(q, found.quality) for q in found.quality)
        return f"{lit} {before} to {after}, {_drop(e, figure)}{by_bands}"
    if test.name == "statistics" and lights:
        return f"{lit} {_of_statistics(test)}"
    if test.name in ("statistics", "separability"):
        return f"{lit} {e.title} {figure}"
    forecast = next(e for e in test.estimates if e.metric in ("expected_quality", "predicted_quality"))
    how = "expected from neighbours" if test.name == "local_drift" else "predicted from distances"
    return f"{lit} {core.wording.value_text(forecast)} {how}, {_drop(e, figure)}{by_bands}"


def _apart(items: pd.DataFrame) -> str:
    """What else than time lies between the samples: sides that are swapped or overlap, other models."""
    said = ""
    late = items["side"] == "oot"
    same = int((items.duplicated(["id", "question", "answer"], keep=False) & late).sum())
    if 2 * same > late.sum():
        said += f" {core.wording.count(same)} of {core.counted(int(late.sum()), 'row')} of OOT {SAME_ROWS}."
    if "time" in items and items.loc[late, "time"].notna().any() and items.loc[~late, "time"].notna().any():
        then, now = items.loc[~late, "time"].dropna(), items.loc[late, "time"].dropna()
        early = int((now <= then.max()).sum())
        if now.max() < then.min():
            said += f" All of OOT is dated before OOS: {SWAPPED}."
        elif 2 * early > len(now):
            said += f" {early} of {len(now)} rows of OOT {EARLY}."
    if "model" in items:
        shares = {
            side: rows[rows != ""].value_counts(normalize=True)
            for side, rows in items.groupby("side")["model"]
            if (rows != "").any()
        }
        if len(shares) == 2 and shares["oos"].sub(shares["oot"], fill_value=0).abs().max() > OTHER_MODELS:
            each = [f"{side.upper()} {_mixture(shares[side])}" for side in ("oos", "oot")]
            said += f" Models: {'; '.join(each)}: {OTHER_MODEL}."
    return said


def _mixture(shares: pd.Series) -> str:
    """The models of a side with their shares, the three most frequent."""
    ordered = shares.sort_index().sort_values(ascending=False, kind="stable")
    named = [
        f"{str(name)[:60]}{'' if len(ordered) == 1 else f' {core.percent(share)}'}"
        for name, share in ordered.head(3).items()
    ]
    return ", ".join(named) + (f" and {len(ordered) - 3} more" if len(ordered) > 3 else "")


def _labelled(found: Found) -> str:
    """Of how many rows the key metric is where some of those that were answered have no label."""
    few = [
        f"{core.counted(q.n, 'row')} of {q.group['side'].upper()} ({q.n_undefined} have none)"
        for q in found.quality
        if q.n and q.n_undefined and any(test.name != "statistics" for test in found.tests)
    ]
    return f" Labels: {', '.join(few)}." if few else ""


def _without_labels(found: Found) -> str:
    """What leaves out the tests that nothing but labels of OOS could light."""
    lacking = [test for test in found.tests if test.name in figures.RESTING and test.light in ("grey", "unlit")]
    kept = [test.name for test in found.tests if test.name not in figures.RESTING]
    if found.quality[0].n or not lacking or not kept:
        return ""
    names = ", ".join(f'"{name}"' for name in kept)
    return f" Without labels of OOS: -p 'tests=[{names}]' leaves out what needs them."


def _by_bands(e: core.Estimate) -> str:
    return " (by key_bands)" if e.note.endswith("by key_bands") else ""


def _drop(e: core.Estimate, figure: str) -> str:
    if e.value is not None and e.ci_low is not None and e.ci_high is not None and e.ci_high < 0:
        rise = replace(e, value=-e.value, ci_low=-e.ci_high, ci_high=-e.ci_low)
        return f"no drop but a rise of {core.wording.estimate_text(rise)} pp"
    return f"a drop of {figure} pp" if (e.value or 0.0) > 0 else f"no drop ({figure} pp)"


def _of_statistics(test: figures.Test) -> str:
    """How many statistics are red and yellow, of responses and of requests."""
    parts = []
    for part in ("responses", "requests"):
        own = [e.light for e in test.estimates if e.metric.endswith(part)]
        lit = [f"{own.count(light)} {light}" for light in ("red", "yellow", "grey") if light in own]
        parts.append(f"{' and '.join(lit) if lit else 'none red or yellow'} of the {len(own)} of {part}")
    return ", ".join(parts)


def _without_bands(tests: Sequence[figures.Test], settings: figures.Settings) -> str:
    """Without thresholds of the key metric, that nobody judged its level."""
    lit = [t for t in tests if t.name in figures.RESTING and t.light in ("green", "yellow")]
    if settings.key_bands or not lit:
        return ""
    return " Without key_bands the drop alone decides; the level of the key metric was not judged."


def _rule(found: Found, settings: figures.Settings) -> str:
    key = f"key metric of OOT: {settings.key}" if settings.key else "its level is not judged"
    rules = {
        "key_metric": f"drop of the key metric, pp: {settings.drop_bands}; {key}",
        "statistics": "text statistics of responses: red: from 3 red; yellow: from 1 red or 3 yellow, or 3 red of requests; green: else",
        "separability": f"separability, Gini: {bands_for('gini', settings.preset, settings.lights)}",
        "local_drift": "local drift as the key metric, of the expected one",
        "global_drift": "global drift as the key metric, of the predicted one",
    }
    return "; ".join(rules[t.name] for t in found.tests) + "; the worst test decides"


def _stability(lit: Sequence[figures.Test], light: core.verdict.Light) -> float | None:
    """The share of resamples with the same light; a test that is grey stays so."""
    sizes = [len(test.drawn) for test in lit if len(test.drawn)]
    if not sizes or any(not len(test.drawn) and test.light != "grey" for test in lit):
        return None
    size = min(sizes)
    drawn = [test.drawn[:size] if len(test.drawn) else np.full(size, test.light) for test in lit]
    return float(np.mean(core.verdict.worst_lights(drawn) == light))
