"""Overlaps, scores and assignments against brute force and scipy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from evalbench.metrics.matching import (
    Thresholds,
    admissible,
    flat_spans,
    greedy,
    merge,
    optimal,
    text_overlap,
    unmatched_reason,
    weighted_score,
)

spans = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 10)).map(lambda s: (s[0], s[0] + s[1])), max_size=4)


def characters(several):
    return {i for start, end in several for i in range(start, end)}


def overlap(truth, predicted):
    one = np.zeros(1, dtype=np.int64)
    return text_overlap(flat_spans([truth]), flat_spans([predicted]), one, one)[0]


@given(spans, spans)
def test_overlap_is_the_jaccard_index_of_character_sets(truth, predicted):
    a, b = characters(truth), characters(predicted)
    expected = len(a & b) / len(a | b) if a and b else 0.0
    assert overlap(truth, predicted) == pytest.approx(expected, abs=1e-12)


@given(st.lists(spans, min_size=1, max_size=5), st.lists(spans, min_size=1, max_size=5))
def test_pairs_overlap_as_one_by_one(truths, predictions):
    left, right = (x.ravel() for x in np.meshgrid(range(len(truths)), range(len(predictions)), indexing="ij"))
    found = text_overlap(flat_spans(truths), flat_spans(predictions), left, right)
    one_by_one = [overlap(truths[i], predictions[j]) for i, j in zip(left, right, strict=True)]
    assert found == pytest.approx(one_by_one)


@given(spans)
def test_merged_spans_are_disjoint_and_hold_the_same_characters(several):
    merged = merge(several)
    assert characters(merged) == characters(several)
    assert all(a[1] < b[0] for a, b in itertools.pairwise(merged))


def one_sample(matrix):
    scores = np.array(matrix, dtype=float)
    truth, predicted = (x.ravel() for x in np.indices(scores.shape))
    return scores.ravel(), truth, predicted


def slow_greedy(score, overlap, truth, predicted):
    """Take the best, remove its row and column, repeat: the words of `violations`, literally."""
    taken = np.zeros(len(score), dtype=bool)
    rest = sorted(range(len(score)), key=lambda i: (-score[i], -overlap[i], truth[i], predicted[i]))
    while rest:
        best = rest[0]
        taken[best] = True
        rest = [i for i in rest if truth[i] != truth[best] and predicted[i] != predicted[best]]
    return taken


matrices = st.integers(1, 5).flatmap(
    lambda m: st.lists(
        st.lists(st.sampled_from([0.2, 0.5, 0.55, 0.7, 0.9]), min_size=m, max_size=m), min_size=1, max_size=5
    )
)


@given(matrices, st.randoms(use_true_random=False))
def test_greedy_by_rounds_is_greedy_step_by_step(matrix, random):
    score, truth, predicted = one_sample(matrix)
    overlap = np.array([random.choice([0.1, 0.2]) for _ in score])
    assert greedy(score, overlap, truth, predicted).tolist() == slow_greedy(score, overlap, truth, predicted).tolist()


@given(matrices)
def test_optimal_has_scipys_total_and_is_one_to_one(matrix):
    score, truth, predicted = one_sample(matrix)
    some = np.flatnonzero(score > 0.5)
    if not len(some):
        return
    taken = some[optimal(score[some], np.zeros(len(some), int), truth[some], predicted[some])]
    filled = np.where(np.array(matrix) > 0.5, matrix, 0.0)
    rows, columns = linear_sum_assignment(filled, maximize=True)
    assert score[taken].sum() == pytest.approx(filled[rows, columns].sum())
    assert len(set(truth[taken])) == len(set(predicted[taken])) == len(taken)


def test_greedy_finds_one_match_where_optimal_finds_two():
    score, truth, predicted = one_sample([[0.9, 0.8], [0.8, 0.1]])
    some = np.array([0, 1, 2])
    assert greedy(score[some], score[some], truth[some], predicted[some]).sum() == 1
    assert optimal(score[some], np.zeros(3, int), truth[some], predicted[some]).sum() == 2


def test_one_shared_character_and_the_same_rule_match():
    overlap, rule = np.array([0.01]), np.array([1.0])
    score = weighted_score({"a": overlap, "b": rule}, {"a": 0.5, "b": 0.5}, "renormalise")
    assert score[0] == pytest.approx(0.505)
    assert admissible(overlap, rule, score, Thresholds()).all()


def test_the_same_span_and_a_foreign_rule_do_not_match():
    overlap, rule = np.array([1.0]), np.array([0.005])
    assert not admissible(overlap, rule, 0.5 * overlap + 0.5 * rule, Thresholds()).any()


@pytest.mark.parametrize(("missing", "expected"), [("renormalise", 0.5), ("zero", 0.4)])
def test_a_part_that_both_sides_lack(missing, expected):
    parts = {"a": np.array([0.5]), "b": np.array([0.5]), "c": np.array([np.nan])}
    assert weighted_score(parts, {"a": 0.4, "b": 0.4, "c": 0.2}, missing)[0] == pytest.approx(expected)


def test_every_reason_why_a_violation_stays_unmatched():
    overlap = np.array([0.0, 0.4, 0.4, 0.9, 0.9])
    rule = np.array([0.9, 0.0, 0.3, 0.9, 0.8])
    score = 0.5 * overlap + 0.5 * rule
    matched = np.array([False, False, False, True, False])
    reasons = unmatched_reason(np.arange(5), 6, overlap, rule, score, matched, Thresholds())
    assert reasons.tolist() == [
        "no overlap", "rule too far", "score below the threshold", "", "its partner was taken", "no overlap",
    ]  # fmt: skip
