"""Planning: the worked figures, statsmodels, and power that simulation confirms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from statsmodels.stats.power import NormalIndPower

from evalbench.core.planning import (
    equivalent,
    least_p,
    power_of_difference,
    smallest_difference,
    units_for_correlation,
    units_for_difference,
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smallest_difference(-1), "not be negative"),
        (lambda: smallest_difference(float("nan")), "not be negative"),
        (lambda: smallest_difference(1, power=1), "between 0 and 1"),
        (lambda: units_for_difference(0, 1), "cannot plan for a difference of 0"),
        (lambda: units_for_correlation(0.4), "two different correlations"),
        (lambda: units_for_correlation(1.0), "two different correlations"),
        (lambda: power_of_difference(1, 0), "must be positive"),
        (lambda: equivalent(0, 1, 0), "a margin must be positive"),
        (lambda: equivalent(0, 1, float("inf")), "a margin must be positive"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("r", "n"), [(0.5, 500), (0.6, 111), (0.7, 43), (0.8, 20)])
def test_items_to_tell_a_correlation_from_04(r, n):
    assert units_for_correlation(r) == n


def test_planning_agrees_with_statsmodels():
    peer = NormalIndPower(ddof=0).solve_power(effect_size=0.05 / 0.4, alpha=0.05, power=0.8, ratio=0)
    assert units_for_difference(0.05, 0.4) == int(np.ceil(peer))
    assert smallest_difference(0.4 / np.sqrt(peer)) == pytest.approx(0.05, rel=1e-4)
    power = NormalIndPower(ddof=0).power(0.05 / 0.4, 300, 0.05, ratio=0)
    assert power_of_difference(0.05, 0.4 / np.sqrt(300)) == pytest.approx(power)


def test_planned_units_have_the_planned_power():
    g = np.random.default_rng(0)
    n = units_for_difference(0.2, 1.0)
    samples = g.normal(0.2, 1, (4000, n))
    shown = np.abs(samples.mean(axis=1)) > 1.96 * samples.std(axis=1, ddof=1) / np.sqrt(n)
    assert shown.mean() == pytest.approx(0.8, abs=0.025)


def test_equivalence_needs_the_whole_interval():
    assert equivalent(-0.01, 0.019, 0.02)
    assert not equivalent(-0.01, 0.02, 0.02)
    assert not equivalent(float("nan"), float("nan"), 0.02)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_least_p_is_what_the_tests_give_where_every_unit_differs(n):
    from evalbench.core.significance import swap_test

    a, b = np.ones((n, 1)), np.zeros((n, 1))
    assert swap_test(a, b, lambda s: s / n, np.random.default_rng(0))[0].p == least_p(n, n, paired=True)
    ways = [set(c) for c in itertools.combinations(range(2 * n), n)]
    share = sum(way in ({*range(n)}, {*range(n, 2 * n)}) for way in ways) / len(ways)
    assert least_p(n, n, paired=False) == pytest.approx(share)


def test_least_p_of_many_units_is_found_at_once():
    assert least_p(10**6, 10**6, paired=True) == least_p(10**6, 10**6, paired=False) == 0
    with pytest.raises(ValueError, match="not be negative"):
        least_p(-1, 3, paired=False)
