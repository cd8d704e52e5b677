"""Every figure from how often each question was drawn, for comparisons of runs: paired where the runs are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.confidence import figures, resampled, summary
from evalbench.studies.confidence.items import MATCH

Key = tuple[str, tuple[tuple[str, str], ...]]
_CELLS_AT_ONCE = 1 << 21


def weighted(
    items: pd.DataFrame, *, p_by: str = MATCH, coverage: float = summary.COVERAGE
) -> Callable[..., dict[Key, core.Floats]]:
    """The estimates of a run as a function of how often each question is drawn, see :func:`drawn`.

    Which scores there are is settled once, on the run's own items.
    """
    return partial(drawn, scores=figures.scores_of(items), p_by=p_by, coverage=coverage)


def drawn(
    items: pd.DataFrame,
    counts: core.Floats,
    generator: np.random.Generator | None = None,
    *,
    scores: tuple[str, ...],
    p_by: str,
    coverage: float,
) -> dict[Key, core.Floats]:
    """Values of every estimate by metric and model, ``(r,)`` each; NaN where undefined.

    - ``counts`` ((r, questions) array): How often each question, in ascending order, is drawn.
    - ``generator``: Nothing else is resampled.
    - ``scores``, ``p_by``, ``coverage``: As settled.
    """
    names, unit = np.unique(items["id"].to_numpy(dtype=str), return_inverse=True)
    found: dict[Key, core.Floats] = {}
    step = max(1, _CELLS_AT_ONCE // max(1, len(names)))
    for model, place in items.reset_index(drop=True).groupby("model", sort=True).groups.items():
        rows, own = items.iloc[place], unit[np.asarray(place)]
        shape = figures.shape_of(rows, scores, p_by, coverage)
        parts = []
        for k in range(0, len(counts), step):
            weights = counts[k : k + step][:, own]
            parts.append(
                figures.figures([resampled.counts_of(weights, of) for of in shape.columns], shape)
                | _means(weights, rows, p_by)
            )
        for metric in parts[0]:
            found[metric, (("model", str(model)),)] = np.concatenate([part[metric] for part in parts])
    return found


def _means(weights: core.Floats, rows: pd.DataFrame, p_by: str) -> dict[str, core.Floats]:
    """The figures that are means of items."""
    found = {}
    for measure in summary.measures(p_by):
        raw = [rows[name.removeprefix("#")].to_numpy(float) for name in measure.sums]
        each = [
            np.isfinite(x) if name.startswith("#") else np.nan_to_num(x)
            for name, x in zip(measure.sums, raw, strict=True)
        ]
        found[measure.metric] = measure.value(*(weights @ x for x in each))
    return found
