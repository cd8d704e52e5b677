"""Can a classifier tell new texts from earlier ones, by which features, and which new texts are the most unlike the earlier?

No language is assumed: features are words as Unicode cuts them, runs of characters, and the shapes of what holds a digit.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Bools, Floats, Ints
from evalbench.core.seeds import rng
from evalbench.core.separability import N_FOLDS, N_PERMUTATIONS, Separability, gram, logistic, separability
from evalbench.metrics.tfidf import CHARACTERS, SHAPE, WORD, TextFeatures, text_features
from evalbench.text.words import words

MAX_ROWS = 2000
"""Of both sides together."""
NEAR = 0.9
"""Cosine of TF-IDF from which texts are near-copies."""
_TIGHTER = (0.95, 0.99)
_DIGIT = re.compile(r"\d")
_DATE = re.compile(r"(0000[-./]00?[-./]00?|00?[-./]00?[-./]00(00)?)(t\S*)?")
_YEAR = re.compile(r"(19|20)\d\d")
_OFTEN, _SELDOM = 0.9, 0.1
_LOOKED_AT, _NOTHING = 400, 1e-6


class Telling(NamedTuple):
    """A feature by which the classifier knows a side.

    Attributes
    ----------
    feature, kind : str
        As in :class:`TextFeatures`.
    side : str
        ``current`` or ``reference``: what it is a sign of.
    weight : float
        In the logistic regression of all rows; above 0 for ``current``.
    reference, current : float
        Share of each side's texts that have it.
    hint : str
        What may make it a leak: ``date``, ``number``, ``identifier``, ``in nearly all of one side and hardly any of the
        other``; several with commas.
    """

    feature: str
    kind: str
    side: str
    weight: float
    reference: float
    current: float
    hint: str


@dataclass(frozen=True)
class Separated:
    """How current texts differ from the reference's.

    Attributes
    ----------
    by_text : Separability
        Of the texts that were used, by words, shapes and characters.
    by_vectors : Separability or None
        The same by embeddings, where they were given; the same folds.
    telling : tuple of Telling
        The greatest weights first.
    typical : (m,) array of int
        Places of the current texts with the highest out-of-fold probability of being current; of near-copies one.
    used : (n,) array of int
        Places of the texts that were used, ascending; all where they are few enough.
    groups : (n,) array of int
        Of the texts used; near-copies share one.
    """

    by_text: Separability
    by_vectors: Separability | None
    telling: tuple[Telling, ...]
    typical: Ints
    used: Ints
    groups: Ints
    notes: tuple[str, ...] = ()


def separated(
    texts: Sequence[str],
    current: npt.ArrayLike,
    *,
    vectors: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
    near: float = NEAR,
    n_folds: int = N_FOLDS,
    n_permutations: int = N_PERMUTATIONS,
    max_rows: int = MAX_ROWS,
    n_telling: int = 20,
    n_typical: int = 10,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Separated:
    """How well TF-IDF and logistic regression tell current texts from the reference's, out of fold.

    Parameters
    ----------
    texts : sequence of str
        In an order that does not depend on the file, for the draws follow it.
    current : (n,) array of bool
        Which texts are current; the others are the reference.
    vectors : (n, d) array, optional
        Embeddings of the texts, for a second classifier.
    clusters : (n,) array, optional
        Texts that belong together, such as those of one user; they stay in one fold, as near-copies do.
    near : float
        See :func:`near_copies`.
    n_folds, n_permutations, seed, n_resamples : int
        See :func:`evalbench.core.separability.separability`: for each deal every fold's classifier is fitted anew.
    max_rows : int
        Where there are more, as many are drawn, half of them from each side as far as it has them.
    n_telling, n_typical : int
        How many features, and how many texts, are listed.

    Raises
    ------
    ValueError
        If the lengths differ.

    Notes
    -----
    Document frequencies are of both sides together and know no side.  The features' weights are those of one regression on
    all texts: where the Gini may be 0, they are noise.

    Examples
    --------
    >>> before, after = ["where is my parcel"] * 3, ["cancel the order of 2024-03-01"] * 3
    >>> texts = [f"{name} {text}" for name, text in zip("ann bob cid dan eve fay".split(), before + after)]
    >>> found = separated(texts, [False] * 3 + [True] * 3, n_permutations=9, n_resamples=50)
    >>> [t.hint for t in found.telling if t.feature == "0000-00-00"]
    ['date, in nearly all of one side and hardly any of the other']
    """
    side = np.asarray(current, dtype=bool)
    if len(texts) != len(side) or any(x is not None and len(np.asarray(x)) != len(side) for x in (vectors, clusters)):
        raise ValueError("texts, sides, vectors and clusters must be of one length")
    used = _sampled(side, max_rows, seed)
    own, now = [texts[i] for i in used], side[used]
    notes = [] if len(used) == len(side) else [f"drawn: {len(used)} of {len(side)} texts"]
    found = text_features(own)
    kernel = gram(found.matrix)
    groups, remark = near_copies(own, kernel, near, most=max(1, int(min(now.sum(), (~now).sum())) // n_folds))
    notes += [remark] if remark else []
    if clusters is not None:
        groups = _joined(groups, np.asarray(clusters)[used])
    judged = functools.partial(
        separability,
        current=now,
        groups=groups,
        n_folds=n_folds,
        n_permutations=n_permutations,
        seed=seed,
        n_resamples=n_resamples,
    )
    by_text = judged(kernel)
    by_vectors = None
    if vectors is not None:
        rows = np.asarray(vectors, dtype=float)[used]
        rows = rows - rows.sum(axis=0) / max(1, len(rows))
        length = np.sqrt((rows**2).sum() / max(1, len(rows)))
        by_vectors = judged(gram(rows / (length or 1)))
    known = by_text.gini.value is not None
    return Separated(
        by_text,
        by_vectors,
        telling(found, kernel, now, n_telling) if known else (),
        used[_typical(by_text.scores, now, groups, own)[:n_typical]] if known else np.empty(0, np.int64),
        used,
        groups,
        tuple(notes),
    )


def near_copies(texts: Sequence[str], kernel: Floats, near: float = NEAR, *, most: int) -> tuple[Ints, str]:
    """Groups of texts that agree but for case, blanks and punctuation, or whose cosine is at least ``near``, and their chains.

    A group of more than ``most`` is parted by a higher cosine, .95, then .99, then equal words; one that is larger still is no
    set of copies but an answer or a template that many give, and its texts are single.

    Parameters
    ----------
    kernel : (n, n) array
        Inner products of their features.
    near : float
        0–1; above 1 only equal words count.

    Returns
    -------
    groups : (n,) array of int
    remark : str
        What was parted; empty where nothing was.

    Examples
    --------
    >>> near_copies(["It rains.", "it rains", "sun"], np.eye(3), most=2)[0].tolist()
    [0, 0, 1]
    """
    n = len(texts)
    length = np.sqrt(np.diag(kernel))
    cosine = kernel / np.maximum(np.outer(length, length), 1e-12)
    keys = [" ".join(words(text, lower=True)) or text.strip() for text in texts]
    same = np.unique(np.array(keys, dtype=object), return_inverse=True)[1] if n else np.empty(0, np.int64)
    groups = _linked(cosine, near, same)
    parted = 0
    for cut in (*(t for t in _TIGHTER if t > near), 2.0):
        large = np.bincount(groups)[groups] > most
        if not large.any():
            break
        parted = max(parted, int(large.sum()))
        rows = np.flatnonzero(large)
        groups[rows] = n + _linked(cosine[np.ix_(rows, rows)], cut, same[rows])
        groups = np.unique(groups, return_inverse=True)[1]
    large = np.bincount(groups)[groups] > most
    parted = max(parted, int(large.sum()))
    groups[large] = n + np.arange(large.sum())
    _, first, which = np.unique(groups, return_index=True, return_inverse=True)
    remark = f"{parted} near-copies of one another are more than a fold holds, and were parted" if parted else ""
    return np.argsort(np.argsort(first))[which], remark


def telling(found: TextFeatures, kernel: Floats, current: Bools, n: int = 20) -> tuple[Telling, ...]:
    """The features of the greatest weight; runs of characters only where no listed word of their side holds them."""
    weights, _ = logistic(kernel, current[:, None])
    weight = np.asarray(found.matrix.T @ weights[:, 0]).ravel()
    has = (found.matrix > 0).astype(float)
    share_now, share_then = (np.asarray(has.T @ side).ravel() / max(1, side.sum()) for side in (current, ~current))
    listed: list[int] = []
    for i in np.argsort(-np.abs(weight), kind="stable")[:_LOOKED_AT].tolist():
        name, side = found.names[i], weight[i] > 0
        alike = [
            j
            for j in listed
            if (weight[j] > 0) == side and (name.strip() in found.names[j] or found.names[j].strip() in name)
        ]
        if found.kinds[i] == CHARACTERS:
            if alike or not name.strip():
                continue
        else:
            # A word says more than the runs of characters in it.
            listed = [j for j in listed if j not in alike or found.kinds[j] != CHARACTERS]
        listed.append(i)
    chosen = sorted(listed, key=lambda i: -abs(weight[i]))[:n]
    return tuple(
        Telling(
            found.names[i],
            found.kinds[i],
            "current" if weight[i] > 0 else "reference",
            float(weight[i]),
            float(share_then[i]),
            float(share_now[i]),
            _hint(found.names[i], found.kinds[i], float(share_then[i]), float(share_now[i])),
        )
        for i in chosen
        if abs(weight[i]) > _NOTHING
    )


def _hint(name: str, kind: str, then: float, now: float) -> str:
    hints = []
    if kind == SHAPE:
        bare = name.strip("()[]{},;:!?\"'")
        hints.append(
            "date" if _DATE.fullmatch(bare) else "number" if not re.search(r"[^\W\d_]", bare) else "identifier"
        )
    elif kind == WORD and _DIGIT.search(name):
        hints.append("date" if _YEAR.fullmatch(name) else "number" if name.isdecimal() else "identifier")
    elif kind == CHARACTERS and _DIGIT.search(name):
        hints.append("number")
    if max(then, now) >= _OFTEN and min(then, now) <= _SELDOM:
        hints.append("in nearly all of one side and hardly any of the other")
    return ", ".join(hints)


def _linked(cosine: Floats, near: float, same: Ints) -> Ints:
    """Parts of the graph of equal keys and near cosines."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(same)
    first = np.full(int(same.max(initial=-1)) + 1, n)
    np.minimum.at(first, same, np.arange(n))
    left, right = np.nonzero(np.triu(cosine, 1) >= near) if near <= 1 else (np.empty(0, int), np.empty(0, int))
    ends = np.concatenate([left, np.arange(n)]), np.concatenate([right, first[same]])
    return np.asarray(connected_components(coo_array((np.ones(len(ends[0])), ends), shape=(n, n)), directed=False)[1])


def _joined(groups: Ints, clusters: npt.NDArray[np.generic]) -> Ints:
    """Parts that either grouping holds together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    other = np.unique(clusters.astype(str), return_inverse=True)[1]
    n = int(groups.max(initial=-1)) + 1
    size = n + int(other.max(initial=-1)) + 1
    graph = coo_array((np.ones(len(groups)), (groups, n + other)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1][groups])


def _sampled(side: Bools, most: int, seed: int) -> Ints:
    then, now = np.flatnonzero(~side), np.flatnonzero(side)
    if len(side) <= most:
        return np.arange(len(side))
    of_now = max(min(len(now), most // 2), most - len(then))
    generator = rng(seed, "separability/rows")
    parts = [generator.choice(rows, n, replace=False) for rows, n in ((then, most - of_now), (now, of_now))]
    return np.sort(np.concatenate(parts))


def _typical(scores: Floats, current: Bools, groups: Ints, texts: Sequence[str]) -> Ints:
    """Current rows by descending score, one of each group and of each text."""
    rows = np.flatnonzero(current & np.isfinite(scores))
    rows = rows[np.argsort(-scores[rows], kind="stable")]
    rows = rows[np.sort(np.unique(groups[rows], return_index=True)[1])]
    distinct = {texts[i]: i for i in rows[::-1].tolist()}
    return np.array([i for i in rows.tolist() if distinct[texts[i]] == i], dtype=np.int64)
