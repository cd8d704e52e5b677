"""What the five tests share: their settings, the figures that are sums over rows, resamples, what a judge's anchors hold back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.drift import inputs
from evalbench.studies.drift.lights import RELIABLE_FROM, Lights, Rules, bands_for

RESTING = ("key_metric", "local_drift", "global_drift")
"""The tests of the key metric, measured or forecast."""
PEOPLES = "label"
"""The column of people's labels: no judge's move changes it."""

N_JOINT = 200
"""Resamples of the statistics, and of all five tests together for the stability of the light."""
QUALITY, DROP, EXPECTED_DROP, PREDICTED_DROP = "quality", "drop", "expected_drop", "predicted_drop"

UNLABELLED, UNEXPECTED = "no labels on one of the sides", "nothing is expected"


@dataclass(frozen=True)
class Test:
    """One test.

    - ``name``: Of :data:`evalbench.studies.drift.lights.TESTS`.
    - ``light``: ``unlit`` where the test does not apply.
    - ``estimates``: Its figures; the first has its light.
    - ``drawn`` ((r,) array of lights): In resamples; empty without any.
    - ``why``: Why it is grey or unlit.
    - ``decided``: The metric that its light is that of.
    """

    name: str
    light: core.verdict.Light
    estimates: list[core.Estimate]
    drawn: Lights = field(default_factory=lambda: np.empty(0, dtype="<U6"))
    why: str = ""
    decided: str = ""


@dataclass(frozen=True)
class Settings:
    """The options of the tests, see :func:`evalbench.studies.drift.evaluate`."""

    light_on: str = "estimate"
    key_bands: Mapping[str, float] = field(default_factory=dict)
    lights: Rules = field(default_factory=dict)
    preset: str = "handbook"
    psi_light_on: str = "excess"
    new_tokens: str = "increase"
    languages: Sequence[str] = ()
    n_bins: int = core.psi.N_BINS
    epsilon: float = core.psi.EPSILON
    n_permutations: int = core.psi.N_PERMUTATIONS
    reliable_from: float = RELIABLE_FROM
    size: int = core.global_drift.LEAST_SIZE
    all_rows: Mapping[str, Any] | None = None
    judge_drift: Mapping[str, Any] | None = None
    seed: int = 0
    n_resamples: int = 2000

    @property
    def drop_bands(self) -> core.verdict.Bands:
        return bands_for("drop", self.preset, self.lights)

    @property
    def key(self) -> core.verdict.Bands | None:
        return kit.verdicts.bands_of(self.key_bands) if self.key_bands else None


def with_sums(items: pd.DataFrame) -> pd.DataFrame:
    """The items with the columns that the figures sum."""
    oot = (items["side"] == "oot").to_numpy()
    out = {}
    for name in ("key", "expected"):
        values = items[name].to_numpy(dtype=float) if name in items else np.full(len(items), np.nan)
        known = np.isfinite(values)
        for side, own in (("oos", ~oot), ("oot", oot)):
            out[f"{name}_{side}"] = np.where(known, np.where(own, values, 0.0), np.nan)
            out[f"n_{name}_{side}"] = np.where(known, own.astype(float), np.nan)
    out["quality"] = items["key"].to_numpy(dtype=float)
    return items.assign(**out)


def measures() -> tuple[core.Measure, ...]:
    """The key metric of a side, its drop, and the drop that local drift lets one expect."""
    return (
        _drop(DROP, "key", "drop of the key metric", UNLABELLED),
        core.share_of(QUALITY, title="key metric", undefined="no labels"),
        _drop(EXPECTED_DROP, "expected", "drop expected from neighbours", UNEXPECTED),
    )


def _drop(metric: str, column: str, title: str, undefined: str) -> core.Measure:
    return core.Measure(
        metric,
        (f"{column}_oos", f"n_{column}_oos", f"{column}_oot", f"n_{column}_oot"),
        _difference,
        unit="pp",
        higher_is_better=False,
        title=title,
        undefined=undefined,
    )


def _difference(a: core.Floats, n: core.Floats, b: core.Floats, m: core.Floats) -> core.Floats:
    return 100 * (core.ratio(a, n) - core.ratio(b, m))


def newcombe(then: core.Estimate, now: core.Estimate) -> tuple[float, float]:
    """The interval of a drop between two shares, or means of marks that are all alike, with Wilson's intervals, in percentage points.

    d = p₁ − p₂ with [l, u]: from d − √((p₁ − l₁)² + (u₂ − p₂)²) to d + √((u₁ − p₁)² + (p₂ − l₂)²).  Newcombe (1998),
    Statistics in Medicine 17, 873–890, method 10.
    """
    (p, low, high), (q, least, most) = (
        [100 * float(end or 0.0) for end in (side.value, side.ci_low, side.ci_high)] for side in (then, now)
    )
    return p - q - math.hypot(p - low, most - q), p - q + math.hypot(high - p, q - least)


def units_of(items: pd.DataFrame) -> pd.Series:
    """What rows are drawn by: their ids; rows of both sides with one id and other requests are apart, such as rows numbered in each file."""
    ids = items["id"].astype(str)
    if "question" not in items or not ids.duplicated().any():
        return ids
    apart = items.groupby("id")["question"].transform("nunique") > 1
    return ids.where(~apart, items["side"] + "/" + ids)


def joint_weights(items: pd.DataFrame, seed: int, n_resamples: int) -> tuple[core.Floats, Any]:
    """How often each row is drawn in each of the joint resamples, and the block of each row."""
    _, block = core.clusters.codes(core.clusters.drawn_together(items, units_of(items).to_numpy()))
    size = min(N_JOINT, n_resamples)
    n = int(block.max()) + 1 if len(block) else 0
    if n < 2 or size < 2:
        return np.empty((0, len(items))), block
    drawn = np.concatenate(list(core.stats.resample_counts(n, core.seeds.rng(seed, "bootstrap/joint"), size)))
    return drawn[:, block], block


def qualities(items: pd.DataFrame, settings: Settings, key_title: str = "key metric") -> list[core.Estimate]:
    """The key metric of each side, and beside it the best constant answer."""
    out = []
    for side in ("oos", "oot"):
        rows = items[items["side"] == side]
        found = estimated(rows, [replace(measures()[1], title=key_title)], settings, {"side": side}).estimates[0]
        beside = ""
        if found.value is not None and set(rows["key"].dropna()) <= {0.0, 1.0}:
            truth = rows["reference"].tolist() if "reference" in rows else None
            beside = str(core.constant_answer.constant_answer(rows["key"].to_numpy(dtype=float), truth))
        out.append(replace(found, note="; ".join(filter(None, [found.note, beside]))))
    return out


def estimated(
    rows: pd.DataFrame, own: Sequence[core.Measure], settings: Settings, group: Mapping[str, str] | None = None
) -> core.measures.Estimated:
    columns = with_sums(rows)
    return core.measures.estimate(
        columns, own, units=units_of(columns), seed=settings.seed, group=group, n_resamples=settings.n_resamples
    )


def counts(items: pd.DataFrame, n: int) -> dict[str, Any]:
    lost = int((items["unscored"] != "").sum())
    return {"n": n, "n_unscored": lost, "n_undefined": len(items) - n - lost}


def crowded_sides(
    items: pd.DataFrame, max_unscored: float, all_rows: Mapping[str, Any] | None = None
) -> dict[str, float]:
    """The sides more of which is unscored than may be, with their shares: one full side does not make up for the other."""
    lost: Mapping[Any, float] = dict((items["unscored"] != "").groupby(items["side"]).mean())
    if all_rows:
        lost = {side: all_rows[side]["n_unscored"] / max(all_rows[side]["rows"], 1) for side in inputs.SIDES}
    return {str(side): float(share) for side, share in lost.items() if share > max_unscored}


def instead(e: core.Estimate, general: str, why: str) -> core.Estimate:
    """The estimate with its reason in place of the general one that its measure has."""
    others = [part for part in e.note.split("; ") if part not in (general, "")]
    return replace(e, note="; ".join(dict.fromkeys([why, *others])))


def without_vectors(items: pd.DataFrame) -> str:
    """Why no row has neighbours or distances: too few labels of OOS, else no vectors."""
    labels = int(items.loc[items["side"] == "oos", "key"].notna().sum())
    return "there is no embedding model" if labels > 1 else "OOS has one label" if labels else "OOS has no labels"


def noted(e: core.Estimate, *words: str) -> core.Estimate:
    return replace(e, note="; ".join(dict.fromkeys(filter(None, [e.note, *words]))))


def reason_of(fit: Mapping[str, Any], metric: str) -> str:
    """Why tests of the key metric say nothing of the system; empty where they do.

    - ``fit``: Of :class:`evalbench.kit.anchors.Anchored`.
    - ``metric``: The key metric.

    Examples
    --------
    >>> reason_of({"void": "the judge from a to b", "moved": "", "light": "grey"}, "score")
    'the judge changed (the judge from a to b)'
    >>> reason_of({"void": "the judge from a to b", "moved": "", "light": "grey"}, "label")
    ''
    """
    if metric == PEOPLES:
        return ""
    if fit["void"]:
        return f"the judge changed ({fit['void']})"
    moved = str(fit["moved"]).partition(" on the same ")[0]  # the whole sentence follows
    return f"{moved[:1].lower()}{moved[1:]}" if moved and fit["light"] == "red" else ""


def held_by_judge(test: Test, judge_drift: Mapping[str, Any] | None, *, again: bool = False) -> Test:
    """A test of the key metric without a light where the judge changed or moved; its figures stay shown.

    ``again``: another test has given the reason whole.
    """
    reason = (judge_drift or {}).get("reason") or ""
    if not reason or test.name not in RESTING or test.light in ("grey", "unlit"):
        return test
    shown = f"a drop may be the judge's; by itself it would be {test.light}"
    may = "a drop may be hidden by the judge" if test.light == "green" else shown
    why = f"{'the judge moved or changed' if again else reason}, so {may}"
    estimates = [
        replace(e, light="grey", note="; ".join(filter(None, (reason, e.note))))
        if e.light not in ("grey", "unlit")
        else e
        for e in test.estimates
    ]
    return replace(test, light="grey", why=why, estimates=estimates, drawn=test.drawn[:0])
