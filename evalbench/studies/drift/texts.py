"""Tests 2 and 3: statistics of the texts, and classifiers of both samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.drift import figures, separating
from evalbench.studies.drift.lights import bands_for, overall
from evalbench.studies.drift.statistics import Statistic, statistics_of


def statistics(
    items: pd.DataFrame, weights: core.Floats, blocks: Any, settings: figures.Settings
) -> tuple[figures.Test, list[Statistic]]:
    """Test 2: statistics of the texts and the document's rule over their lights."""
    kept = (items["unscored"] == "").to_numpy()
    rows = items[kept]
    options = {
        name: getattr(settings, name)
        for name in ("languages", "psi_light_on", "new_tokens", "n_bins", "epsilon", "n_permutations", "seed")
    }
    found = statistics_of(rows, weights[:, kept], np.asarray(blocks)[kept], **options)
    clustered = core.clusters.is_clustered(items)
    units = len(np.unique(np.asarray(blocks)[kept])) if len(rows) else 0
    estimates: list[core.Estimate] = []
    drawn: dict[str, list[Any]] = {"response": [], "request": []}
    lights: dict[str, list[Any]] = {"response": [], "request": []}
    for s in found:
        bands = bands_for(s.name, settings.preset, settings.lights)
        e = _statistic(s, items, bands, settings, clustered, units)
        estimates.append(e)
        lights[s.part].append([e.light])
        if len(s.drawn):
            drawn[s.part].append(np.full(len(s.drawn), "grey", dtype="<U6") if s.why else bands.lights(s.drawn))
    light: core.verdict.Light = str(overall(lights["response"], lights["request"])[0]) if found else "grey"  # type: ignore[assignment]
    replicates = np.empty(0, dtype="<U6")
    if drawn["response"] and len({len(d) for side in drawn.values() for d in side}) == 1:
        replicates = overall(drawn["response"], drawn["request"])
    why = next((s.why for s in found if s.why), "no response has a text") if light == "grey" else ""
    worst_of = (
        [e for e in estimates if e.light == light]
        or [e for e in estimates if e.light in ("red", "yellow")]
        or estimates
    )
    decided = max(worst_of, key=lambda e: -math.inf if e.value is None else e.value).metric
    return figures.Test("statistics", light, estimates, replicates, why, decided), found


def _statistic(
    s: Statistic,
    items: pd.DataFrame,
    bands: core.verdict.Bands,
    settings: figures.Settings,
    clustered: bool,
    n_units: int,
) -> core.Estimate:
    notes = [s.why]
    if s.index is not None and math.isfinite(s.index.value):
        notes.append(
            f"PSI {s.index.value:.3g}, by chance {s.index.null_mean:.3g}, p {core.wording.p_equals(s.index.p)}"
            if s.index.n_permutations
            else f"PSI {s.index.value:.3g}"
        )
    if math.isfinite(s.share) and math.isfinite(s.expected):
        notes.append(
            f"{100 * s.share:.3g}% of the tokens of OOT are new, {100 * s.expected:.3g}% between halves of OOS"
        )
    known = math.isfinite(s.value)
    low = high = None
    if known and len(s.drawn) and n_units > 1 and np.isfinite(s.drawn).any():
        level = core.clusters.widened(n_units) if clustered else 0.95
        low, high = map(float, core.stats.holding(s.value, *core.stats.percentile_interval(s.drawn, level)))
    words = f"percentile bootstrap of {n_units} clusters, widened by t, " if clustered else "percentile bootstrap, "
    lost = core.unscored.counted(items["unscored"])
    return core.Estimate(
        metric=s.metric,
        title=s.title,
        value=s.value if known else None,
        ci_low=low,
        ci_high=high,
        method=f"{words}{len(s.drawn)} resamples" if low is not None else "",
        unit="PSI" if s.index is not None else "ratio" if settings.new_tokens == "ratio" else "0–1",
        higher_is_better=False,
        light="grey" if s.why or not known else bands.light(s.value),
        cuts=bands.cuts,
        note="; ".join(filter(None, [*notes, f"every item is unscored: {lost}" if not known and lost else ""]))
        or "no value",
        **figures.counts(items, s.n if known else 0),
    )


def separability(items: pd.DataFrame, settings: figures.Settings) -> figures.Test:
    """Test 3: the Gini of classifiers of both samples; the greater decides."""
    bands = bands_for("gini", settings.preset, settings.lights)
    estimates, drawn, reasons = [], [], []
    lost = core.unscored.counted(items["unscored"])
    for name, sees in separating.WAYS.items():
        if f"{name}_score" not in items:
            continue
        found, replicates, why = separating.gini_of(items, name, seed=settings.seed, n_resamples=settings.n_resamples)
        light = "grey" if why or found.value is None else bands.light(found.value)
        reasons.append(why)
        drawn.append(
            bands.lights(replicates[: figures.N_JOINT])
            if not why
            else np.full(len(replicates[: figures.N_JOINT]), "grey")
        )
        estimates.append(
            core.Estimate(
                metric=name,
                title=f"Gini by {sees}",
                value=found.value,
                ci_low=found.ci_low,
                ci_high=found.ci_high,
                method=found.method,
                unit="−1–1",
                higher_is_better=False,
                light=light,
                cuts=bands.cuts,
                note="; ".join(
                    dict.fromkeys(
                        filter(
                            None,
                            [
                                found.note,
                                why,
                                f"every item is unscored: {lost}" if found.value is None and lost else "",
                            ],
                        )
                    )
                ),
                **figures.counts(items, found.n if found.value is not None else 0),
            )
        )
    if not estimates:
        nothing = f"every item is unscored: {lost}" if lost else "no requests of both sides"
        e = core.Estimate(
            metric="gini", title=f"Gini by {separating.WAYS['gini']}", value=None, note=nothing, light="grey", cuts=bands.cuts,
            unit="−1–1", higher_is_better=False, **figures.counts(items, 0),
        )  # fmt: skip
        return figures.Test("separability", "grey", [e], why=nothing)
    known = [e for e in estimates if e.value is not None and e.light != "grey"]
    if not known:
        return figures.Test("separability", "grey", estimates, why=next(filter(None, reasons), estimates[0].note))
    top = max(known, key=lambda e: e.value or 0.0)
    of_top = drawn[estimates.index(top)]
    return figures.Test("separability", top.light, estimates, of_top, "", top.metric)
