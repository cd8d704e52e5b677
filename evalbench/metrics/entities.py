"""Predicted named entities against true ones: the four ways to count a hit, by optimal assignment.

Entities are flat arrays of all texts; a pair is a true and a predicted entity of one text that share a character.  Within a
text every entity has at most one partner, and of all such assignments the one with most credit is taken, so that the order
of the predictions changes nothing.

References
----------
Segura-Bedmar et al. (2013), SemEval-2013 Task 9, section 5, for strict, exact, partial and type; Chinchor & Sundheim (1993),
MUC-5, for correct, incorrect, partial, missed and spurious.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from evalbench.core.arrays import Bools, Floats, Indices, Ints
from evalbench.errors import BadInput
from evalbench.metrics.registry import metric

MODES = ("strict", "exact", "partial", "type")
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
MOST_PAIRS = 20_000_000
"""More pairs of overlapping spans than so many are refused."""
_MOST_CASES = 120


class Entities(NamedTuple):
    """Entities of many texts, flat.

    Attributes
    ----------
    text : (n,) array of int
        The text of each, 0, 1, ….
    start, end : (n,) arrays of int
        Characters from 0, ``end`` exclusive.
    kind : (n,) array of int
        Code of its class.
    """

    text: Ints
    start: Ints
    end: Ints
    kind: Ints


class Pairs(NamedTuple):
    """True and predicted entities that meet.

    Attributes
    ----------
    truth, predicted : (n,) arrays of int
        Their rows.
    overlap : (n,) array of int
        Characters that they share.
    exact, same : (n,) arrays of bool
        Whether their boundaries are the same; whether their classes are.
    ranks : (2, n) array of int
        Place of the true and of the predicted one in the order of all, by what they are, not by where their rows are.
    """

    truth: Indices
    predicted: Indices
    overlap: Ints
    exact: Bools
    same: Bools
    ranks: Indices

    def rows(self, which: Indices) -> Pairs:
        """Some of the pairs."""
        columns: list[Any] = [column[..., which] for column in self]
        return Pairs(*columns)


def overlapping(truth: Entities, predicted: Entities) -> Pairs:
    """Every pair of one text that shares a character.

    Raises
    ------
    BadInput
        For more than :data:`MOST_PAIRS` of them, as where thousands of long spans of one text overlap.

    Examples
    --------
    >>> true = Entities(*np.array([[0, 0, 5, 1], [0, 6, 9, 0]]).T)
    >>> overlapping(true, Entities(*np.array([[0, 0, 7, 1]]).T)).overlap.tolist()
    [5, 1]
    """
    t, p = (np.lexsort((e.kind, e.end, e.start, e.text)) for e in (truth, predicted))
    width = 1 + max(int(e.end.max(initial=0)) for e in (truth, predicted))
    begins, ends = (side[t] + truth.text[t] * width for side in (truth.start, truth.end))
    first, last = (side[p] + predicted.text[p] * width for side in (predicted.start, predicted.end))
    low = np.searchsorted(np.maximum.accumulate(ends), first, side="right")
    count = np.maximum(np.searchsorted(begins, last, side="left") - low, 0)
    if count.sum() > MOST_PAIRS:
        raise BadInput(f"more than {MOST_PAIRS:,} pairs of spans may overlap; are whole texts marked again and again?")
    b = np.repeat(np.arange(len(p)), count)
    a = np.arange(len(b)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(low, count)
    met = ends[a] > first[b]
    a, b = a[met], b[met]
    overlap = np.minimum(ends[a], last[b]) - np.maximum(begins[a], first[b])
    exact = (begins[a] == first[b]) & (ends[a] == last[b])
    same = truth.kind[t[a]] == predicted.kind[p[b]]
    return Pairs(t[a], p[b], overlap, exact, same, np.stack([a, b]))


class Contests:
    """Pairs by who contends with whom: what is to be decided once for all ways of giving credit."""

    def __init__(self, pairs: Pairs) -> None:
        self.size = len(pairs.truth)
        self.widest = 1
        self.tables: list[tuple[tuple[int, int, int], Indices, tuple[Indices, Indices, Indices]]] = []
        if not self.size:
            return
        t, p = pairs.ranks
        rows = np.flatnonzero((np.bincount(t)[t] > 1) | (np.bincount(p)[p] > 1))
        if not len(rows):
            return
        t, p = t[rows], p[rows]
        group = _connected(t, p)
        (row, heights), (column, widths) = _places(group, t), _places(group, p)
        shape = heights * (int(widths.max()) + 1) + widths
        self.widest = int(max(heights.max(), widths.max()))
        for one in np.unique(shape):
            inside = np.flatnonzero(shape[group] == one)
            numbers, which = np.unique(group[inside], return_inverse=True)
            size = len(numbers), int(heights[numbers[0]]), int(widths[numbers[0]])
            self.tables.append((size, rows[inside], (which, row[inside], column[inside])))

    def assigned(self, credit: Ints) -> Bools:
        """The pairs of the assignment with the largest total credit, and among these with most pairs.

        Parameters
        ----------
        credit : (n,) array of int
            From 0; a pair without credit is still a pair.
        """
        taken = np.ones(self.size, dtype=bool)
        for (n, height, width), rows, at in self.tables:
            worth = np.zeros((n, height, width))
            worth[at] = credit[rows] * (min(height, width) + 1.0) + 1
            taken[rows] = _best(worth)[at]
        return taken


def _connected(t: Indices, p: Indices) -> Indices:
    """Numbers of the sets of entities that are connected by pairs, one for each pair."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    (a, b), many = (np.unique(side, return_inverse=True)[1] for side in (t, p)), np.ones(len(t), dtype=np.int8)
    size = int(a.max()) + int(b.max()) + 2
    _, node = connected_components(coo_array((many, (a, b + a.max() + 1)), shape=(size, size)), directed=False)
    found: Indices = np.unique(node[a], return_inverse=True)[1]
    return found


def _places(group: Indices, rank: Indices) -> tuple[Indices, Indices]:
    """Each pair's entity as a number within its group, in the order of the ranks, and how many entities each group has."""
    _, first, which = np.unique(rank, return_index=True, return_inverse=True)
    own = group[first]
    order = np.argsort(own, kind="stable")
    sizes = np.bincount(own)
    number = np.empty(len(own), dtype=np.int64)
    number[order] = np.arange(len(own)) - (np.cumsum(sizes) - sizes)[own[order]]
    return number[which], sizes


def _best(worth: Floats) -> Bools:
    """The best assignment of each of many tables of one shape; of equals the first."""
    from scipy.optimize import linear_sum_assignment

    n, height, width = worth.shape
    if height > width:
        return _best(worth.transpose(0, 2, 1)).transpose(0, 2, 1)
    taken = np.zeros(worth.shape, dtype=bool)
    if math.perm(width, height) <= _MOST_CASES:
        cases = np.array(list(permutations(range(width), height)))
        rows = np.arange(height)
        best = worth[:, rows, cases].sum(axis=2).argmax(axis=1)
        taken[np.arange(n)[:, None], rows, cases[best]] = True
        return taken
    for own, found in zip(worth, taken, strict=True):
        found[linear_sum_assignment(own, maximize=True)] = True
    return taken


class Matched(NamedTuple):
    """Which pairs each way of counting takes, and which are right in it.

    Attributes
    ----------
    pairs : Pairs
        All that overlap.
    taken : mapping of str to (n,) array of bool
        For each of :data:`MODES`; under ``overlap`` those of the assignment with most shared characters, by which
        confusions are counted; under ``own`` those of the partial mode among entities of one class.
    correct : mapping of str to (n,) array of bool
        Those of ``taken`` that are right.
    """

    pairs: Pairs
    taken: Mapping[str, Bools]
    correct: Mapping[str, Bools]


def matched(truth: Entities, predicted: Entities) -> Matched:
    """Assign predicted to true entities, for each way of counting on its own.

    Notes
    -----
    Each way takes the assignment with the largest credit, and of several one with most pairs.  Credit: *strict*, the same
    boundaries and class; *exact*, the same boundaries; *partial*, 1 for the same boundaries and ½ for any overlap; *type*, the same
    class with any overlap; for confusions, shared characters, then the same class, then the same boundaries.
    """
    pairs = overlapping(truth, predicted)
    contests = Contests(pairs)
    right = {"strict": pairs.exact & pairs.same, "exact": pairs.exact, "partial": pairs.exact, "type": pairs.same}
    taken = {mode: contests.assigned(right[mode] * 1) for mode in MODES if mode != "partial"}
    taken["partial"] = contests.assigned(_halves(pairs.exact, contests.widest))
    taken["overlap"] = contests.assigned(4 * pairs.overlap + 2 * pairs.same + pairs.exact)
    own = np.flatnonzero(pairs.same)
    taken["own"] = np.zeros(len(pairs.same), dtype=bool)
    among = Contests(pairs.rows(own))
    taken["own"][own] = among.assigned(_halves(pairs.exact[own], among.widest))
    right |= {"overlap": pairs.same, "own": pairs.exact}
    return Matched(pairs, taken, {mode: taken[mode] & right[mode] for mode in taken})


def _halves(exact: Bools, widest: int) -> Ints:
    """Credit of the partial mode: ½ and 1, of equal sums the one with more exact pairs."""
    return np.where(exact, 2 * widest + 3, widest + 1)


def counts_of(found: Matched, mode: str, by: Ints, n_true: Ints, n_predicted: Ints) -> dict[str, Ints]:
    """How often each of :data:`COUNTS` occurs in each group.

    Parameters
    ----------
    mode : str
        One of :data:`MODES`.
    by : (n,) array of int
        The group of each pair.
    n_true, n_predicted : (g,) arrays of int
        Entities of each group.
    """
    size = len(n_true)
    correct, pairs = (np.bincount(by[rows[mode]], minlength=size) for rows in (found.correct, found.taken))
    half = pairs - correct if mode == "partial" else np.zeros(size, dtype=np.int64)
    return dict(zip(COUNTS, (correct, pairs - correct - half, half, n_true - pairs, n_predicted - pairs), strict=True))


Triple = tuple[int, int, str]


@metric(
    kind="spans",
    range=(0, 1),
    higher_is_better=True,
    example=(
        {"truth": [[(0, 5, "LOC"), (6, 9, "PER")]], "predicted": [[(0, 5, "PER"), (6, 9, "PER")]], "mode": "strict"},
        0.5,
    ),
    reference="Segura-Bedmar et al. 2013, SemEval-2013 Task 9, section 5; the assignment is optimal",
    summary="F1 of named entities: strict, exact, partial or type",
)
def entity_f1(truth: Sequence[Sequence[Triple]], predicted: Sequence[Sequence[Triple]], mode: str = "strict") -> float:
    """F1 of named entities over all texts.

    Parameters
    ----------
    truth, predicted : sequence of sequence of (start, end, class)
        The entities of each text; ``end`` is exclusive.
    mode : {"strict", "exact", "partial", "type"}
        What counts as a hit, see :func:`matched`.

    Returns
    -------
    float
        2 · credit / (true + predicted), credit being correct + ½ partial; NaN with neither a true nor a predicted entity.

    Raises
    ------
    ValueError
        For an unknown mode, texts of unequal number, spans that are empty.

    Examples
    --------
    >>> entity_f1([[(0, 5, "LOC")]], [[(0, 9, "LOC")]], "partial")
    0.5
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}; got {mode!r}")
    if len(truth) != len(predicted):
        raise ValueError(f"{len(truth)} texts with true entities, {len(predicted)} with predicted ones")
    codes: dict[str, int] = {}
    sides = [_flat(side, codes) for side in (truth, predicted)]
    found = matched(*sides)
    credit = found.correct[mode].sum() + (
        0.5 * (found.taken[mode] & ~found.correct[mode]).sum() if mode == "partial" else 0
    )
    total = sum(len(side.text) for side in sides)
    return float(2 * credit / total) if total else math.nan


def _flat(side: Sequence[Sequence[Triple]], codes: dict[str, int]) -> Entities:
    rows = [
        (text, start, end, codes.setdefault(kind, len(codes)))
        for text, entities in enumerate(side)
        for start, end, kind in entities
    ]
    if any(not 0 <= start < end for _, start, end, _ in rows):
        raise ValueError("every span must have 0 ≤ start < end")
    return Entities(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)
