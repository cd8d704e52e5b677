"""The modified Wilson interval of a share: its formula, written again; its ends; how often it holds the true share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2
from statsmodels.stats.proportion import proportion_confint

from evalbench.core.bounded import bounded_mean
from evalbench.core.measures import estimate, share_of
from evalbench.core.stats import clustered_wilson, wilson, wilson_name


def expected(k: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Brown, Cai & DasGupta (2001), section 4.1.1, one share at a time: statsmodels' Wilson, scipy's chi-squared."""
    low, high = proportion_confint(k, n, alpha=1 - level, method="wilson")
    near = (1, 2) if n <= 50 else (1, 2, 3)
    if k in near and k < n:
        low = min(low, chi2.ppf(1 - level, 2 * k) / 2 / n)
    if n - k in near and k > 0:
        high = max(high, 1 - chi2.ppf(1 - level, 2 * (n - k)) / 2 / n)
    return float(low), float(high)


@given(k=st.integers(0, 60), more=st.integers(0, 60), level=st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_agrees_with_the_formula(k, more, level):
    if k + more == 0:
        assert np.isnan(wilson(0, 0)[0])
        return
    np.testing.assert_allclose(wilson(k, k + more, level), expected(k, k + more, level), atol=1e-12)


@pytest.mark.parametrize(("k", "n", "low"), [(1, 10, 0.0051), (2, 20, 0.0178), (3, 60, 0.0136), (3, 50, 0.0206)])
def test_the_lower_end_of_few_successes_is_that_of_a_poisson_count(k, n, low):
    """By hand: χ²(0.05; 2, 4, 6) = 0.1026, 0.7107, 1.6354; of 3 in 50 Wilson's own."""
    assert float(wilson(k, n)[0]) == pytest.approx(low, abs=1e-4)
    assert float(wilson(n - k, n)[1]) == pytest.approx(1 - low, abs=1e-4)
    assert wilson_name(k, n) == wilson_name(n - k, n) == ("Wilson" if (k, n) == (3, 50) else "modified Wilson")


@pytest.mark.parametrize("n", [1, 2, 3, 7, 22, 60, 199, 1000, 12_345])
def test_wilson_ends_exactly_at_0_and_1(n):
    assert wilson(0, n)[0] == 0
    assert wilson(n, n)[1] == 1
    assert float(wilson(n, n)[0]) == pytest.approx(1 / (1 + 3.841459 / n), abs=1e-7)
    assert wilson_name(n, n) == wilson_name(0, n) == "Wilson"


def test_wilson_of_20_of_20_and_its_refusals():
    low, high = wilson(20, 20)
    assert (round(float(low), 2), float(high)) == (0.84, 1.0)
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson(3, 2)


def covered(n: int, p: float) -> float:
    """Exact: the chance of all counts whose interval holds p."""
    k = np.arange(n + 1)
    low, high = wilson(k, n)
    return float(binom.pmf(k, n, p)[(low <= p) & (p <= high)].sum())


@pytest.mark.parametrize("mean", [0.9, 0.97, 0.99])
@pytest.mark.parametrize("n", [10, 20, 50, 100])
def test_it_holds_shares_near_an_end(n, mean):
    """At least 0.93 (0.9298 at 10 and 0.9, which no end of 8 to 10 of 10 moves); Wilson's own: 0.904 at 10 and 0.99."""
    assert round(covered(n, mean), 3) >= 0.93
    assert covered(n, 1 - mean) == pytest.approx(covered(n, mean), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 50, 51, 100, 200])
def test_it_holds_every_share(n):
    """The lowest over all true shares is 0.916 and more, their mean 0.95 and more; Wilson's own goes down to 0.84."""
    over = [covered(n, p) for p in np.linspace(0.001, 0.999, 999)]
    assert min(over) >= 0.916
    assert 0.95 <= np.mean(over) <= 0.962


def test_what_is_measured_has_it_and_its_name():
    right = np.repeat([1.0, 0.0], [19, 1])
    own = estimate({"right": right}, [share_of("right")], units=np.arange(20), seed=0).estimates[0]
    assert (own.ci_low, own.ci_high) == pytest.approx(expected(19, 20), abs=1e-12)
    assert own.method == bounded_mean(right).method == "modified Wilson"
    assert bounded_mean(right).ci_high == own.ci_high


def test_units_of_one_trial_have_it_too():
    k = np.repeat([1.0, 0.0], [58, 2])
    low, high = clustered_wilson(k, np.ones(60), np.zeros(60, int), 1)
    assert (low[0], high[0]) == pytest.approx(expected(58, 60), abs=1e-12)
