"""How well two samples can be told apart by a classifier that has not seen the rows it judges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.special import expit

from evalbench.core.arrays import Bools, Floats, Ints
from evalbench.core.seeds import rng
from evalbench.core.stats import Measured, bootstrap_weights, with_interval

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

N_FOLDS = 5
N_PERMUTATIONS = 199
STRENGTH = 1.0
_COMMON = 0.05
_STEPS, _CLOSE = 2000, 1e-5
_ROUGH_STEPS, _ROUGHLY = 60, 3e-4


@dataclass(frozen=True)
class Separability:
    """What a classifier makes of rows that it was not fitted to.

    - ``gini``: 2 AUC − 1 of the out-of-fold scores: 0 by chance, 1 where every current row scores above every other
      one. Only rows of one fold are compared. The interval draws whole groups anew; the classifiers stay.
    - ``p``: Share of deals, the observed one among them, whose Gini is at least as high; NaN without deals.
    - ``null_mean``: Mean Gini of the deals.
    - ``scores`` ((n,) array of float): Out-of-fold probability of being current; NaN where a fold could not be judged.
    - ``folds`` ((n,) array of int)
    - ``n_groups``: Rows of one group lie in one fold.
    - ``note``: What to beware of.
    """

    gini: Measured
    p: float
    null_mean: float
    n_permutations: int
    scores: Floats
    folds: Ints
    n_groups: int
    note: str = ""


class WithinFolds:
    """Gini from how often each row counts: over pairs of the two sides within a fold, ties half.

    Scores of different folds come from different classifiers and are not compared.

    - ``scores`` ((n,) array of float): Finite; those that agree to 12 decimals are tied.
    - ``side`` ((n,) array of bool)
    - ``folds`` ((n,) array of int)

    Examples
    --------
    >>> gini = WithinFolds(np.array([0.1, 0.4, 0.4, 0.2]), np.array([False, True, False, False]), np.array([0, 0, 0, 1]))
    >>> gini(np.ones((1, 4))).tolist(), gini(np.array([[1.0, 1.0, 0.0, 1.0]])).tolist()
    ([0.5], [1.0])
    """

    def __init__(self, scores: Floats, side: Bools, folds: Ints) -> None:
        self.order = np.lexsort((scores, folds))
        fold, score = folds[self.order], scores[self.order].round(12)
        new_fold = np.diff(fold, prepend=-1) != 0
        self.level = np.flatnonzero(new_fold | (np.diff(score, prepend=np.nan) != 0))
        self.fold = np.flatnonzero(new_fold[self.level])
        self.side = side[self.order]

    def __call__(self, weights: Floats) -> Floats:
        """The Gini of each row of weights ``(r, n)``; NaN where no fold has rows of both sides."""
        own = weights[:, self.order]
        now = np.add.reduceat(own * self.side, self.level, axis=1)
        then = np.add.reduceat(own * ~self.side, self.level, axis=1)
        total_now, total_then = (np.add.reduceat(w, self.fold, axis=1) for w in (now, then))
        below = np.cumsum(then, axis=1) - then / 2
        # What lies before a row's fold forms no pair with it.
        before = np.cumsum(total_then, axis=1) - total_then
        won = (now * below).sum(axis=1) - (total_now * before).sum(axis=1)
        n_pairs = (total_now * total_then).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(2 * won / n_pairs - 1)


def gram(features: csr_matrix | npt.ArrayLike) -> Floats:
    """All inner products of rows, ``(n, n)``; common columns of a sparse matrix by a dense product, which is faster.

    Examples
    --------
    >>> gram([[1.0, 0.0], [0.6, 0.8]]).round(2).tolist()
    [[1.0, 0.6], [0.6, 1.0]]
    """
    from scipy.sparse import csc_matrix, issparse

    if not issparse(features):
        dense = np.asarray(features, dtype=np.float64)
        return dense @ dense.T
    columns = csc_matrix(features, dtype=np.float64)
    common = np.diff(columns.indptr) > _COMMON * columns.shape[0]
    dense, rest = columns[:, common].toarray(), columns[:, ~common].tocsr()
    return np.asarray(dense @ dense.T + (rest @ rest.T).toarray())


def logistic(kernel: npt.ArrayLike, current: npt.ArrayLike, strength: float = STRENGTH) -> tuple[Floats, Floats]:
    """Logistic regression with an L2 penalty, of many labellings of the same rows at once.

    Minimises ½ ‖w‖² + C Σ log(1 + exp(−t f)), f = w·x + b, t = ±1, where w = Σ βᵢ xᵢ and b is not penalised, by steps that
    bound the curvature of the loss by ¼: each is one product with a matrix that all labellings share.

    Parameters
    ----------
    kernel : (n, n) array
        Inner products of the rows' features.
    current : (n, r) array of bool
        r labellings.
    strength : float
        C, above 0: how much the rows weigh against the penalty.

    Returns
    -------
    weights : (n, r) array
        β: the features' weights are ``features.T @ weights``.
    intercept : (r,) array
        b.

    References
    ----------
    Böhning & Lindsay (1988), Annals of the Institute of Statistical Mathematics 40, 641–663 (the bound);
    Hastie, Tibshirani & Friedman (2009), The Elements of Statistical Learning, section 12.3 (the kernel form);
    Walker & Ni (2011), SIAM Journal on Numerical Analysis 49, 1715–1735 (the mixing of steps).

    Examples
    --------
    >>> weights, intercept = logistic(gram([[-1.0], [1.0], [2.0]]), [[False], [True], [True]])
    >>> bool(weights[0, 0] < 0 < weights[1, 0]), abs(float(weights.sum())) < 1e-6
    (True, True)
    """
    return _fitted(_inverse(np.asarray(kernel, dtype=float), strength), np.asarray(current, dtype=float), strength)


def _inverse(kernel: Floats, strength: float) -> Floats:
    """(K + (4 / C) I)⁻¹, which all labellings share."""
    n = len(kernel)
    factor, _ = dpotrf(kernel + 4 / strength * np.eye(n), lower=True, overwrite_a=True)
    lower, _ = dpotri(factor, lower=True, overwrite_c=True)
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


def _without(inverse: Floats, held: Bools) -> Floats:
    """The inverse of a matrix without the rows and columns held out, from that of the whole matrix."""
    across = inverse[np.ix_(~held, held)]
    return inverse[np.ix_(~held, ~held)] - across @ np.linalg.solve(inverse[np.ix_(held, held)], across.T)


def _fitted(inverse: Floats, side: Floats, strength: float) -> tuple[Floats, Floats]:
    """The weights and intercepts of :func:`logistic`: steps in single precision first, then to the end in double."""
    softness = 4 / strength
    level = inverse.sum(axis=0) / inverse.sum()
    towards = inverse - np.outer(inverse.sum(axis=1), level)
    single = [one.astype(np.float32) for one in (towards, side, np.zeros_like(side))]
    _, rough = _settled(single[0], single[1], single[2], softness, _ROUGHLY, _ROUGH_STEPS)
    working, fitted = _settled(towards, side, rough.astype(float), softness, _CLOSE, _STEPS)
    return (working - fitted) / softness, level @ working


def _settled(
    towards: Any, side: Any, fitted: Any, softness: float, close: float, n_steps: int
) -> tuple[Floats, Floats]:
    """The steps from a start until they move no further, each followed by one along the secant of the last two.

    Returns what was regressed on in the last step of each labelling, and what was fitted then.
    """
    ends = np.zeros_like(side), np.zeros_like(side)
    going = np.arange(side.shape[1])
    last: tuple[Any, Any] | None = None
    for step in range(n_steps):
        working = fitted + 4 * (side - expit(fitted))
        stepped = working - softness * (towards @ working)
        moved = stepped - fitted
        near = (np.abs(moved).max(axis=0) < close) | (step == n_steps - 1)
        if near.any():
            for end, now in zip(ends, (working, stepped), strict=True):
                end[:, going[near]] = now[:, near]
            going, side, stepped, moved = going[~near], side[:, ~near], stepped[:, ~near], moved[:, ~near]
            last = last and (last[0][:, ~near], last[1][:, ~near])
            if not len(going):
                break
        fitted = stepped
        if last is not None:  # Anderson's mixing of depth 1
            turned = moved - last[1]
            size = np.einsum("ij,ij->j", turned, turned)
            share = np.einsum("ij,ij->j", turned, moved) / np.where(size > 0, size, 1)
            fitted = stepped - share * (stepped - last[0])
        last = stepped, moved
    return ends


def grouped_folds(current: npt.ArrayLike, groups: npt.ArrayLike, n_folds: int, generator: np.random.Generator) -> Ints:
    """A fold of each row: whole groups, the shares of both sides as even as groups allow.

    The largest groups are placed first, each where it leaves the sides most even; groups of one size in an order drawn.

    Parameters
    ----------
    current : (n,) array of bool
    groups : (n,) array
        Names or numbers.

    Returns
    -------
    (n,) array of int
        0 to ``n_folds`` − 1.

    Examples
    --------
    >>> folds = grouped_folds([0, 0, 1, 1], ["a", "b", "c", "c"], 2, np.random.default_rng(0))
    >>> bool(folds[2] == folds[3]), bool(folds[0] != folds[1])
    (True, True)
    """
    side = np.asarray(current, dtype=bool)
    _, which = np.unique(np.asarray(groups), return_inverse=True)
    n_groups = int(which.max()) + 1
    held = np.stack([np.bincount(which, weights=w, minlength=n_groups) for w in (~side, side)], axis=1)
    drawn = generator.permutation(n_groups)
    order = drawn[np.argsort(-held.sum(axis=1)[drawn], kind="stable")]
    share = held / np.maximum(held.sum(axis=0), 1)
    filled = np.zeros((n_folds, 2))
    of = np.empty(n_groups, dtype=np.int64)
    for group in order:
        # The sum of squares grows least where the group's own sides are lacking.
        of[group] = place = int(np.argmin(filled @ share[group]))
        filled[place] += share[group]
    return of[which]


def separability(
    kernel: npt.ArrayLike,
    current: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    n_folds: int = N_FOLDS,
    n_permutations: int = N_PERMUTATIONS,
    strength: float = STRENGTH,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Separability:
    """Gini of a logistic regression out of fold: can current rows be told from the reference's?

    Parameters
    ----------
    kernel : (n, n) array
        Inner products of the rows' features, see :func:`gram`.
    current : (n,) array of bool
        Which rows are current; the others are the reference.
    groups : (n,) array, optional
        Rows that are one piece of evidence: near-duplicates, those of one user.  They lie in one fold and are drawn together.
    n_folds : int
        At least 2; at most the rows of the smaller side.
    n_permutations : int
        Deals of the rows to the sides.  For each, the classifiers of all folds are fitted anew; features and folds stay,
        and rows are dealt within their fold.  Rows of a group that lies wholly on one side are dealt together.
    strength : float
        C of :func:`logistic`.

    Returns
    -------
    Separability
        Without a Gini where a side has fewer than two groups.

    Notes
    -----
    Scores of different folds come from different classifiers; comparing them with each other would draw the Gini below 0
    where nothing differs.  The draws follow the order of rows: sort them first.

    References
    ----------
    Lopez-Paz & Oquab (2017), Revisiting Classifier Two-Sample Tests, ICLR, section 3; Hanley & McNeil (1982), Radiology
    143 (the area); Phipson & Smyth (2010) for the p-value.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> rows, side = generator.normal(size=(80, 3)), np.arange(80) % 2 == 1
    >>> rows[side] += 2
    >>> found = separability(gram(rows), side, n_permutations=19, n_resamples=200)
    >>> found.gini.value > 0.9, found.p
    (True, 0.05)
    """
    inner, side = np.asarray(kernel, dtype=float), np.asarray(current, dtype=bool)
    _, which = np.unique(np.arange(len(side)) if groups is None else np.asarray(groups), return_inverse=True)
    n_groups = int(which.max()) + 1 if len(which) else 0
    there = min(len(np.unique(which[of])) for of in (side, ~side))
    if there < 2:
        why = "a side has fewer than two rows" if groups is None else "a side has fewer than two rows that differ"
        nothing = np.full(len(side), np.nan)
        return Separability(
            Measured(None, note=why), math.nan, math.nan, 0, nothing, np.zeros(len(side), np.int64), n_groups
        )
    folds = grouped_folds(side, which, min(n_folds, there), rng(seed, "separability/folds"))
    dealt = _deals(side, which, folds, n_permutations, rng(seed, "separability/deals"))
    labels = np.concatenate([side[:, None], dealt], axis=1)
    scores = _out_of_fold(inner, labels, folds, strength)
    own = scores[:, 0]
    judged = np.isfinite(own)
    if not judged.any():
        return Separability(
            Measured(None, note="no fold has rows of both sides"), math.nan, math.nan, 0, own, folds, n_groups
        )
    pairs = WithinFolds(own[judged], side[judged], folds[judged])
    value = float(pairs(np.ones((1, int(judged.sum()))))[0])
    if not math.isfinite(value):
        return Separability(
            Measured(None, note="no fold has rows of both sides"), math.nan, math.nan, 0, own, folds, n_groups
        )
    draws = bootstrap_weights(which[judged], pairs, rng(seed, "separability/bootstrap"), n_resamples)
    gini = with_interval(value, draws, n=int(judged.sum()), n_units=n_groups, clustered=n_groups < len(side))
    null = np.array([_gini(s, y, folds) for s, y in zip(scores.T[1:], labels.T[1:], strict=True)])
    null = null[np.isfinite(null)]
    p = (1 + int((null >= value - 1e-12).sum())) / (1 + len(null)) if len(null) else math.nan
    mean = float(null.mean()) if len(null) else math.nan
    largest = int(np.bincount(which).max())
    note = f"{largest} of {len(side)} rows are near-copies of one another" if largest * n_folds > len(side) else ""
    return Separability(gini, p, mean, len(null), own, folds, n_groups, note)


def _gini(scores: Floats, side: Bools, folds: Ints) -> float:
    judged = np.isfinite(scores)
    if not judged.any():
        return math.nan
    pairs = WithinFolds(scores[judged], side[judged], folds[judged])
    return float(pairs(np.ones((1, int(judged.sum()))))[0])


def _out_of_fold(kernel: Floats, labels: Bools, folds: Ints, strength: float) -> Floats:
    """The probability of being current of each row under each labelling; NaN where the other folds have one side only."""
    scores, inverse = np.full(labels.shape, np.nan), _inverse(kernel, strength)
    for fold in np.unique(folds):
        held = folds == fold
        seen = labels[~held]
        both = seen.any(axis=0) & ~seen.all(axis=0)
        if not both.any():
            continue
        weights, intercept = _fitted(_without(inverse, held), seen[:, both].astype(float), strength)
        scores[np.ix_(held, both)] = expit(kernel[np.ix_(held, ~held)] @ weights + intercept)
    return scores


def _deals(side: Bools, groups: Ints, folds: Ints, n: int, generator: np.random.Generator) -> Bools:
    """Labellings ``(rows, n)``: within each fold as many rows are current as there are, but for the last group's size."""
    n_groups = int(groups.max()) + 1
    now, all_of = (np.bincount(groups, weights=w, minlength=n_groups) for w in (side, np.ones(len(side))))
    pure = ((now == 0) | (now == all_of))[groups]
    unit = np.unique(np.where(pure, groups, n_groups + np.arange(len(side))), return_inverse=True)[1]
    dealt = np.empty((len(side), n), dtype=bool)
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        _, first, which, sizes = np.unique(unit[rows], return_index=True, return_inverse=True, return_counts=True)
        wanted = side[rows].sum()
        for deal in range(n):
            order = generator.permutation(len(first))
            ends = np.cumsum(sizes[order])
            chosen = np.zeros(len(first), dtype=bool)
            chosen[order[ends - sizes[order] / 2 <= wanted]] = True
            dealt[rows, deal] = chosen[which]
    return dealt
