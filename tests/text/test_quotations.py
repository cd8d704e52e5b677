"""Quotations are found whatever their typesetting, and not where words or numbers are others."""

import pytest

from evalbench.text.quotations import locate_quotation, long_enough

TEXT = "The bridge fell on 3 March 1908."


@pytest.mark.parametrize(
    ("quotation", "how"),
    [
        ("“The bridge fell on 3 March 1908.”", "fuzzy"),
        ("fell on 3 March 1908", "exact"),
        ("The bridge … on 3 March 1908", "in parts"),
        ("The bridge fell [...] 3 March 1908", "in parts"),
        ("...fell on 3 March 1908. . . .", "exact"),
    ],
)
def test_found(quotation: str, how: str) -> None:
    place = locate_quotation(quotation, TEXT, 0.9)
    assert place is not None
    assert place.how == how


@pytest.mark.parametrize(
    "quotation",
    [
        "The bridge fell on 4 March 1908",
        "The bridge … never … on 3 March 1908",
        "on 3 March 1908 … The bridge fell",
        "…",
        "",
    ],
)
def test_not_found(quotation: str) -> None:
    assert locate_quotation(quotation, TEXT, 0.9) is None


def test_the_place_is_that_of_the_text_as_it_is() -> None:
    text = "“We — that is, ‘the firm’ — didn’t sell”, she said."
    place = locate_quotation("\"We - that is, 'the firm' - didn't sell\"", text, 0.9)
    assert place is not None
    assert text[place.start : place.end] == "“We — that is, ‘the firm’ — didn’t sell”"


def test_few_letters_prove_nothing_and_wide_ones_count_twice() -> None:
    assert not long_enough("bridge")
    assert not long_enough("... --- ...  !?")
    assert long_enough("桥在三月")
