"""Statistics of texts: counts by hand, any language, any order of rows, cells without text."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.core.psi import psi_of_counts
from evalbench.core.seeds import keys
from evalbench.errors import BadInput
from evalbench.metrics.text_statistics import HALVINGS, text_statistics
from evalbench.text.words import words

CELLS = st.one_of(st.none(), st.text("aAbc 我的ё'\n\ud800", max_size=12))


def rows_of(cells: list[str | None]) -> tuple[list[bool], list[str]]:
    return [i % 3 == 2 for i in range(len(cells))], [f"r{i}" for i in range(len(cells))]


@settings(max_examples=60, deadline=None)
@given(st.lists(CELLS, max_size=14))
def test_what_plain_python_counts(cells: list[str | None]) -> None:
    current, ids = rows_of(cells)
    found = text_statistics(cells, current, ids)
    tokens = [words(cell or "", lower=True) for cell in cells]
    before = Counter(t for row, now in zip(tokens, current, strict=True) if not now for t in row)
    after = Counter(t for row, now in zip(tokens, current, strict=True) if now for t in row)
    assert found.vocabulary == tuple(sorted(before | after))
    for i, (cell, row) in enumerate(zip(cells, tokens, strict=True)):
        if cell is None:
            assert math.isnan(found.n_tokens[i])
            assert math.isnan(found.n_characters[i])
        else:
            assert (found.n_tokens[i], found.n_characters[i]) == (len(row), len(cell))
        own = found.counts[[i]].toarray().ravel()
        assert {t: n for t, n in zip(found.vocabulary, own, strict=True) if n} == Counter(row)
        new = sum(t not in before for t in row)
        assert found.n_new[i] == new if current[i] and cell is not None else math.isnan(found.n_new[i])
    if before and after:
        assert found.new.share == pytest.approx(sum(n for t, n in after.items() if t not in before) / after.total())
    shares = []
    for cut in range(HALVINGS):
        halves = [Counter[str](), Counter[str]()]
        for row, now, key in zip(tokens, current, keys(0, "halves", ids), strict=True):
            if not now:
                halves[int(key) >> cut & 1].update(row)
        if all(halves):
            one, other = halves
            lacking = [n for a, b in ((one, other), (other, one)) for t, n in a.items() if t not in b]
            shares.append(sum(lacking) / before.total())
    assert found.new.expected == pytest.approx(np.mean(shares) if shares else math.nan, nan_ok=True)


@settings(max_examples=30, deadline=None)
@given(st.lists(CELLS, min_size=2, max_size=14), st.randoms())
def test_the_order_of_rows_changes_nothing(cells: list[str | None], random: object) -> None:
    current, ids = rows_of(cells)
    order = list(range(len(cells)))
    random.shuffle(order)  # type: ignore[attr-defined]
    one = text_statistics(cells, current, ids)
    other = text_statistics([cells[i] for i in order], [current[i] for i in order], [ids[i] for i in order])
    assert repr(one.new) == repr(other.new)
    assert one.vocabulary == other.vocabulary
    assert one.stop_words == other.stop_words
    assert (one.counts[order] != other.counts).nnz == 0
    for name in ("n_tokens", "n_characters", "stop_share", "n_new"):
        assert np.array_equal(getattr(one, name)[order], getattr(other, name), equal_nan=True)


def test_equal_texts_in_four_scripts_have_equal_statistics() -> None:
    scripts = {"en": "abcde", "ru": "абвгд", "zh": "我的订单在", "ar": "ابتثج"}
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 5, (40, 6))
    current = np.arange(40) >= 20
    found = [
        text_statistics([" ".join(alphabet[i] for i in row) for row in drawn], current, [str(i) for i in range(40)])
        for alphabet in scripts.values()
    ]
    values = [psi_of_counts(one.counts, current, np.random.default_rng(1)).value for one in found]
    assert np.ptp(values) < 1e-12
    assert len({(one.new.share, one.new.expected) for one in found}) == 1
    assert all(np.array_equal(one.n_tokens, found[0].n_tokens) for one in found)


def test_chinese_without_spaces_has_a_token_for_each_character() -> None:
    found = text_statistics(["我的订单在哪里？", "请退款。"], [False, True], ["1", "2"])
    assert found.n_tokens.tolist() == [7, 3]
    assert found.new.share == 1


def test_a_new_word_is_found_and_a_control_has_none() -> None:
    rng = np.random.default_rng(5)
    vocabulary = np.array([f"w{i}" for i in range(60)])
    texts = [" ".join(vocabulary[rng.integers(0, 60, 8)]) for _ in range(600)]
    current = np.arange(600) >= 300
    ids = [str(i) for i in range(600)]
    control = text_statistics(texts, current, ids).new
    assert control.share == control.expected == 0
    assert math.isnan(control.ratio)
    changed = [f"{text} refund refund" if now else text for text, now in zip(texts, current, strict=True)]
    found = text_statistics(changed, current, ids).new
    assert found.share == found.increase == 0.2
    assert found.examples == (("refund", 600),)


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT, np.float64("nan")])
def test_cells_without_text(missing: object) -> None:
    found = text_statistics(["a b", missing, "", "a"], [False, True, True, True], ["1", "2", "3", "4"])  # type: ignore[list-item]
    assert np.array_equal(found.n_tokens, [2, math.nan, 0, 1], equal_nan=True)
    assert np.array_equal(found.stop_share, [1, math.nan, math.nan, 1], equal_nan=True)
    assert found.counts.sum(axis=1).ravel().tolist() == [[2, 0, 0, 1]]


def test_nothing_at_all() -> None:
    found = text_statistics([], [], [])
    assert found.counts.shape == (0, 0)
    assert math.isnan(found.new.share)
    assert found.stop_words.source == "the 0 most frequent tokens"


def test_lists_of_stop_words_and_the_most_frequent_tokens() -> None:
    texts, current, ids = ["The cat и кот", "the the dog"], [False, True], ["1", "2"]
    assert text_statistics(texts, current, ids, languages=["en", "ru"]).stop_share.tolist() == [0.5, 2 / 3]
    frequent = " ".join(f"w{i:03}" for i in range(100))
    texts = [f"{frequent} {frequent} once", f"{frequent} rare"]
    found = text_statistics(texts, current, ids)
    assert found.stop_share.tolist() == [200 / 201, 100 / 101]
    assert found.stop_words.source == "the 100 most frequent tokens"


def test_frequent_tokens_are_chosen_on_both_sides() -> None:
    """Chosen on the reference, they would be rarer on the other side by chance alone."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(3000)])
    texts = [" ".join(rng.choice(words, 10)) for _ in range(400)]
    share = text_statistics(texts, np.arange(400) % 2 == 1, [str(i) for i in range(400)]).stop_share
    assert abs(share[::2].mean() - share[1::2].mean()) < 0.02


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match=r"texts: 2 of 3 are not text \(row 1: 5, row 2: \['a'\]\)"):
        text_statistics(["a", 5, ["a"]], [False] * 3, ["1", "2", "3"])  # type: ignore[list-item]
    with pytest.raises(BadInput, match="2 texts, 1 sides and 2 ids"):
        text_statistics(["a", "b"], [False], ["1", "2"])
    with pytest.raises(BadInput, match="no stop-words for language 'xx'"):
        text_statistics(["a"], [False], ["1"], languages=["xx"])
