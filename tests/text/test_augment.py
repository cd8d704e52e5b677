"""Properties of every augmentation, on texts of many scripts, with marks, emoji, halves of characters and nothing at all."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.text.augment import AUGMENTATIONS, Variant, augment, augmented, protected_spans
from evalbench.text.augment.keyboards import neighbours
from evalbench.text.augment.places import drawn
from evalbench.text.words import word_spans

ALPHABETS = (
    "abcdefgh xyz ABC",
    "абвгдеёжз ийкъьэюя АЁЩ",
    "我在北京市，工作。",
    "كيف حالك يا",
    "कषज्ञि न",
    "สวัสดี",
    "é\u0301\u0308\ufe0f\u200d\u200f\u202e",
    "👨‍👩‍👧❤️🇷🇺",
    "0123456789,.!?'-\n\t  ",
    "\ud83d\x00ßİǅ",
)
TEXTS = st.text(st.sampled_from("".join(ALPHABETS)), max_size=60) | st.text(max_size=20)
NAMES = st.sampled_from(sorted(AUGMENTATIONS))
RATES = st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 0.77, 1.0])
SEEDS = st.integers(0, 5)
LANGUAGES = st.sampled_from(["", "en", "ru", "zh"])
KEPT = ["numbers", "code", "urls"]
QUICK = settings(max_examples=150, deadline=None, derandomize=True)


def undone(original: str, variant: Variant) -> str:
    """The original out of the variant and the log."""
    out, at = [], 0
    for edit in variant.edits:
        out += [variant.text[at : edit.new_start], original[edit.start : edit.end]]
        at = edit.new_end
    return "".join([*out, variant.text[at:]])


def letters(text: str) -> int:
    return sum(unicodedata.category(c)[0] == "L" for c in text)


@QUICK
@given(TEXTS, NAMES, RATES, SEEDS, LANGUAGES)
def test_the_log_accounts_for_every_change(text, name, rate, seed, language):
    found = augment(text, name, rate=rate, seed=seed, item="a", language=language)
    done = new_done = 0
    for edit in found.edits:
        assert done <= edit.start <= edit.end <= len(text)
        assert new_done <= edit.new_start <= edit.new_end <= len(found.text)
        assert text[done : edit.start] == found.text[new_done : edit.new_start]
        assert text[edit.start : edit.end] != found.text[edit.new_start : edit.new_end]
        done, new_done = edit.end, edit.new_end
    assert undone(text, found) == text
    assert (not found.edits) == (found.text == text)
    if rate == 0:
        assert found == (text, ())


@QUICK
@given(st.lists(TEXTS, max_size=6), NAMES, RATES, SEEDS, st.randoms())
def test_an_item_depends_on_nothing_but_itself(texts, name, rate, seed, random):
    ids = [f"q{i}" for i in range(len(texts))]
    order = list(range(len(texts)))
    random.shuffle(order)
    found = augmented(texts, name, ids=ids, seed=seed, rate=rate)
    shuffled = augmented([texts[i] for i in order], name, ids=[ids[i] for i in order], seed=seed, rate=rate)
    for place, i in enumerate(order):
        alone = augment(texts[i], name, item=ids[i], seed=seed, rate=rate)
        assert alone == (found.texts[i], found.edits.of(i)) == (shuffled.texts[place], shuffled.edits.of(place))
    assert found.edits.counts(len(texts)).sum() == len(found.edits)


@QUICK
@given(TEXTS, st.sampled_from(["butter_finger", "word_swap", "human_level", "special_token"]), RATES, SEEDS)
def test_lengths_rates_and_characters(text, name, rate, seed):
    found = augment(text, name, rate=rate, seed=seed)
    n = len(found.edits)
    if name in ("butter_finger", "word_swap"):
        assert len(found.text) == len(text)
    if name == "butter_finger":
        assert n <= math.ceil(rate * letters(text))
        assert all(e.end - e.start == (2 if e.kind == "letters swapped" else 1) for e in found.edits)
        assert [c for c in found.text if not c.isalpha()] == [c for c in text if not c.isalpha()]
    if name == "word_swap":
        assert n <= math.ceil(rate * max(len(word_spans(text)) - 1, 0))
        assert Counter(found.text) == Counter(text)
    if name == "human_level":
        assert n <= math.ceil(rate * (letters(text) + text.count(" ")))
        added = sum(e.kind == "space added" for e in found.edits) - sum(e.kind == "space lost" for e in found.edits)
        assert len(found.text) == len(text) + added
    if name == "special_token":
        assert found.text.replace("-", "") == text.replace("-", "")
    with_marks = regex.compile(r"\p{L}\p{M}+")
    assert Counter(with_marks.findall(found.text)) == Counter(with_marks.findall(text))


@QUICK
@given(st.text(st.sampled_from("abcdefяблоко"), max_size=80), RATES, SEEDS)
def test_of_letters_with_keys_the_share_is_kept_to_within_one(text, rate, seed):
    found = augment(text, "butter_finger", rate=rate, seed=seed)
    assert math.floor(rate * len(text)) <= len(found.edits) <= math.ceil(rate * len(text))
    for edit in found.edits:
        assert found.text[edit.start] in neighbours()[text[edit.start]]


@QUICK
@given(
    st.lists(
        st.sampled_from(
            [
                "see",
                "`x = y`",
                "```\ncode 1\n```",
                "https://a.example/b?c=d",
                "me@b.example",
                "COVID-19",
                "12 000",
                "слово",
            ]
        ),
        max_size=8,
    ),
    NAMES,
    RATES,
    SEEDS,
    LANGUAGES,
)
def test_what_is_protected_stays(parts, name, rate, seed, language):
    text = " ".join(parts)
    found = augment(text, name, rate=rate, seed=seed, protect=KEPT, language=language)
    spans = protected_spans(text, KEPT)
    assert not [(e, s) for e in found.edits for s in spans if e.start < s[1] and s[0] < e.end]
    at = 0
    for a, b in spans:
        at = found.text.find(text[a:b], at) + b - a
        assert at >= b - a


def test_unprotected_numbers_and_addresses_are_changed():
    text = "see https://example.example/abcdef"
    assert augment(text, "butter_finger", rate=1.0).text[4:12] != text[4:12]
    assert augment(text, "butter_finger", rate=1.0, protect=["urls"]).text[4:] == text[4:]


def test_protected_spans():
    text = "a1 `b` ``c`d`` www.e.example, (mailto:f@g.example) 3,5 и 12\u00a0000 руб ~~~\nz"
    kept = [text[a:b] for a, b in protected_spans(text, KEPT)]
    assert kept == ["a1", "`b`", "``c`d``", "www.e.example", "mailto:f@g.example", "3,5", "12\u00a0000", "~~~\nz"]
    assert protected_spans(text, []) == []


@pytest.mark.parametrize("name", sorted(AUGMENTATIONS))
@pytest.mark.parametrize("text", ["", " ", "👨‍👩‍👧 ❤️ 🇷🇺", "...", "\ud83d", "42", "a"])
def test_what_offers_nothing_comes_back(name, text):
    if text == "a" and name in ("butter_finger", "human_level", "transliterate"):
        assert len(augment(text, name, rate=1.0).edits) == 1
    else:
        assert augment(text, name, rate=1.0) == (text, ())


def test_letters_without_a_key_are_swapped():
    text = "我在北京市工作"
    found = augment(text, "butter_finger", rate=1.0)
    assert sorted(found.text) == sorted(text)
    assert {e.kind for e in found.edits} == {"letters swapped"}
    for seed in range(20):  # beside a letter that has a key it stays
        assert augment("ßA", "butter_finger", rate=0.77, seed=seed).text[0] == "ß"
    assert augment("ааа\u0301", "butter_finger", rate=1.0).text[2:] == "а\u0301"


def test_each_kind_of_slip_happens():
    text = "the quick brown fox jumps over the lazy dog and runs away " * 60
    kinds = Counter(e.kind for e in augment(text, "human_level", rate=0.1).edits)
    assert set(kinds) == {
        "neighbouring key",
        "letters swapped",
        "words swapped",
        "space added",
        "space lost",
        "case changed",
    }


def test_places_are_drawn_evenly_and_as_often_as_said():
    keys = np.random.default_rng(0).integers(2**64, size=20_000, dtype=np.uint64)
    for n, rate in ((7, 0.1), (20, 0.1), (13, 0.3), (10, 0.77), (5, 1.0)):
        spots = drawn(np.full(len(keys), n), rate, keys)
        per_text = np.bincount(spots.item, minlength=len(keys))
        assert per_text.min() >= math.floor(rate * n)
        assert per_text.max() <= math.ceil(rate * n)
        assert len(np.unique(spots.item * n + spots.place)) == len(spots.item)
        assert per_text.mean() == pytest.approx(rate * n, rel=0.02)
        assert np.bincount(spots.place, minlength=n) / len(keys) == pytest.approx(rate, abs=0.2 * rate)


def test_all_faults_at_once():
    with pytest.raises(BadInput) as caught:
        augmented(["a", 3], "butter", ids=["x"], rate=2, protect=["words"], scheme="mine", languages=["en"])
    said = str(caught.value)
    for part in (
        "'butter' is not one of",
        "rate must be from 0 to 1",
        "'words' is not",
        "'mine' is not",
        "2 texts, but 1 ids",
        "entry 1 is not a text: 3",
    ):
        assert part in said
    with pytest.raises(BadInput, match="a list of names"):
        protected_spans("a", "urls")


def test_many_texts_are_taken_in_parts(monkeypatch):
    texts = [f"some words of text {i}" for i in range(25)]
    whole = augmented(texts, "human_level", ids=texts, rate=0.3)
    monkeypatch.setattr("evalbench.text.augment._AT_ONCE", 4)
    parts = augmented(texts, "human_level", ids=texts, rate=0.3)
    assert whole.texts == parts.texts
    assert [whole.edits.of(i) for i in range(25)] == [parts.edits.of(i) for i in range(25)]
