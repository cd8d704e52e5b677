"""The items as arrays, and what is computed once of them: correlations at three levels, agreement, the ceiling."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.metrics.registry import card

Array = np.ndarray[Any, Any]
KEYS = ["id", "model"]
LEVEL, COEFFICIENT = "auto", "spearman"
ALPHAS: tuple[core.agreement.Level, ...] = ("ordinal", "interval", "nominal")
# What n counts at each level.
UNITS = {"summary": "documents", "dataset": "outputs", "system": "systems"}
# With fewer systems an interval spans nearly everything, or nothing: it would be read as more than it is.
FEWEST_SYSTEMS = 10
PREFERRED = "preferred_to"
"""The items' column, where people compared outputs: the systems over whose output this one was preferred, as JSON."""
NO_METRIC = ""
"""The scorer of rows that carry human scores alone."""
_REASONS = {"no-value": "the table has no value", "no-output": "there is no output"}


class Counted(NamedTuple):
    """Documents, outputs or systems with a value, without a score, and without a value: all of them together."""

    n: int
    n_unscored: int
    n_undefined: int


class Terms(NamedTuple):
    """On what terms a metric gets a light.

    - ``trusted``: The criteria that count for the headline.
    - ``why``: They are trusted, or none is.
    - ``bands``: Of agreement: of a metric of which less is better, the negative correlation.
    """

    trusted: tuple[str, ...]
    why: str
    bands: core.verdict.Bands
    max_ci_width: float
    max_unscored: float


@dataclass(frozen=True)
class Panel:
    """n rows (document × system), p scorers, q criteria, a annotators; correlations and agreement on first use.

    - ``document``, ``system`` ((n,) arrays of str)
    - ``x`` ((n, p) array)
    - ``y`` ((n, q) array): Means over annotators.
    - ``ratings`` ((n, q, a) array)
    - ``unscored`` ((n, p) object array): Why the instrument gave no score, empty where it did, or where it has none to
      give.
    - ``compared`` ((p, q) array of bool): Which metric is compared with which criterion.
    - ``signs`` ((p,) array): −1 for a metric of which less is better, else 1.
    - ``level``, ``coefficient``: Of the headline.
    - ``cluster`` ((n,) array of str, optional): Where documents come in clusters.
    - ``pairs``: id, better, worse (systems), criterion, where people compared outputs.
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
    signs: Array
    level: str
    coefficient: str
    seed: int
    n_resamples: int
    cluster: Array | None = None
    pairs: pd.DataFrame | None = None

    @cached_property
    def has_systems(self) -> bool:
        return bool((self.system != "").any())

    @cached_property
    def document_codes(self) -> Array:
        """Each row's document, in ascending order."""
        return np.unique(self.document, return_inverse=True)[1]

    @cached_property
    def system_codes(self) -> Array:
        return np.unique(self.system, return_inverse=True)[1]

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Which metric is compared with which criterion: their places."""
        return [(int(i), int(j)) for i, j in np.argwhere(self.compared)]

    @property
    def n_documents(self) -> int:
        return int(self.document_codes.max(initial=-1)) + 1

    @property
    def n_systems(self) -> int:
        return int(self.system_codes.max(initial=-1)) + 1

    @cached_property
    def clusters(self) -> Array | None:
        """The cluster of each document, these in ascending order."""
        if self.cluster is None:
            return None
        found = np.empty(self.n_documents, dtype=object)
        found[self.document_codes] = self.cluster
        return found

    @property
    def several_per_document(self) -> bool:
        return self.n_documents < len(self.document)

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
        return _REASONS.get(commonest, core.unscored.in_words(commonest))

    # Correlations ---------------------------------------------------------------------------------------------------

    def correlated(
        self, x: Array, y: Array, **options: Any
    ) -> Mapping[tuple[str, str], core.correlation_table.Correlations]:
        """Columns over the panel's rows, by (level, coefficient); options as of ``correlation_table``."""
        system = self.system if self.has_systems else None
        resampling: dict[str, Any] = {"seed": self.seed, "n_resamples": self.n_resamples, "clusters": self.clusters}
        return core.correlation_table.correlation_table(
            x, y, document=self.document, system=system, **{**resampling, **options}
        )

    def by_headline(self, x: Array, y: Array, **options: Any) -> core.correlation_table.Correlations:
        """The same at the headline's level by its coefficient alone."""
        wanted = {"levels": (self.level,), "kinds": (self.coefficient,)}
        return self.correlated(x, y, **wanted, **options)[self.level, self.coefficient]

    @cached_property
    def correlations(self) -> Mapping[tuple[str, str], core.correlation_table.Correlations]:
        """Every scorer with every criterion at every level by every coefficient."""
        return self.correlated(self.x, self.y, partial=True)

    @property
    def headline(self) -> core.correlation_table.Correlations:
        return self.correlations[self.level, self.coefficient]

    @cached_property
    def system_means(self) -> tuple[Array, Array] | None:
        """Means per system of metrics and criteria, (systems, p) and (systems, q); None without systems."""
        if not self.has_systems:
            return None

        def means(columns: Array) -> Array:
            there = np.isfinite(columns)
            sums, counts = (np.zeros((self.n_systems, columns.shape[1])) for _ in range(2))
            np.add.at(sums, self.system_codes, np.where(there, columns, 0.0))
            np.add.at(counts, self.system_codes, there)
            out: Array = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
            return out

        return means(self.x), means(self.y)

    def measured(self, i: int, j: int, level: str, kind: str) -> core.stats.Measured:
        """The correlation of scorer i and criterion j with its interval, or why there is none."""
        found = self.correlations.get((level, kind))
        if found is None:
            return core.stats.Measured(None, note="there are no systems")
        value = float(found.values[i, j])
        if np.isnan(value):
            return core.stats.Measured(None, note=self.reason(i, j, level))
        n = self.counted(i, j, level, kind).n
        return self.with_interval(value, found.replicates[:, i, j], level, n=n, n_units=self.n_units(i, j, level))

    def with_interval(
        self, value: float, replicates: Array, level: str, *, n: int, n_units: int
    ) -> core.stats.Measured:
        """A value with an interval that has a width; at system level none from few systems.

        Means over documents that are all alike, and ranks in one order, have the bound of :func:`core.ends.with_width`.
        """
        found = self._with_interval(value, replicates, level, n=n, n_units=n_units)
        loss = 1 if level == "summary" else {"kendall": 2, "spearman": 3}.get(self.coefficient, 0)
        ordered = loss == 1 or np.isclose(abs(value), 1)
        return core.ends.with_width(found, n_units, (-1.0, 1.0), loss) if loss and ordered else found

    def _with_interval(
        self, value: float, replicates: Array, level: str, *, n: int, n_units: int
    ) -> core.stats.Measured:
        if level != "system" and self.clusters is not None:
            n_units = min(n_units, len(np.unique(self.clusters.astype(str))))
            return core.stats.with_interval(value, replicates, n=n, n_units=n_units, clusters=True)
        if level != "system":
            return core.stats.with_interval(
                value, replicates, n=n, n_units=n_units, clustered=self.several_per_document
            )
        if n_units < FEWEST_SYSTEMS:
            return core.stats.Measured(value, n=n, note=f"under {FEWEST_SYSTEMS} systems no interval is worth printing")
        # Simulated from ten systems on: that a bootstrap of under 20 units is too narrow does not hold here.
        found = core.stats.with_interval(value, replicates, n=n, n_units=max(n_units, core.stats.FEW_UNITS))
        of = "documents" if self.clusters is None else "clusters"
        return found._replace(method=f"percentile bootstrap over systems and {of}, {len(replicates)} resamples")

    def reason(self, i: int, j: int, level: str) -> str:
        """Why scorer i and criterion j have no correlation at a level."""
        x, y = self.x[:, i], self.y[:, j]
        both = np.isfinite(x) & np.isfinite(y)
        if not both.any():
            return f"unscored: {self.why_unscored(i)}" if self.n_unscored[i] else "no output has both scores"
        if both.sum() < 2:
            return "only one output has both scores"
        if level == "dataset" and both.sum() < core.correlation.FEWEST_ROWS:
            return "only two outputs have both scores, and two always correlate perfectly"
        if np.ptp(y[both]) == 0:
            return f"constant human score: every output got {y[both][0]:g}"
        if np.ptp(x[both]) == 0:
            return f"constant metric: every output got {x[both][0]:.3g}"
        if level == "system" and (not self.has_systems or len(np.unique(self.system[both])) < 3):
            return "fewer than three systems"
        if level == "summary":
            return "in no document do both vary" if self.several_per_document else "each document has one output"
        return "the systems' means do not vary" if level == "system" else "the system explains one of the two wholly"

    def counted(self, i: int, j: int, level: str, kind: str = "spearman") -> Counted:
        """What a correlation rests on, and what it cannot: together all documents, outputs or systems."""
        found = self.correlations[level, kind]
        if level == "system" and not self.has_systems:
            return Counted(0, 0, 0)
        failed = self.unscored[:, i] != ""
        both = np.isfinite(self.x[:, i]) & np.isfinite(self.y[:, j])
        n = 0 if np.isnan(found.values[i, j]) else int(found.n[i, j])
        if level == "dataset":
            return Counted(n, int(failed.sum()), len(both) - n - int(failed.sum()))
        unit, fewest = (self.document_codes, 2) if level == "summary" else (self.system_codes, 1)
        lost = np.bincount(unit, weights=failed) > 0
        unscored = int((lost & (np.bincount(unit, weights=both) < fewest)).sum())
        return Counted(n, unscored, len(lost) - n - unscored)

    def n_units(self, i: int, j: int, level: str) -> int:
        """Documents that a correlation rests on, at summary level those where both vary; systems at system level."""
        if level == "dataset":
            both = np.isfinite(self.x[:, i]) & np.isfinite(self.y[:, j])
            return len(np.unique(self.document_codes[both]))
        return int(self.correlations[level, "spearman" if level == "summary" else self.coefficient].n[i, j])

    # The annotators -------------------------------------------------------------------------------------------------

    @cached_property
    def agreement(self) -> Mapping[str, Mapping[str, core.stats.Measured]]:
        """Criterion → Krippendorff's alphas, mean Cohen's kappa over pairs, and the ceiling."""
        ceilings = self._ceilings()
        return {
            criterion: {**self.alphas[criterion], "kappa": self._kappa(j), "ceiling": ceilings[j]}
            for j, criterion in enumerate(self.criteria)
        }

    @cached_property
    def alphas(self) -> Mapping[str, Mapping[str, core.stats.Measured]]:
        """Criterion → Krippendorff's alphas alone."""
        return {criterion: self._alphas(j) for j, criterion in enumerate(self.criteria)}

    def _alphas(self, j: int) -> dict[str, core.stats.Measured]:
        ratings = self.ratings[:, j]
        if ratings.shape[1] < 2:
            return {
                f"alpha_{a}": core.stats.Measured(None, note="one annotator only: nothing to agree with")
                for a in ALPHAS
            }
        units = np.repeat(np.arange(len(ratings)), ratings.shape[1])
        resampling = {"seed": self.seed, "n_resamples": self.n_resamples if self.cluster is None else 0}
        found = {
            f"alpha_{a}": core.agreement.krippendorff_alpha(units, ratings.ravel(), a, **resampling) for a in ALPHAS
        }
        if self.cluster is None:
            return found
        return {
            name: core.agreement.clustered_alpha(alpha, ratings, a, self.cluster, self.seed, self.n_resamples)
            for a, (name, alpha) in zip(ALPHAS, found.items(), strict=True)
        }

    def _kappa(self, j: int) -> core.stats.Measured:
        ratings = self.ratings[:, j]
        pairs = [
            core.agreement.cohen_kappa(ratings[:, a], ratings[:, b], seed=self.seed, n_resamples=1)
            for a, b in combinations(range(ratings.shape[1]), 2)
        ]
        known = [k for k in pairs if k.value is not None]
        if not known:
            return core.stats.Measured(
                None, note=pairs[0].note if pairs else "one annotator only: nothing to agree with"
            )
        mean = float(np.mean([k.value for k in known]))
        return core.stats.Measured(mean, n=sum(k.n for k in known), note=f"mean over {len(known)} pairs, no interval")

    def one_against_others(self, **options: Any) -> list[core.correlation_table.Correlations]:
        """Each annotator against the mean of the others, by the headline's level and coefficient."""
        found = []
        for k in range(self.ratings.shape[2]):
            others = np.delete(self.ratings, k, axis=2)
            count = np.isfinite(others).sum(axis=2)
            means = np.where(count > 0, np.nansum(others, axis=2) / np.maximum(count, 1), np.nan)
            found.append(self.by_headline(self.ratings[:, :, k], means, **options))
        return found

    def _ceilings(self) -> list[core.stats.Measured]:
        """One annotator against the mean of the others, averaged over annotators, criterion by criterion."""
        if len(self.annotators) < 2:
            return [core.stats.Measured(None, note="one annotator only: no ceiling")] * len(self.criteria)
        found = self.one_against_others()
        return [
            self._ceiling(
                j, np.array([f.values[j, j] for f in found]), np.array([f.replicates[:, j, j] for f in found])
            )
            for j in range(len(self.criteria))
        ]

    def _ceiling(self, j: int, values: Array, replicates: Array) -> core.stats.Measured:
        known = np.isfinite(values)
        if not known.any():
            return core.stats.Measured(None, note="every annotator's score is constant, or their means are")
        with np.errstate(all="ignore"):
            mean = replicates[known].mean(axis=0)
        several = (np.isfinite(self.ratings[:, j]).sum(axis=1) > 1) if self.level != "system" else np.array([])
        n_units = self.n_systems if self.level == "system" else len(np.unique(self.document_codes[several]))
        return self.with_interval(float(values[known].mean()), mean, self.level, n=int(known.sum()), n_units=n_units)


def panel_of(
    items: pd.DataFrame,
    *,
    level: str = LEVEL,
    coefficient: str = COEFFICIENT,
    lower_is_better: Sequence[str] = (),
    seed: int = 0,
    n_resamples: int = 0,
) -> Panel:
    """The arrays of items in any order of rows; ``level="auto"``: summary where documents have several outputs, else dataset."""
    rows = pd.MultiIndex.from_frame(items[KEYS])
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
    document, system = (keys.get_level_values(k).to_numpy() for k in (0, 1))
    cluster = None
    if core.clusters.CLUSTER in items:
        cluster = items[core.clusters.CLUSTER].to_numpy()[np.unique(at, return_index=True)[1]]
    if level == LEVEL:
        level = "summary" if len(np.unique(document)) < len(document) else "dataset"
    signs = np.array([-1.0 if _less_is_better(name, lower_is_better) else 1.0 for name in scorers])
    return Panel(
        tuple(scorers), tuple(criteria), tuple(n.removeprefix("rating_") for n in columns), document, system, x, y,
        ratings, unscored, compared, signs, level, coefficient, seed, n_resamples, cluster, _pairs_of(items),
    )  # fmt: skip


def _pairs_of(items: pd.DataFrame) -> pd.DataFrame | None:
    if PREFERRED not in items:
        return None
    once = items.drop_duplicates([*KEYS, "criterion"])
    each = once.assign(worse=once[PREFERRED].map(json.loads)).explode("worse").dropna(subset=["worse"])
    return each.rename(columns={"model": "better"})[["id", "better", "worse", "criterion"]]


def _less_is_better(scorer: str, named: Sequence[str]) -> bool:
    """Of a metric, as its card or the caller says."""
    try:
        return scorer in named or card(scorer).higher_is_better is False
    except KeyError:
        return False
