"""A million short strings mistyped, a seed for each: seconds, memory, and other libraries as peers on the same edit."""

from __future__ import annotations

import random

import numpy as np
import pytest
from benchmark_table import against, at_most
from peak_memory import peak_bytes
from rapidfuzz.distance import Levenshtein
from timing import Race, alone, least, race

from evalbench.text.augment import augmented
from evalbench.text.augment.keyboards import neighbours

pytestmark = pytest.mark.benchmark

STRINGS, LENGTH, FEW, RATE = 1_000_000, 20, 20_000, 0.1
SECONDS, BYTES, TIMES_PLAIN, TIMES_AUGMENTEX, TIMES_NLPAUG = 6, 1e9, 3, 3, 8


def strings(n: int) -> tuple[list[str], list[str]]:
    """Texts of English letters and blanks, and ids."""
    letters = np.array(list("eeetaoinshrdlucmfwypvbgkjqxz    "))
    drawn = letters[np.random.default_rng(1).integers(len(letters), size=(n, LENGTH))]
    return ["".join(row) for row in drawn], [f"item {i}" for i in range(n)]


def million() -> list[float]:
    """Processor seconds and peak bytes; the same edits whatever the order."""
    texts, ids = strings(STRINGS)
    took = least(lambda: augmented(texts, "butter_finger", ids=ids, rate=RATE), SECONDS)
    found = augmented(texts, "butter_finger", ids=ids, rate=RATE)
    letters = sum(len(text) - text.count(" ") for text in texts)
    assert abs(len(found.edits) / letters - RATE) < 0.001
    assert augmented(texts[-9:], "butter_finger", ids=ids[-9:], rate=RATE).texts == found.texts[-9:]
    return [took, peak_bytes()]


def test_a_million_strings(record):
    took, peak = alone(million)
    record(at_most(f"butter_finger, {STRINGS} strings of {LENGTH} characters, a seed each", took, SECONDS, "s"))
    record(at_most("peak memory of that, strings included", peak, BYTES, "B"))


def against_a_loop(peer: str, goal: float) -> Race:
    """The peer takes its strings one by one; its time for few is taken times as many as there are."""
    texts, ids = strings(FEW)
    change = {"loop": plain, "augmentex": augmentex, "nlpaug": nlpaug}[peer]()

    def theirs(_: int) -> None:
        for text, item in zip(texts, ids, strict=True):
            change(text, item)

    changed = [change(text, item) for text, item in zip(texts[:2000], ids, strict=False)]
    edits = sum(
        Levenshtein.distance(" ".join(text.split()), " ".join(new.split()))
        for text, new in zip(texts, changed, strict=False)
    )
    letters = sum(len(text) - text.count(" ") for text in texts[:2000])
    assert 0.6 * RATE < edits / letters < 1.6 * RATE, edits / letters
    return race(lambda _: augmented(texts, "butter_finger", ids=ids, rate=RATE), theirs, goal)


def plain():
    """The edit written down as one would: a generator for each item."""
    near = neighbours()

    def change(text: str, item: str) -> str:
        drawn = random.Random(item)
        return "".join(drawn.choice(near[c]) if c in near and drawn.random() < RATE else c for c in text)

    return change


def augmentex():
    from augmentex import CharAug

    peer = CharAug(unit_prob=RATE, min_aug=1, max_aug=LENGTH, lang="eng", platform="pc")
    return lambda text, _: peer.augment(text, action="typo")


def nlpaug():
    from nlpaug.augmenter.char import KeyboardAug

    peer = KeyboardAug(
        aug_char_p=RATE, aug_word_p=0.4, include_special_char=False, include_numeric=False, include_upper_case=False
    )
    return lambda text, _: (peer.augment(text) or [text])[0]


def test_faster_than_a_loop(record):
    took = Race(*alone(against_a_loop, "loop", TIMES_PLAIN))
    record(against(f"butter_finger, {FEW} strings", took, "a loop with random.Random", TIMES_PLAIN))


@pytest.mark.parametrize(("peer", "goal"), [("augmentex", TIMES_AUGMENTEX), ("nlpaug", TIMES_NLPAUG)])
def test_faster_than_other_libraries(record, peer, goal):
    pytest.importorskip(peer, reason=f"peer not importable: {peer}")
    took = Race(*alone(against_a_loop, peer, goal))
    record(against(f"butter_finger, {FEW} strings", took, peer, goal))
