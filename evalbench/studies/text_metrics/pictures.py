"""Pictures and tables of a text-metrics result, from its items and tables alone."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.metrics.registry import card
from evalbench.studies.text_metrics import summary


def picture_distributions(result: core.Result) -> draw.Drawn | None:
    """How the scores of every bounded metric are spread, each on its own range brought to 0–1; nothing where none is."""
    groups, behind = {}, {}
    for name in result.parameters["metrics"]:
        low, high = card(name).range
        if np.isfinite(high):
            groups[name] = (result.items[name].to_numpy(dtype=float) - low) / (high - low)
            behind[name] = draw.bars.Behind(name, origin=low, scale=high - low)
    if not groups:
        return None
    return draw.pictures.distribution(
        groups,
        title="How each metric spreads over the texts",
        xlabel="score, from the metric's worst end (0) to its best (1)"
        if all(card(n).higher_is_better for n in groups)
        else "score as a share of the metric's range",
        domain=(0, 1),
        behind=behind,
    )


def picture_agreement(result: core.Result) -> draw.Drawn | None:
    """Which metrics say the same: Spearman of every two over the texts; nothing where fewer than two have a value."""
    names = [n for n in result.parameters["metrics"] if result.items[n].notna().any()]
    if len(names) < 2:
        return None
    table = result.items[names].to_numpy(dtype=float)
    matrix = np.full((len(names), len(names)), np.nan)
    for i in range(len(names)):
        for j in range(i + 1):
            value = core.correlation.correlate(table[:, i], table[:, j], n_resamples=1).value
            matrix[i, j] = matrix[j, i] = np.nan if value is None else value
    return draw.pictures.heat_map(
        matrix,
        names,
        names,
        title="Which metrics rank the texts alike",
        text=[["–" if np.isnan(v) else _without_zero(v, 2 if len(names) <= 15 else 1) for v in row] for row in matrix],
        unit="Spearman; a dash: one of the two is constant",
        low=-1.0 if np.nanmin(matrix, initial=0) < 0 else 0.0,
        high=1.0,
    )


def _without_zero(value: float, digits: int) -> str:
    """A cell's number; of many columns in one digit, so that neighbours do not touch."""
    return core.wording.signed(f"{value:.{digits}f}").replace("0.", ".", 1)


def picture_models(result: core.Result, metric: str) -> draw.Drawn:
    """One metric's mean of every model with its interval."""
    entry = card(metric)
    rows = [e for e in result.summary.estimates if e.metric == entry.name]
    low, high = entry.range
    return draw.pictures.estimate_bars(
        [e.group.get("model", "all texts") for e in rows],
        rows,
        title=f"{entry.name} of each model" if len(rows) > 1 else f"{entry.name} over all texts",
        xlabel=f"mean {entry.name} ({entry.unit})",
        domain=(max(low, 0.0), high) if np.isfinite(high) else None,
    )


def picture_panels(result: core.Result) -> draw.Drawn | None:
    """Every bounded metric in a panel of its own: a row per model, dot and interval; nothing for a single metric."""
    names = [n for n in result.parameters["metrics"] if np.isfinite(card(n).range[1])]
    if not names or len(result.parameters["metrics"]) == 1:
        return None
    several = len({e.group.get("model", "") for e in result.summary.estimates}) > 1
    return draw.panels.estimate_panels(
        {name: [e for e in result.summary.estimates if e.metric == name] for name in names},
        "model",
        {name: (max(card(name).range[0], 0.0), card(name).range[1]) for name in names},
        title="Every metric of each model" if several else "Every metric over all texts",
        xlabel="mean over texts, on each metric's own range",
    )


@kit.trials.each_trial
def worst_texts(result: core.Result, metric: str, rows: int = 10, *, besides: str = "") -> pd.DataFrame:
    """The texts with the worst scores of one metric, beside their references; none where they are those of ``besides``."""
    entry = summary.directed(metric, result.parameters["lights"])
    if besides and card(besides).name == entry.name:
        rows = 0
    keys, texts = [result.id, *result.by], result.tables["texts"]
    own = [name for name in ("answer", "reference", "question") if name in texts]
    highest = [entry.name] if entry.higher_is_better is False else ()
    show = [*keys, entry.name, *own]
    found = kit.cases.worst_cases(
        result.items[[*keys, entry.name]], entry.name, keys=keys, n=rows or 1, highest=highest, texts=texts, show=show
    )
    return found.head(rows)


def contradictions(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """What the judge of contradiction said, the surest contradictions first; empty where none was asked."""
    table = result.tables.get("contradictions")
    if table is None:
        return pd.DataFrame()
    columns = ["p_contradiction", "label", "passage", "statement", "reason", "unscored"]
    by = "p_contradiction"
    return kit.cases.worst_cases(table, by, keys=["call"], n=rows, highest=[by], unscored=True, show=columns)


def comparison(result: core.Result) -> pd.DataFrame:
    """Every two models on every metric; empty where there is one model."""
    return kit.comparing.shown(result.tables.get("comparison"), "model")


def metric_cards(result: core.Result) -> pd.DataFrame:
    """What to know of each metric before believing it; what it is and its source are in the method."""
    entries = [summary.directed(name, result.parameters["lights"]) for name in result.parameters["metrics"]]
    direction = {True: "higher is better", False: "lower is better", None: "no better direction"}
    return pd.DataFrame(
        {
            "metric": [e.name for e in entries],
            "category": [e.category for e in entries],
            "direction": [direction[e.higher_is_better] for e in entries],
            "values": [e.values or e.unit for e in entries],
            "limitations": [e.limitations for e in entries],
            "languages": [e.languages for e in entries],
        }
    )


def unscored(result: core.Result) -> pd.DataFrame:
    """How many texts have no score, by metric and reason."""
    reasons = result.tables.get("reasons")
    if reasons is None:
        return pd.DataFrame({"note": ["every text has every score"]})
    said = reasons.assign(reason=[core.unscored.in_words(reason) for reason in reasons["reason"]])
    keys = ["metric", "kind", "reason", "detail"]
    return said.value_counts(keys, sort=False).rename("texts").reset_index()
