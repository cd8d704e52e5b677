"""A judge's figure and its correction: one row, both bars, the number of labels, and the light of the one that it rests on."""

from dataclasses import replace

import pytest

from evalbench.core.result import Estimate
from evalbench.draw.verdict import headline_table

NAIVE = Estimate(
    metric="right",
    value=0.84,
    ci_low=0.83,
    ci_high=0.85,
    unit="0–1",
    n=500,
    light="unlit",
    group={"model": "<b>fern</b>"},
)
FIXED = replace(
    NAIVE, metric="right_corrected", value=0.76, ci_low=0.74, ci_high=0.77, light="yellow", corrects="right", n_labels=480,
    note="480 labels; the light rests on this figure",
)  # fmt: skip


def test_one_row_holds_both_figures_both_bars_and_the_labels():
    html = headline_table([NAIVE, FIXED], ["model"])
    assert html.count("<tr><td") == 1
    assert html.count('<svg class="eb-bar"') == 2
    for part in (
        "judge says",
        "→ corrected",
        "[0.830, 0.850]",
        "[0.740, 0.770]",
        "480 labels",
        "yellow",
        "&lt;b&gt;fern",
    ):
        assert part in html, part
    assert "unlit" not in html
    assert "right_corrected" not in html
    assert "the light rests on this figure" in html


def test_the_light_of_the_judges_figure_stays_where_the_correction_has_none():
    html = headline_table([replace(NAIVE, light="green"), replace(FIXED, light="unlit")], ["model"])
    assert "green" in html
    assert "unlit" not in html


def test_a_correction_without_a_value_has_its_reason():
    html = headline_table(
        [NAIVE, replace(FIXED, value=None, ci_low=None, ci_high=None, note="2 strata have no label")], ["model"]
    )
    assert "2 strata have no label" in html
    assert html.count('<svg class="eb-bar"') == 1


def test_a_correction_of_a_figure_that_is_not_there_is_a_row_of_its_own():
    assert "right_corrected" in headline_table([FIXED], ["model"])


def test_rows_of_other_figures_have_no_columns_of_corrections():
    assert not {"corrects", "n_labels"} & set(NAIVE.row())
    assert FIXED.row()["n_labels"] == pytest.approx(480)
