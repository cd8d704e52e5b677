"""Probes of a judge by hand, at their edges, and in simulation."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.core.bounded import bounded_mean, finding
from evalbench.core.leanings import length_bias, length_within
from evalbench.core.probes import (
    equal_repeats,
    first_slot,
    inconsistent,
    null_answer,
    position,
    raised,
    self_consistency,
)
from evalbench.core.stats import Measured

nan = np.nan
FEW = {"n_resamples": 200}


def test_a_mean_is_what_it_is_whatever_the_order_and_the_units() -> None:
    g = np.random.default_rng(0)
    values, units = g.random(300), g.integers(0, 60, 300)
    found = bounded_mean(values, units=units, **FEW)
    assert found.value == pytest.approx(values.mean())
    assert found.n == 300
    assert found.method.startswith("clustered")
    order = g.permutation(300)
    assert bounded_mean(values[order], units=units[order], **FEW) == found
    assert bounded_mean(np.append(values, nan), units=np.append(units, 99), **FEW) == found
    wider = bounded_mean(np.repeat(values[:30], 10), units=np.repeat(np.arange(30), 10), **FEW)
    assert wider.ci_high - wider.ci_low > 2 * (found.ci_high - found.ci_low)


def test_nothing_is_not_a_mean_and_one_unit_has_no_interval() -> None:
    assert bounded_mean([nan, nan]).value is None
    assert bounded_mean([]).note == "no verdict"
    assert bounded_mean([1.0, 0.0], units=["a", "a"]).ci_low is None
    with pytest.raises(ValueError, match="not between"):
        bounded_mean([1.5])
    with pytest.raises(ValueError, match="unit"):
        bounded_mean([1.0, 0.0], units=["a"])


@pytest.mark.parametrize(("value", "low", "high"), [(0.5, 0.0, 1.0), (0.0, -1.0, 1.0), (1.0, 0.0, 1.0)])
def test_where_all_agree_the_interval_has_a_width(value: float, low: float, high: float) -> None:
    units = np.repeat(np.arange(50), 2)
    found = bounded_mean(np.full(100, value), units=units, low=low, high=high, **FEW)
    assert found.ci_low < found.ci_high
    assert low <= found.ci_low <= value <= found.ci_high <= high
    narrower = bounded_mean(np.full(1000, value), units=np.repeat(np.arange(500), 2), low=low, high=high, **FEW)
    assert narrower.ci_high - narrower.ci_low < found.ci_high - found.ci_low


def test_the_place_by_hand() -> None:
    ab, ba = [1, 1, 0, 0.5, 1, nan], [1, 0, 1, 0.5, 0.5, 1]
    assert first_slot(ab, ba).tolist()[:5] == [0.5, 1, 0, 0.5, 0.75]
    assert inconsistent(ab, ba).tolist()[:5] == [0, 1, 1, 0, 1]
    found = position(ab, ba, **FEW)
    assert (found.first.value, found.first.n) == (pytest.approx(2.75 / 5), 5)
    assert found.inconsistent.value == pytest.approx(3 / 5)
    with pytest.raises(ValueError, match="shapes"):
        position([1, 0], [1])


def test_a_judge_at_random_is_inconsistent_and_likes_no_place() -> None:
    g = np.random.default_rng(1)
    found = position(g.integers(0, 2, 600), g.integers(0, 2, 600))
    assert finding(found.first, 0.45, 0.55) == "not found"
    assert found.inconsistent.ci_low > 0.4


def test_repeats_by_hand() -> None:
    assert equal_repeats([[2, 2, 2], [2, 1, 0], [2, nan, 1], [nan, nan, 1]]).tolist()[:3] == [1, 0, 0]
    found = self_consistency([[1, 1], [1, 0], [nan, 1]], **FEW)
    assert (found.equal.value, found.equal.n) == (0.5, 2)
    assert found.spread.value == pytest.approx(np.std([1, 0], ddof=1) / 2)
    assert self_consistency(np.empty((0, 2))).equal.value is None
    with pytest.raises(ValueError, match="repeats"):
        equal_repeats([1, 0])


def test_length_is_seen_only_beyond_what_people_say() -> None:
    g = np.random.default_rng(2)
    human = g.integers(0, 2, 300).astype(float)
    length = 100 + 50 * human + g.normal(0, 40, 300)
    fair = length_bias(np.where(g.random(300) < 0.1, 1 - human, human), length, human, **FEW)
    assert finding(fair.plain, -1, 0.1) == "found"
    assert finding(fair.partial, -1, 0.2) == "not found"
    assert fair.difference.ci_low > 0
    ruler = length_bias((length > np.median(length)).astype(float), length, human, **FEW)
    assert finding(ruler.partial, -1, 0.2) == "found"
    assert ruler.difference.ci_low < 0.05


def test_length_of_pairs() -> None:
    human = np.array([1, 1, 0, 0, 0.5, nan])
    ahead = np.array([5, -3, -2, 0, 4, 4])
    found = length_bias([1, 0.5, 0, 1, 1, 1], ahead, human, pairs=True, **FEW)
    assert found.judge.value == pytest.approx((1 + 0.5 + 1 + 0) / 4)
    assert found.yardstick.value == pytest.approx((1 + 0 + 1 + 0.5) / 4)
    assert found.difference.value == pytest.approx(found.judge.value - found.yardstick.value)
    without = length_bias([1, 0.5, 0, 1, 1, 1], ahead, **FEW)
    assert without.partial.value is None
    assert without.plain.value is not None
    assert without.partial.note == "no human labels"


def test_length_within_models_is_not_that_of_better_models_that_write_more() -> None:
    g = np.random.default_rng(5)
    better = np.repeat([0.0, 1.0], 100)
    mark, length = better + g.normal(0, 0.3, 200), 500 * better + g.normal(0, 50, 200)
    questions = np.tile(np.arange(100), 2)
    found = length_within(mark, length, better, units=questions, n_resamples=100)
    assert found.mean.n == 2
    assert found.low <= found.mean.value <= found.high
    assert found.mean.ci_low < 0 < found.mean.ci_high
    assert length_bias(mark, length, units=questions, **FEW).plain.ci_low > 0.5
    order = g.permutation(200)
    assert length_within(mark[order], length[order], better[order], units=questions[order], n_resamples=100) == found
    assert length_within(np.ones(4), np.arange(4), list("aabb")).mean.value is None
    with pytest.raises(ValueError, match="a group and a unit"):
        length_within([1.0], [1.0], ["a", "b"])


def test_praise_and_nothing() -> None:
    assert raised([0, 1, nan], [1, 1, 1], **FEW).value == 0.5
    assert raised([2, 2], [2, 2], span=2.0, **FEW).ci_high > 0
    assert null_answer([0.2] * 4, above=0.3, **FEW).gameable is False
    assert null_answer([0.2] * 400, **FEW).gameable is True
    assert null_answer([1.0]).gameable is None
    assert null_answer([nan]).rate.value is None


@pytest.mark.parametrize(
    ("low", "high", "said"), [(0.2, 0.4, "found"), (0.46, 0.54, "not found"), (0.4, 0.6, "unclear")]
)
def test_what_an_interval_says(low: float, high: float, said: str) -> None:
    assert finding(Measured((low + high) / 2, low, high), 0.45, 0.55) == said


@pytest.mark.slow
@pytest.mark.parametrize(("waver", "n"), [(0.02, 100), (0.2, 100), (0.2, 400), (0.5, 50)])
def test_the_interval_of_the_first_slot_covers(waver: float, n: int) -> None:
    """A judge that likes no place, and wavers on this share of the pairs."""
    g = np.random.default_rng(4)
    hits = 0
    for _ in range(300):
        ab = g.integers(0, 2, n).astype(float)
        ba = np.where(g.random(n) < waver, 1 - ab, ab)
        found = position(ab, ba, n_resamples=400).first
        hits += found.ci_low <= 0.5 <= found.ci_high
    assert hits / 300 >= 0.92
