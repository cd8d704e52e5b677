"""The quality that new requests can be expected to meet, from the labelled requests that are nearest to each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Ints
from evalbench.core.seeds import rng
from evalbench.core.stats import Measured, resample_counts, with_interval

Formula = Literal["weighted", "handbook"]
FORMULAS = ("weighted", "handbook")
N_NEIGHBOURS = 5
_ROWS = 1 << 22


@dataclass(frozen=True)
class LocalDrift:
    """What the neighbours of new requests let one expect.

    - ``baseline``: The mean over labelled requests of what their own neighbours, themselves left out, let one expect.
    - ``expected``: The mean over the new requests.
    - ``drop``: ``baseline − expected``: above 0 where worse is to be expected.
    - ``reliability``: Mean similarity of the new requests to their neighbours, −1 to 1.
    - ``each`` ((m,) array of float): What is expected of each new request.
    """

    baseline: float
    expected: Measured
    drop: Measured
    reliability: float
    each: Floats


def expected_quality(similarity: npt.ArrayLike, right: npt.ArrayLike, formula: Formula = "weighted") -> Floats:
    """The quality to be expected of requests, from the labels of their neighbours.

    ``weighted``: Σ sᵢ yᵢ / Σ sᵢ; ``handbook``: ½ (1 + mean of sᵢ tᵢ) with tᵢ = 2 yᵢ − 1, the printed formula with the
    bracket that brings it to its stated range.

    Parameters
    ----------
    similarity : (m, k) array of float
        To the k neighbours; negative ones count 0.
    right : (m, k) array of float
        The neighbours' labels, 0–1.
    formula : {"weighted", "handbook"}

    Returns
    -------
    (m,) array of float
        0–1; of ``weighted`` NaN where no neighbour has a similarity above 0.

    References
    ----------
    Method document ``handbook``, the test of local drift (docs/methods.md).

    Examples
    --------
    >>> similarity, right = [[0.9, 0.1], [0.5, 0.5]], [[1, 0], [1, 1]]
    >>> expected_quality(similarity, right).round(3).tolist()
    [0.9, 1.0]
    >>> expected_quality(similarity, right, "handbook").round(3).tolist()
    [0.7, 0.75]
    """
    s, y = np.maximum(np.asarray(similarity, dtype=float), 0), np.asarray(right, dtype=float)
    if formula == "handbook":
        return np.asarray((1 + (s * (2 * y - 1)).mean(axis=-1)) / 2)
    with np.errstate(invalid="ignore"):
        return np.asarray((s * y).sum(axis=-1) / s.sum(axis=-1))


def nearest(
    vectors: npt.ArrayLike, among: npt.ArrayLike, k: int = N_NEIGHBOURS, *, itself: bool = False
) -> tuple[Ints, Floats]:
    """The k most similar of ``among`` for each vector, exactly; ties by their order.

    Parameters
    ----------
    vectors : (m, d) array
    among : (n, d) array
        Both of unit length, so that the product is the cosine.
    k : int
        At most n; n − 1 with ``itself``.
    itself : bool
        Whether both are the same rows, and none is its own neighbour.

    Returns
    -------
    places, similarity : (m, k) arrays
        The most similar first.

    Examples
    --------
    >>> places, similarity = nearest([[1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0], [0.6, 0.8]], 2)
    >>> places.tolist(), similarity.round(3).tolist()
    ([[1, 2]], [[1.0, 0.6]])
    """
    new, known = np.asarray(vectors, dtype=np.float32), np.asarray(among, dtype=np.float32)
    most = min(k, len(known) - itself)
    places = np.empty((len(new), most), dtype=np.int64)
    similarity = np.empty((len(new), most))
    step = max(1, _ROWS // max(1, len(known)))
    for start in range(0, len(new), step):
        block = new[start : start + step] @ known.T
        rows = np.arange(len(block))
        if itself:
            block[rows, rows + start] = -np.inf
        order = np.argsort(-block, axis=1, kind="stable")[:, :most]
        places[start : start + step] = order
        similarity[start : start + step] = block[rows[:, None], order]
    return places, similarity


def labels_near(among: npt.ArrayLike, right: npt.ArrayLike, places: npt.ArrayLike, *, itself: bool = False) -> Floats:
    """The labels of neighbours; of several with one vector, each has the mean of theirs.

    A request that many users send has more copies than there are neighbours: which of them come first must not matter.

    Parameters
    ----------
    among : (n, d) array
        What the neighbours were looked for among; vectors that agree to five decimals are one.
    right : (n,) array of float
        Their labels.
    places : (m, k) array of int
        Of :func:`nearest`.
    itself : bool
        Whether the requests are these rows themselves: the mean is then without the request's own label.

    Returns
    -------
    (m, k) array of float

    Examples
    --------
    >>> labels_near([[1.0, 0.0]] * 4 + [[0.0, 1.0]], [1, 0, 1, 1, 0], [[0, 1, 4]]).tolist()
    [[0.75, 0.75, 0.0]]
    """
    known, labels = np.asarray(among, dtype=np.float32).round(5) + np.float32(0), np.asarray(right, dtype=float)
    found = np.asarray(places, dtype=np.int64)
    rows = np.ascontiguousarray(known).view(np.dtype((np.void, known.itemsize * known.shape[1]))).ravel()
    _, group = np.unique(rows, return_inverse=True)
    total, size = np.bincount(group, weights=labels), np.bincount(group).astype(float)
    theirs = group[found]
    own = (theirs == group[: len(found), None]) if itself else np.zeros(found.shape, dtype=bool)
    less = np.where(own, labels[: len(found), None], 0.0) if itself else 0.0
    return np.asarray((total[theirs] - less) / (size[theirs] - own))


def local_drift(
    vectors: npt.ArrayLike,
    right: npt.ArrayLike,
    new_vectors: npt.ArrayLike,
    *,
    k: int = N_NEIGHBOURS,
    formula: Formula = "weighted",
    seed: int = 0,
    n_resamples: int = 2000,
) -> LocalDrift:
    """What new requests can be expected to meet, against what the labelled ones would by the same formula.

    Parameters
    ----------
    vectors : (n, d) array
        Of the labelled requests; unit length.
    right : (n,) array of float
        Their labels, 0–1.
    new_vectors : (m, d) array
    k : int
        Neighbours, at least 1.
    formula : {"weighted", "handbook"}
    seed, n_resamples : int
        Both sides' requests are drawn anew in each resample; the neighbours of each stay.

    Raises
    ------
    ValueError
        With fewer than two labelled requests, or no new one.

    Notes
    -----
    The drop is taken against the leave-one-out expectation of the labelled requests: against their plain mean a low
    similarity alone would look like a drop.

    Examples
    --------
    >>> known = np.array([[1.0, 0.0], [0.99, 0.141], [0.0, 1.0], [0.141, 0.99]])
    >>> found = local_drift(known, [1, 1, 0, 0], [[0.0, 1.0]], k=1, n_resamples=50)
    >>> found.baseline, found.expected.value, found.drop.value
    (0.5, 0.0, 0.5)
    """
    known, labels = np.asarray(vectors, dtype=float), np.asarray(right, dtype=float)
    new = np.asarray(new_vectors, dtype=float)
    if len(known) < 2 or not len(new):
        raise ValueError("local drift needs two labelled requests and a new one")
    around, close = nearest(known, known, k, itself=True)
    own = expected_quality(close, labels_near(known, labels, around, itself=True), formula)
    places, similarity = nearest(new, known, k)
    each = expected_quality(similarity, labels_near(known, labels, places), formula)
    own, there = own[np.isfinite(own)], each[np.isfinite(each)]
    reliability = float(similarity.mean())
    if not len(own) or not len(there):
        none = Measured(None, note="no neighbour has a similarity above 0")
        return LocalDrift(math.nan, none, none, reliability, each)
    before = np.concatenate(
        [c @ own / len(own) for c in resample_counts(len(own), rng(seed, "local/known"), n_resamples)]
    )
    after = np.concatenate(
        [c @ there / len(there) for c in resample_counts(len(there), rng(seed, "local/new"), n_resamples)]
    )
    baseline, mean = float(own.mean()), float(there.mean())
    units = min(len(own), len(there))
    return LocalDrift(
        baseline,
        with_interval(mean, after, n=len(there), n_units=len(there)),
        with_interval(baseline - mean, before - after, n=len(there), n_units=units),
        reliability,
        each,
    )
