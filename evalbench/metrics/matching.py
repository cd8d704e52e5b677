"""Matching predicted to true violations: overlaps, weighted scores, one-to-one assignments.

Arrays in, arrays out.  A pair is one predicted and one true violation of the same sample; pairs are
flat arrays with integer codes of their two sides, never a matrix across samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Bools, Floats, Ints
from evalbench.metrics.registry import metric

Missing = Literal["renormalise", "zero"]

COMPONENTS = ("text_overlap", "rule_similarity", "category_match", "explanation_similarity", "correction_similarity")


class Thresholds(NamedTuple):
    """A pair may match only above all three; strict inequalities."""

    overlap: float = 0.0
    rule: float = 0.01
    score: float = 0.5


class Spans(NamedTuple):
    """Disjoint, ascending character intervals of many violations, flat.

    ``start[first[i]:first[i + 1]]`` are the starts of violation ``i``.
    """

    start: Ints
    end: Ints
    first: Ints


def flat_spans(lists: Sequence[Sequence[Sequence[int]]]) -> Spans:
    """Spans of many violations; overlapping and touching ones of one violation are merged."""
    nowhere = np.zeros(len(lists), dtype=np.int64)
    return assemble_spans(nowhere, nowhere, dict(enumerate(lists)))


def assemble_spans(start: npt.ArrayLike, end: npt.ArrayLike, several: Mapping[int, Sequence[Sequence[int]]]) -> Spans:
    """Spans of violations with one interval each, but for the rows of ``several``.

    Parameters
    ----------
    start, end : (n,) arrays
        Each violation's one interval; not read in the rows of ``several``.
    several : mapping of int to sequence of (start, end)
        Rows with none or with many intervals; those that overlap or touch are merged.
    """
    begin, stop = np.asarray(start), np.asarray(end)
    merged = {row: merge(spans) for row, spans in several.items()}
    count = np.ones(len(begin), dtype=np.int64)
    count[list(merged)] = [len(spans) for spans in merged.values()]
    first = np.concatenate([[0], np.cumsum(count)])
    one = np.ones(len(begin), dtype=bool)
    one[list(merged)] = False
    out = np.empty((2, first[-1]), dtype=np.int64)
    out[0, first[:-1][one]], out[1, first[:-1][one]] = begin[one], stop[one]
    for row, spans in merged.items():
        for at, pair in enumerate(spans, start=int(first[row])):
            out[:, at] = pair
    return Spans(out[0], out[1], first)


def merge(spans: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The union of intervals as disjoint, ascending ones.

    Examples
    --------
    >>> merge([(5, 9), (0, 3), (2, 4)])
    [(0, 4), (5, 9)]
    """
    out: list[tuple[int, int]] = []
    for start, end in sorted((int(a), int(b)) for a, b in spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


_FIRST = np.zeros(1, dtype=np.int64)


@metric(
    kind="spans",
    range=(0, 1),
    higher_is_better=True,
    example=(
        {"truth": flat_spans([[(0, 10)]]), "predicted": flat_spans([[(5, 15)]]), "left": _FIRST, "right": _FIRST},
        [1 / 3],
    ),
    reference="violations (docs/methods.md), match 1: Jaccard index (intersection over union) of character sets",
)
def text_overlap(truth: Spans, predicted: Spans, left: Ints, right: Ints) -> Floats:
    """Characters in both over characters in either, for pairs of violations.

    Parameters
    ----------
    truth, predicted : Spans
        See :func:`flat_spans`.  Spans of one violation are disjoint, so the intersection of two unions is the sum over
        their intervals.
    left, right : (n,) arrays of int
        Violation ``left[i]`` of the truth is compared with ``right[i]`` of the predictions.

    Returns
    -------
    (n,) array
        0–1; 0 where either has no span.

    Examples
    --------
    >>> one = np.array([0])
    >>> text_overlap(flat_spans([[(0, 4), (8, 12)]]), flat_spans([[(0, 12)]]), one, one).round(3)
    array([0.667])
    """
    length_t = (
        np.add.reduceat(np.append(truth.end - truth.start, 0), truth.first[:-1])
        if len(truth.first) > 1
        else np.array([], int)
    )
    length_p = (
        np.add.reduceat(np.append(predicted.end - predicted.start, 0), predicted.first[:-1])
        if len(predicted.first) > 1
        else np.array([], int)
    )
    count_t, count_p = np.diff(truth.first), np.diff(predicted.first)
    length_t, length_p = np.where(count_t > 0, length_t, 0), np.where(count_p > 0, length_p, 0)
    both = np.zeros(len(left))
    single = (count_t[left] == 1) & (count_p[right] == 1)
    a, b = truth.first[left[single]], predicted.first[right[single]]
    both[single] = np.minimum(truth.end[a], predicted.end[b]) - np.maximum(truth.start[a], predicted.start[b])
    many = np.flatnonzero(~single & (count_t[left] > 0) & (count_p[right] > 0))
    if len(many):
        shape = count_t[left[many]] * count_p[right[many]]
        owner = np.repeat(np.arange(len(many)), shape)
        nth = np.arange(len(owner)) - np.repeat(np.cumsum(shape) - shape, shape)
        width = count_p[right[many]][owner]
        a = truth.first[left[many]][owner] + nth // width
        b = predicted.first[right[many]][owner] + nth % width
        piece = np.minimum(truth.end[a], predicted.end[b]) - np.maximum(truth.start[a], predicted.start[b])
        both[many] = np.bincount(owner, weights=np.maximum(piece, 0), minlength=len(many))
    both = np.maximum(both, 0)
    union = length_t[left] + length_p[right] - both
    return np.where(union > 0, both / np.where(union > 0, union, 1), 0.0)


def weighted_score(components: Mapping[str, Floats], weights: Mapping[str, float], missing: Missing) -> Floats:
    """Weighted sum of components; NaN marks a component that both sides lack.

    Parameters
    ----------
    components : mapping of str to (n,) arrays
        0–1 each, NaN where both sides lack the text.
    weights : mapping of str to float
        Non-negative, sum 1; components without a weight count nothing.
    missing : {"renormalise", "zero"}
        Leave a lacking part out and renormalise the other weights, or count it 0.
    """
    n = len(next(iter(components.values())))
    total, weight_sum = np.zeros(n), np.zeros(n)
    for name, weight in weights.items():
        if weight == 0:
            continue
        part = components[name]
        there = ~np.isnan(part)
        total += weight * np.where(there, part, 0.0)
        weight_sum += weight * there
    if missing == "zero":
        return total
    full = np.isclose(weight_sum, sum(weights.values()), rtol=1e-12)
    return np.where(full, total, np.where(weight_sum > 0, total / np.where(weight_sum > 0, weight_sum, 1), 0.0))


def admissible(overlap: Floats, rule: Floats, score: Floats, thresholds: Thresholds) -> Bools:
    """Pairs above all three thresholds, strictly; an overlap of NaN, which both sides lack, bars none."""
    return ~(overlap <= thresholds.overlap) & (rule > thresholds.rule) & (score > thresholds.score)


def greedy(score: Floats, overlap: Floats, truth: Ints, predicted: Ints) -> Bools:
    """The pairs that greedy one-to-one matching takes.

    Take the highest score, remove its two sides, repeat; ties: larger overlap, then earlier truth, then earlier prediction.
    Under this strict order a pair that is the best of both its sides is taken whatever else is, so
    all such pairs are taken at once, round by round.

    Parameters
    ----------
    score, overlap : (n,) arrays
        Of the pairs that may match.
    truth, predicted : (n,) arrays of int
        Codes of the two sides, unique across samples and ascending in table order.

    Returns
    -------
    (n,) array of bool

    Examples
    --------
    >>> one = np.zeros(3)
    >>> greedy(np.array([.9, .8, .8]), one, np.array([0, 0, 1]), np.array([0, 1, 0])).tolist()
    [True, False, False]
    """
    taken = np.zeros(len(score), dtype=bool)
    if not len(score):
        return taken
    order = np.lexsort((predicted, truth, -overlap, -score))
    t, p = truth[order], predicted[order]
    left = np.arange(len(order))
    free_t, free_p = np.ones(int(t.max()) + 1, dtype=bool), np.ones(int(p.max()) + 1, dtype=bool)
    best_t, best_p = np.empty(len(free_t), dtype=np.int64), np.empty(len(free_p), dtype=np.int64)
    while len(left):
        # Written backwards, the first of each side in the order stays.
        best_t[t[left][::-1]] = left[::-1]
        best_p[p[left][::-1]] = left[::-1]
        chosen = left[(best_t[t[left]] == left) & (best_p[p[left]] == left)]
        taken[order[chosen]] = True
        free_t[t[chosen]] = False
        free_p[p[chosen]] = False
        left = left[free_t[t[left]] & free_p[p[left]]]
    return taken


def optimal(score: Floats, group: Ints, truth: Ints, predicted: Ints) -> Bools:
    """The pairs of the one-to-one assignment with the largest total score in each group.

    Parameters
    ----------
    score : (n,) array
        Of the pairs that may match; positive.
    group : (n,) array of int
        The sample of each pair.
    truth, predicted : (n,) arrays of int
        Codes of the two sides, unique across samples.

    Returns
    -------
    (n,) array of bool

    Examples
    --------
    >>> optimal(np.array([.9, .8, .8]), np.zeros(3, int), np.array([0, 0, 1]), np.array([0, 1, 0])).tolist()
    [False, True, True]
    """
    from scipy.optimize import linear_sum_assignment

    taken = np.ones(len(score), dtype=bool)
    if not len(score):
        return taken
    contested = (np.bincount(truth)[truth] > 1) | (np.bincount(predicted)[predicted] > 1)
    rows = np.flatnonzero(contested)
    rows = rows[np.lexsort((predicted[rows], truth[rows], group[rows]))]
    for block in np.split(rows, np.flatnonzero(np.diff(group[rows])) + 1):
        if not len(block):
            continue
        t, i = np.unique(truth[block], return_inverse=True)
        p, j = np.unique(predicted[block], return_inverse=True)
        matrix = np.zeros((len(t), len(p)))
        matrix[i, j] = score[block]
        best = np.full(len(t), -1)
        a, b = linear_sum_assignment(matrix, maximize=True)
        best[a] = b
        taken[block] = best[i] == j
    return taken


def unmatched_reason(
    side: Ints, size: int, overlap: Floats, rule: Floats, score: Floats, matched: Bools, thresholds: Thresholds
) -> npt.NDArray[Any]:
    """Why each violation of one side is unmatched; empty where it is matched.

    Returns
    -------
    (size,) array of str
        ``"no overlap"``, ``"rule too far"``, ``"score below the threshold"`` or ``"its partner was taken"``.
    """
    # How far the best pair of each violation gets: overlap, rule, score.
    step1 = ~(overlap <= thresholds.overlap)
    step2 = step1 & (rule > thresholds.rule)
    step3 = step2 & (score > thresholds.score)
    reached = np.zeros(size, dtype=np.int64)
    np.maximum.at(reached, side, step1.astype(np.int64) + step2 + step3)
    reasons = np.array(
        ["no overlap", "rule too far", "score below the threshold", "its partner was taken"], dtype=object
    )
    out = reasons[reached]
    out[side[matched]] = ""
    return out
