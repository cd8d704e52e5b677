"""Metrics of answers from retrieved contexts: the method document's worked examples, RAGChecker's own figures, edge cases."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.metrics.rag import (
    answer_correctness,
    answer_relevance,
    claim_precision,
    claim_recall,
    context_precision,
    context_recall,
    context_relevant_share,
    correctness_objects,
    faithfulness,
    paired,
    precisions,
)

VERDICTS = st.lists(st.integers(0, 1), min_size=1, max_size=12)


# The worked examples of ragnotes


def test_faithfulness_of_four_supported_statements_is_1() -> None:
    assert faithfulness([1, 1, 1, 1]) == 1


def test_context_recall_of_three_claims_that_two_chunks_carry_is_1() -> None:
    assert context_recall([1, 1, 1]) == 1


def test_a_partial_a_relevant_and_an_irrelevant_context_give_one_half() -> None:
    assert context_precision([0, 1, 0]) == 0.5
    assert precisions([0, 1, 0]).tolist() == [0, 0.5, pytest.approx(1 / 3)]


def test_answer_correctness_of_the_two_examples() -> None:
    assert round(answer_correctness(2, 2, 1), 3) == 0.571
    assert answer_correctness(0, 1, 1) == 0


def test_the_two_objects_are_those_of_the_document() -> None:
    lists, scored = correctness_objects(
        [],
        ["The legal age for marriage in England is 16 years old"],
        ["The legal age for marriage in England is 18 years old"],
    )
    assert json.loads(lists) == {
        "TP": [],
        "FP": ["The legal age for marriage in England is 16 years old"],
        "FN": ["The legal age for marriage in England is 18 years old"],
    }
    found = json.loads(scored)
    assert list(found) == ["num_tp", "num_fp", "num_fn", "json", "score"]
    assert (found["num_tp"], found["num_fp"], found["num_fn"], found["score"]) == (0, 1, 1, 0)
    assert found["json"] == lists
    assert json.loads(correctness_objects([], [], [])[1])["score"] is None


def test_ranked_and_unranked_precision_of_one_ranking() -> None:
    assert context_precision([1, 1, 0, 1]) == pytest.approx(0.9167, abs=5e-5)
    assert context_relevant_share([1, 1, 0, 1]) == 0.75


# RAGChecker's own figures from its own matrices


def entailed(labels: Any) -> np.ndarray:
    return np.array(labels) == "Entailment"


@pytest.mark.external
def test_the_figures_of_ragcheckers_worked_examples_follow_from_its_matrices(
    external_data: Callable[[str], Path],
) -> None:
    results = json.loads((external_data("ragchecker") / "checking_outputs.json").read_text(encoding="utf-8"))["results"]
    assert len(results) == 2
    for one in results:
        stated = one["metrics"]
        right, answered = entailed(one["answer2response"]), entailed(one["response2answer"])
        supported, carried = entailed(one["retrieved2response"]), entailed(one["retrieved2answer"])
        assert claim_precision(right) == pytest.approx(stated["precision"], abs=1e-12)
        assert claim_recall(answered) == pytest.approx(stated["recall"], abs=1e-12)
        assert faithfulness(supported.any(axis=1)) == pytest.approx(stated["faithfulness"], abs=1e-12)
        assert context_recall(carried.any(axis=1)) == pytest.approx(stated["claim_recall"], abs=1e-12)
        assert context_relevant_share(carried.any(axis=0)) == pytest.approx(stated["context_precision"], abs=1e-12)
        kept = supported.any(axis=1)
        assert np.mean(~right & ~kept) == pytest.approx(stated["hallucination"], abs=1e-12)
        assert np.mean(right & ~kept) == pytest.approx(stated["self_knowledge"], abs=1e-12)
        noise = stated["noise_sensitivity_in_relevant"] + stated["noise_sensitivity_in_irrelevant"]
        assert np.mean(~right & kept) == pytest.approx(noise, abs=1e-12)


# Edges


@pytest.mark.parametrize(
    "metric", [faithfulness, context_recall, context_precision, context_relevant_share, claim_precision, claim_recall]
)
def test_nothing_to_judge_and_a_missing_verdict_have_no_value(metric: Any) -> None:
    assert math.isnan(metric([]))
    assert math.isnan(metric([1, math.nan]))
    with pytest.raises(ValueError, match="verdicts are 1, 0, or NaN"):
        metric([0.5, 1])


def test_answer_relevance_is_a_mean_of_cosines() -> None:
    assert answer_relevance([-1.0, 0.5]) == -0.25
    assert math.isnan(answer_relevance([]))


def test_no_relevant_context_is_0_and_a_perfect_ranking_is_1() -> None:
    assert context_precision([0, 0]) == 0
    for n, k in itertools.product(range(1, 6), range(5)):
        assert context_precision([1] * n + [0] * k) == 1


@given(VERDICTS)
def test_context_precision_is_the_sum_as_printed(relevant: list[int]) -> None:
    terms = [sum(relevant[:k]) / k * relevant[k - 1] for k in range(1, len(relevant) + 1)]
    expected = sum(terms) / sum(relevant) if any(relevant) else 0
    assert context_precision(relevant) == pytest.approx(expected)


@given(VERDICTS)
def test_moving_a_relevant_context_up_never_lowers_precision(relevant: list[int]) -> None:
    assert context_precision(sorted(relevant, reverse=True)) >= context_precision(relevant) - 1e-12


def test_correctness_without_facts_has_no_value_and_negative_counts_are_refused() -> None:
    assert math.isnan(answer_correctness(0, 0, 0))
    with pytest.raises(ValueError, match="at least 0"):
        answer_correctness(1, -1, 0)


@given(st.integers(0, 5), st.integers(0, 5), st.data())
def test_pairs_are_one_to_one_and_as_many_as_possible(n: int, m: int, data: Any) -> None:
    cells = data.draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m))
    same = np.array(cells, dtype=bool).reshape(n, m)
    found = paired(same)
    partners = [j for j in found.answer if j >= 0]
    assert len(set(partners)) == len(partners) == found.tp
    assert all(same[i, j] and found.truth[j] == i for i, j in enumerate(found.answer) if j >= 0)
    assert (found.tp + found.fp, found.tp + found.fn) == (n, m)
    small, large = (same, m) if n <= m else (same.T, n)
    best = max(
        (
            sum(bool(small[i, j]) for i, j in enumerate(order))
            for order in itertools.permutations(range(large), min(n, m))
        ),
        default=0,
    )
    assert found.tp == best


def test_the_einstein_example_pairs_to_its_counts() -> None:
    truth = ["born in 1879", "born in Germany", "relativity"]
    answer = ["born in 1879", "born in Spain", "relativity", "Nobel Prize in 1921"]
    found = paired([[a == t for t in truth] for a in answer])
    assert (found.tp, found.fp, found.fn) == (2, 2, 1)
