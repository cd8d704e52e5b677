"""Strengths of models from who beat whom."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components

from evalbench.core.arrays import Floats, Indices
from evalbench.core.seeds import rng
from evalbench.core.stats import Measured, resample_counts, with_interval

PRIOR = 1.0
"""Games that each model is taken to have drawn with one of average strength, so that a model that always wins has a strength."""
_STEPS, _NEAR = 100, 1e-10


class Strength(NamedTuple):
    """One model's strength.

    - ``strength``: θ, natural log; the mean of all is 0.
    - ``score``: Games won, a draw counting ½.
    """

    name: str
    strength: Measured
    games: int
    score: float


class BradleyTerry(NamedTuple):
    """The strengths, strongest first, and what to beware of."""

    strengths: tuple[Strength, ...]
    note: str = ""


def bradley_terry(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    score: npt.ArrayLike,
    *,
    units: npt.ArrayLike | None = None,
    prior: float = PRIOR,
    seed: int = 0,
    n_resamples: int = 500,
) -> BradleyTerry:
    """Bradley and Terry's strengths: P(i beats j) = 1 / (1 + exp(θⱼ − θᵢ)), by maximum likelihood with a weak prior.

    A draw counts as half a game won by each (Rao & Kupper model draws apart; half each has the same order).  The prior adds
    ``prior`` drawn games of each model with one of strength 0, without which a model that won every game would be infinitely
    strong.  Then strengths are shifted so that their mean is 0.

    Parameters
    ----------
    first, second : (n,) arrays of str
        The two models of each game, different ones.
    score : (n,) array of float
        1 where the first won, ½ for a draw, 0 where the second won; NaN for a game without a verdict, left out.
    units : (n,) array, optional
        The question of each game: those of one question are resampled together.  By default each game is its own.
    prior : float
        Above 0.

    Returns
    -------
    BradleyTerry
        With a note where the games fall into parts that never met, whose strengths the prior alone compares.

    Raises
    ------
    ValueError
        For arrays that do not match, a model against itself, scores out of range, or a prior of 0 or below.

    References
    ----------
    Bradley & Terry (1952), Biometrika 39, 324–345; Hunter (2004), Annals of Statistics 32, 384–406.

    Examples
    --------
    >>> found = bradley_terry(["a", "a", "b"], ["b", "c", "c"], [1, 1, 1])
    >>> [(one.name, round(one.strength.value, 2)) for one in found.strengths]
    [('a', 1.29), ('b', 0.0), ('c', -1.29)]
    """
    a, b, s = np.asarray(first, dtype=object), np.asarray(second, dtype=object), np.asarray(score, dtype=float)
    of = np.arange(len(s)) if units is None else np.asarray(units, dtype=object)
    _refuse(a, b, s, of, prior)
    used = ~np.isnan(s)
    a, b, s, of = a[used], b[used], s[used], of[used]
    if not len(s):
        return BradleyTerry((), "no game has a verdict")
    names, code = np.unique(np.concatenate([a, b]).astype(str), return_inverse=True)
    i, j = code[: len(s)], code[len(s) :]
    theta = _fitted(_table(i, j, s, np.ones((1, len(s))), len(names)), prior)[0]
    ids, which = np.unique(of.astype(str), return_inverse=True)
    replicates = np.concatenate(
        [
            _fitted(_table(i, j, s, counts[:, which], len(names)), prior)
            for counts in resample_counts(len(ids), rng(seed, "bradley-terry"), n_resamples)
        ]
    )
    games = np.bincount(code, minlength=len(names))
    won = np.bincount(code, weights=np.concatenate([s, 1 - s]), minlength=len(names))
    found = [
        Strength(
            str(names[m]),
            with_interval(
                float(theta[m]), replicates[:, m], n=int(games[m]), n_units=len(ids), clustered=units is not None
            ),
            int(games[m]),
            float(won[m]),
        )
        for m in np.lexsort((names, -theta))
    ]
    return BradleyTerry(tuple(found), _parts_note(i, j, names))


def _refuse(a: npt.NDArray[Any], b: npt.NDArray[Any], s: Floats, of: npt.NDArray[Any], prior: float) -> None:
    if not a.shape == b.shape == s.shape == of.shape or s.ndim != 1:
        raise ValueError(
            f"two models, a score and a unit for each game: shapes {a.shape}, {b.shape}, {s.shape}, {of.shape}"
        )
    if (a == b).any():
        raise ValueError(f"a model against itself: {a[a == b][0]}")
    if ((s < 0) | (s > 1)).any():
        raise ValueError("a score is not between 0 and 1")
    if not prior > 0:
        raise ValueError(f"prior must be above 0, got {prior}")


def _table(i: Indices, j: Indices, s: Floats, weights: Floats, k: int) -> Floats:
    """Games won by row against column, of each weighting: ``(r, k, k)``."""
    r = len(weights)
    won = np.zeros((r, k * k))
    place = np.arange(r)[:, None] * k * k
    for cell, part in ((i * k + j, s), (j * k + i, 1 - s)):
        won += np.bincount((place + cell).ravel(), weights=(weights * part).ravel(), minlength=r * k * k).reshape(
            r, k * k
        )
    return won.reshape(r, k, k)


def _fitted(won: Floats, prior: float) -> Floats:
    """θ of each table by Newton's steps, mean 0: ``(r, k)``."""
    r, k, _ = won.shape
    games = won + won.transpose(0, 2, 1)
    total = won.sum(axis=2) + prior / 2
    theta = np.zeros((r, k))
    eye = np.arange(k)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(theta[:, None, :] - theta[:, :, None]))
        own = 1 / (1 + np.exp(-theta))
        gradient = total - (games * p).sum(axis=2) - prior * own
        curve = games * p * (1 - p)
        hessian = -curve
        hessian[:, eye, eye] += curve.sum(axis=2) + prior * own * (1 - own)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        # A long step of Newton's can overshoot where a model wins nearly always.
        step *= np.minimum(1, 2 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))
        theta += step
        if np.abs(step).max() < _NEAR:
            break
    return np.asarray(theta - theta.mean(axis=1, keepdims=True))


def _parts_note(i: Indices, j: Indices, names: npt.NDArray[Any]) -> str:
    from scipy.sparse import coo_array

    k = len(names)
    met = coo_array((np.ones(len(i)), (i, j)), shape=(k, k))
    n, part = connected_components(met, directed=False)
    if n == 1:
        return ""
    groups = "; ".join(", ".join(names[part == g]) for g in range(n))
    return f"games fall into {n} parts that never met, and only the prior compares them: {groups}"
