"""Every figure that is not a mean of items, out of counts of right and wrong answers by score: one row of them, or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.metrics import discrimination
from evalbench.studies.confidence import resampled
from evalbench.studies.confidence.items import MATCH, SCORES, column_of

FIRST = "uncertainty"
AREAS = {
    "auroc": discrimination.auroc_kernel,
    "auprc": discrimination.auprc_kernel,
    "risk_area": discrimination.risk_area_kernel,
}
AT_COVERAGE = ("threshold", "covered", "error_at_coverage")
CALIBRATION = "calibration_error"


class Shape(NamedTuple):
    """What is settled once for a group, on its own items.

    - ``columns``: One for each score.
    - ``values`` (tuple of (k,) arrays): The distinct values of each.
    - ``n_bins``: Of the calibration error; 0 where it is not computed.
    """

    scores: tuple[str, ...]
    columns: tuple[resampled.Column, ...]
    values: tuple[core.Floats, ...]
    n_bins: int
    coverage: float


def scores_of(items: pd.DataFrame) -> tuple[str, ...]:
    """The scores that the items have: similarity only where there is an embedding model."""
    return tuple(name for name in SCORES if name in items)


def shape_of(rows: pd.DataFrame, scores: Sequence[str], p_by: str, coverage: float) -> Shape:
    """What is settled of one group's items."""
    wrong = rows["wrong"].to_numpy(float)
    found = [resampled.column_and_values(rows[column_of(name)].to_numpy(float), wrong) for name in scores]
    columns, values = tuple(of for of, _ in found), tuple(own for _, own in found)
    most = rows.loc[rows["unscored"] == "", "n_samples"].max()
    n_bins = int(most) + 1 if p_by == MATCH and most == most else 0
    return Shape(tuple(scores), columns, values, n_bins, coverage)


def figures(
    counts: Sequence[resampled.Counts], shape: Shape, values: Sequence[core.Floats] | None = None
) -> dict[str, core.Floats]:
    """Every figure of resamples, ``(r,)`` each; ``values`` of the levels where these are not the shape's own."""
    levels = shape.values if values is None else values
    found: dict[str, core.Floats] = {}
    for name, (right, wrong) in zip(shape.scores, counts, strict=True):
        empty = np.full(len(right), np.nan)
        found |= {f"{area}_{name}": kernel(right, wrong) if right.shape[1] else empty for area, kernel in AREAS.items()}
    right, wrong = counts[shape.scores.index(FIRST)]
    doubt = levels[shape.scores.index(FIRST)]
    if not len(doubt):
        return found | dict.fromkeys(
            [*AT_COVERAGE, *([CALIBRATION] if shape.n_bins else [])], np.full(len(right), np.nan)
        )
    at, covered, error = discrimination.error_at_coverage_kernel(right, wrong, shape.coverage)
    there = np.isfinite(covered)
    found |= {
        "error_at_coverage": error,
        "threshold": np.where(there, np.clip(1 - doubt[at], 0, 1), np.nan),
        "covered": covered,
    }
    if shape.n_bins:
        found[CALIBRATION] = discrimination.calibration_error_kernel(
            *_ascending(right, wrong), *_bins(doubt, shape.n_bins)
        )
    return found


def _ascending(right: core.Floats, wrong: core.Floats) -> tuple[core.Floats, core.Floats]:
    """Counts in ascending order of p, which is 1 less the score."""
    return right[:, ::-1], wrong[:, ::-1]


def _bins(doubt: core.Floats, n_bins: int) -> tuple[core.Floats, core.Indices]:
    p = np.clip(1 - doubt[::-1], 0, 1)
    return p, discrimination.nearest_bins(p, n_bins)


def point_of(shape: Shape) -> dict[str, float]:
    """The figures of the items themselves."""
    counts = [resampled.counts_of(np.ones((1, len(of.level))), of) for of in shape.columns]
    return {name: float(values[0]) for name, values in figures(counts, shape).items()}


def replicates_of(
    shape: Shape, units: core.Indices, rng: np.random.Generator, n_resamples: int
) -> Mapping[str, core.Floats]:
    """Bootstrap replicates of every figure; all of one group from the same resamples."""
    rough = [resampled.coarse(of) for of in shape.columns]
    patterns = resampled.Patterns.of([of for of, _ in rough], units)
    # A run of levels stands for its middle one.
    values = [
        np.array([own[run == k].mean() for k in range(of.n_levels)]) if of.n_levels < len(own) else own
        for (of, run), own in zip(rough, shape.values, strict=True)
    ]
    parts = [
        figures([resampled.counts_of(weights, of) for of in patterns.columns], shape, values)
        for weights in patterns.drawn(rng, n_resamples)
    ]
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if any(of.n_levels < len(own) for (of, _), own in zip(rough, shape.values, strict=True)):
        once = [resampled.counts_of(patterns.times[None, :].astype(float), of) for of in patterns.columns]
        moved = {name: float(v[0]) for name, v in figures(once, shape, values).items()}
        exact = point_of(shape)
        found = {name: values + (exact[name] - moved[name]) for name, values in found.items()}
    return found


class Noise(NamedTuple):
    """What the calibration error of so many answers would be were every p a right probability.

    - ``mean``, ``high``: And its 97.5th percentile.
    """

    mean: float
    high: float


def noise_of_calibration(shape: Shape, rng: np.random.Generator, n_draws: int) -> Noise:
    """:class:`Noise` by drawing right answers with the probabilities p."""
    at = shape.scores.index(FIRST)
    counts = resampled.counts_of(np.ones((1, len(shape.columns[at].level))), shape.columns[at])
    total = (counts.right + counts.wrong)[0]
    doubt = shape.values[at]
    wrong = rng.binomial(total.astype(np.int64), np.clip(doubt, 0, 1), size=(n_draws, len(total))).astype(float)
    found = discrimination.calibration_error_kernel(*_ascending(total - wrong, wrong), *_bins(doubt, shape.n_bins))
    return Noise(float(found.mean()), float(np.quantile(found, 0.975)))
