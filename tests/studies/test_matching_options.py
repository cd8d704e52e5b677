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
        "options out of range:",
        "  - context_threshold is -0.1; it lies between 0 and 1",
        "  - score_threshold is 7; it lies between 0 and 1",
        "  - ha_thresholds rule is 1.5; it lies between 0 and 1",
        "  - ha_thresholds score is 7; it lies between 0 and 1",
    ]
