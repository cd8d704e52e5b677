"""Search for the weights on the simplex and the thresholds that agree best with human verdicts on pairs.

A pair is called a match where overlap, rule similarity and weighted score all exceed their thresholds.  Components
are fixed, so thousands of weight vectors are weighed at once and every score threshold is counted from one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench import core
from evalbench.metrics.matching import Missing, Thresholds

OBJECTIVES = F1, SPEARMAN = ("f1", "spearman")
SEARCHED = ("score", "overlap", "rule")
# What each threshold may become; two decimals are more than a few hundred verdicts can tell apart.
OVERLAPS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
RULES = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SCORES = tuple(round(0.05 + 0.01 * i, 2) for i in range(91))
_STEPS = (0.1, 0.05, 0.02, 0.01)
_AT_ONCE = 1 << 22
_TIE = 1e-12


class Training(NamedTuple):
    """Judged pairs to learn from.

    - ``parts`` ((n, k) array): Components in the order of the weights; NaN where both sides lack the text.
    - ``overlap``, ``rule`` ((n,) arrays)
    - ``human`` ((n,) array): Share of annotators who call the pair a match, 0–1; finite.
    - ``missing`` ({"renormalise", "zero"})
    """

    parts: core.Floats
    overlap: core.Floats
    rule: core.Floats
    human: core.Floats
    missing: Missing

    def of(self, rows: npt.NDArray[np.bool_]) -> Training:
        """Some of the pairs."""
        return Training(self.parts[rows], self.overlap[rows], self.rule[rows], self.human[rows], self.missing)


class Setting(NamedTuple):
    """Weights in the order of the components, and thresholds."""

    weights: tuple[float, ...]
    thresholds: Thresholds


def simplex(k: int) -> core.Floats:
    """All weight vectors of ``k`` non-negative components with sum 1 on a lattice; ``(c, k)``.

    Steps of 0.01 for two components, of 0.1 for more.

    Examples
    --------
    >>> simplex(2).shape, simplex(5).shape
    ((101, 2), (1001, 5))
    """
    steps = 100 if k == 2 else 10
    bars = np.array(list(combinations(range(steps + k - 1), k - 1))).reshape(-1, k - 1)
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), steps + k - 1)])
    return (np.diff(edges, axis=1) - 1) / steps


def scores(parts: core.Floats, weights: core.Floats, missing: Missing) -> core.Floats:
    """Weighted scores of all pairs under many weight vectors: ``(n, k), (c, k) → (c, n)``."""
    there = ~np.isnan(parts)
    total = weights @ np.where(there, parts, 0.0).T
    if missing == "zero":
        return total
    full = weights @ there.T
    return np.where(full > 0, total / np.where(full > 0, full, 1.0), 0.0)


def f1_surface(
    data: Training, weights: core.Floats, overlap: float, rule: float, grid: Sequence[float] = SCORES
) -> core.Floats:
    """F1 against the humans for every weight vector and score threshold; ``(c, t)``, NaN where undefined.

    F1 = 2 Σ h m / (Σ m + Σ h) with h the human share and m = 1 for pairs called a match: for 0/1 verdicts the usual F1.
    """
    open_ = (data.overlap > overlap) & (data.rule > rule)
    parts, human, limits = data.parts[open_], data.human[open_], np.asarray(grid)
    hits, called = np.zeros((2, len(weights), len(limits)))
    step = max(1, _AT_ONCE // max(1, len(human)))
    for begin in range(0, len(weights), step):
        chunk = weights[begin : begin + step]
        above = np.searchsorted(limits, scores(parts, chunk, data.missing), side="left")
        cell = above + (len(limits) + 1) * np.arange(len(chunk))[:, None]
        for out, counted in ((hits, np.broadcast_to(human, above.shape)), (called, np.ones(above.shape))):
            bins = np.bincount(cell.ravel(), weights=counted.ravel(), minlength=len(chunk) * (len(limits) + 1))
            passing = np.cumsum(bins.reshape(len(chunk), -1)[:, ::-1], axis=1)[:, ::-1]
            out[begin : begin + step] = passing[:, 1:]
    with np.errstate(all="ignore"):
        f1: core.Floats = 2 * hits / (called + data.human.sum())
    return f1


def spearman_of(data: Training, weights: core.Floats) -> core.Floats:
    """Spearman's correlation of the score with the human share for every weight vector; NaN where constant."""
    from scipy.stats import rankdata

    out = np.empty(len(weights))
    human = rankdata(data.human) - (len(data.human) + 1) / 2
    step = max(1, _AT_ONCE // max(1, len(human)))
    for begin in range(0, len(weights), step):
        # Scores that differ in the last bits only are ties.
        ranks = rankdata(scores(data.parts, weights[begin : begin + step], data.missing).round(12), axis=1)
        ranks -= (len(human) + 1) / 2
        with np.errstate(all="ignore"):
            out[begin : begin + step] = ranks @ human / np.sqrt((ranks**2).sum(axis=1) * (human**2).sum())
    return out


def fitted(
    data: Training, start: Setting, objective: str = F1, searched: Sequence[str] = SEARCHED, *, weights: bool = True
) -> Setting:
    """The weights and thresholds that agree best with the humans on these pairs.

    - ``start``: The defaults. Of settings that agree equally well the one nearest to them is taken (sum of absolute
      differences), so that nothing moves without a reason in the verdicts.
    - ``objective`` ({"f1", "spearman"}): ``spearman`` ranks weights by the score alone; thresholds then follow by F1.
    - ``searched`` (sequence of {"score", "overlap", "rule"}): The thresholds that may change.
    - ``weights``: Whether the weights may change.

    Returns: Weights in steps of 0.01; deterministic.

    Notes
    -----
    The lattice of :func:`simplex` at the starting thresholds, then steepest ascent: moves of 0.1 … 0.01 of weight from
    one component to another, and other thresholds of overlap and rule, until none is better.
    """
    grid = SCORES if "score" in searched else (start.thresholds.score,)
    overlaps = OVERLAPS if "overlap" in searched else (start.thresholds.overlap,)
    rules = RULES if "rule" in searched else (start.thresholds.rule,)
    lattice = np.vstack([start.weights, *([simplex(len(start.weights))] if weights else [])])

    def near(setting: Setting) -> core.Floats:
        return _moved(np.array(setting.weights)) if weights else np.array([setting.weights])

    def by_rank(tried: core.Floats) -> _Found:
        o, r, s = start.thresholds
        return _best(spearman_of(data, tried)[:, None], tried, o, r, (s,), start)

    def by_f1(tried: core.Floats, overlap: float, rule: float) -> _Found:
        return _best(f1_surface(data, tried, overlap, rule, grid), tried, overlap, rule, grid, start)

    def neighbours(setting: Setting) -> list[_Found]:
        here, (overlap, rule, _) = np.array([setting.weights]), setting.thresholds
        moved = [by_f1(near(setting), overlap, rule)]
        return moved + [by_f1(here, o, rule) for o in overlaps] + [by_f1(here, overlap, r) for r in rules]

    if objective == SPEARMAN:
        ranked = np.array([_climb(by_rank(lattice), lambda setting: [by_rank(near(setting))]).weights])
        return max((by_f1(ranked, o, r) for o in overlaps for r in rules), key=_rank).setting
    return _climb(by_f1(lattice, *start.thresholds[:2]), neighbours)


class _Found(NamedTuple):
    value: float
    distance: float
    setting: Setting


def _rank(found: _Found) -> tuple[float, float]:
    return round(found.value, 12), -round(found.distance, 12)


def _climb(best: _Found, neighbours: Callable[[Setting], list[_Found]]) -> Setting:
    """From the best so far to the best of its neighbours, until none is better, or as good and nearer to the start."""
    while True:
        found = max(neighbours(best.setting), key=_rank)
        as_good = found.value > best.value - _TIE and found.distance < best.distance - 1e-9
        if not (found.value > best.value + _TIE or as_good):
            return best.setting
        best = found


def _best(
    values: core.Floats, weights: core.Floats, overlap: float, rule: float, grid: Sequence[float], start: Setting
) -> _Found:
    """The best of the values ``(weights, grid)``; of those as good the nearest to the start."""
    values = np.nan_to_num(values, nan=-2.0)
    distance = (
        np.abs(weights - start.weights).sum(axis=1)[:, None]
        + np.abs(np.asarray(grid) - start.thresholds.score)[None]
        + abs(overlap - start.thresholds.overlap)
        + abs(rule - start.thresholds.rule)
    )
    tied = values >= values.max() - _TIE
    i, j = divmod(int(np.argmin(np.where(tied, distance, np.inf))), len(grid))
    setting = Setting(tuple(weights[i].round(4).tolist()), Thresholds(overlap, rule, float(grid[j])))
    return _Found(float(values[i, j]), float(distance[i, j]), setting)


def _moved(weights: core.Floats) -> core.Floats:
    """Weight vectors with some weight moved from one component to another; the vector itself first."""
    moves = [weights]
    for step in _STEPS:
        for a, b in permutations(range(len(weights)), 2):
            if weights[a] >= step - _TIE:
                other = weights.copy()
                other[a], other[b] = max(0.0, other[a] - step), other[b] + step
                moves.append(other)
    return np.array(moves).round(4)


def folds(samples: npt.ArrayLike, n_folds: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """The fold of each row: whole samples, dealt at random, as even as possible.

    Examples
    --------
    >>> folds(["a", "a", "b", "c"], 3, np.random.default_rng(0)).tolist()
    [1, 1, 2, 0]
    """
    names, index = np.unique(np.asarray(samples, dtype=str), return_inverse=True)
    dealt = np.empty(len(names), dtype=np.int64)
    dealt[generator.permutation(len(names))] = np.arange(len(names)) % n_folds
    return dealt[index]


def calls(data: Training, setting: Setting) -> tuple[core.Floats, npt.NDArray[np.bool_]]:
    """Score of each pair and whether it is called a match, exactly as ``matching`` computes them."""
    from evalbench.metrics.matching import admissible, weighted_score

    parts: Mapping[str, core.Floats] = {str(j): data.parts[:, j] for j in range(data.parts.shape[1])}
    score = weighted_score(parts, {str(j): w for j, w in enumerate(setting.weights)}, data.missing)
    return score, admissible(data.overlap, data.rule, score, setting.thresholds)
