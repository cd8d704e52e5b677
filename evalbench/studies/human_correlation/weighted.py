"""The headline's figures from how often each document was drawn: many resamples at once, for comparisons of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.agreement import weighted_alpha, weighted_kappa
from evalbench.core.correlation_table import correlation_table
from evalbench.studies.human_correlation.analysis import ALPHAS, Array, Panel, analyse
from evalbench.studies.human_correlation.trust import trust_of

if TYPE_CHECKING:
    import pandas as pd

Key = tuple[str, tuple[tuple[str, str], ...]]
_CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Weighted:
    """What a run's figures are: the level, the coefficient, and which criteria each metric's mean goes over.

    They are settled once, on the run's own items; a resample changes none of them.
    """

    level: str
    coefficient: str
    trusted: Mapping[str, tuple[str, ...]]  # empty where no criterion is trusted: then there are no means

    def __call__(self, items: pd.DataFrame, counts: Array) -> dict[Key, Array]:
        """Values of every figure, ``(r,)`` each; NaN where undefined.

        Parameters
        ----------
        items : DataFrame
        counts : (r, documents) array
            How often each document, in ascending order, is drawn.
        """
        panel = Panel.of_items(items)
        return {**self._correlations(panel, counts), **self._agreement(panel, counts)}

    def _correlations(self, panel: Panel, counts: Array) -> dict[Key, Array]:
        if not panel.scorers:
            return {}
        r = self._table(panel, panel.x, panel.y, counts)
        at = {c: j for j, c in enumerate(panel.criteria)}
        found: dict[Key, Array] = {}
        for i, scorer in enumerate(panel.scorers):
            over = [at[c] for c in self.trusted.get(scorer, ()) if c in at]
            mean = r[:, i, over].mean(axis=1) if over else np.full(len(counts), np.nan)
            if self.trusted:
                found["trusted_mean", (("scorer", scorer),)] = mean
            for criterion, j in ((c, j) for c, j in at.items() if panel.compared[i, j]):
                group = (("criterion", criterion), ("scorer", scorer))
                found[f"{self.coefficient}_{self.level}", group] = r[:, i, j]
        return found

    def _table(self, panel: Panel, x: Array, y: Array, counts: Array) -> Array:
        tables = correlation_table(
            x, y, document=panel.document, system=panel.system if panel.has_systems else None,
            levels=(self.level,), kinds=(self.coefficient,), counts=counts,
        )  # fmt: skip
        return tables[self.level, self.coefficient].replicates

    def _agreement(self, panel: Panel, counts: Array) -> dict[Key, Array]:
        _, document = np.unique(panel.document, return_inverse=True)

        def each(statistic: Callable[[Array], Array]) -> Array:
            step = max(1, _CELLS_AT_ONCE // len(document))
            parts = [counts[k : k + step][:, document] for k in range(0, len(counts), step)]
            return np.concatenate([statistic(weights) for weights in parts])

        found: dict[Key, Array] = {}
        ceilings = self._ceilings(panel, counts)
        for j, criterion in enumerate(panel.criteria):
            ratings, group = panel.ratings[:, j], (("criterion", criterion),)
            for level in ALPHAS:
                found[f"alpha_{level}", group] = each(lambda w, r=ratings, a=level: weighted_alpha(r, a, w))
            found["kappa", group] = each(lambda w, r=ratings: _mean_kappa(r, w))
            found["ceiling", group] = ceilings[:, j]
        return found

    def _ceilings(self, panel: Panel, counts: Array) -> Array:
        """One annotator against the mean of the others, averaged over annotators: (r, q)."""
        if panel.ratings.shape[2] < 2:
            return np.full((len(counts), len(panel.criteria)), np.nan)
        each = [
            np.diagonal(self._table(panel, panel.ratings[:, :, k], others, counts), axis1=1, axis2=2)
            for k, others in enumerate(panel.means_of_others())
        ]
        return _mean_of_known(np.array(each))


def _mean_kappa(ratings: Array, weights: Array) -> Array:
    pairs = combinations(range(ratings.shape[1]), 2)
    each = [weighted_kappa(ratings[:, a], ratings[:, b], weights) for a, b in pairs]
    return _mean_of_known(np.array(each)) if each else np.full(len(weights), np.nan)


def _mean_of_known(values: Array) -> Array:
    """Means over the first axis, without NaN; NaN where nothing else is there."""
    known = np.isfinite(values)
    with np.errstate(all="ignore"):
        return np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)


def weighted(
    items: pd.DataFrame,
    *,
    trusted: Sequence[str] = (),
    trust_from: float = 0.4,
    level: str = "auto",
    coefficient: str = "spearman",
) -> Weighted:
    """The figures of a run as functions of how often each document is drawn.

    Parameters
    ----------
    items : DataFrame
        The run's own.
    trusted, trust_from, level, coefficient
        See :func:`evalbench.studies.human_correlation.summary.summarise`.

    Returns
    -------
    Weighted
    """
    analysis = analyse(items, level=level, coefficient=coefficient, seed=0, n_resamples=0)
    panel = analysis.panel
    trust = trust_of(analysis, [c for c in trusted if c in panel.criteria], trust_from)
    own = Weighted(analysis.level, coefficient, {})
    if not trust.trusted or not panel.scorers:
        return own
    values = own._table(panel, panel.x, panel.y, np.ones((1, panel.n_documents)))[0]
    over = {
        scorer: tuple(
            c
            for j, c in enumerate(panel.criteria)
            if c in trust.trusted and panel.compared[i, j] and np.isfinite(values[i, j])
        )
        for i, scorer in enumerate(panel.scorers)
    }
    return Weighted(analysis.level, coefficient, over)
