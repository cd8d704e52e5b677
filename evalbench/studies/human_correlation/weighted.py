"""The headline's estimates from how often each document was drawn: many resamples at once, for comparisons of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.human_correlation import pairs, panels, trust

Key = tuple[str, tuple[tuple[str, str], ...]]
_CELLS_AT_ONCE = 1 << 22


def weighted(
    items: pd.DataFrame,
    *,
    trusted: Sequence[str] = (),
    trust_from: float = trust.TRUST_FROM,
    level: str = panels.LEVEL,
    coefficient: str = panels.COEFFICIENT,
    lower_is_better: Sequence[str] = (),
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> Callable[..., dict[Key, panels.Array]]:
    """The estimates of a run as a function of how often each document is drawn, see :func:`drawn`.

    Level, coefficient and the criteria that each metric's mean goes over are settled once, on the run's own items.

    - ``items``: The run's own.
    - ``trusted``, ``trust_from``, ``level``, ``coefficient``, ``lower_is_better``, ``seed``, ``n_resamples``: See :func:`evalbench.studies.human_correlation.evaluate`.
    """
    panel = panels.panel_of(items, level=level, coefficient=coefficient)
    resampled = replace(panel, seed=seed, n_resamples=n_resamples)  # for the interval of alpha
    chosen, _ = trust.trusted_of(resampled, [c for c in trusted if c in panel.criteria], trust_from)
    over = {}
    if chosen and panel.scorers:
        values = panel.by_headline(panel.x, panel.y).values
        columns = {c: j for j, c in enumerate(panel.criteria) if c in chosen}
        for i, scorer in enumerate(panel.scorers):
            over[scorer] = [c for c, j in columns.items() if panel.compared[i, j] and np.isfinite(values[i, j])]
    return partial(drawn, level=panel.level, coefficient=coefficient, trusted=over, lower_is_better=lower_is_better)


def drawn(
    items: pd.DataFrame,
    counts: panels.Array,
    generator: np.random.Generator | None = None,
    *,
    level: str,
    coefficient: str,
    trusted: Mapping[str, Sequence[str]],
    lower_is_better: Sequence[str] = (),
) -> dict[Key, panels.Array]:
    """Values of every estimate, ``(r,)`` each; NaN where undefined.

    - ``counts`` ((r, documents) array): How often each document, in ascending order, is drawn.
    - ``generator``: Draws the systems too, at system level; without it each system stays once.
    - ``trusted``: Metric → the criteria of its mean; empty where no criterion is trusted: then there are no means.
    """
    panel = panels.panel_of(items, level=level, coefficient=coefficient, lower_is_better=lower_is_better)
    both = {"counts": counts}
    if generator is not None and level == "system":
        both["system_counts"] = np.concatenate(
            list(core.stats.resample_counts(panel.n_systems, generator, len(counts)))
        )
    compared: dict[Key, panels.Array] = {
        (metric, (("criterion", criterion), ("scorer", scorer))): values
        for (metric, scorer, criterion), values in pairs.drawn(panel, counts).items()
    }
    return {**compared, **_correlations(panel, both, trusted), **_agreement(panel, both)}


def _correlations(
    panel: panels.Panel, both: Mapping[str, panels.Array], trusted: Mapping[str, Sequence[str]]
) -> dict[Key, panels.Array]:
    if not panel.scorers:
        return {}
    r = panel.by_headline(panel.x, panel.y, **both).replicates
    at = {c: j for j, c in enumerate(panel.criteria)}
    found: dict[Key, panels.Array] = {}
    for i, scorer in enumerate(panel.scorers):
        over = [at[c] for c in trusted.get(scorer, ()) if c in at]
        if trusted:
            mean = r[:, i, over].mean(axis=1) if over else np.full(len(r), np.nan)
            found["trusted_mean", (("scorer", scorer),)] = mean
        for criterion, j in ((c, j) for c, j in at.items() if panel.compared[i, j]):
            group = (("criterion", criterion), ("scorer", scorer))
            found[f"{panel.coefficient}_{panel.level}", group] = r[:, i, j]
    return found


def _agreement(panel: panels.Panel, both: Mapping[str, panels.Array]) -> dict[Key, panels.Array]:
    if len(panel.annotators) < 2:
        return {}
    counts = both["counts"]
    step = max(1, _CELLS_AT_ONCE // len(panel.document))

    def each(statistic: Callable[[panels.Array], panels.Array]) -> panels.Array:
        parts = (counts[k : k + step][:, panel.document_codes] for k in range(0, len(counts), step))
        return np.concatenate([statistic(weights) for weights in parts])

    others = panel.one_against_others(**both)
    ceilings = [np.diagonal(found.replicates, axis1=1, axis2=2) for found in others]
    ceiling = _mean_of_known(ceilings, (len(counts), len(panel.criteria)))
    found: dict[Key, panels.Array] = {}
    for j, criterion in enumerate(panel.criteria):
        ratings, group = panel.ratings[:, j], (("criterion", criterion),)
        for level in panels.ALPHAS:
            found[f"alpha_{level}", group] = each(partial(core.agreement.weighted_alpha, ratings, level))
        found["kappa", group] = each(partial(_mean_kappa, ratings))
        found["ceiling", group] = ceiling[:, j]
    return found


def _mean_kappa(ratings: panels.Array, weights: panels.Array) -> panels.Array:
    pairs = combinations(range(ratings.shape[1]), 2)
    each = [core.agreement.weighted_kappa(ratings[:, a], ratings[:, b], weights) for a, b in pairs]
    return _mean_of_known(each, (len(weights),))


def _mean_of_known(each: Sequence[panels.Array], shape: tuple[int, ...]) -> panels.Array:
    """Their mean without NaN; NaN where nothing else is there."""
    if not each:
        return np.full(shape, np.nan)
    known = np.isfinite(each)
    with np.errstate(all="ignore"):
        return np.asarray(np.where(known, each, 0.0).sum(axis=0) / known.sum(axis=0))
