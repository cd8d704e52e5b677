"""An accuracy beside that of the best constant answer: worked counts, the published trap, what is unknown."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.stats import binomtest

from evalbench.core.constant_answer import constant_answer


def test_counts_and_both_tests_by_hand() -> None:
    truth = ["No", "no ", "NO", "no", "yes", "yes", "maybe", None, "no"]
    found = constant_answer([1, 1, 0, 1, 1, 0, 0, 1, math.nan], truth)
    assert (found.n, found.answer, found.accuracy, found.constant) == (7, "no", 4 / 7, 4 / 7)
    assert (found.only_answers, found.only_constant, found.p_paired) == (1, 1, 1)
    assert found.p == pytest.approx(binomtest(4, 7, 4 / 7).pvalue)


def test_of_equally_frequent_answers_the_one_that_is_right_more_often() -> None:
    assert constant_answer([0, 0, 1, 1], ["a", "a", "b", "b"]).answer == "b"
    assert constant_answer([1, 1, 1, 1], ["b", "b", "a", "a"]).answer == "a"


@pytest.mark.parametrize(
    ("right", "truth", "sentence"),
    [
        ([1] * 90 + [0] * 10, ["x"] * 50 + ["y"] * 50, 'accuracy 0.900, better than always "x" (0.500, p < 0.001)'),
        ([0] * 90 + [1] * 10, ["x"] * 90 + ["y"] * 10, 'accuracy 0.100, worse than always "x" (0.900, p < 0.001)'),
        ([1, 0], None, "accuracy 0.500; without a column of true answers the best constant answer is unknown"),
        ([1, 0], [None, ""], "accuracy 0.500; without a column of true answers the best constant answer is unknown"),
        ([math.nan], ["a"], "no row has a label and a true answer"),
        ([], [], "no row has a label and a true answer"),
    ],
)
def test_sentences(right: list[float], truth: list[str | None] | None, sentence: str) -> None:
    assert str(constant_answer(right, truth)) == sentence


@pytest.mark.parametrize(("right", "truth"), [([0.5], ["a"]), ([1, 0], ["a"]), ([-1, 1], None)])
def test_other_labels_and_lengths_are_refused(right: list[float], truth: list[str] | None) -> None:
    with pytest.raises(ValueError, match="labels"):
        constant_answer(right, truth)


@pytest.mark.external
def test_answers_that_all_say_no_are_no_better_than_no(external_data) -> None:
    import pandas as pd

    rows = pd.read_parquet(external_data("llm_drift") / "prime_full_eval.parquet")
    said = rows["answer"].map(lambda t: next(iter(re.findall("yes", t.lower()) or re.findall("no", t.lower())), ""))
    right = (said == rows["ref_answer"].str.lower()).astype(float)
    june, march = (rows["model"].str.endswith(end).to_numpy() for end in ("gpt-4-0613", "gpt-4-0314"))
    truth = rows["ref_answer"].str.lower().to_numpy()
    found = constant_answer(right[june], truth[june].tolist())
    assert str(found).startswith('accuracy 0.511, no better than always "no" (0.500, p 0.51)')
    assert (found.only_answers, found.only_constant) == (12, 1)
    assert str(constant_answer(right[march], truth[march].tolist())).endswith("(0.500, p < 0.001)")


def test_the_order_of_rows_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(["a", "b", "B", "c"], 60)
    right = rng.integers(0, 2, 60)
    order = rng.permutation(60)
    assert constant_answer(right, truth.tolist()) == constant_answer(right[order], truth[order].tolist())
