"""Everything that follows from the items: correlations at three levels, agreement of annotators, the ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.agreement import cohen_kappa, krippendorff_alpha
from evalbench.core.correlation import FEWEST_ROWS
from evalbench.core.correlation_table import KINDS, LEVELS, Correlations, correlation_table
from evalbench.core.stats import FEW_UNITS, Measured, with_interval
from evalbench.core.unscored import in_words
from evalbench.metrics.registry import card

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
ALPHAS = ("ordinal", "interval", "nominal")
# What n counts at each level.
UNITS = {"summary": "documents", "dataset": "outputs", "system": "systems"}
# With fewer systems an interval spans nearly everything, or nothing: it would be read as more than it is.
FEWEST_SYSTEMS = 10
NO_METRIC = ""
"""The scorer of rows that carry human scores alone."""
_REASONS = {"no-value": "the table has no value", "no-output": "there is no output"}


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
    unscored : (n, p) object array
        Why the instrument gave no score, empty where it did, or where it has none to give.
    compared : (p, q) array of bool
        Which metric is compared with which criterion.
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
    compared: Array

    @classmethod
    def of_items(cls, items: pd.DataFrame) -> Panel:
        """Rebuild the arrays from items in any order of rows."""
        import pandas as pd

        rows = pd.MultiIndex.from_frame(items[["doc_id", "system"]])
        keys = rows.unique().sort_values()
        at = keys.get_indexer(rows)
        scorers = sorted(set(items["scorer"].unique()) - {NO_METRIC})
        criteria = sorted(items["criterion"].unique())
        s, c = (pd.Index(v).get_indexer(items[n]) for n, v in (("scorer", scorers), ("criterion", criteria)))
        columns = [name for name in items.columns if str(name).startswith("rating_")]
        x, y = np.full((len(keys), len(scorers)), np.nan), np.full((len(keys), len(criteria)), np.nan)
        ratings = np.full((len(keys), len(criteria), len(columns)), np.nan)
        unscored = np.full(x.shape, "", dtype=object)
        by = s >= 0
        compared = np.zeros((len(scorers), len(criteria)), dtype=bool)
        compared[s[by], c[by]] = True
        x[at[by], s[by]], unscored[at[by], s[by]] = items.loc[by, "score"], items.loc[by, "unscored"]
        y[at, c], ratings[at, c] = items["human"], items[columns].to_numpy(dtype=float)
        return cls(
            tuple(scorers), tuple(criteria), tuple(n.removeprefix("rating_") for n in columns),
            keys.get_level_values(0).to_numpy(), keys.get_level_values(1).to_numpy(), x, y, ratings, unscored,
            compared,
        )  # fmt: skip

    @property
    def n_unscored(self) -> Array:
        """Outputs without a score, of each scorer."""
        return np.asarray((self.unscored != "").sum(axis=0))

    def why_unscored(self, i: int) -> str:
        """The commonest reason for which scorer i has no score, in words; empty where it always has one."""
        reasons, times = np.unique(self.unscored[self.unscored[:, i] != "", i].astype(str), return_counts=True)
        if not len(reasons):
            return ""
        commonest = str(reasons[times.argmax()])
        return _REASONS.get(commonest, in_words(commonest))

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


class Counted(NamedTuple):
    """Documents, outputs or systems with a value, without a score, and without a value: all of them together."""

    n: int
    n_unscored: int
    n_undefined: int


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

    @cached_property
    def system_means(self) -> tuple[Array, Array] | None:
        """Means per system of metrics and criteria, (systems, p) and (systems, q); None without systems."""
        if not self.panel.has_systems:
            return None

        def means(columns: Array) -> Array:
            there = np.isfinite(columns)
            sums, counts = (np.zeros((self._systems.max() + 1, columns.shape[1])) for _ in range(2))
            np.add.at(sums, self._systems, np.where(there, columns, 0.0))
            np.add.at(counts, self._systems, there)
            return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)

        return means(self.panel.x), means(self.panel.y)

    def reason(self, i: int, j: int, level: str) -> str:
        """Why scorer i and criterion j have no correlation at a level."""
        p = self.panel
        x, y = p.x[:, i], p.y[:, j]
        both = np.isfinite(x) & np.isfinite(y)
        if not both.any():
            return f"unscored: {p.why_unscored(i)}" if p.n_unscored[i] else "no output has both scores"
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
        return "the systems' means do not vary" if level == "system" else "the system explains one of the two wholly"

    def measured(self, i: int, j: int, level: str, kind: str) -> Measured:
        """One correlation with its interval, or why there is none."""
        found = self.tables.get((level, kind))
        if found is None:
            return Measured(None, note="there are no systems")
        value = float(found.values[i, j])
        if np.isnan(value):
            return Measured(None, note=self.reason(i, j, level))
        return self.with_interval(
            value, found.replicates[:, i, j], level, n=self.counted(i, j, level, kind).n,
            n_units=self.n_units(i, j, level),
        )  # fmt: skip

    def with_interval(self, value: float, replicates: Array, level: str, *, n: int, n_units: int) -> Measured:
        """A value with the interval of its replicates; at system level none from few systems."""
        if level != "system":
            return with_interval(value, replicates, n=n, n_units=n_units, clustered=self.panel.several_per_document)
        if n_units < FEWEST_SYSTEMS:
            return Measured(value, n=n, note=f"under {FEWEST_SYSTEMS} systems no interval is worth printing")
        # Simulated from ten systems on: that a bootstrap of under 20 units is too narrow does not hold here.
        found = with_interval(value, replicates, n=n, n_units=max(n_units, FEW_UNITS))
        return found._replace(method=f"percentile bootstrap over systems and documents, {len(replicates)} resamples")

    def counted(self, i: int, j: int, level: str, kind: str = "spearman") -> Counted:
        """What a correlation rests on, and what it cannot: together all documents, outputs or systems."""
        p, found = self.panel, self.tables[level, kind]
        if level == "system" and not p.has_systems:
            return Counted(0, 0, 0)
        failed = p.unscored[:, i] != ""
        both = np.isfinite(p.x[:, i]) & np.isfinite(p.y[:, j])
        n = 0 if np.isnan(found.values[i, j]) else int(found.n[i, j])
        if level == "dataset":
            return Counted(n, int(failed.sum()), len(both) - n - int(failed.sum()))
        unit, fewest = (self.document_codes, 2) if level == "summary" else (self._systems, 1)
        lost = np.bincount(unit, weights=failed) > 0
        unscored = int((lost & (np.bincount(unit, weights=both) < fewest)).sum())
        return Counted(n, unscored, len(lost) - n - unscored)

    @cached_property
    def document_codes(self) -> Array:
        """Each row's document, in ascending order."""
        return np.unique(self.panel.document, return_inverse=True)[1]

    @cached_property
    def _systems(self) -> Array:
        return np.unique(self.panel.system, return_inverse=True)[1]

    def n_units(self, i: int, j: int, level: str) -> int:
        """Documents that a correlation rests on, at summary level those where both vary; systems at system level."""
        if level != "dataset":
            return int(self.tables[level, "spearman" if level == "summary" else self.coefficient].n[i, j])
        return int(self._with_both[i, j])

    @cached_property
    def _with_both(self) -> Array:
        has_x, has_y = np.isfinite(self.panel.x), np.isfinite(self.panel.y)
        return np.array(
            [[len(np.unique(self.document_codes[a & b])) for b in has_y.T] for a in has_x.T], dtype=int
        ).reshape(has_x.shape[1], has_y.shape[1])  # fmt: skip

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
            return Measured(None, note=pairs[0].note if pairs else "one annotator only: nothing to agree with")
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
        n_units = len(np.unique(self.panel.system)) if self.level == "system" else self.panel.n_documents
        return self.with_interval(float(values[known].mean()), mean, self.level, n=int(known.sum()), n_units=n_units)


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
