"""Quotations found in their texts: as well as by a search of every window, and without one where that would take long."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from generated import one_in_twenty
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from evalbench.text import locate as module
from evalbench.text.locate import locate

LETTERS = "etaoinshrdlu"
VOCABULARY = random.Random(1)
WORDS = ["".join(VOCABULARY.choices(LETTERS, k=VOCABULARY.randint(2, 9))) for _ in range(2000)]
HAN = [chr(0x4E00 + i) for i in range(700)]


def prose(dice: random.Random, size: int) -> str:
    return " ".join(dice.choices(WORDS, k=size // 3))[:size]


def repeated(dice: random.Random, size: int) -> str:
    """One paragraph again and again, now and then with another letter."""
    paragraph = prose(dice, 300)
    return " ".join(edited(dice, paragraph, 0.02) for _ in range(size // 300 + 1))[:size]


def chinese(dice: random.Random, size: int) -> str:
    return "".join(dice.choices(HAN, k=size))


def two_letters(dice: random.Random, size: int) -> str:
    return "".join(dice.choices("ab ", k=size))


TEXTS = (prose, repeated, chinese, two_letters)


def edited(dice: random.Random, text: str, share: float) -> str:
    """Characters left out, put in and replaced, at random places."""
    out = []
    for character in text:
        kind = dice.random() / share if share else 1
        if kind >= 1 / 3:
            out.append(character if kind >= 2 / 3 else dice.choice(LETTERS))
        if 2 / 3 <= kind < 1:
            out.append(dice.choice(LETTERS))
    return "".join(out)


def every_window(context: str, text: str, threshold: float) -> float | None:
    """The score of the search that this one took the place of: the best window of the context's length."""
    best = fuzz.partial_ratio_alignment(context, text, score_cutoff=threshold * 100)
    return best.score / 100 if best and best.dest_start < best.dest_end else None


def changed_quotations(seed: int, sizes: tuple[int, ...], lengths: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    dice = random.Random(seed)
    for write in TEXTS:
        for length in lengths:
            text = write(dice, dice.choice(sizes))
            start = dice.randint(0, len(text) - length)
            context = edited(dice, text[start : start + length], 0.2 * dice.random())
            if context.strip() and len(context) <= len(text):
                yield context, text


def check_against_every_window(context: str, text: str) -> None:
    for threshold in (0.5, 0.8):
        expected, found = every_window(context, text, threshold), locate(context, text, threshold)
        if expected is not None:
            assert found is not None
            assert found.score >= expected - 1e-12
        if found is not None:
            passage = text[found.start : found.end]
            if found.how == "white space":
                assert "".join(passage.split()) == "".join(context.split())
            else:
                assert found.score == pytest.approx(Indel.normalized_similarity(context, passage))


@pytest.mark.generated
@pytest.mark.parametrize("seed", one_in_twenty(range(60)))
def test_short_quotations_score_no_worse_than_the_best_window(seed: int) -> None:
    for context, text in changed_quotations(seed, (500, 2500), (8, 20, 60, 130, 400)):
        check_against_every_window(context, text)


@pytest.mark.generated
@pytest.mark.parametrize("seed", one_in_twenty(range(60)))
def test_n_grams_find_what_a_search_of_every_window_finds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXHAUSTIVE", 0)
    for context, text in changed_quotations(seed, (3000, 8000), (150, 400, 1100)):
        check_against_every_window(context, text)


@pytest.mark.parametrize("share", [0.2, -0.2])
def test_a_passage_that_lost_or_won_a_fifth_is_found_from_end_to_end(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXHAUSTIVE", 0)
    dice = random.Random(3)
    passage = prose(dice, 2000)
    kept = "".join(c for c in passage if dice.random() > abs(share))
    context, there = (kept, passage) if share < 0 else (passage, kept)
    text = prose(dice, 9000) + "||" + there + "||" + prose(dice, 9000)
    found = locate(context, text)
    assert found is not None
    assert abs(found.start - 9002) < 20
    assert abs(found.end - 9002 - len(there)) < 20


@pytest.mark.parametrize("write", TEXTS)
def test_what_is_not_there_is_not_found(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXHAUSTIVE", 0)
    dice = random.Random(4)
    assert locate("".join(chr(0x3B1 + dice.randrange(20)) for _ in range(500)), write(dice, 5000)) is None
    assert locate(prose(dice, 500), write(dice, 5000), 0.9) is None


def test_a_very_long_quotation_is_found_by_its_head_and_tail() -> None:
    dice = random.Random(5)
    text = prose(dice, 120_000)
    context = edited(dice, text[30_000:75_000], 0.05)
    found = locate(context, text)
    assert found is not None
    assert abs(found.start - 30_000) < 20
    assert abs(found.end - 75_000) < 20
    assert found.score == pytest.approx(Indel.normalized_similarity(context, text[found.start : found.end]))
    assert locate(prose(dice, 45_000), text) is None
    assert locate(context[:20_000] + prose(dice, 25_000), text) is None


def test_texts_without_anything_in_common_or_shorter_than_a_quotation() -> None:
    assert locate("abc", "") is None
    assert locate(" ", "abc") is None
    assert locate("xyz", "abc") is None
    assert locate("xyz", "abc", 0.0) is None
    assert locate("a longer quotation", "longer", 0.9) is None
    assert locate("a longer quotation", "longer quotation", 0.9).score == pytest.approx(32 / 34)


def test_half_characters_and_astral_ones_are_characters_like_others() -> None:
    text = "🙂🙃" * 30 + "\ud800 the end"
    assert locate("🙂🙃x🙂🙃", text).score == pytest.approx(8 / 9)
