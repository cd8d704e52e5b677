"""The mean of a judge's marks, corrected by labels of the same items or by what was learnt on others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from evalbench.core.arrays import Floats
from evalbench.core.clusters import drawn_together
from evalbench.core.judged_rates import post_stratified_rate, rogan_gladen_rate
from evalbench.core.measures import Measure
from evalbench.core.ppi import Corrected, corrected_mean, sampled_mean
from evalbench.core.stats import FEW_UNITS
from evalbench.core.transport import transport_check
from evalbench.core.wording import counted
from evalbench.readers.corrections import Learnt

if TYPE_CHECKING:
    import pandas as pd

LABEL = {"random": "label:", "by_mark": "label_by_mark:", "by_class": "label_by_class:"}
"""How labels were drawn → the prefix of the items' columns that hold them; a figure's name follows."""
PROBABILITY, STRATUM = "label_probability:", "label_stratum:"
_MOST_STRATA = 10
_Z = float(ndtri(0.975))
METHODS = {
    "verdict": "post-stratified by verdict",
    "marks": "prediction-powered (PPI++)",
    "probability": "weighted by the probabilities with which labels were drawn",
    "by_mark": "post-stratified by the judge's mark",
    "by_class": "Rogan–Gladen, interval of Lang and Reiczigel",
    "carried": "isotonic correction learnt on other data, normal interval",
}


@dataclass(frozen=True)
class Found:
    """A corrected mean, its method and what must be said of it."""

    found: Corrected
    method: str
    notes: tuple[str, ...] = ()


def by_labels(
    items: pd.DataFrame, here: npt.NDArray[np.bool_], measure: Measure, drawn: str, column: str, units: str
) -> Found:
    f, y = items[measure.sums[0]].to_numpy(dtype=float), items[column].to_numpy(dtype=float)
    inside = here & np.isfinite(f)
    probability = items.get(f"{PROBABILITY}{measure.metric}")
    if probability is not None:
        found, notes = _by_probability(items, f, y, probability.to_numpy(dtype=float), inside, measure.metric)
        method = "probability"
    elif drawn == "by_mark":
        found, notes, method = _by_mark(f[inside], y[inside]), (), "by_mark"
    elif drawn == "by_class":
        found, notes, method = _by_class(f[inside], y[inside]), (), "by_class"
    elif np.isin(f[inside], (0.0, 1.0)).all() and (np.isnan(y) | np.isin(y, (0.0, 1.0)))[inside].all():
        found, notes, method = post_stratified_rate(f[inside], y[inside]), (), "verdict"
    else:
        found, notes, method = _by_marks(f[inside], y[inside]), (), "marks"
    together = drawn_together(items[inside], items.loc[inside, units].astype(str).to_numpy())
    if found.ci_low is not None and len(np.unique(together)) < len(together):
        factor, n = widening(f[inside], y[inside], together)
        found, notes = (
            _widened(found, factor),
            (*notes, f"widened for {counted(n, 'unit')} of several items with labels"),
        )
    return Found(found, METHODS[method], notes)


def _by_marks(f: Floats, y: Floats) -> Corrected:
    found = corrected_mean(f, y)
    few = f"fewer than {FEW_UNITS} labelled items: the interval is too narrow"
    return found._replace(note="; ".join(n for n in found.note.split("; ") if n and n != few))


def _by_class(f: Floats, y: Floats) -> Corrected:
    if not (np.isin(f, (0.0, 1.0)).all() and (np.isnan(y) | np.isin(y, (0.0, 1.0))).all()):
        known = float(f.mean()) if len(f) else None
        return Corrected(None, naive=known, note="labels drawn by class correct verdicts and labels of 0 and 1 only")
    return rogan_gladen_rate(f, y)


def _by_mark(f: Floats, y: Floats) -> Corrected:
    """Within groups of like marks (deciles, of which few may be distinct) labels are a random part."""
    if not len(f):
        return Corrected(None, note="no item has a mark")
    edges = np.unique(np.quantile(f, np.arange(_MOST_STRATA) / _MOST_STRATA, method="lower"))
    which = np.searchsorted(edges, f, side="right") - 1
    size, m = np.bincount(which), np.bincount(which[~np.isnan(y)], minlength=int(which.max()) + 1)
    if (m == 0).any():
        note = f"{counted(int((m == 0).sum()), 'group')} of like marks without a label; labels are needed in each"
        return Corrected(None, naive=float(f.mean()), n_labelled=int(m.sum()), n_unlabelled=len(f), note=note)
    return sampled_mean(f, y, np.where(np.isnan(y), np.nan, (m / size)[which]), which)


def _by_probability(
    items: pd.DataFrame, f: Floats, y: Floats, pi: Floats, inside: npt.NDArray[np.bool_], metric: str
) -> tuple[Corrected, tuple[str, ...]]:
    drawn, n = ~np.isnan(pi), len(items)
    naive = float(f[inside].mean()) if inside.any() else None
    if bare := int((~np.isnan(y) & ~drawn & inside).sum()):
        note = f"{counted(bare, 'label')} without the probability of the draw that others have: labels of two draws"
        return Corrected(None, naive=naive, note=note), ()
    total = float((1 / pi[drawn]).sum())
    if total > 1.01 * n:
        note = f"the labels were drawn from about {total:.0f} items, and there are {n}: of another population, or of several plans"
        return Corrected(None, naive=naive, note=note), ()
    strata = items.get(f"{STRATUM}{metric}")
    names = None if strata is None else strata.astype(str).to_numpy()
    notes: tuple[str, ...] = ()
    if total < 0.99 * n:
        # What was drawn and did not come back is a random part of the plan, since the page shuffles its items.
        pi, notes = pi * total / n, (f"about {100 * total / n:.0f} % of the items drawn for labelling came back",)
    return sampled_mean(f, y, np.minimum(pi, 1.0), names, domain=inside), notes


def widening(f: Floats, y: Floats, clusters: npt.NDArray[Any]) -> tuple[float, int]:
    """By how much an interval for single items is too narrow for clusters, at least 1, and the clusters that have labels.

    Examples
    --------
    >>> f = np.repeat([0.0, 1.0] * 10, 5)
    >>> y = np.where(np.arange(100) % 2, f, np.nan)
    >>> widening(f, y, np.repeat(np.arange(20), 5))[1]
    20
    """
    labelled = ~np.isnan(y)
    n_clusters = len(np.unique(clusters[labelled]))
    if n_clusters < 2:
        return math.inf, n_clusters
    fl, yl = f[labelled], y[labelled]
    spread = float(np.var(fl))
    slope = float(np.cov(fl, yl, bias=True)[0, 1]) / spread if spread > 0 else 0.0
    residual = yl - yl.mean() - slope * (fl - fl.mean())
    influence = slope * (f - f.mean()) / len(f)
    influence[labelled] += residual / len(yl)
    _, which = np.unique(clusters, return_inverse=True)
    single = float((influence**2).sum())
    together = float((np.bincount(which, weights=influence) ** 2).sum())
    factor = math.sqrt(max(1.0, together / single)) if single > 0 else 1.0
    return factor * float(stdtrit(n_clusters - 1, 0.975)) / _Z, n_clusters


def _widened(found: Corrected, factor: float) -> Corrected:
    if not math.isfinite(factor) or found.value is None or found.ci_low is None or found.ci_high is None:
        return found._replace(ci_low=None, ci_high=None, note="no interval: labels in fewer than two clusters")
    low, high = (found.value + factor * (end - found.value) for end in (found.ci_low, found.ci_high))
    return found._replace(ci_low=low, ci_high=high)


def by_correction(
    items: pd.DataFrame, here: npt.NDArray[np.bool_], measure: Measure, fit: Mapping[str, Any] | None, units: str
) -> Found | None:
    """The mean of the human mark that the correction expects at each judge's mark."""
    if fit is None:
        return None
    f = items[measure.sums[0]].to_numpy(dtype=float)
    inside = here & np.isfinite(f)
    f, together = f[inside], drawn_together(items[inside], items.loc[inside, units].astype(str).to_numpy())
    if not len(f):
        return None
    marks, expected = (np.asarray(fit[name], dtype=float) for name in ("marks", "expected"))
    block, error = np.asarray(fit["block"], dtype=np.int64), np.asarray(fit["error"], dtype=float)
    each = np.interp(f, marks, expected)
    of_labels = float(((_weights(f, marks, block, len(error)) * error) ** 2).sum())
    variance = of_labels + _of_mean(each, together)
    value, half = float(each.mean()), _Z * math.sqrt(variance)
    share = of_labels / variance if variance else None
    found = Corrected(
        value, value - half, value + half, float(f.mean()), None, None, int(fit["n_labels"]), len(f), "", share
    )
    return Found(found, METHODS["carried"])


def _of_mean(values: Floats, together: npt.NDArray[Any]) -> float:
    """The variance of a mean of items that are drawn together with others; 0 for a single unit."""
    _, which = np.unique(together, return_inverse=True)
    sums = np.bincount(which, weights=values - values.mean())
    return float((sums**2).sum()) / len(values) ** 2 * len(sums) / (len(sums) - 1) if len(sums) > 1 else 0.0


def _weights(f: Floats, marks: Floats, block: npt.NDArray[np.int64], n: int) -> Floats:
    """The share that each pooled block of marks has in the mean of an interpolation between marks."""
    right = np.clip(np.searchsorted(marks, f, side="right"), 1, max(len(marks) - 1, 1))
    if len(marks) == 1:
        return np.ones(1)
    left = right - 1
    part = np.clip((f - marks[left]) / (marks[right] - marks[left]), 0.0, 1.0)
    total = np.bincount(block[left], weights=1 - part, minlength=n) + np.bincount(
        block[right], weights=part, minlength=n
    )
    return np.asarray(total / len(f))


def fit_of(
    learnt: Learnt,
    figure: str,
    items: pd.DataFrame,
    measure: Measure,
    column: str,
    by: str,
    seed: int,
    n_resamples: int,
) -> dict[str, Any]:
    """A correction as ``summarise`` takes it, with its check on each group's labels; JSON values.

    ``error`` is the standard error of each stretch of marks of which one human mark is expected: s / √n with
    s² = (Σ (y − expected)² + 2 s²_all) / (n + 2), s²_all that over all labels.
    """
    low, high = learnt.scale
    judged, human = ((np.asarray(side) - low) / (high - low) for side in (learnt.judged, learnt.human))
    scaled = Learnt(learnt.judge, learnt.criterion, tuple(judged.tolist()), tuple(human.tolist())).fit
    marks, expected = np.asarray(scaled.marks), np.asarray(scaled.expected)
    block = np.concatenate([[0], np.cumsum(np.abs(np.diff(expected)) > 1e-12)]).astype(np.int64)
    of = block[np.searchsorted(marks, judged)]
    squares = (human - expected[np.searchsorted(marks, judged)]) ** 2
    n = np.bincount(of)
    whole = float(squares.mean())
    error = np.sqrt((np.bincount(of, weights=squares) + 2 * whole) / (n + 2) / n)
    checks = {}
    if column:
        groups = items[by].astype(str) if by in items else None
        for name in sorted(set(groups)) if groups is not None else [""]:
            rows = items if groups is None else items[groups == name]
            f, y = rows[measure.sums[0]].to_numpy(dtype=float), rows[column].to_numpy(dtype=float)
            found = transport_check(judged, human, f, y, seed=seed, n_resamples=n_resamples)
            checks[name] = {"gap": found.value, "low": found.ci_low, "high": found.ci_high, "n": found.n}
    return {
        "figure": figure,
        "judge": learnt.judge,
        "criterion": learnt.criterion,
        "learnt_on": learnt.where,
        "n_labels": len(judged),
        "marks": marks.tolist(),
        "expected": expected.tolist(),
        "block": block.tolist(),
        "error": error.tolist(),
        "checks": checks,
    }
