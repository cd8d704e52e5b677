"""Tests 1, 4 and 5: the drop of the key metric, measured, expected from neighbours, and predicted from distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.drift import figures, inputs, key_of_all_rows, lights
from evalbench.studies.drift.items import DISTANCES

TOO_LOW = "too low"


def _drawn(items: pd.DataFrame, column: str, weights: core.Floats) -> Sequence[core.Floats]:
    """The mean of a column on both sides in each resample; nothing without resamples."""
    if not len(weights) or column not in items:
        return ()
    values, out = items[column].to_numpy(dtype=float), []
    for side in inputs.SIDES:
        known = np.isfinite(values) & (items["side"] == side).to_numpy()
        with np.errstate(invalid="ignore", divide="ignore"):
            out.append(np.asarray(weights[:, known] @ values[known] / weights[:, known].sum(axis=1)))
    return out


def key_metric(
    items: pd.DataFrame, weights: core.Floats, settings: figures.Settings, quality: Sequence[core.Estimate]
) -> figures.Test:
    """Test 1: the drop of the key metric from OOS to OOT."""
    drop = figures.estimated(items, [figures.measures()[0]], settings).estimates[0]
    n = [side.n for side in quality]
    if settings.all_rows:
        drop = key_of_all_rows.drop(drop, quality[0], quality[1], settings.all_rows)
        drawn = key_of_all_rows.drawn(settings.all_rows, settings.seed, len(weights)) if min(n) else ()
    else:
        drop = _with_width(drop, quality)
        drawn = _drawn(items, "key", weights)
    if not min(n):
        why = "there are no labels" if not any(n) else f"{'OOT' if n[0] else 'OOS'} has no labels"
        if lost := [side.upper() for side in ("oos", "oot") if (items["unscored"][items["side"] == side] != "").all()]:
            why = f"nothing of {' and '.join(lost)} could be scored"
        drop = figures.instead(drop, figures.UNLABELLED, why)
        if not n[1]:
            return figures.Test("key_metric", "unlit", [drop], why=why)
        return _of_drop("key_metric", drop, quality[1], settings, why, ())
    why = f"fewer than {lights.LEAST_ROWS} labels on a side ({min(n)})" if min(n) < lights.LEAST_ROWS else ""
    why = why or _cannot_fall(quality, settings)
    return _of_drop("key_metric", drop, quality[1], settings, why, drawn)


def _cannot_fall(quality: Sequence[core.Estimate], settings: figures.Settings) -> str:
    """That the key metric of OOS is so low that no drop from it could be more than what is green; nothing where its level is judged."""
    then, least = quality[0].value, min(settings.drop_bands.cuts, default=0.0)
    if settings.key is not None or then is None or 100 * then >= least - 1e-6:
        return ""
    shown = core.wording.value_text(quality[0], quality)
    return f"the key metric of OOS, {shown}, is {TOO_LOW} to fall by {least:g} pp"


def _with_width(drop: core.Estimate, quality: Sequence[core.Estimate]) -> core.Estimate:
    """The drop with an interval that has a width, also where no label of either side differs and all resamples agree.

    A side whose only mark is between 0 and 1 has no interval, nor has the drop.
    """
    if drop.value is None or drop.ci_low is None or drop.ci_low != drop.ci_high:
        return drop
    if not all("Wilson" in q.method for q in quality):
        return figures.noted(
            replace(drop, ci_low=None, ci_high=None, method="", note=""), "all marks of a side are equal: no interval"
        )
    low, high = figures.newcombe(*quality)
    return replace(drop, ci_low=low, ci_high=high, method="Newcombe, of both Wilson intervals", note="")


def _of_drop(
    name: str,
    drop: core.Estimate,
    quality: core.Estimate,
    settings: figures.Settings,
    why: str,
    means: Sequence[core.Floats],
) -> figures.Test:
    """A test whose figure is a drop between means of the rows of both sides; ``means``: of both in resamples."""
    light = _drop_light(drop, quality, settings)
    drop = figures.noted(drop, by_key(light, drop, quality, settings))
    drawn = np.empty(0, dtype="<U6")
    if means and drop.value is not None:
        then, now = means
        drawn = lights.of_drop(100 * (then - now), now, settings.drop_bands, settings.key)
    return _finished(name, drop, light, drawn, why, settings)


def _drop_light(drop: core.Estimate, quality: core.Estimate, settings: figures.Settings) -> core.verdict.Light:
    if drop.value is None or quality.value is None:
        return "grey"
    bands, key = settings.drop_bands, settings.key
    if settings.light_on == "estimate":
        return str(lights.of_drop([drop.value], [quality.value], bands, key)[0])  # type: ignore[return-value]
    if drop.ci_low is None or drop.ci_high is None or quality.ci_low is None or quality.ci_high is None:
        return "grey"
    return lights.of_interval((drop.ci_low, drop.ci_high), (quality.ci_low, quality.ci_high), bands, key)


def by_key(light: core.verdict.Light, drop: core.Estimate, quality: core.Estimate, settings: figures.Settings) -> str:
    """Where a light is not that of the drop but of the key metric in OOT, that this is so."""
    key = settings.key
    if key is None or drop.value is None or light in ("grey", settings.drop_bands.light(drop.value)):
        return ""
    shown = core.wording.value_text(replace(quality, cuts=key.cuts))
    return f"{light} since the key metric of OOT, {shown}, is {key.light(quality.value)} by key_bands"


def _finished(
    name: str,
    drop: core.Estimate,
    light: core.verdict.Light,
    drawn: lights.Lights,
    why: str,
    settings: figures.Settings,
) -> figures.Test:
    if why or drop.value is None:
        drop = figures.noted(drop, why)
        return figures.Test(
            name, "grey", [replace(drop, light="grey", cuts=settings.drop_bands.cuts)], why=why or drop.note
        )
    return figures.Test(
        name, light, [replace(drop, light=light, cuts=settings.drop_bands.cuts)], drawn, "", drop.metric
    )


def local(items: pd.DataFrame, weights: core.Floats, settings: figures.Settings) -> figures.Test:
    """Test 4: the quality that the neighbours of new requests let one expect."""
    drop = figures.estimated(items, [figures.measures()[2]], settings).estimates[0]
    rows = items[items["side"] == "oot"]
    quality = figures.estimated(
        rows,
        [
            core.mean_of(
                "expected_oot", "expected_quality", title="expected key metric of OOT", undefined="nothing is expected"
            ),
            core.mean_of(
                "similarity", "reliability", title="similarity to neighbours", unit="cosine", undefined="no neighbours"
            ),
        ]
        if "similarity" in rows
        else [
            core.mean_of(
                "expected_oot", "expected_quality", title="expected key metric of OOT", undefined="nothing is expected"
            )
        ],
        settings,
        {"side": "oot"},
    ).estimates
    values = items["expected"].to_numpy(dtype=float) if "expected" in items else np.full(len(items), np.nan)
    side = (items["side"] == "oot").to_numpy()
    n = [int((np.isfinite(values) & own).sum()) for own in (~side, side)]
    labels = items.loc[~side, "key"].dropna()
    why = ""
    reliability = next((e.value for e in quality if e.metric == "reliability"), None)
    if "expected" not in items or not min(n):
        why = figures.without_vectors(items)
        drop = figures.instead(drop, figures.UNEXPECTED, why)
    elif min(n) < lights.LEAST_ROWS:
        why = f"fewer than {lights.LEAST_ROWS} requests on a side ({min(n)})"
    elif labels.nunique() < 2:
        why = "all labels of OOS are equal, so that no neighbour can show a drop"
    elif reliability is not None and reliability < settings.reliable_from:
        why = f"the mean similarity to neighbours, {reliability:.3g}, is below {settings.reliable_from:g}: they say nothing"
    found = _of_drop("local_drift", drop, quality[0], settings, why, _drawn(items, "expected", weights))
    return replace(found, estimates=[*found.estimates, *(e for e in quality)])


def forecast(items: pd.DataFrame, settings: figures.Settings) -> core.global_drift.GlobalDrift:
    """The regression of test 5 from the distances of the rows."""
    if "part" not in items:
        labels = int(items.loc[items["side"] == "oos", "key"].notna().sum())
        few = 1 < labels < 2 * core.global_drift.LEAST_SIZE
        needed = 2 * settings.size * core.global_drift.LEAST_SAMPLES
        why = f"{labels} labelled rows of OOS, {needed} are needed" if few else figures.without_vectors(items)
        return core.global_drift.GlobalDrift(0, settings.size, needed, why=why, lacks_rows=few)
    table = items[list(DISTANCES)].to_numpy(dtype=float)
    part = items["part"].to_numpy(dtype=str)
    known = np.isfinite(table).all(axis=1) & (items["unscored"] == "").to_numpy()
    key = items["key"].to_numpy(dtype=float)
    add = known & np.char.startswith(part, "add ") & np.isfinite(key)
    names = sorted(set(part[add].tolist()), key=lambda name: int(name.removeprefix("add ")))
    where = {name: np.flatnonzero(add & (part == name)) for name in names}
    whole = [rows for rows in where.values() if len(rows)]
    new = np.flatnonzero(known & (items["side"] == "oot").to_numpy())
    new = new[inputs.in_drawn_order(items["id"].iloc[new].tolist(), settings.seed, "global/new")]
    cut = new[: len(new) // settings.size * settings.size].reshape(-1, settings.size)
    return core.global_drift.predicted(
        [table[rows] for rows in whole],
        [float(key[rows].mean()) for rows in whole],
        [table[rows] for rows in cut],
        size=settings.size,
        alpha=core.global_drift.ALPHA,
        least_r=core.global_drift.LEAST_R,
    )


def global_(items: pd.DataFrame, settings: figures.Settings) -> tuple[figures.Test, core.global_drift.GlobalDrift]:
    """Test 5: the quality predicted from distances."""
    found = forecast(items, settings)
    n = int((items["side"] == "oot").sum())
    lost = core.unscored.counted(items["unscored"])
    rows = int(np.isfinite(items["mean_distance"].to_numpy(dtype=float)).sum()) if "mean_distance" in items else 0
    drop = core.Estimate(
        metric=figures.PREDICTED_DROP,
        title="drop predicted from distances",
        value=None if found.why else 100 * (found.observed - found.predicted),
        ci_low=None if found.why else 100 * (found.observed - found.high),
        ci_high=None if found.why else 100 * (found.observed - found.low),
        method="" if found.why else "prediction interval of a linear regression",
        unit="pp",
        higher_is_better=False,
        cuts=settings.drop_bands.cuts,
        note="; ".join(
            filter(None, [found.why, f"every item is unscored: {lost}" if found.why and lost and not rows else ""])
        ),
        **figures.counts(items, 0 if found.why else rows),
    )
    quality = core.Estimate(
        metric="predicted_quality",
        title="predicted key metric of OOT",
        value=None if found.why else found.predicted,
        ci_low=None if found.why else found.low,
        ci_high=None if found.why else found.high,
        method=drop.method,
        unit="0–1",
        higher_is_better=True,
        note=drop.note,
        **figures.counts(items, 0 if found.why else rows),
    )
    why = found.why or (f"fewer than {lights.LEAST_ROWS} rows in OOT ({n})" if n < lights.LEAST_ROWS else "")
    light = _drop_light(drop, quality, settings)
    drop = figures.noted(drop, by_key(light, drop, quality, settings))
    drawn = np.empty(0, dtype="<U6")
    if not why:
        spread = (found.high - found.low) / (2 * 1.96)
        at = np.clip(
            found.predicted
            + spread * core.seeds.rng(settings.seed, "global/stability").standard_normal(figures.N_JOINT),
            0,
            1,
        )
        drawn = lights.of_drop(100 * (found.observed - at), at, settings.drop_bands, settings.key)
    if found.lacks_rows:
        test = figures.Test("global_drift", "unlit", [drop], why=found.why)
        return replace(test, estimates=[drop, quality]), found
    test = _finished("global_drift", drop, light, drawn, why, settings)
    return replace(test, estimates=[*test.estimates, quality]), found
