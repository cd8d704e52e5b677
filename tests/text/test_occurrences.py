"""Occurrences in any script: whole words or anywhere, never inside a visible character."""

from __future__ import annotations

import pytest

from evalbench.text.occurrences import comparable, places


@pytest.mark.parametrize(
    ("text", "string", "words", "anywhere"),
    [
        ("Paris Hilton visits Paris", "Paris", 2, 2),
        ("Parisian Paris", "Paris", 1, 2),
        ("aaaa", "aa", 0, 2),
        ("C++ and C", "C++", 1, 1),
        ("C++ and C", "C", 2, 2),
        ("John's and Johnson", "John", 1, 2),
        ("under_score score", "score", 1, 2),
        ("Мира Мирабель Мира", "Мира", 2, 3),
        ("我在北京市北京", "北京", 2, 2),
        ("東京タワー", "東京", 1, 1),
        ("ภาษาไทย", "ไทย", 1, 1),
        ("القاهرة القاهرة", "القاهرة", 2, 2),
        ("e\u0301a", "e", 0, 0),
        ("👩‍🚀 👩", "👩", 1, 1),
        ("👍🏽 👍", "👍", 1, 1),
        ("☀️", "☀", 0, 0),
        ("x", "", 0, 0),
        ("", "x", 0, 0),
    ],
)
def test_counts(text, string, words, anywhere):
    assert len(places(comparable(text), comparable(string))) == words
    assert len(places(comparable(text), comparable(string), whole_words=False)) == anywhere


def test_composed_and_decomposed_are_the_same():
    assert places(comparable("Cafe\u0301 Café"), comparable("Cafe\u0301")) == [0, 5]


def test_a_mark_that_composes_with_nothing_belongs_to_its_letter():
    text = comparable("x\u0302s x")
    assert places(text, "x") == [4]
    assert places(text, "s") == []  # the word goes on through the mark
    assert places(text, "s", whole_words=False) == [2]


@pytest.mark.parametrize("text", ["İstanbul", "Straße ẞ", "ΟΔΟΣ ὈΔΥΣΣΕΎΣ", "ﬁn", "ŉ"])
def test_folding_keeps_places(text):
    folded = comparable(text, case_sensitive=False)
    assert len(folded) == len(comparable(text))
    assert comparable(folded, case_sensitive=False) == folded


def test_case_is_folded_in_any_script():
    text = comparable("МОСКВА ΟΔΟΣ", case_sensitive=False)
    assert places(text, comparable("Москва", case_sensitive=False)) == [0]
    assert places(text, comparable("οδος", case_sensitive=False)) == [7]
