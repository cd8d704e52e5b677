"""The scorers of needle tests on worked replies, against InfiniteBench's published figures; where recall falls."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.metrics.needle import contains, fall_of, falls, first_number, fuzzy, word


@pytest.mark.parametrize(
    ("reply", "expected", "found"),  # contains, word, first_number
    [
        ("4217", "4217", (1, 1, 1)),
        ("It is 14217.", "4217", (0, 0, 0)),
        ("Of 98 keys, 4217.", "4217", (1, 1, 0)),
        ("4,217", "4217", (1, 1, 0)),
        ("It has 5 keys", "5.", (1, 1, np.nan)),
        ("1,234,56", "1234", (0, 0, 0)),
        ("4217kg", "4217", (1, 0, 1)),
        ("15 keys", "5 keys", (0, 0, np.nan)),
        ("5.2", "5", (0, 0, 1)),
        ("1,5 oder 7", "5", (0, 0, 0)),
        ("3, 5.", "5", (1, 1, 0)),
        ("٤٢١٧", "4217", (1, 1, 1)),
        ("４２１７！", "4217", (1, 1, 1)),
        ("It is Teal.", "teal", (1, 1, np.nan)),
        ("tealish", "teal", (1, 0, np.nan)),
        ("Цвет — Зелёный!", "зелёный", (1, 1, np.nan)),
        ("答案是北京市", "北京", (1, 1, np.nan)),
        ("cafe\u0301 noir", "café", (1, 1, np.nan)),
        ("a\u00a0b", "a  b", (1, 1, np.nan)),
        ("C is older than C++", "C++", (1, 1, np.nan)),
        ("id a1b2-c3 ends", "a1b2-c3", (1, 1, np.nan)),
        ("", "teal", (0, 0, np.nan)),
        ("anything", " ", (np.nan, np.nan, np.nan)),
    ],
)
def test_worked_replies(reply, expected, found):
    scores = [scorer([reply], [[expected]])[0] for scorer in (contains, word, first_number)]
    np.testing.assert_array_equal(scores, np.array(found, float))


def test_of_several_needles_the_share_that_is_found():
    assert contains(["4217 and teal"], [["4217", "teal", "oak", "ash"]]).tolist() == [0.5]
    assert word(["14217 and teal"], [["4217", "teal"]]).tolist() == [0.5]
    assert np.isnan(first_number(["4217"], [["4217", "98"]])[0])


def test_fuzzy_takes_slips_of_words_and_none_of_numbers():
    said = ["the bramble wing", "a bramblewong", "123456789", "the number 1234567890", "b"]
    wanted = [["bramblewing"], ["bramblewing"], ["123456780"], ["1234567890"], ["bramblewing"]]
    assert fuzzy(said, wanted, fuzzy_from=0.85).tolist() == [1, 1, 0, 1, 0]
    assert fuzzy(said[1:2], wanted[1:2], fuzzy_from=1.0).tolist() == [0]


@given(st.text(max_size=30), st.text(max_size=8))
def test_a_whole_word_is_contained_and_a_text_holds_itself(reply, expected):
    inside, whole = contains([reply], [[expected]])[0], word([reply], [[expected]])[0]
    assert np.isnan(inside) == np.isnan(whole)
    assert not whole > inside
    if expected.strip():
        assert contains([f"x {expected} y"], [[expected]])[0] == 1


@pytest.mark.external
def test_infinitebench_s_published_cells(external_data):
    """All 21, and the two that a whole number anywhere in the reply finds otherwise."""
    folder = external_data("infinitebench")
    table = pd.read_parquet(folder / "retrieval.parquet")
    published = json.loads((folder / "expected.json").read_text())
    otherwise, cells = {}, 0
    for (task, model), own in table.groupby(["task", "model"]):
        expected = [[text] for text in own["ground_truth"]]
        scorer = word if task == "kv_retrieval" else first_number
        found = round(100 * scorer(own["prediction"], expected).mean(), 2)
        stated = published[task][model]
        assert found < 5 if stated == "<5" else found == stated, (task, model)
        substring = round(100 * contains(own["prediction"], expected).mean(), 2)
        otherwise |= {(task, model): substring} if substring != found else {}
        cells += 1
    assert cells == 21
    assert otherwise == {("number_string", "yarn-mistral"): 58.31, ("number_string", "claude2"): 99.15}


@pytest.mark.external
def test_infinitebench_by_its_own_code_reply_by_reply(external_data):
    table = pd.read_parquet(external_data("infinitebench") / "retrieval.parquet")
    numbers = table[table["task"] != "kv_retrieval"]
    first = [re.search(r"\d+", said) for said in numbers["prediction"]]
    theirs = [m is not None and m[0] == t for m, t in zip(first, numbers["ground_truth"], strict=True)]
    assert first_number(numbers["prediction"], [[t] for t in numbers["ground_truth"]]).tolist() == theirs
    pairs = table[table["task"] == "kv_retrieval"]
    blanks = str.maketrans(dict.fromkeys("\n:\"'.,?!{}", " "))
    theirs = [t in p.translate(blanks).split() for p, t in zip(pairs["prediction"], pairs["ground_truth"], strict=True)]
    assert word(pairs["prediction"], [[t] for t in pairs["ground_truth"]]).tolist() == theirs


def test_where_recall_falls():
    assert fall_of([0.9, 0.95, 0.4, 0.9], 0.2) == (2, 0.95, 0.4)
    assert fall_of([0.9, 0.8, 0.7, 0.6], 0.2).at == 2
    assert fall_of([0.5, 0.9, 0.75], 0.2).at == -1
    assert fall_of([np.nan, 0.9, np.nan, 0.6], 0.2).at == 3
    assert falls([[1, 0.8, 0.5], [0.1, 0.2, 0.3]], 0.2).tolist() == [1, -1]
