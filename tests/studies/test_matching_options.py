"""Violation matching: options that no run can take."""

import pandas as pd
import pytest

from evalbench import load
from evalbench.errors import BadInput
from evalbench.studies import matching
from tests.helpers.lights import of_figures


def test_thresholds_lie_between_0_and_1():
    data = load("house_style_curated@1.1.0", study="matching")
    with pytest.raises(BadInput) as caught:
        matching.evaluate(data, score_threshold=7, context_threshold=-0.1, ha_thresholds={"rule": 1.5})
    assert str(caught.value).splitlines() == [
        "matching: invalid options:",
        "  - context_threshold must be between 0 and 1, got -0.1",
        "  - score_threshold must be between 0 and 1, got 7",
        "  - ha_thresholds rule must be between 0 and 1, got 1.5",
    ]


def test_all_options_that_cannot_be_taken_are_told_in_one_message():
    data = load("house_style_curated@1.1.0", study="matching")
    with pytest.raises(BadInput) as caught:
        matching.evaluate(
            data, overlap_threshold=7, ha_thresholds={"rul": 0.1, "rule": "low"}, std_weights={"text_overlap": 0.5},
            ha_weights={"tone": 1}, assignment="best", light_on="f1", yellow_from=0.8, green_from=0.5,
        )  # fmt: skip
    assert str(caught.value).splitlines() == [
        "matching: invalid options:",
        "  - overlap_threshold must be between 0 and 1, got 7",
        "  - ha_thresholds must be one of overlap, rule, score; got 'rul'",
        "  - ha_thresholds rule must be between 0 and 1, got 'low'",
        "  - std_weights must sum to 1, got 0.5",
        "  - ha_weights: component must be one of text_overlap, rule_similarity, category_match, "
        "explanation_similarity, correction_similarity; got 'tone'",
        "  - assignment must be one of greedy, optimal; got 'best'",
        "  - green_from must be above yellow_from, got 0.5 and 0.8",
    ]


ITEMS = pd.DataFrame(
    {"id": list("abcd"), "model": "c@1|m", "n_truth": 1, "n_predicted": 1, "unscored": "", "undefined": ""}
)
COUNTS = [column.removeprefix("#") for measure in matching.measures() for column in measure.sums]


def lit(tp, **options):
    """The verdict where so many of four violations are found and the other predictions are wrong."""
    found = (ITEMS.index < tp).astype(int)
    zeros = dict.fromkeys(COUNTS, 0)
    items = ITEMS.assign(**zeros).assign(tp=found, fp=1 - found, fn=1 - found)
    return matching.summarise(items, n_resamples=50, floor=0, **options).verdict


def test_a_value_at_its_own_threshold_takes_the_better_light():
    assert of_figures(lit(2, yellow_from=0.5, green_from=0.75)) == "yellow"
    assert of_figures(lit(3, yellow_from=0.5, green_from=0.75)) == "green"
    assert of_figures(lit(1, yellow_from=0.5, green_from=0.75)) == "red"


def test_several_figures_have_a_light_and_the_worst_decides():
    lights = {"recall": {"green_from": 0.5, "yellow_from": 0.2}, "fp": {"green_to": 0, "yellow_to": 1}}
    verdict = lit(2, yellow_from=0.1, green_from=0.2, lights=lights)
    assert (of_figures(verdict), verdict.decided_by) == ("red", {"metric": "fp", "model": "c@1|m"})
    assert of_figures(lit(3, lights=lights)) == "yellow"
    assert of_figures(lit(4, lights=lights)) == "green"
    assert of_figures(lit(4)) == "unlit"


def test_thresholds_beyond_a_figure_and_of_unknown_figures_are_refused():
    with pytest.raises(BadInput) as caught:
        lit(
            1, light_on="match_score", green_from=70, yellow_from=0.5,
            lights={"recall": {"green_from": 0.9}, "fp": {"green_to": -1, "yellow_to": 3}, "tone": {}},
        )  # fmt: skip
    assert str(caught.value).splitlines()[:4] == [
        "matching: invalid options:",
        "  - green_from must be between 0 and 1, got 70",
        "  - lights: recall: green_from and yellow_from are set together or not at all; got green_from alone",
        "  - lights: fp: green_to must be at least 0, got -1",
    ]
    assert "lights must be one of f1, match_score, precision" in str(caught.value)
    with pytest.raises(BadInput, match="lights: f1 has its thresholds in green_from and yellow_from"):
        lit(1, green_from=0.5, yellow_from=0.1, lights={"f1": {"green_from": 0.5, "yellow_from": 0.1}})
