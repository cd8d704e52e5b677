"""Rounding, the headline table, the band."""

import pytest

from evalbench.core.result import Estimate
from evalbench.core.wording import aligned, rounded
from evalbench.draw.band import verdict_html
from evalbench.draw.verdict import headline_table


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ((0.70693, 0.6312, 0.7789), "0.71 [0.63, 0.78]"),
        ((0.70693, 0.70512, 0.70889), "0.7069 [0.7051, 0.7089]"),
        ((12345.6, 11000, 13500), "12\u202f300 [11\u202f000, 13\u202f500]"),
        ((-0.004, -0.3, 0.2), "0.00 [−0.30, 0.20]"),
        ((0.707,), "0.707"),
        ((0.0,), "0.00"),
        ((0.5, 0.5, 0.5), "0.500 [0.500, 0.500]"),
        ((None,), "–"),
        ((float("nan"),), "–"),
        ((1.0, 0.84, 1.0), "1.00 [0.84, 1.00]"),
    ],
)
def test_two_significant_digits_of_the_intervals_width(figures, expected):
    assert rounded(*figures) == expected


def test_neighbours_share_their_decimals():
    assert aligned([0.884, 0.82, None], [0.837, 0.76, None], [0.928, 0.88, None]) == [
        "0.88 [0.84, 0.93]",
        "0.82 [0.76, 0.88]",
        "–",
    ]
    # … unless the narrowest interval would vanish.
    assert aligned([0.5012, 0.5], [0.5004, 0.2], [0.5020, 0.8])[0] == "0.501 [0.500, 0.502]"


def rows(n_metrics=1, **changes):
    return [
        {
            "metric": f"m_{i}",
            "checker": c,
            "value": 0.5,
            "ci_low": 0.4,
            "ci_high": 0.6,
            "n": 9,
            "unit": "0–1",
            **changes,
        }
        for i in range(n_metrics)
        for c in ("a", "b")
    ]


def test_groups_of_a_metric_stand_under_its_name():
    out = headline_table(rows(2), ["checker"])
    assert out.count("eb-metric") == 2
    assert out.count("[0.40, 0.60]") == 4
    assert ">m_<wbr>0" in out


def test_estimates_are_taken_as_they_are():
    out = headline_table([Estimate(metric="f1", value=None, note="nothing was predicted", n=3)])
    assert 'title="nothing was predicted">–<' in out
    assert '<sup class="eb-mark">a</sup> nothing was predicted' in out
    assert '<th scope="col">metric</th>' in out


def test_equal_notes_share_a_letter():
    out = headline_table([*rows(1, note="thin"), *rows(2, note="<b>")[2:]], ["checker"])
    assert out.count('<li><sup class="eb-mark">') == 2
    assert "&lt;b&gt;" in out


def test_what_is_not_headline_is_folded_but_never_a_lit_one():
    many = rows(9)
    many[-1]["light"] = "red"
    out = headline_table(many, ["checker"])
    top, folded = out.split("<details")
    assert "4 more figures" in folded
    assert "red" in top
    assert ">m_<wbr>8" in top
    assert ">m_<wbr>5" in folded


@pytest.mark.parametrize(
    ("unit", "values", "expected"),
    [
        ("0–1", (0.0, 0.0, 1.0), 'cx="4.0"'),
        ("0–1", (1.0, 0.0, 1.0), 'cx="156.0"'),
        ("-1–1", (0.0, -0.5, 0.5), 'cx="80.0"'),
        ("words", (10.0, 0.0, 20.0), 'cx="80.0"'),
        ("pp", (0.0, -5.0, 5.0), 'cx="80.0"'),
        ("words", (0.0, None, None), 'cx="4.0"'),
    ],
)
def test_bars_are_drawn_on_the_units_scale(unit, values, expected):
    value, low, high = values
    assert expected in headline_table([{"metric": "m", "value": value, "ci_low": low, "ci_high": high, "unit": unit}])


def results(**changes):
    return {
        "light": "yellow", "sentence": "F1 0.71 [0.63, 0.78]", "summary": rows(), "by": ["checker"],
        "items": {"n": 18, "unscored": 0}, "light_stability": 0.874, "light_rule": "red: ≤ 0.4", "would_be_light": None,
        "data": {"name": "d", "version": "1", "sha256": "0", "synthetic": False}, **changes,
    }  # fmt: skip


def test_the_band_says_light_sentence_stability_and_rule():
    out = verdict_html(results())
    assert '<span class="eb-symbol" aria-hidden="true">▲</span><strong>Yellow</strong>' in out
    assert "87 % of resamples give the same light" in out
    assert "red: up to 0.4" in out
    assert "all 18 items could be scored" in out
    assert "SYNTHETIC" not in out


def test_the_band_says_what_could_not_be_scored_what_is_synthetic_and_what_the_light_would_be():
    data = {"name": "d", "version": "1", "sha256": "0", "synthetic": True}
    out = verdict_html(results(items={"n": 20, "unscored": 2}, data=data, light="grey", would_be_light="red"))
    assert "2 of 20 items could not be scored" in out
    assert "SYNTHETIC DATA" in out
    assert "not enough evidence to say" in out
    assert "on the figures alone it would be red (87 % of resamples)" in out
    assert "the same light" not in out


def grid(scorers, criteria, **fields):
    """Rows of one metric, the value rising with both places."""
    return [
        {"metric": "rho", "scorer": f"s{i}", "criterion": f"c{j}", "value": 0.1 * i - 0.05 * j, "unit": "−1–1",
         "higher_is_better": True, "light": "green", "n": 9, **fields}
        for i in range(scorers) for j in range(criteria)
    ]  # fmt: skip


def opened(out):
    return str(out).split("<details")[0]


def test_a_large_grid_opens_with_the_best_of_each_column_and_folds_the_whole():
    out = str(headline_table(grid(7, 2), ["scorer", "criterion"]))
    shown = opened(out)
    assert shown.count('<td class="w">s6</td>') == 2
    assert "s5" not in shown
    assert "the best scorer of each criterion" in shown
    assert "<summary>all 14 values of rho</summary>" in out
    assert out.split("<details")[1].count('<td class="w">c1</td>') == 7


def test_the_best_of_a_grid_is_the_lowest_where_less_is_better_and_never_one_without_a_value():
    lower = opened(headline_table(grid(7, 2, higher_is_better=False), ["scorer", "criterion"]))
    assert "s0" in lower
    assert "s6" not in lower
    gone = grid(7, 2)
    for row in gone:
        if row["scorer"] == "s6" or row["criterion"] == "c1":
            row |= {"value": None, "note": "constant"}
    shown = opened(headline_table(gone, ["scorer", "criterion"]))
    assert '<td class="w">s5</td><td class="w">c0</td>' in shown
    assert '<td class="w">none</td><td class="w">c1</td>' in shown
    assert shown.count("constant") == 2, "the reason why stands at the dash and below the table"


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (grid(6, 2), "few rows"),
        (grid(14, 1), "one column alone varies: its groups are what is compared"),
        (grid(7, 2, higher_is_better=None), "nothing is best"),
    ],
)
def test_other_groups_all_stand_open(rows, why):
    out = headline_table(rows, ["scorer", "criterion"])
    assert "<details" not in out, why
    assert out.count("<tr><td") == len(rows)


def test_a_grid_and_further_figures_are_folded_together():
    rest = [{"metric": f"m{k}", "scorer": "s0", "criterion": "c0", "value": 0.5, "n": 3} for k in range(8)]
    out = str(headline_table([*grid(7, 2), *rest], ["scorer", "criterion"]))
    assert "<summary>all 14 values of rho and 5 more figures</summary>" in out
    assert "m2" in opened(out)
    assert "m3" not in opened(out)


@pytest.mark.parametrize(
    ("light", "would_be", "stability", "said"),
    [
        ("green", None, 0.5, "50 % of resamples give the same light"),
        ("grey", "grey", 0.5, "50 % of resamples give the same light"),
        ("grey", "green", 0.5, "grey for lack of evidence; on the figures alone it would be green (50 % of resamples)"),
        ("grey", "green", None, "grey for lack of evidence; on the figures alone it would be green"),
    ],
)
def test_the_share_of_resamples_is_that_of_the_light_that_it_names(light, would_be, stability, said):
    out = verdict_html(results(light=light, would_be_light=would_be, light_stability=stability))
    assert f"<li>{said}</li>" in out


def test_without_resamples_there_is_no_share():
    assert "resamples" not in verdict_html(results(light_stability=None))


def test_the_sentence_is_escaped():
    assert "<script>" not in verdict_html(results(sentence="<script>", light_rule="<script>"))


def test_the_band_does_not_say_that_all_could_be_scored_where_a_figure_lacks_some():
    out = verdict_html(results(summary=[{**row, "n_unscored": 3} for row in rows()]))
    assert "all 18 items have a score, though not of every figure" in out
    assert "could be scored" not in out
