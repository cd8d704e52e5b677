"""How long it takes to find a quotation, or that it is not there: the longest of the cases that were slow."""

from __future__ import annotations

import random

import pytest
from benchmark_table import at_most
from timing import alone, least

from evalbench.text.locate import locate

pytestmark = pytest.mark.benchmark

MOST_SECONDS = 0.5
SENTENCE = "The cat sat on the mat and looked at nothing. "


def prose(dice, size):
    """Words of a vocabulary of 3 000."""
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(2, 9))) for _ in range(3000)]
    return " ".join(dice.choices(words, k=size // 3))[:size]


def edited(dice, text, share=0.1):
    """A tenth of the characters replaced."""
    return "".join(dice.choice("etaoin") if dice.random() < share else c for c in text)


def slowest(quotation, text):
    """Seconds of processor time of the slowest case, and its name."""
    dice = random.Random(0)
    written, repeated = prose(dice, text), (SENTENCE * text)[:text]
    start = text // 2
    cases = {
        "changed": (edited(dice, written[start : start + quotation]), written),
        "absent": (prose(dice, quotation), written),
        "in another script": ("".join(dice.choices("αβγδεζη ", k=quotation)), written),
        "changed, in a text that repeats itself": (edited(dice, repeated[:quotation]), repeated),
        "absent from a text that repeats itself": (prose(dice, quotation), repeated),
        "repeats itself, absent": (repeated[:quotation], written),
        "one letter": ("a" * (quotation - 1) + "b", "a" * text),
    }
    took = {name: least(lambda c=c, t=t: locate(c, t), MOST_SECONDS) for name, (c, t) in cases.items()}
    worst = max(took, key=took.__getitem__)
    return took[worst], worst


@pytest.mark.parametrize(
    ("quotation", "text"), [(10_000, 100_000), (300, 1_000_000), (1500, 1_000_000), (10_000, 1_000_000)]
)
def test_a_quotation_is_found_or_missed_in_half_a_second(quotation, text, record):
    took, case = alone(slowest, quotation, text)
    record(at_most(f"{quotation} characters in {text}, {case}", took, MOST_SECONDS, "s"))
