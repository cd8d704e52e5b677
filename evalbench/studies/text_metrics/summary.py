"""Items to headline measures with intervals and a light."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.metrics import registry, translation
from evalbench.studies.text_metrics.items import with_reasons


def rules_of(lights: Mapping[str, Any], metrics: Sequence[str]) -> dict[str, dict[str, float]]:
    """The checked thresholds of each metric that has a light.

    Raises ``BadInput``: Lists lights of metrics that are not computed or have no direction, and thresholds that are no
    rule.
    """
    cards = [directed(name, lights) for name in metrics]
    return kit.rules.rules_of(lights, {c.name: kit.rules.Figure(c.higher_is_better, c.range) for c in cards})


def directed(metric: str, lights: Mapping[str, Any]) -> registry.Card:
    """The card of a metric; of a module's metric with the direction that its thresholds state.

    Examples
    --------
    >>> directed("evaluate:wer", {"evaluate:wer": {"green_to": 0.1, "yellow_to": 0.3}}).higher_is_better
    False
    """
    entry, rule = registry.card(metric), lights.get(metric)
    if not metric.startswith(registry.MODULE) or not isinstance(rule, Mapping):
        return entry
    words = set(rule)
    if words and words <= {"green_from", "yellow_from"}:
        return replace(entry, higher_is_better=True)
    return replace(entry, higher_is_better=False) if words and words <= {"green_to", "yellow_to"} else entry


def measures(metrics: Sequence[str], lights: Mapping[str, Any] | None = None) -> tuple[core.Measure, ...]:
    """The mean of each metric over texts (of one that is 0 or 1, a proportion), and corpus BLEU beside sacrebleu's."""
    return tuple(measure for name in metrics for measure in _measures_of(directed(name, lights or {})))


def _measures_of(entry: registry.Card) -> tuple[core.Measure, ...]:
    # The mean of what is 0 or 1 is a proportion, anywhere between.
    share = entry.unit == "0/1"
    common: dict[str, Any] = {
        "unit": "0–1" if share else entry.unit,
        "higher_is_better": entry.higher_is_better,
        "undefined": "no text has a value",
    }
    end = entry.range[0] if entry.higher_is_better else entry.range[1]
    worst = end if entry.higher_is_better is not None and math.isfinite(end) else None
    mean = core.mean_of(entry.name, worst=worst, interval="wilson" if share else "bootstrap", **common)
    if entry.name != "sacrebleu":
        return (mean,)
    sums = tuple(f"sacrebleu_{count}" for count in translation.BLEU_COUNTS)
    return mean, core.Measure("sacrebleu_corpus", sums, translation.corpus_bleu, **common)


def judged_measures(metrics: Sequence[str], lights: Mapping[str, Any] | None = None) -> tuple[core.Measure, ...]:
    """The figures that rest on a judge of contradiction."""
    return tuple(
        m for m in measures(metrics, lights) if m.metric in metrics and "contradict" in registry.card(m.metric).needs
    )


def rests_on_judge(figure: str, group: Mapping[str, str], *, metrics: Sequence[str] = ()) -> bool:
    """Whether a figure could change with the judge of contradiction: a metric of texts alone could not."""
    return figure != "sacrebleu_corpus" and (figure not in metrics or "contradict" in registry.card(figure).needs)


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    given = checks.options
    if given["metrics"]:
        checks.tried(lambda: rules_of(given["lights"] or {}, given["metrics"]))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    metrics: Sequence[str] = (),
    lights: Mapping[str, Mapping[str, float]] | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    correction_fit: Mapping[str, Any] | None = None,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Means with intervals per metric and model, corpus BLEU, and the verdict, from items alone; options as of ``evaluate``.

    Without ``metrics``, every column that is named as a text metric; ``correction_fit``: see
    :func:`evalbench.kit.verdicts.worst_group`.
    """
    names = list(metrics) or metrics_in(items)
    lights = lights or {}
    known = [m for m in measures(names, lights) if all(column.removeprefix("#") in items for column in m.sums)]
    options: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    found = [
        e
        for name in names
        for e in kit.verdicts.by_group(
            with_reasons(items, name),
            [kit.verdicts.with_light(m, lights) for m in known if m.metric in (name, f"{name}_corpus")],
            "model",
            **options,
        )
    ]
    return kit.worst_group(
        items,
        known,
        "model",
        lights=lights,
        over=core.counted(core.clusters.how_many(items["id"]), "text"),
        max_unscored=max_unscored,
        estimates=sorted(found, key=lambda e: e.group.get("model", "")),
        fit=correction_fit,
        **options,
    )


def metrics_in(items: pd.DataFrame) -> list[str]:
    """The columns that are named as text metrics, without those that came with a metric as its parts."""
    names = [name for name in items.columns if _is_metric(name)]
    parts = {f"{name}_{part}" for name in names for part in ("precision", "recall")}
    return [name for name in names if name not in parts]


def _is_metric(name: str) -> bool:
    try:
        return registry.card(name).kind in ("text", "texts") and registry.card(name).name == name
    except KeyError:
        return False
