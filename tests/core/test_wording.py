"""Numbers in words: digits that tell a value from its thresholds, one rounding for sentence and table, no negative zero."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalbench.core.measures import estimate, mean_of
from evalbench.core.result import Estimate
from evalbench.core.verdict import Bands
from evalbench.core.wording import (
    aligned,
    difference_parts,
    estimate_text,
    percent,
    rounded,
    rounded_parts,
    share_text,
    value_text,
)
from evalbench.draw.verdict import headline_table

UNIT = st.floats(0, 1)


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("\u202f", "").rstrip("%"))


def side(x: float, cut: float) -> int:
    return 0 if abs(x - cut) <= 1e-9 else int(np.sign(x - cut))


class TestAValueBesideItsLight:
    @given(value=UNIT, width=st.floats(0.001, 1), cut=st.integers(0, 20).map(lambda i: i / 20))
    @example(value=0.39984, width=0.2, cut=0.4)
    @example(value=0.4, width=0.2, cut=0.4)
    @example(value=0.40000004, width=0.2, cut=0.4)
    def test_reads_as_on_the_side_of_the_threshold_that_it_is_on(self, value, width, cut):
        shown = rounded_parts(value, value - width / 2, value + width / 2, cuts=[cut])[0]
        assert side(number(shown), cut) == side(value, cut)

    def test_has_no_more_digits_than_that_takes(self):
        assert rounded(0.41, 0.31, 0.51, cuts=[0.4, 0.7]) == "0.41 [0.31, 0.51]"
        assert rounded(0.39984, 0.31, 0.51, cuts=[0.4, 0.7]) == "0.3998 [0.31, 0.51]"
        assert rounded(0.4004, 0.31, 0.51, cuts=[0.4, 0.7]) == "0.4004 [0.31, 0.51]"

    def test_carries_its_thresholds_from_the_figure_to_the_page(self):
        bands = Bands.cut("red", 0.4, "yellow", 0.7, "green")
        scores = np.r_[np.full(30, 0.39984 + 0.1), np.full(30, 0.39984 - 0.1)]
        found = estimate({"score": scores}, [mean_of("score", bands=bands)], units=range(60), seed=0).estimates[0]
        assert found.cuts == (0.4, 0.7)
        assert found.light == "red"
        assert found.row()["cuts"] == [0.4, 0.7]
        assert value_text(found) == "0.3998"
        assert '<td class="n eb-value">0.3998' in headline_table([found])

    def test_a_mean_that_reaches_the_threshold_but_for_floating_point_reads_as_reaching_it(self):
        assert rounded(0.8 - 1e-12, 0.7, 0.9, cuts=[0.8]) == "0.80 [0.70, 0.90]"

    def test_a_share_of_unscored_items_too(self):
        assert percent(0.0517, [0.05]) == "5.2%"
        assert percent(0.05, [0.05]) == "5%"
        assert percent(0.025, [0.025]) == "2.5%"
        assert percent(0.2, [0.05]) == "20%"


class TestOneRounding:
    passed = {"metric": "passed", "value": 0.215, "ci_low": 0.14, "ci_high": 0.31, "unit": "0–1"}

    def test_a_share_in_percent_is_the_rounded_figure_of_the_table(self):
        assert estimate_text(self.passed) == "0.21 [0.14, 0.31]"
        assert share_text(self.passed) == "21%"

    @given(value=UNIT, width=st.floats(0.002, 0.9))
    def test_any_share_is(self, value, width):
        row = {**self.passed, "value": value, "ci_low": value - width / 2, "ci_high": value + width / 2}
        assert number(share_text(row)) == pytest.approx(100 * number(value_text(row)), abs=1e-9)

    def test_rows_of_a_metric_share_their_decimals_in_every_place(self):
        wide = Estimate(metric="final", value=0.512, ci_low=0.312, ci_high=0.712, group={"model": "a"})
        narrow = Estimate(metric="final", value=0.6123, ci_low=0.6101, ci_high=0.6145, group={"model": "b"})
        other = Estimate(metric="words", value=123.4, ci_low=100.0, ci_high=150.0, group={"model": "a"})
        rows = [wide, narrow, other]
        assert [estimate_text(r, rows) for r in rows] == [
            "0.512 [0.312, 0.712]",
            "0.612 [0.610, 0.615]",
            "123 [100, 150]",
        ]
        table = headline_table(rows, ["model"])
        for row in rows:
            value, _, interval = estimate_text(row, rows).partition(" ")
            assert f'<td class="n eb-value">{value}</td>' in table
            assert f'<td class="n eb-interval">{interval}</td>' in table


class TestZero:
    @given(value=st.floats(-1, 1), low=st.floats(-1, 1), high=st.floats(-1, 1), difference=st.booleans())
    @example(value=-0.0, low=-0.0, high=0.1, difference=False)
    @example(value=-1e-17, low=-1e-17, high=0.1, difference=True)
    def test_is_never_negative(self, value, low, high, difference):
        low, high = min(low, high), max(low, high)
        for text in (rounded(value, low, high), *rounded_parts(value, low, high, difference=difference),
                     *difference_parts(value, low, high), *aligned([value], [low], [high])):  # fmt: skip
            assert not re.search(r"[-−]0(\.0*)?(?![\d.])", text), text

    @given(value=st.floats(-1, 1), low=st.floats(-1, 1), high=st.floats(-1, 1))
    def test_is_not_said_of_an_end_beside_it(self, value, low, high):
        low, high = min(low, high), max(low, high)
        ends = difference_parts(value, low, high)[1].strip("[]").split(", ")
        assert [side(number(end), 0) for end in ends] == [side(end, 0) for end in (low, high)]
