"""How far groups are apart, in words: the p-value where an interval without 0 shows no difference, the best less the worst."""

from __future__ import annotations

import math

import pytest

from evalbench.core.result import Estimate
from evalbench.kit.saying import Difference, best_less_worst, difference_of, points_ahead, standing

ROW = {"model_a": "oak", "model_b": "fern", "metric": "success", "unit": "0–1", "difference": 0.194}
APART = {"ci_low": 0.056, "ci_high": 0.333}


def est(value: float, model: str) -> Estimate:
    return Estimate(metric="success", value=value, unit="0–1", group={"model": model}, higher_is_better=True)


def row(outcome: str = "no difference shown", p: float | None = 0.0634, **ends: float) -> Difference:
    return difference_of({**ROW, **APART, "outcome": outcome, "p_holm": p, **ends}, "model")


@pytest.mark.parametrize(("p", "kept"), [(0.0634, 0.0634), (None, None), (math.nan, None)])
def test_a_difference_has_the_adjusted_p_of_its_row(p: float | None, kept: float | None) -> None:
    assert row(p=p).p == kept


def test_the_p_is_said_where_the_interval_alone_would_show_a_difference() -> None:
    assert points_ahead(row(), "oak") == "19.4 points [5.6, 33.3], p 0.063 after adjustment"
    assert points_ahead(row(), "fern") == "−19.4 points [−33.3, −5.6], p 0.063 after adjustment"
    said = standing([est(0.9, "oak"), est(0.7, "fern")], [row()])
    assert said == "Between oak and fern no difference in success is shown: 0.900 and 0.700, p 0.063 after adjustment"


@pytest.mark.parametrize(
    "own",
    [row("better", 0.012), row(ci_low=-0.02), row(p=None), row(ci_low=0.0)],
    ids=["shown", "0 within", "no p", "0 at its end"],
)
def test_else_there_is_no_p(own: Difference) -> None:
    assert "p 0" not in points_ahead(own, "oak")
    assert "adjustment" not in standing([est(0.9, "oak"), est(0.7, "fern")], [own])


def test_of_three_groups_the_best_less_the_worst() -> None:
    ordered = [est(0.9, "oak"), est(0.8, "elm"), est(0.7, "fern")]
    near = Difference("success", "oak", "elm", 0.1, "0–1", "", False, -0.1, 0.3, 0.4)
    assert best_less_worst(ordered, [near, row("better", 0.012)]) == "best less worst: 19.4 points [5.6, 33.3]"
    turned = Difference("success", "fern", "oak", -0.46, "0–1", "oak", True, -0.6, -0.3, 0.001)
    assert best_less_worst(ordered, [near, turned]) == "best less worst: 46 points [30, 60]"
    assert best_less_worst(ordered, [row()]).endswith("[5.6, 33.3], p 0.063 after adjustment")


def test_what_was_not_compared_is_not_put_into_words() -> None:
    ordered = [est(0.9, "oak"), est(0.8, "elm"), est(0.7, "fern")]
    assert not best_less_worst(ordered, [])
    assert not best_less_worst(ordered[::2], [row()])
    unknown = Difference("success", "oak", "fern", 0.2, "0–1", "", False)
    assert not best_less_worst(ordered, [unknown])
