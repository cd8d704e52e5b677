"""Precision, recall and F1 of every mode with intervals: over all classes, as mean over classes, and per class."""

from __future__ import annotations

import pandas as pd

from evalbench import core
from evalbench.metrics.entities import COUNTS, MODES
from evalbench.studies.ner_quality import scores, summary
from evalbench.studies.ner_quality.items import classes_of, own_column

FIGURES = ("precision", "recall", "f1")


def figures(items: pd.DataFrame, counts: pd.DataFrame, *, seed: int, n_resamples: int) -> dict[str, pd.DataFrame]:
    """Tables ``modes`` (model, over, mode) and ``classes`` (model, class, mode) with values and ends of intervals."""
    names = classes_of(items)
    over_all = [_micro(mode, figure) for mode in MODES for figure in FIGURES]
    means = [scores.macro_of(names, mode, figure) for mode in MODES for figure in FIGURES] if names else []
    own = [scores.class_measure(name, mode, figure) for name in names for mode in MODES for figure in FIGURES]
    found = summary.estimates_of(items, [*over_all, *means, *own], seed=seed, n_resamples=n_resamples)
    models = sorted(items["model"].unique())
    width = len(over_all) + len(means) + len(own)
    modes, classes = [], []
    for i, model in enumerate(models):
        values = [(e.value, e.ci_low, e.ci_high) for e in found[i * width : (i + 1) * width]]
        cells = [
            {
                f"{figure}{part}": value
                for figure, each in zip(FIGURES, three, strict=True)
                for part, value in zip(("", "_low", "_high"), each, strict=True)
            }
            for three in zip(*(values[j::3] for j in range(3)), strict=True)
        ]
        for over, part in (("all entities", cells[:4]), ("mean over classes", cells[4:8] if means else [])):
            modes += [{"model": model, "over": over, "mode": m, **c} for m, c in zip(MODES, part, strict=False)]
        rows = items[items["model"] == model]
        for n, name in enumerate(names):
            sides = {f"n_{side}": int(rows[own_column(side, name)].sum()) for side in ("true", "predicted")}
            part = cells[8 + 4 * n : 12 + 4 * n]
            classes += [
                {"model": model, "entity_class": name, "mode": m, **sides, **c}
                for m, c in zip(MODES, part, strict=True)
            ]
    table = pd.DataFrame(modes)
    table = table.merge(counts.assign(over="all entities"), on=["model", "over", "mode"], how="left")
    table[list(COUNTS)] = table[list(COUNTS)].astype("Int64")
    numbers = [f"{figure}{part}" for figure in FIGURES for part in ("", "_low", "_high")]
    shape = ["model", "entity_class", "mode", "n_true", "n_predicted", *numbers]
    return {
        "modes": table.astype(dict.fromkeys(numbers, float)),
        "classes": pd.DataFrame(classes, columns=shape).astype(dict.fromkeys(numbers, float)),
    }


def _micro(mode: str, figure: str) -> core.Measure:
    sides = {"precision": ("n_predicted",), "recall": ("n_true",), "f1": ("n_true", "n_predicted")}[figure]
    if figure == "f1":
        return core.Measure(f"{mode}_f1", (mode, *sides), lambda h, t, p: core.ratio(2 * h, t + p))
    return core.Measure(f"{mode}_{figure}", (mode, *sides), core.ratio, interval="counts")
