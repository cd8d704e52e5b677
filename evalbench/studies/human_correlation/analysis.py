"""Everything that follows from the items: correlations at three levels, agreement of annotators, the ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.agreement import cohen_kappa, krippendorff_alpha
from evalbench.core.correlation import FEWEST_ROWS
from evalbench.core.correlation_table import KINDS, LEVELS, Correlations, correlation_table
from evalbench.core.stats import Measured, with_interval
from evalbench.metrics.registry import card

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
ALPHAS = ("ordinal", "interval", "nominal")


def direction(scorer: str, lower_is_better: tuple[str, ...] = ()) -> int:
    """−1 for a metric of which less is better, as its card or the caller says; else 1."""
    try:
        known = card(scorer).higher_is_better
    except KeyError:
        known = None
    return -1 if scorer in lower_is_better or known is False else 1


@dataclass(frozen=True)
class Panel:
    """The items as arrays: n rows (document × system), p scorers, q criteria, a annotators.

    Attributes
    ----------
    scorers, criteria, annotators : tuple of str
    document, system : (n,) arrays of str
    x : (n, p) array
    y : (n, q) array
        Means over annotators.
    ratings : (n, q, a) array
    unscored : (p,) object array
        The first reason for which the instrument failed, empty where it never did.
    n_unscored : (p,) array of int
    """

    scorers: tuple[str, ...]
    criteria: tuple[str, ...]
    annotators: tuple[str, ...]
    document: Array
    system: Array
    x: Array
    y: Array
    ratings: Array
    unscored: Array
    n_unscored: Array

    @classmethod
    def of_items(cls, items: pd.DataFrame) -> Panel:
        """Rebuild the arrays from items in any order of rows."""
        import pandas as pd

        rows = pd.MultiIndex.from_frame(items[["doc_id", "system"]])
        keys = rows.unique().sort_values()
        at = keys.get_indexer(rows)
        scorers, criteria = (sorted(items[c].unique()) for c in ("scorer", "criterion"))
        s, c = (
            pd.Categorical(items[n], categories=v).codes
            for n, v in (("scorer", scorers), ("criterion", criteria))
        )
        columns = [name for name in items.columns if str(name).startswith("rating_")]
        x, y = np.full((len(keys), len(scorers)), np.nan), np.full((len(keys), len(criteria)), np.nan)
        ratings = np.full((len(keys), len(criteria), len(columns)), np.nan)
        x[at, s], y[at, c] = items["score"], items["human"]
        ratings[at, c] = items[columns].to_numpy(dtype=float)
        failed = items[(items["unscored"] != "") & (c == 0)]
        return cls(
            tuple(scorers), tuple(criteria), tuple(n.removeprefix("rating_") for n in columns),
            keys.get_level_values(0).to_numpy(), keys.get_level_values(1).to_numpy(), x, y, ratings,
            np.array([min(failed.loc[failed["scorer"] == name, "unscored"], default="") for name in scorers], object),
            np.array([int((failed["scorer"] == name).sum()) for name in scorers]),
        )  # fmt: skip

    def means_of_others(self) -> list[Array]:
        """For each annotator the means (n, q) of the other annotators' ratings."""
        found = []
        for k in range(self.ratings.shape[2]):
            others = np.delete(self.ratings, k, axis=2)
            count = np.isfinite(others).sum(axis=2)
            found.append(np.where(count > 0, np.nansum(others, axis=2) / np.maximum(count, 1), np.nan))
        return found

    @property
    def has_systems(self) -> bool:
        return bool((self.system != "").any())

    @property
    def n_documents(self) -> int:
        return len(np.unique(self.document))

    @property
    def several_per_document(self) -> bool:
        return self.n_documents < len(self.document)


@dataclass(frozen=True)
class Analysis:
    """Correlations and agreement of one panel, computed once."""

    panel: Panel
    level: str
    coefficient: str
    seed: int
    n_resamples: int

    @cached_property
    def tables(self) -> Mapping[tuple[str, str], Correlations]:
        p = self.panel
        return correlation_table(
            p.x, p.y, document=p.document, system=p.system if p.has_systems else None, partial=True,
            seed=self.seed, n_resamples=self.n_resamples,
        )  # fmt: skip

    def reason(self, i: int, j: int, level: str) -> str:
        """Why scorer i and criterion j have no correlation at a level."""
        p = self.panel
        x, y = p.x[:, i], p.y[:, j]
        both = np.isfinite(x) & np.isfinite(y)
        if not both.any():
            return f"unscored: {p.unscored[i]}" if p.unscored[i] else "no output has both scores"
        if both.sum() < 2:
            return "only one output has both scores"
        if level == "dataset" and both.sum() < FEWEST_ROWS:
            return "only two outputs have both scores, and two always correlate perfectly"
        if np.ptp(y[both]) == 0:
            return f"constant human score: every output got {y[both][0]:g}"
        if np.ptp(x[both]) == 0:
            return f"constant metric: every output got {x[both][0]:.3g}"
        if level == "system" and (not p.has_systems or len(np.unique(p.system[both])) < 3):
            return "fewer than three systems"
        if level == "summary" and not p.several_per_document:
            return "each document has one output"
        if level == "summary":
            return "in no document do both vary"
        return (
            "the systems' means do not vary"
            if level == "system"
            else "the system explains one of the two wholly"
        )

    def measured(self, i: int, j: int, level: str, kind: str) -> Measured:
        """One correlation with its interval, or why there is none."""
        found = self.tables.get((level, kind))
        if found is None:
            return Measured(None, note="there are no systems")
        value, n = float(found.values[i, j]), int(found.n[i, j])
        if np.isnan(value):
            return Measured(None, n=n, note=self.reason(i, j, level))
        return with_interval(
            value, found.replicates[:, i, j], n=n, n_units=self.n_documents(i, j, level, kind),
            clustered=self.panel.several_per_document,
        )  # fmt: skip

    def n_documents(self, i: int, j: int, level: str, kind: str) -> int:
        """Documents that a correlation rests on: at summary level those where both vary."""
        if level == "summary":
            return int(self.tables[level, kind].n[i, j])
        both = np.isfinite(self.panel.x[:, i]) & np.isfinite(self.panel.y[:, j])
        return len(np.unique(self.panel.document[both]))

    @cached_property
    def agreement(self) -> Mapping[str, Mapping[str, Measured]]:
        """Criterion → Krippendorff's alphas, mean Cohen's kappa over pairs, and the ceiling."""
        ceilings = self._ceilings()
        return {
            criterion: {**self._alphas(j), "kappa": self._kappa(j), "ceiling": ceilings[j]}
            for j, criterion in enumerate(self.panel.criteria)
        }

    def _alphas(self, j: int) -> dict[str, Measured]:
        ratings = self.panel.ratings[:, j]
        if ratings.shape[1] < 2:
            alone = Measured(None, note="one annotator only: nothing to agree with")
            return {f"alpha_{level}": alone for level in ALPHAS}
        units = np.repeat(np.arange(len(ratings)), ratings.shape[1])
        return {
            f"alpha_{level}": krippendorff_alpha(
                units, ratings.ravel(), level, seed=self.seed, n_resamples=self.n_resamples
            )
            for level in ALPHAS
        }

    def _kappa(self, j: int) -> Measured:
        ratings = self.panel.ratings[:, j]
        pairs = [
            cohen_kappa(ratings[:, a], ratings[:, b], seed=self.seed, n_resamples=1)
            for a, b in combinations(range(ratings.shape[1]), 2)
        ]
        known = [k for k in pairs if k.value is not None]
        if not known:
            return Measured(
                None, note=pairs[0].note if pairs else "one annotator only: nothing to agree with"
            )
        mean = float(np.mean([k.value for k in known]))
        return Measured(mean, n=sum(k.n for k in known), note=f"mean over {len(known)} pairs, no interval")

    def _ceilings(self) -> list[Measured]:
        """One annotator against the mean of the others, averaged over annotators, criterion by criterion."""
        p = self.panel
        q, a = p.ratings.shape[1:]
        if a < 2:
            return [Measured(None, note="one annotator only: no ceiling")] * q
        values, replicates = [], []
        for k, mean in enumerate(p.means_of_others()):
            found = correlation_table(
                p.ratings[:, :, k], mean, document=p.document, system=p.system if p.has_systems else None,
                levels=(self.level,), kinds=(self.coefficient,), seed=self.seed, n_resamples=self.n_resamples,
            )[self.level, self.coefficient]  # fmt: skip
            values.append(np.diagonal(found.values))
            replicates.append(np.diagonal(found.replicates, axis1=1, axis2=2))
        return [self._ceiling(np.array(values)[:, j], np.array(replicates)[:, :, j]) for j in range(q)]

    def _ceiling(self, values: Array, replicates: Array) -> Measured:
        known = np.isfinite(values)
        if not known.any():
            return Measured(None, note="every annotator's score is constant, or their means are")
        with np.errstate(all="ignore"):
            mean = replicates[known].mean(axis=0)
        return with_interval(
            float(values[known].mean()), mean, n=int(known.sum()), n_units=self.panel.n_documents,
            clustered=self.panel.several_per_document,
        )  # fmt: skip


def analyse(items: pd.DataFrame, *, level: str, coefficient: str, seed: int, n_resamples: int) -> Analysis:
    """The analysis of items; ``level="auto"`` is summary where documents have several outputs, else dataset."""
    from evalbench.errors import BadInput

    panel = Panel.of_items(items)
    if level not in ("auto", *LEVELS):
        raise BadInput(f"level: {level!r}; one of auto, {', '.join(LEVELS)}")
    if coefficient not in KINDS:
        raise BadInput(f"coefficient: {coefficient!r}; one of {', '.join(KINDS)}")
    resolved = ("summary" if panel.several_per_document else "dataset") if level == "auto" else level
    return Analysis(panel, resolved, coefficient, seed, n_resamples)
