"""Violation matching: options that no run can take."""

import pytest

from evalbench import load
from evalbench.errors import BadInput
from evalbench.studies import matching


def test_thresholds_lie_between_0_and_1():
    data = load("house_style_curated@1.0.0", study="matching")
    with pytest.raises(BadInput) as caught:
        matching.evaluate(data, score_threshold=7, context_threshold=-0.1, ha_thresholds={"rule": 1.5})
    assert str(caught.value).splitlines() == [
        "matching: invalid options:",
        "  - context_threshold must be between 0 and 1, got -0.1",
        "  - score_threshold must be between 0 and 1, got 7",
        "  - ha_thresholds rule must be between 0 and 1, got 1.5",
    ]


def test_all_options_that_cannot_be_taken_are_told_in_one_message():
    data = load("house_style_curated@1.0.0", study="matching")
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
        "  - ha_weights: unknown component 'tone'; there are text_overlap, rule_similarity, category_match, "
        "explanation_similarity, correction_similarity",
        "  - assignment must be one of greedy, optimal; got 'best'",
        "  - yellow_from and green_from must both be set and ascend, or neither; got 0.8 and 0.5",
    ]
