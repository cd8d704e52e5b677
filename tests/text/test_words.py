import unicodedata

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from evalbench.text import words as module
from evalbench.text.words import alphanumeric_runs, token_ids, word_counts, word_ids, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("—…!?  ", []),
        ("Isn't it 3.14, or 1,000?", ["Isn't", "it", "3.14", "or", "1,000"]),
        ("the end.", ["the", "end"]),
        ("state-of-the-art a/b x:y", ["state", "of", "the", "art", "a", "b", "x", "y"]),
        ("snake_case __ _x", ["snake_case", "_x"]),
        ("Мой дом — крепость.", ["Мой", "дом", "крепость"]),
        ("我的家 iPhone15很好", ["我", "的", "家", "iPhone15", "很", "好"]),
        ("コーヒーを飲む", ["コ", "ー", "ヒ", "ー", "を", "飲", "む"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("السلام عليكم", ["السلام", "عليكم"]),
        ("می‌شود", ["می‌شود"]),
        ("안녕하세요 세계", ["안녕하세요", "세계"]),
    ],
)
def test_words_of_many_scripts(text, expected):
    assert words(text) == expected


def test_composed_and_decomposed_are_one_word():
    assert words("и\u0306од") == words("йод") == ["йод"]
    assert words("ЙОД", lower=True) == ["йод"]


# Without Hebrew, where UAX #29 keeps a closing apostrophe (WB7a) and we do not, and without vowels, before
# which that engine cuts at an apostrophe for French.
spaced = st.text(alphabet=st.sampled_from("bбZ9_ '’.,-—!?\nñКγ"), max_size=30)


@given(spaced)
def test_agrees_with_the_engine_s_own_word_boundaries(text):
    text = unicodedata.normalize("NFC", text)
    peer = [p for p in regex.split(r"(?wV1)\b", text) if regex.search(r"[\p{L}\p{N}]", p)]
    assert words(text) == peer


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_ascii_path_equals_the_general_one(text):
    assert module._ASCII_WORD.findall(text) == module._WORD.findall(text)
    assert module._ASCII_RUN.findall(text) == module._RUN.findall(text)


@given(st.text(max_size=40))
def test_no_letter_or_digit_is_lost(text):
    text = unicodedata.normalize("NFC", text)
    kept = "".join(words(text))
    assert [c for c in kept if regex.match(r"[\p{L}\p{N}]", c)] == regex.findall(r"[\p{L}\p{N}]", text)


def test_runs_are_rouge_tokens():
    assert alphanumeric_runs("Don't U.S.A. 3.14 foo_bar") == ["don", "t", "u", "s", "a", "3", "14", "foo", "bar"]
    assert alphanumeric_runs("Кот, 再见!") == ["кот", "再", "见"]


@given(st.lists(st.text(alphabet="ab кот 再", max_size=12), max_size=8))
def test_token_ids_hold_each_text_s_words(texts):
    t = token_ids(texts)
    assert len(t) == len(texts)
    assert [[t.vocabulary[i] for i in t[k]] for k in range(len(t))] == [words(x) for x in texts]
    np.testing.assert_array_equal(np.bincount(t.rows, minlength=len(t)), t.lengths)


@given(st.lists(st.text(alphabet="aB'3. _-\n\0я", max_size=12), min_size=1, max_size=6))
def test_a_column_cut_in_one_pass_is_cut_as_text_by_text(texts):
    one_pass, singly = word_ids(texts, lower=True), token_ids(texts, lambda t: words(t, lower=True))
    assert one_pass.vocabulary == singly.vocabulary
    assert one_pass.ids.tolist() == singly.ids.tolist()
    assert one_pass.offsets.tolist() == singly.offsets.tolist()


def listed(found):
    return [[found.vocabulary[i] for i in found[k]] for k in range(len(found))]


# Blanks of all kinds beside what is composed, cased by its neighbours, or joined to them.
beside_blanks = st.text(
    alphabet=st.sampled_from("aB'’3._- \n\t\x1f\x85\xa0\u2003\u2028\u3000\u200d\u0301\u0338=ΣσςяИ\u0306再ーวั\ud800"),
    max_size=14,
)


@given(st.lists(st.one_of(beside_blanks, st.text(max_size=12)), max_size=5))
def test_a_column_cut_between_blanks_is_cut_as_text_by_text(texts):
    for tokenize in (words, lambda text: words(text, lower=True), alphanumeric_runs):
        found = token_ids(texts, tokenize, between_blanks=True)
        assert listed(found) == [tokenize(text) for text in texts]
    assert word_counts(texts).tolist() == [len(words(text)) for text in texts]
