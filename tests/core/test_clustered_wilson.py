"""Wilson's interval where several trials belong together: special cases, order, coverage."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.core.stats import clustered_wilson, wilson


def test_units_of_one_trial_have_wilson_s_interval():
    draw = np.random.default_rng(0)
    k = draw.integers(0, 2, 60).astype(float)
    group = draw.integers(0, 4, 60)
    found = clustered_wilson(k, np.ones(60), group, 5)
    n = np.bincount(group, minlength=5)
    for ours, plain in zip(found, wilson(np.bincount(group, k, 5), n), strict=True):
        np.testing.assert_allclose(ours, plain, rtol=1e-12)
    assert np.isnan(found[0][4])


def test_where_all_agree_the_units_count_and_of_one_unit_there_is_no_interval():
    low, high = clustered_wilson([5, 5, 5, 0, 3], [5, 5, 5, 4, 6], [0, 0, 0, 1, 2], 3)
    plain, _ = wilson(3, 3)
    assert (low[0], high[0]) == (pytest.approx(float(plain)), 1.0)
    assert np.isnan([low[1], high[1], low[2], high[2]]).all()


def test_a_unit_without_scored_trials_counts_for_nothing():
    with_it = clustered_wilson([2, 0, 0, 3], [3, 2, 0, 3], [0] * 4, 1)
    without = clustered_wilson([2, 0, 3], [3, 2, 3], [0] * 3, 1)
    assert np.array_equal(with_it, without)


@pytest.mark.slow
@pytest.mark.parametrize("n_units", [5, 10, 20, 40])
@pytest.mark.parametrize("share", [0.5, 0.8])
@pytest.mark.parametrize("alike", [0.1, 0.3, 0.7])
def test_coverage(n_units, share, alike):
    """Units of ten trials whose success varies by Beta(share); Wilson's own covers 50 to 85 %."""
    draw, rounds, trials = np.random.default_rng(n_units), 2000, 10
    a, b = share * (1 - alike) / alike, (1 - share) * (1 - alike) / alike
    k = draw.binomial(trials, draw.beta(a, b, (rounds, n_units))).astype(float)
    group = np.repeat(np.arange(rounds), n_units)
    low, high = clustered_wilson(k.ravel(), np.full(k.size, trials), group, rounds)
    assert 0.91 <= ((low <= share) & (share <= high)).mean() <= 0.985
    low, high = wilson(k.sum(axis=1), np.full(rounds, n_units * trials))
    assert ((low <= share) & (share <= high)).mean() < 0.88
