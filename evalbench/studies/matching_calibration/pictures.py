"""Pictures and tables of a calibration, from its items and tables alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.matching_calibration import summary
from evalbench.studies.matching_calibration.items import DEFAULTS, HELD_OUT


def _words(component: str) -> str:
    return component.replace("_", " ")


def _components(result: core.Result) -> list[str]:
    return list(dict.fromkeys(result.tables["sensitivity"]["component"]))


def picture_settings(result: core.Result) -> draw.Drawn:
    """Agreement with the humans: the defaults, calibrated on unseen texts, calibrated in training."""
    metric = result.parameters["objective"]
    rows = [e for e in result.summary.estimates if e.metric == metric and e.group]
    return draw.pictures.estimate_bars(
        [e.group["settings"] for e in rows],
        rows,
        title=f"{summary.NAMES[metric]} against the humans, with and without calibration",
        xlabel=f"{summary.NAMES[metric]} ({'0–1' if metric == 'f1' else '−1–1'})",
        domain=(0, 1) if metric == "f1" else None,
    )


def picture_weights(result: core.Result) -> draw.Drawn:
    """Default and calibrated weight of every component, with the range over the folds."""
    table = result.tables["fits"]
    components = _components(result)
    final, default = (table[table["fold"] == name].iloc[0] for name in ("all", "defaults"))
    folds = table[~table["fold"].isin(["all", "defaults"])]
    figure, ax = draw.pictures.new_figure(7.2, 0.9 + 0.42 * len(components))
    said = []
    for y, name in enumerate(components):
        low, high = float(folds[name].min()), float(folds[name].max())
        ax.plot([low, high], [y, y], color=draw.pictures.ACCENT, linewidth=2.2, alpha=0.55, solid_capstyle="butt")
        ax.plot(
            [default[name]],
            [y],
            "o",
            color=draw.pictures.PAPER,
            markeredgecolor=draw.pictures.MUTED,
            markersize=7,
            markeredgewidth=1.4,
        )
        draw.pictures.dot(ax, final[name], y)
        said.append(f"{_words(name)} {final[name]:.2f} (default {default[name]:.2f}, folds {low:.2f} to {high:.2f})")
    ax.set_yticks(range(len(components)), [_words(c) for c in components])
    ax.set_ylim(len(components) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("weight (0–1)   (filled: calibrated on all texts, hollow: default, line: range over folds)")
    heading = "How far the weights move, and how much they depend on the texts"
    draw.pictures.title_at_top(figure, heading)
    return figure, f"{heading}. Weights: {'; '.join(said)}."


def picture_sensitivity(result: core.Result, component: str = "") -> draw.Drawn:
    """F1 on all judged pairs as one component's weight and the score threshold move.

    By default the component whose weight calibration moved most.
    """
    table = result.tables["sensitivity"]
    component = component or _most_moved(result)
    rows = table[table["component"] == component]
    grid = rows.pivot(index="weight", columns="score_threshold", values="f1")
    final = result.tables["fits"].set_index("fold").loc["all"]
    i, j = _nearest(grid.index, final[component]), _nearest(grid.columns, final["score_threshold"])
    text = [[f"{v:.2f}" for v in row] for row in grid.to_numpy()]
    text[i][j] += "◆"
    return draw.pictures.heat_map(
        grid.to_numpy(),
        [f"weight {w:.1f}" for w in grid.index],
        [f"{t:.2f}" for t in grid.columns],
        title=f"F1 by weight of {_words(component)} and score threshold (◆ nearest to calibrated)",
        text=text,
        unit="columns: score threshold; F1 (0–1) on all judged pairs",
    )


def _most_moved(result: core.Result) -> str:
    table = result.tables["fits"].set_index("fold")[_components(result)].astype(float)
    return str((table.loc["all"] - table.loc["defaults"]).abs().idxmax())


def _nearest(values: Any, wanted: Any) -> int:
    return int(np.argmin(np.abs(np.asarray(values, dtype=float) - wanted)))


def fits(result: core.Result) -> pd.DataFrame:
    """F1 in training and held out, weights and thresholds: a column for every fold, the defaults, and all texts."""
    table = result.tables["fits"]
    figures = ["fold", "pairs_trained_on", "f1_in_training", "f1_held_out", "f1_of_defaults_held_out"]
    rest = [c for c in table.columns if c not in figures]
    names = {c: _words(c).replace("f1", "F1").replace("similarity", "sim.") for c in table.columns}
    shown = {"": [names[c] for c in [*figures[1:], *rest]]}
    for _, row in table.iterrows():
        values = [row[c] for c in [*figures[1:], *rest]]
        shown[f"fold {row['fold']}" if row["fold"].isdigit() else row["fold"]] = [
            "–" if pd.isna(v) else f"{v}" if isinstance(v, int) else f"{v:.2f}" for v in values
        ]
    return pd.DataFrame(shown)


def sensitivity(result: core.Result) -> pd.DataFrame:
    """For each component the best F1 that every weight reaches at its best threshold."""
    table = result.tables["sensitivity"]
    best = table.groupby(["component", "weight"], sort=False)["f1"].max().unstack("weight")
    best.columns = [f"{w:.1f}" for w in best.columns]
    return best.rename(index=_words).reset_index()


def disagreements(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """Judged pairs that the calibrated settings still call otherwise than the humans, held out; the surest first."""
    items = result.items.assign(far=(result.items["score"] - result.items["human"]).abs())
    default = items[items["settings"] == DEFAULTS].set_index("pair_id")["predicted"]
    held = items[(items["settings"] == HELD_OUT) & (items["agreement"] < 0.5)]
    return kit.cases.worst_cases(
        held.assign(default=held["pair_id"].map(default)),
        "far",
        keys=["pair_id"],
        highest=["far"],
        n=rows,
        texts=result.tables["pairs"],
        show={
            "sample": "id",
            "true / predicted": lambda row: f"{row['truth_id']} / {row['prediction_id']}",
            "humans": "human",
            "calibrated": "predicted",
            "defaults": "default",
            "score": "score",
            "overlap": "text_overlap",
            "rule similarity": "rule_similarity",
            "true rule, predicted rule": lambda row: draw.Html(
                draw.tables.text_block(row["truth_rule"]) + draw.tables.text_block(row["prediction_rule"])
            ),
        },
    )
