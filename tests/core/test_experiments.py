"""Online experiments: by hand, against other tools, simulated, refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evalbench.core.experiments import cuped, false_differences, sample_ratio


def mean(sums: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return sums[:, :1] / sums[:, 1:]


def with_counts(scores: np.ndarray) -> np.ndarray:
    return np.column_stack([scores, np.ones(len(scores))])


def test_cuped_by_hand() -> None:
    y_a, x_a, y_b, x_b = [3.0, 5.0, 7.0], [1.0, 2.0, 4.0], [2.0, 4.0, 6.0, 4.0], [1.0, 3.0, 3.0, 1.0]
    found = cuped(y_a, x_a, y_b, x_b)
    c_a, v_a = 3.0, 7 / 3  # covariance and variance within A
    c_b, v_b = 4 / 3, 4 / 3
    theta = (c_a / 3 + c_b / 4) / (v_a / 3 + v_b / 4)
    assert found.theta == pytest.approx(theta)
    assert found.plain.value == pytest.approx(1.0)
    assert found.adjusted.value == pytest.approx(1.0 - theta * (7 / 3 - 2))
    assert found.shift.value == pytest.approx(1 / 3)


def test_without_a_covariate_it_is_welchs_test() -> None:
    g = np.random.default_rng(0)
    a, b = g.normal(1, 2, 40), g.normal(0.5, 1, 55)
    found = cuped(a, np.ones(40), b, np.ones(55))
    expected = stats.ttest_ind(a, b, equal_var=False)
    low, high = expected.confidence_interval()
    assert found.adjusted == found.plain
    assert (found.plain.p, found.plain.ci_low, found.plain.ci_high) == pytest.approx((expected.pvalue, low, high))
    assert found.narrower == 0


def test_with_equal_sides_it_is_nearly_a_regression() -> None:
    import statsmodels.api as sm

    g = np.random.default_rng(1)
    x = g.normal(size=400)
    side = np.repeat([1.0, 0.0], 200)
    y = 0.3 * side + 0.8 * x + g.normal(0, 0.5, 400)
    found = cuped(y[:200], x[:200], y[200:], x[200:])
    fitted = sm.OLS(y, sm.add_constant(np.column_stack([side, x]))).fit()
    assert found.adjusted.value == pytest.approx(fitted.params[1], abs=0.002)
    low, high = fitted.conf_int()[1]
    assert found.adjusted.ci_high - found.adjusted.ci_low == pytest.approx(high - low, rel=0.02)
    assert found.narrower == pytest.approx(1 - math.sqrt(1 - found.correlation**2), abs=0.01)


def test_it_is_unbiased_covers_and_is_narrower_by_the_correlation() -> None:
    g = np.random.default_rng(2)
    values, covered, narrower = [], [], []
    for _ in range(1500):
        x = g.exponential(size=120)
        y = 0.2 * np.repeat([1, 0], [50, 70]) + 0.75 * x + g.normal(0, math.sqrt(1 - 0.75**2), 120)
        found = cuped(y[:50], x[:50], y[50:], x[50:])
        values.append(found.adjusted.value)
        covered.append(found.adjusted.ci_low <= 0.2 <= found.adjusted.ci_high)
        narrower.append(found.narrower)
    assert abs(np.mean(values) - 0.2) < 3 * np.std(values) / math.sqrt(1500)
    assert 0.935 <= np.mean(covered) <= 0.965
    assert np.mean(narrower) == pytest.approx(1 - math.sqrt(1 - 0.75**2), abs=0.03)


def test_units_of_several_items_are_those_of_the_items_mean() -> None:
    g = np.random.default_rng(3)
    w, x = g.integers(1, 5, 80), g.random(80)
    y = x + g.random(80)
    found = cuped(y[:40], x[:40], y[40:], x[40:], weights_a=w[:40], weights_b=w[40:])
    plain = np.average(y[:40], weights=w[:40]) - np.average(y[40:], weights=w[40:])
    assert found.plain.value == pytest.approx(plain)
    once = cuped(y[:40], x[:40], y[40:], x[40:], weights_a=np.full(40, 3), weights_b=np.full(40, 7))
    assert once.adjusted == pytest.approx(cuped(y[:40], x[:40], y[40:], x[40:]).adjusted)


def test_what_lacks_a_value_is_left_out_and_few_are_said() -> None:
    nan = math.nan
    found = cuped([1.0, nan, 2.0, 3.0], [1.0, 2.0, nan, 2.0], [1.0, 2.0], [1.0, 1.0])
    assert (found.n_a, found.n_b) == (2, 2)
    few = cuped([1.0], [1.0], [1.0, 2.0], [1.0, 1.0])
    assert few.plain is None
    assert "(1 and 2)" in few.note
    same = cuped([1.0, 1.0], [1.0, 2.0], [1.0, 1.0], [1.0, 2.0])
    assert (same.plain.p, same.narrower) == (1.0, None)
    with pytest.raises(ValueError, match="a covariate for each score"):
        cuped([1.0], [1.0, 2.0], [1.0], [1.0])


@pytest.mark.parametrize(("counts", "ratio"), [((5000, 5100), (1, 1)), ((90, 12), (9, 1)), ((10, 30, 20), (1, 1, 2))])
def test_the_sample_ratio_test_is_scipys(counts, ratio) -> None:
    found = sample_ratio(counts, ratio)
    expected = np.array(ratio) / sum(ratio) * sum(counts)
    theirs = stats.chisquare(counts, expected)
    assert (found.chi2, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert found.fits == (theirs.pvalue >= 0.001)


def test_of_few_expected_units_p_is_that_of_splits_as_planned() -> None:
    found = sample_ratio((47, 3), (99, 1))  # expected: half a unit
    assert stats.chisquare((47, 3), found.expected).pvalue < 0.001
    assert found.p == pytest.approx(stats.binomtest(3, 50, 0.01, alternative="greater").pvalue, abs=0.002)
    assert found.fits
    assert not sample_ratio((42, 8), (99, 1)).fits


@pytest.mark.parametrize(
    ("counts", "ratio"), [((1,), (1,)), ((1, 2), (1, 0)), ((0, 0), (1, 1)), ((1, 2), (1, math.inf))]
)
def test_no_ratio_is_refused(counts, ratio) -> None:
    with pytest.raises(ValueError, match="ratio"):
        sample_ratio(counts, ratio)


@pytest.mark.slow
def test_false_differences_are_about_five_in_a_hundred() -> None:
    g = np.random.default_rng(4)
    found = [false_differences(with_counts(g.random(120)), mean, seed=s, n_permutations=2000)[0] for s in range(4)]
    assert all(one.splits == 200 for one in found)
    assert 0.03 <= sum(one.tests for one in found) / 800 <= 0.075
    assert 0.03 <= sum(one.intervals for one in found) / 800 <= 0.09


def test_splits_of_few_and_of_equal_units() -> None:
    assert false_differences(with_counts(np.ones(3)), mean, seed=0)[0].splits == 0
    equal = false_differences(with_counts(np.ones(30)), mean, seed=0)[0]
    assert equal == (200, 0, 0)
    nothing = false_differences(np.zeros((30, 2)), mean, seed=0)[0]
    assert nothing == (0, 0, 0)
