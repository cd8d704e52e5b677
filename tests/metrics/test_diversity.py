"""Diversity of answers: worked by hand, against plain Python, laws, hostile texts."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from evalbench.errors import BadInput
from evalbench.metrics import pairs_of_texts
from evalbench.metrics.diversity import (
    NORMALISED,
    answer_disagreement,
    distinct_ngrams_pairs_handbook,
    distinct_ngrams_set,
    lexical_diversity,
    semantic_diversity,
)
from evalbench.text.normalise import tokenizer

BY_NGRAMS = (lexical_diversity, distinct_ngrams_pairs_handbook, distinct_ngrams_set)
GROUPS = st.lists(
    st.lists(
        st.one_of(
            st.lists(st.sampled_from("abc"), max_size=9).map(" ".join),
            st.text(max_size=12),
            st.sampled_from(["猫在睡觉", "кот", "5", "−5"]),
        ),
        max_size=6,
    ),
    max_size=5,
)


def grams(text):
    tokens = tokenizer(NORMALISED, "")(text)
    return [Counter(zip(*(tokens[i:] for i in range(n)), strict=False)) for n in range(1, 6)]


def plainly(texts):
    """The three figures of one question, in plain Python."""
    if len(texts) < 2:
        return [np.nan] * 3
    counted = [grams(text) for text in texts]
    apart, distinct = [], []
    for one, other in itertools.combinations(counted, 2):
        both = [(a, b, a.total() + b.total()) for a, b in zip(one, other, strict=True) if a or b]
        apart.append(1 - np.mean([2 * (a & b).total() / n for a, b, n in both]) if both else 0.0)
        distinct += [np.mean([len(a | b) / n for a, b, n in both])] if both else []
    whole = [sum((each[n] for each in counted), Counter()) for n in range(5)]
    of_set = [len(c) / c.total() for c in whole if c]
    return [np.mean(apart), np.mean(distinct) if distinct else np.nan, np.mean(of_set) if of_set else np.nan]


# -- by hand -------------------------------------------------------------------------------------


def test_lexical_diversity_by_hand():
    # a b c | a b d: 2·2/6, 2·1/4, 0/2 for n = 1, 2, 3; neither has an n-gram of 4 or 5
    assert lexical_diversity([["a b c", "a b d"]]) == pytest.approx([1 - (2 / 3 + 1 / 2 + 0) / 3])
    # a a | a: one of three is in common twice counted once: 2·1/3; 0/1
    assert lexical_diversity([["a a", "a"]]) == pytest.approx([1 - (2 / 3 + 0) / 2])
    # three answers: two pairs differ wholly, one not at all
    assert lexical_diversity([["yes", "Yes.", "no"]]) == pytest.approx([2 / 3])


def test_distinct_ngrams_by_hand():
    # the document's own reading gives two identical texts 0.5
    assert distinct_ngrams_pairs_handbook([["a b", "a b"]]) == pytest.approx([0.5])
    assert distinct_ngrams_set([["a b"] * 4]) == pytest.approx([0.25])
    # a b, a c: 3 of 4 words, 2 of 2 pairs of words
    assert distinct_ngrams_set([["a b", "a c"]]) == pytest.approx([(3 / 4 + 1) / 2])


def test_disagreement_by_hand():
    assert answer_disagreement([["Rome", "rome!", "Paris", "Oslo"]]) == pytest.approx([5 / 6])


def test_semantic_diversity_by_hand():
    vectors = {"x": [1, 0], "y": [0, 2], "z": [3, 3]}
    found = semantic_diversity([["x", "y", "z"], ["x", "x"], ["x", "x", "y"]], embed=lambda t: [vectors[i] for i in t])
    assert found == pytest.approx([1 - 2 * 0.5**0.5 / 3, 0, 2 / 3])


# -- against others ------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(GROUPS)
def test_the_same_as_in_plain_python(groups):
    expected = np.array([plainly(texts) for texts in groups]).reshape(-1, 3)
    for function, column in zip(BY_NGRAMS, expected.T, strict=True):
        np.testing.assert_allclose(function(groups), column, atol=1e-12)


def test_long_groups_in_portions_are_the_same(monkeypatch):
    draw = np.random.default_rng(4)
    groups = [[" ".join(draw.choice(list("abcdefgh"), 12)) for _ in range(int(n))] for n in draw.integers(0, 9, 40)]
    whole = [function(groups) for function in BY_NGRAMS]
    monkeypatch.setattr(pairs_of_texts, "_TOKENS_AT_ONCE", 50)
    monkeypatch.setattr(pairs_of_texts, "_CELLS_AT_ONCE", 40)
    for function, expected in zip(BY_NGRAMS, whole, strict=True):
        np.testing.assert_array_equal(function(groups), expected)


def test_meaning_is_the_mean_of_scipys_cosine_distances():
    draw = np.random.default_rng(5)
    table = draw.normal(size=(30, 8))
    groups = [[str(i) for i in draw.integers(0, 30, 7)] for _ in range(20)]
    found = semantic_diversity(groups, embed=lambda texts: table[[int(t) for t in texts]])
    assert found == pytest.approx([pdist(table[[int(t) for t in texts]], "cosine").mean() for texts in groups])


# -- laws ----------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(GROUPS, st.randoms(use_true_random=False))
def test_the_order_of_answers_changes_no_bit_that_counts(groups, random):
    mixed = [random.sample(texts, len(texts)) for texts in groups]
    for function in (*BY_NGRAMS, answer_disagreement):
        np.testing.assert_allclose(function(mixed), function(groups), atol=1e-12)


@pytest.mark.parametrize(
    "text", ["a", "Кот спит на окне.", "猫在睡觉", "!!!", "", " ", "x" * 10_000, "a " * 3000, "\ud800", "🙂"]
)
@pytest.mark.parametrize("n", [2, 3, 7])
def test_identical_texts_have_no_diversity_at_all(text, n):
    assert lexical_diversity([[text] * n]).tolist() == [0.0]
    assert answer_disagreement([[text] * n]).tolist() == [0.0]
    assert semantic_diversity([[text] * n], embed=lambda texts: [[1.0, 3.0]] * len(texts)).tolist() == [0.0]


def test_fewer_than_two_answers_have_none():
    for function in (*BY_NGRAMS, answer_disagreement):
        assert np.isnan(function([[], ["a"]])).all()
        assert len(function([])) == 0
    assert np.isnan(semantic_diversity([[], ["a"]], embed=lambda texts: [])).all()


def test_symbols_and_signs_tell_answers_apart_case_and_punctuation_do_not():
    assert lexical_diversity([["5", "-5"], ["C", "C++"], ["Yes!", "yes"], ["5 $", "5 €"]]).round(2).tolist() == [
        0.67,
        0.83,
        0.0,
        0.75,
    ]
    assert answer_disagreement([["5", "-5"], ["Yes!", " yes "]]).tolist() == [1.0, 0.0]


def test_scripts_without_spaces_are_cut_into_characters():
    assert lexical_diversity([["今天好", "今天坏"]]) == pytest.approx([1 - (2 / 3 + 1 / 2 + 0) / 3])


def test_a_blank_text_has_nothing_in_common_with_others():
    assert lexical_diversity([["", "a b"]]).tolist() == [1.0]
    assert semantic_diversity([["", "a"]], embed=lambda texts: [[1.0]] * len(texts)).tolist() == [1.0]


@pytest.mark.parametrize("function", [*BY_NGRAMS, answer_disagreement])
def test_what_is_no_text_is_refused_all_at_once(function):
    with pytest.raises(BadInput) as caught:
        function(["one text", ["a", None], ["a", 5, 6]])
    assert len(caught.value.faults) == 3
    assert "1: 1 of 2 are not texts (NoneType)" in caught.value.faults


@pytest.mark.parametrize("orders", [0, -1, 1.5, True])
def test_orders_out_of_range_are_refused(orders):
    with pytest.raises(BadInput, match="orders must be a whole number from 1"):
        lexical_diversity([["a", "b"]], orders=orders)


def test_many_answers_to_one_question():
    texts = [f"answer {i % 7}" for i in range(500)]
    found = lexical_diversity([texts])[0]
    # "answer i": half of the words in common, no pair of words; 430 of 499 others are different
    differ = 1 - sum(n * (n - 1) for n in Counter(texts).values()) / (500 * 499)
    assert found == pytest.approx(differ * 0.75)
