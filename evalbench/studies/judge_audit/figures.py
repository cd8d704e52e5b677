"""The figures of a judge as functions of sums over answers, and the lights of those that have one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, kit
from evalbench.studies.judge_audit import items, kinds

GREEN_FROM, YELLOW_FROM = 0.6, 0.4
DRAWN = "auto"
AGREEMENT = {
    items.ZERO_ONE: "kappa",
    items.ORDERED: "weighted_kappa",
    items.GRADED: "spearman",
    items.NOMINAL: "kappa_of_kinds",
}
"""The figure of agreement, by the kind of marks."""
CEILINGS = ("ceiling", "ceiling_of_kinds")
NAIVE = {items.ZERO_ONE: "passed", items.ORDERED: "mean_mark", items.GRADED: "mean_mark"}
CORRECTED = {items.ZERO_ONE: "corrected", items.ORDERED: "corrected_mean", items.GRADED: "corrected_mean"}
TOO_KIND = {items.ZERO_ONE: "too_kind", items.ORDERED: "too_kind_mean", items.GRADED: "too_kind_mean"}
DEFAULT_LIGHTS: Mapping[str, Mapping[str, float]] = {
    "first_slot": {"green_to": 0.05, "yellow_to": 0.1},
    "inconsistent": {"green_to": 0.1, "yellow_to": 0.25},
    "length_bias": {"green_to": 0.2, "yellow_to": 0.35},
    "repeat_equal": {"green_from": 0.95, "yellow_from": 0.85},
    "null_answer": {"green_to": 0.1, "yellow_to": 0.25},
    "raised": {"green_to": 0.05, "yellow_to": 0.15},
    "family_gap": {"green_to": 0.05, "yellow_to": 0.1},
    "unparsed": {"green_to": 0.02, "yellow_to": 0.05},
}
BEYOND = {
    items.ZERO_ONE: "beyond_people",
    items.ORDERED: "beyond_people",
    items.GRADED: "beyond_people_ranks",
    items.NOMINAL: "beyond_people_kinds",
}
"""How much more a judge agrees with people than they do among themselves."""
CENTRES = {"first_slot": 0.5, "length_bias": 0.0, "family_gap": 0.0}
"""Figures of which neither more nor less is better: their thresholds are distances from here."""
NO_LABELS = "no answer has both a mark and a label"
ALIKE = "all marks, or all labels, are equal"
NO_TWO = "no answer has two labels"


def lights_of(
    green_from: float, yellow_from: float, lights: Mapping[str, Mapping[str, float]]
) -> dict[str, core.verdict.Bands]:
    """Every figure's light; those that the options do not name have their default.

    Raises ``BadInput`` for rules that are not rules, and for figures that have none; all at once.
    """
    agreement = {"green_from": green_from, "yellow_from": yellow_from}
    rules: dict[str, Any] = {**dict.fromkeys(AGREEMENT.values(), agreement), **DEFAULT_LIGHTS, **lights}
    known = {m.metric: m for m in unlit("random")}
    faults: list[str] = []
    found: dict[str, core.verdict.Bands] = {}
    for metric, rule in rules.items():
        less = metric in (*CENTRES, "null_answer", "raised", "unparsed", "inconsistent")
        if metric not in known or (known[metric].higher_is_better is None and metric not in CENTRES):
            having = [*AGREEMENT.values(), *DEFAULT_LIGHTS]
            faults.append(f"lights: {metric}: no figure with a light; there are {', '.join(having)}")
            continue
        within = (-1.0, 1.0) if metric in AGREEMENT.values() else (0.0, 1.0)
        try:
            own = kit.rules.rule_of(
                rule, higher_is_better=not less, within=within, of=metric if metric in lights else ""
            )
        except errors.BadInput as error:
            faults += error.faults or [str(error)]
            continue
        bands = around(CENTRES[metric], own) if own and metric in CENTRES else kit.verdicts.bands_of(own)
        found |= {} if bands is None else {metric: bands}
    if faults:
        raise errors.BadInput.listing("thresholds:", list(dict.fromkeys(faults)))
    return found


def around(centre: float, rule: Mapping[str, float]) -> core.verdict.Bands:
    """The light of a distance from a centre on either side; a value at a threshold takes the better light.

    Examples
    --------
    >>> str(around(0.5, {"green_to": 0.125, "yellow_to": 0.25}))
    'red: < 0.25; yellow: [0.25, 0.375); green: [0.375, 0.625]; yellow: (0.625, 0.75]; red: > 0.75'
    """
    green, yellow = rule["green_to"] + kit.verdicts.ROUNDING, rule["yellow_to"] + kit.verdicts.ROUNDING
    return core.verdict.Bands(
        (
            core.verdict.Band("red", high=centre - yellow),
            core.verdict.Band("yellow", centre - yellow, centre - green),
            core.verdict.Band("green", centre - green, centre + green, high_closed=True),
            core.verdict.Band("yellow", centre + green, centre + yellow, low_closed=False, high_closed=True),
            core.verdict.Band("red", centre + yellow, low_closed=False),
        )
    )


def measures(
    *,
    labels_drawn: str = DRAWN,
    green_from: float = GREEN_FROM,
    yellow_from: float = YELLOW_FROM,
    lights: Mapping[str, Mapping[str, float]] = {},
) -> tuple[core.Measure, ...]:
    """Every figure that is a function of sums over answers, with its light.

    - ``labels_drawn`` ({"auto", "random", "elsewhere", "probability"}): ``auto`` counts as ``random``; with
      ``probability`` the corrected figures are not among them.
    - ``green_from``, ``yellow_from``, ``lights``: See :func:`evaluate`.
    """
    bands = lights_of(green_from, yellow_from, lights)
    return tuple(replace(m, bands=bands.get(m.metric)) for m in unlit(labels_drawn))


def unlit(labels_drawn: str) -> tuple[core.Measure, ...]:
    """The same without lights."""
    both = ("#agree_xy", *items.AGREE)
    wide: dict[str, Any] = {"unit": "−1–1", "undefined": f"{NO_LABELS}, or {ALIKE}"}
    agreement = [
        core.Measure("kappa", both, _kappa, title="Cohen's kappa with people", **wide),
        core.Measure("weighted_kappa", both, _kappa, title="weighted kappa with people", **wide),
        core.Measure("kappa_of_kinds", kinds.SUMS, kinds.kappa, title="Cohen's kappa of kinds with people", **wide),
        core.Measure("spearman", both, _spearman, title="Spearman with people", **wide),
        core.Measure(
            "ceiling", ("#among_xy", *items.AMONG), _among, title="agreement of people among themselves",
            unit="−1–1", undefined=f"{NO_TWO}, or {ALIKE}", higher_is_better=None,
        ),
        core.Measure(
            "ceiling_of_kinds", kinds.AMONG, kinds.among, title="agreement of people among themselves",
            unit="−1–1", undefined=f"{NO_TWO}, or {ALIKE}", higher_is_better=None,
        ),
        core.Measure(
            "beyond_people_kinds", (*kinds.SUMS, *kinds.AMONG), kinds.beyond, title="agreement with people less that among themselves",
            unit="−1–1", undefined=kinds.NONE, higher_is_better=None,
        ),
        *(
            core.Measure(
                metric, (*both, "#among_xy", *items.AMONG), function, title="agreement with people less that among themselves",
                unit="−1–1", undefined=f"{NO_LABELS}, {NO_TWO}, or {ALIKE}", higher_is_better=None,
            )
            for metric, function in (("beyond_people", _beyond(_kappa)), ("beyond_people_ranks", _beyond(_spearman)))
        ),
    ]  # fmt: skip
    none: dict[str, Any] = {"higher_is_better": None, "undefined": "no answer has a mark"}
    pairs = [
        core.share_of(column, title=f"{outcome} over both orders", higher_is_better=better, undefined=NO_LABELS)
        for column, outcome, better in zip(
            items.PAIRS, ("right", "undecided", "wrong"), (True, None, False), strict=True
        )
    ]
    rates = [
        core.share_of("mark", "passed", title="the judge's own rate", **none),
        core.mean_of("mark", "mean_mark", title="the judge's own mean", unit="marks", **none),
    ]
    none["undefined"] = "no answer has both a mark and a label"
    corrected: list[core.Measure] = []
    if labels_drawn != "probability":
        rates_of = _rogan_gladen if labels_drawn == "elsewhere" else _post_stratified
        corrected = [*rates_of(none), *_powered(none)]
    probes = [
        core.mean_of("first_slot", title="share of first-slot wins", higher_is_better=None, interval="bounded"),
        core.share_of("inconsistent", title="share of pairs whose orders disagree", higher_is_better=False),
        core.Measure(
            "length_bias", ("#length_mm", "length_m", "length_l", "length_h", *items.OF_RANKS), _partial,
            title="correlation with length, given the label", unit="−1–1", higher_is_better=None,
            undefined=f"no answer has mark, length and label, or {ALIKE}, or lengths are",
        ),
        core.mean_of("repeat_equal", interval="counts", title="share of equal marks when asked again"),
        core.mean_of("null_mark", "null_answer", interval="wilson", title="win rate of the null answer", higher_is_better=False),
        core.mean_of("raised", title="gain by an order to the judge", higher_is_better=False, worst=None),
        core.Measure(
            "family_gap", ("#gap", "gap", "own_gap", "is_own"), _gap, unit="marks",
            title="favour for its own family", higher_is_better=None, undefined="labels of both kinds are needed",
        ),
        core.share_of("lost", "unparsed", title="share without a mark", higher_is_better=False, worst=None),
    ]  # fmt: skip
    return (*agreement, *pairs, *rates, *corrected, *probes)


def applicable(rows: pd.DataFrame, given: tuple[core.Measure, ...]) -> list[core.Measure]:
    """The figures that this judge's answers have: of agreement and rates those of its kind of marks, of probes those made."""
    scale = str(rows["scale"].iloc[0]) if len(rows) else items.ZERO_ONE
    always = {AGREEMENT[scale], "unparsed"}
    if scale != items.NOMINAL:
        always |= {*items.PAIRS} if has_sides(rows) else {NAIVE[scale], CORRECTED[scale], TOO_KIND[scale]}
    made = {
        "first_slot": "first_slot",
        "inconsistent": "inconsistent",
        "length_bias": "length_mm",
        "repeat_equal": "repeat_equal",
        "null_answer": "null_mark",
        "raised": "raised",
    }
    some = {metric for metric, column in made.items() if rows[column].notna().any()}
    if scale == items.NOMINAL:  # of what has no order no length, no gain and no gap
        some &= {"repeat_equal"}
        some |= {"ceiling_of_kinds", BEYOND[scale]} if rows["among_xy"].notna().any() else set()
        return [m for m in given if m.metric in always | some]
    some |= {"ceiling", BEYOND[scale]} if rows["among_xy"].notna().any() else set()
    some |= {"family_gap"} if rows["is_own"].any() else set()
    return [m for m in given if m.metric in always | some]


def has_sides(rows: pd.DataFrame) -> bool:
    """Whether a judge's answers are pairs without models: a share of the first side means nothing."""
    return bool(rows["is_side"].any())


def has_rates(rows: pd.DataFrame) -> bool:
    """Whether a judge's marks have a mean that means something."""
    return not has_sides(rows) and str(rows["scale"].iloc[0]) != items.NOMINAL


def _beyond(of_judge: Callable[..., core.Floats]) -> Callable[..., core.Floats]:
    def beyond(*sums: core.Floats) -> core.Floats:
        return of_judge(*sums[:6]) - _among(*sums[6:])

    return beyond


def _moments(n: core.Floats, *sums: core.Floats) -> list[core.Floats]:
    return [core.ratio(s, n) for s in sums]


def _kappa(n: core.Floats, *sums: core.Floats) -> core.Floats:
    """1 − E(x − y)² / E₀(x − y)², of 0 and 1 Cohen's kappa, of numbers that weighted by squared distance."""
    x, xx, y, yy, xy = _moments(n, *sums)
    chance = xx + yy - 2 * x * y
    told_apart = (chance > 1e-12 * (xx + yy)) & (
        yy - y * y > 1e-12 * yy
    )  # by one label alone no judge agrees beyond chance
    with np.errstate(all="ignore"):
        found = 1 - (xx + yy - 2 * xy) / chance
        return np.where(told_apart, np.where(np.abs(found) < 1e-12, 0.0, found), np.nan)


def _spearman(n: core.Floats, *sums: core.Floats) -> core.Floats:
    x, xx, y, yy, xy = _moments(n, *sums)
    spread = (xx - x * x) * (yy - y * y)
    with np.errstate(all="ignore"):
        return np.where(spread > 1e-18, np.clip((xy - x * y) / np.sqrt(spread), -1, 1), np.nan)


def _among(n: core.Floats, *sums: core.Floats) -> core.Floats:
    y, yy, xy = _moments(n, *sums)
    spread = yy - y * y
    with np.errstate(all="ignore"):
        return np.where(spread > 1e-12 * (yy + 1e-300), (xy - y * y) / spread, np.nan)


STRATA = ("passed", "tied", "failed")
_STRATIFIED = (
    "#corrected_mark", "is_labelled", *(f"n_{s}" for s in STRATA), *(f"m_{s}" for s in STRATA), *(f"good_{s}" for s in STRATA)
)  # fmt: skip


def stratified(q: core.Floats, m: core.Floats, k: core.Floats) -> tuple[core.Floats, core.Floats]:
    """Shares of the strata and of good answers in them, from items, labels and good ones of each: ``(…, strata)``."""
    return core.ratio(q, q.sum(axis=-1, keepdims=True)), (k + 1) / (m + 2)


def _stratified_rate(_: core.Floats, labelled: core.Floats, *sums: core.Floats) -> core.Floats:
    q, m, k = (np.stack(sums[i : i + 3], axis=-1) for i in (0, 3, 6))
    share, rate = stratified(q, m, k)
    return np.where(labelled > 0, (share * rate).sum(axis=-1), np.nan)


def _post_stratified(none: Mapping[str, Any]) -> list[core.Measure]:
    def kind(n: core.Floats, labelled: core.Floats, *sums: core.Floats) -> core.Floats:
        return core.ratio(sums[0] + sums[1] / 2, n) - _stratified_rate(n, labelled, *sums)

    return [
        core.Measure("corrected", _STRATIFIED, _stratified_rate, title="corrected by labels", **none),
        core.Measure("too_kind", _STRATIFIED, kind, title="too kind by", unit="−1–1", **none),
    ]


def _rogan_gladen(none: Mapping[str, Any]) -> list[core.Measure]:
    sums = ("#corrected_mark", "rest", "is_rest", "seen_good", "is_good", "seen_bad", "is_bad")
    why = {
        **none,
        "undefined": "unlabelled answers, two labels of each class, and a judge that tells them apart are needed",
    }

    def rate(
        _: core.Floats,
        rest: core.Floats,
        n: core.Floats,
        good: core.Floats,
        n_good: core.Floats,
        bad: core.Floats,
        n_bad: core.Floats,
    ) -> core.Floats:
        q, se, sp = core.ratio(rest, n), core.ratio(good, n_good), core.ratio(bad, n_bad)
        skill = se + sp - 1
        with np.errstate(all="ignore"):
            found = np.clip((q + sp - 1) / skill, 0, 1)
        return np.where((skill >= 0.1) & (n_good > 1) & (n_bad > 1), found, np.nan)

    def kind(*values: core.Floats) -> core.Floats:
        return core.ratio(values[1], values[2]) - rate(*values)

    return [
        core.Measure("corrected", sums, rate, title="corrected by labels", **why),
        core.Measure("too_kind", sums, kind, title="too kind by", unit="−1–1", **why),
    ]


_POWERED = (
    "#corrected_mark",
    "is_labelled",
    "corrected_mark",
    "square",
    "rest",
    "is_rest",
    "mean_f",
    "mean_y",
    "mean_fy",
)


def _powered_mean(n_all: core.Floats, n: core.Floats, *sums: core.Floats) -> core.Floats:
    """The prediction-powered mean with the trust of least variance, :func:`evalbench.core.ppi.corrected_mean`."""
    f, ff, rest, n_rest, fl, yl, fy = sums
    with np.errstate(all="ignore"):
        spread = (ff - f * f / n_all) / (n_all - 1)
        covariance = (fy - fl * yl / n) / (n - 1)
        trust = np.clip(covariance / ((1 + n / n_rest) * spread), 0, 1)
        trust = np.where((n > 1) & (spread > 0) & (n_rest > 0), trust, 0.0)
        shift = np.where(n_rest > 0, rest / n_rest - fl / n, 0.0)
        return np.where(n > 0, yl / n + trust * shift, np.nan)


def _powered(none: Mapping[str, Any]) -> list[core.Measure]:
    def kind(n_all: core.Floats, n: core.Floats, *sums: core.Floats) -> core.Floats:
        return core.ratio(sums[0], n_all) - _powered_mean(n_all, n, *sums)

    marks = {**none, "unit": "marks"}
    return [
        core.Measure("corrected_mean", _POWERED, _powered_mean, title="corrected by labels", **marks),
        core.Measure("too_kind_mean", _POWERED, kind, title="too kind by", **marks),
    ]


def _partial(n: core.Floats, *sums: core.Floats) -> core.Floats:
    """Correlation of mark and length with the human label held fixed, all midranks."""
    mark, length, label, mm, ml, mh, ll, lh, hh = _moments(n, *sums)
    vm, vl, vh = mm - mark**2, ll - length**2, hh - label**2
    cml, cmh, clh = ml - mark * length, mh - mark * label, lh - length * label
    with np.errstate(all="ignore"):
        within = 1 / np.where(vh > 1e-12, vh, np.nan)
        a, b, c = vm - cmh**2 * within, vl - clh**2 * within, cml - cmh * clh * within
        found = np.clip(c / np.sqrt(a * b), -1, 1)
    return np.where((a > 1e-9) & (b > 1e-9) & (n > 2), found, np.nan)


def _gap(n: core.Floats, total: core.Floats, own: core.Floats, n_own: core.Floats) -> core.Floats:
    rest = n - n_own
    return np.where((n_own > 0) & (rest > 0), core.ratio(own, n_own) - core.ratio(total - own, rest), np.nan)
