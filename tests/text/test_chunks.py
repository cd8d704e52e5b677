"""Chunks: whole sentences, never longer than the size, nothing lost, in any language."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.text.chunks import chunk_spans, sentence_spans

EN = "The quiet begins at ten. Dogs are kept on a lead! Who pays the fine? Nobody knows."
RU = "Тишина начинается в десять. Собак водят на поводке! Кто платит? Никто не знает."
ZH = "夜间十点开始安静。狗必须牵绳！谁付罚款？没有人知道。"


def texts(text: str, *how, **more) -> list[str]:
    return [text[a:b] for a, b in chunk_spans(text, *how, **more)]


@pytest.mark.parametrize(
    ("text", "language", "size", "expected"),
    [
        (EN, "en", 55, ["The quiet begins at ten. Dogs are kept on a lead!", "Who pays the fine? Nobody knows."]),
        (RU, "ru", 52, ["Тишина начинается в десять. Собак водят на поводке!", "Кто платит? Никто не знает."]),
        (ZH, "zh", 16, ["夜间十点开始安静。狗必须牵绳！", "谁付罚款？没有人知道。"]),
        (EN, "en", 1000, [EN]),
    ],
)
def test_sentences_of_any_language_stay_whole(text, language, size, expected):
    assert texts(text, size, language=language) == expected


def test_a_line_end_is_a_border_and_keeps_its_place():
    assert texts("Article 1. Quiet.\n\nIt is quiet.", 17) == ["Article 1. Quiet.", "It is quiet."]


def test_a_sentence_longer_than_the_size_is_cut_between_words():
    assert texts("one two three four five six", 13) == ["one two three", "four five six"]
    assert texts("one two three four five six", 12) == ["one two", "three four", "five six"]


def test_a_word_longer_than_the_size_is_cut_between_characters_not_within_one():
    assert texts("abcdefgh", 3) == ["abc", "def", "gh"]
    assert texts("e\u0301" * 4, 3) == ["e\u0301"] * 4


def test_overlap_repeats_whole_sentences_as_near_as_they_come():
    text = "Aaaa. Bbbb. Cccc. Dddd. Eeee."
    assert texts(text, 17, 5) == ["Aaaa. Bbbb. Cccc.", "Cccc. Dddd. Eeee."]
    assert texts(text, 17, 11) == ["Aaaa. Bbbb. Cccc.", "Bbbb. Cccc. Dddd.", "Cccc. Dddd. Eeee."]
    assert texts(text, 17, 2) == ["Aaaa. Bbbb. Cccc.", "Dddd. Eeee."]  # a sentence of 5 is farther from 2 than none


def test_a_blank_text_has_no_chunk():
    assert chunk_spans("", 10) == chunk_spans(" \n\t ", 10) == []


@pytest.mark.parametrize(
    ("size", "overlap", "fault"),
    [
        (0, 0, "chunk size must be a whole number from 1, got 0"),
        (-5, 0, "chunk size must be a whole number from 1, got -5"),
        (2.5, 0, "chunk size must be a whole number from 1, got 2.5"),
        (True, 0, "chunk size must be a whole number from 1, got True"),
        (10, -1, "overlap must be a whole number from 0, got -1"),
        (10, 10, "overlap must be below the chunk size: 10 is not below 10"),
        (10, 11, "overlap must be below the chunk size: 11 is not below 10"),
    ],
)
def test_sizes_that_no_chunk_can_have_are_refused(size, overlap, fault):
    with pytest.raises(BadInput) as caught:
        chunk_spans(EN, size, overlap)
    assert list(caught.value.faults) == [fault]


HOSTILE = st.text(st.sampled_from("ab .!?\n\t\u2028\x85\x1c\0 \u202e\u0301\u200d👩🔬。я"), max_size=120)


@settings(max_examples=150, deadline=None)
@given(HOSTILE, st.integers(1, 40), st.integers(0, 39), st.sampled_from(["en", "ru", "zh", "<b>", ""]))
def test_whatever_the_text_nothing_is_lost_and_nothing_too_long(text, size, overlap, language):
    overlap = min(overlap, size - 1)
    spans = chunk_spans(text, size, overlap, language)
    covered = np.zeros(len(text), bool)
    for start, end in spans:
        assert 0 < end - start <= size
        assert text[start:end] == text[start:end].strip()
        covered[start:end] = True
    assert not [
        character for character, held in zip(text, covered, strict=True) if not held and not character.isspace()
    ]
    starts, ends = [a for a, _ in spans], [b for _, b in spans]
    assert starts == sorted(set(starts))
    assert ends == sorted(set(ends))


@settings(max_examples=100, deadline=None)
@given(HOSTILE, st.sampled_from(["en", "ru", "zh"]))
def test_spans_of_sentences_hold_every_character_once(text, language):
    spans = sentence_spans(text, language)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
