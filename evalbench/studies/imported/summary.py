"""Items to headline figures and their light."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.studies.imported import inputs
from evalbench.studies.imported.items import with_reasons

_BETTER = {inputs.HIGHER: True, inputs.LOWER: False}


def checked_directions(directions: Mapping[str, Any], checks: kit.Checks, metrics: Sequence[str] = ()) -> None:
    """Gather what is wrong with the option ``directions``."""
    for name, direction in directions.items():
        checks.that(not metrics or name in metrics, f"directions: {name} is not among the metrics")
        checks.choice(f"directions: {name}", direction, inputs.DIRECTIONS)


def checked_scales(scales: Mapping[str, Any], checks: kit.Checks, metrics: Sequence[str] = ()) -> None:
    """Gather what is wrong with the option ``scales``."""
    for name, ends in scales.items():
        checks.that(not metrics or name in metrics, f"scales: {name} is not among the metrics")
        numbers = isinstance(ends, list | tuple) and len(ends) == 2 and all(map(_finite, ends)) and ends[0] < ends[1]
        wrong = f"scales: {name} must be the lowest and the highest score, such as [0, 1]; got {ends!r:.80}"
        checks.that(numbers, wrong)


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def rules_of(
    lights: Mapping[str, Any],
    metrics: Sequence[str],
    directions: Mapping[str, str],
    scales: Mapping[str, Sequence[float]],
) -> dict[str, dict[str, float]]:
    """The checked thresholds of each metric that has a light.

    Raises ``BadInput``: Lists lights of metrics that are not there or have no direction, and thresholds that are no
    rule.
    """
    known = {}
    for name in metrics:
        low, high = scales.get(name, (-math.inf, math.inf))
        known[name] = kit.rules.Figure(_BETTER.get(directions.get(name, inputs.HIGHER)), (low, high))
    return kit.rules.rules_of(lights, known)


def fitting(
    items: pd.DataFrame, scales: Mapping[str, Sequence[float]] | None
) -> tuple[dict[str, tuple[float, float]], dict[str, str]]:
    """The scales that hold all scores of their metric; metric to why its light is grey, of the others."""
    fit: dict[str, tuple[float, float]] = {}
    outside: dict[str, str] = {}
    for name, (low, high) in (scales or {}).items():
        seen = items[inputs.column_of(name)].dropna() if inputs.column_of(name) in items else pd.Series(dtype=float)
        if n := int(((seen < low) | (seen > high)).sum()):
            outside[name] = f"{core.wording.count(n)} of {core.wording.count(len(seen))} scores lie outside their scale"
        else:
            fit[name] = (low, high)
    return fit, outside


def two_scales(items: pd.DataFrame, metric: str) -> list[core.Note]:
    """The note on a metric whose scores of two models seem to be of two scales."""
    column = inputs.column_of(metric)
    if column not in items:
        return []
    return kit.marks.two_scales(metric, {str(name): own for name, own in items.groupby("model")[column]})


def measures(
    metrics: Sequence[str] = (),
    directions: Mapping[str, str] | None = None,
    scales: Mapping[str, Sequence[float]] | None = None,
) -> tuple[core.Measure, ...]:
    """The mean of each metric over the questions; of scores that are 0 or 1 a proportion."""
    return tuple(_measure(name, directions or {}, scales or {}) for name in metrics)


def _measure(name: str, directions: Mapping[str, str], scales: Mapping[str, Sequence[float]]) -> core.Measure:
    better = _BETTER.get(directions.get(name, inputs.HIGHER))
    ends = tuple(map(float, scales.get(name, ())))
    worst = None if better is None or not ends else ends[0] if better else ends[1]
    unit = "" if not ends else f"{ends[0]:g}–{ends[1]:g}"
    return core.mean_of(
        inputs.column_of(name),
        name,
        unit=unit,
        higher_is_better=better,
        worst=worst,
        least_units=core.stats.FEW_UNITS,
        interval="wilson" if ends == (0.0, 1.0) else "bootstrap",  # by bootstrap where scores are between
        undefined="no answer has a score",
    )


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    names, given = checks.options["metrics"] or (), checks.options
    checked_directions(given["directions"] or {}, checks, names)
    checks.tried(lambda: rules_of(given["lights"] or {}, names, given["directions"] or {}, given["scales"] or {}))


@kit.slicing.sliced(inputs.UNIT, measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    metrics: Sequence[str] = (),
    directions: Mapping[str, str] | None = None,
    scales: Mapping[str, Sequence[float]] | None = None,
    lights: Mapping[str, Mapping[str, float]] | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """The mean of every metric of each model with its interval, and the verdict, from items alone; options as of ``evaluate``.

    Without ``metrics``, every metric that has a column.
    """
    names = list(metrics) or inputs.metrics_in(items)
    lights = lights or {}
    fit, outside = fitting(items, scales)
    outside |= {name: said.short for name in names for said in two_scales(items, name)}
    known = [m for m in measures(names, directions, fit) if m.sums[0] in items]
    options: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    found = [
        e
        for m in known
        for e in kit.verdicts.by_group(
            with_reasons(items, m.metric), [kit.verdicts.with_light(m, lights)], "model", units=inputs.UNIT, **options
        )
    ]
    return kit.worst_group(
        items,
        known,
        "model",
        lights=lights,
        held_back=lambda e: outside.get(e.metric, ""),
        over=core.counted(items[inputs.UNIT].nunique(), "question"),
        max_unscored=max_unscored,
        remark=_missing(items, found, list(lights) or names[:1]),
        units=inputs.UNIT,
        estimates=sorted(found, key=lambda e: e.group.get("model", "")),
        **options,
    )


def _missing(items: pd.DataFrame, found: Sequence[core.Estimate], metrics: Sequence[str]) -> str:
    """How many scores of each metric are missing, where items that have other scores hide it."""
    each = {m: sum(e.n_unscored for e in found if e.metric == m and len(e.group) == 1) for m in metrics}
    hidden = {m: n for m, n in each.items() if n > (items["unscored"] != "").sum()}
    said = [
        f"{core.wording.count(n)} of {core.wording.count(len(items))} have no score of {m}" for m, n in hidden.items()
    ]
    return f"{'; '.join(said)}." if said else ""
