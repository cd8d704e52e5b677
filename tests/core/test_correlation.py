"""Correlations: refusals and reasons, scipy and statsmodels as oracles, coverage."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evalbench.core.correlation import correlate, correlation_difference, williams

PEERS = {"spearman": scipy_stats.spearmanr, "kendall": scipy_stats.kendalltau, "pearson": scipy_stats.pearsonr}


def rng(seed=0):
    return np.random.default_rng(seed)


def correlated(g, n, rho=0.6):
    x, noise = g.normal(size=(2, n))
    return x, rho * x + np.sqrt(1 - rho**2) * noise


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correlate([1, 2], [1, 2, 3]), "columns of different lengths: x 2, y 3"),
        (lambda: correlate([1, 2, 3], [1, 2, np.inf]), "infinity"),
        (lambda: correlate([1, 2, 3], [1, 2, 3], "phi"), "unknown correlation 'phi'; one of spearman"),
        (lambda: correlate([1, 2, 4], [1, 2, 3], "kendall", given=[1, 2, 2]), "offered for spearman and pearson"),
        (lambda: williams(0.9, -0.9, 0.9, 50), "not the correlations of three columns"),
        (lambda: williams(1.2, 0.1, 0.1, 50), "not the correlations of three columns"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("x", "y", "note"),
    [
        ([], [], "fewer than three rows"),
        ([1, 2], [1, 2], "fewer than three rows"),
        ([1, np.nan, 2, 3], [1, 2, np.nan, 3], "fewer than three rows"),
        ([0.1] * 7, range(7), "x is constant"),
        (range(7), [0.1 + 0.2] * 7, "y is constant"),
        ([1] * 7, [2] * 7, "x and y are constant"),
        ([0] * 7, range(7), "x is constant"),
    ],
)
@pytest.mark.parametrize("kind", PEERS)
def test_no_value_has_a_reason(kind, x, y, note):
    out = correlate(x, y, kind, n_resamples=50)
    assert (out.value, out.ci_low, out.ci_high, out.note) == (None, None, None, note)


def test_what_is_held_fixed_may_explain_everything():
    x = np.arange(30.0)
    out = correlate(x, rng().random(30), "pearson", given=2 * x + 1, n_resamples=50)
    assert (out.value, out.note) == (None, "what is held fixed explains a column wholly")


@settings(max_examples=80)
@given(st.integers(0, 10_000), st.integers(3, 40), st.integers(1, 6), st.sampled_from(sorted(PEERS)))
def test_values_agree_with_scipy_with_ties(seed, n, levels, kind):
    x, y = rng(seed).integers(0, levels + 1, (2, n))
    out = correlate(x, y, kind, n_resamples=20)
    if out.value is None:
        assert np.ptp(x) == 0 or np.ptp(y) == 0
    else:
        assert out.value == pytest.approx(PEERS[kind](x, y).statistic, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PEERS)
@pytest.mark.parametrize("ties", [False, True])
def test_replicates_agree_with_resampling_one_by_one(kind, ties):
    g = rng(1)
    x, y = correlated(g, 60)
    if ties:
        x, y = np.round(x), np.round(y)
    out = correlate(x, y, kind, n_resamples=4000)
    drawn = g.integers(60, size=(2000, 60))
    peers = [PEERS[kind](x[i], y[i]).statistic for i in drawn]
    assert (out.ci_low, out.ci_high) == pytest.approx(np.quantile(peers, [0.025, 0.975]), abs=0.03)
    assert out.method == "percentile bootstrap, 4000 resamples"


def test_a_large_kendall_agrees_with_scipy():
    x, y = correlated(rng(2), 5000)
    y = np.round(y, 1)
    assert correlate(x, y, "kendall", n_resamples=3).value == pytest.approx(scipy_stats.kendalltau(x, y).statistic)


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_partial_correlation_is_that_of_ols_residuals(kind):
    import statsmodels.api as sm

    g = rng(3)
    z = g.normal(size=(80, 2))
    x, y = z @ [1, 0.5] + g.normal(size=80), z @ [1, -1] + g.normal(size=80)
    rank = scipy_stats.rankdata if kind == "spearman" else np.asarray
    design = sm.add_constant(np.column_stack([rank(z[:, 0]), rank(z[:, 1])]))
    left, right = (sm.OLS(rank(v), design).fit().resid for v in (x, y))
    out = correlate(x, y, kind, given=z, n_resamples=400)
    assert out.value == pytest.approx(scipy_stats.pearsonr(left, right).statistic)
    assert out.ci_low < out.value < out.ci_high


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_holding_the_system_fixed_shows_simpsons_paradox(kind):
    g = rng(4)
    system = np.repeat(["fern", "oak", "pine"], 40)
    level = np.repeat([0.0, 5.0, 10.0], 40)
    x = level + g.normal(size=120)
    y = level - 0.8 * (x - level) + 0.3 * g.normal(size=120)
    assert correlate(x, y, kind, n_resamples=100).value > 0.7
    assert correlate(x, y, kind, given=system, n_resamples=200).ci_high < -0.5
    if kind == "pearson":
        left, right = (v - np.repeat(v.reshape(3, 40).mean(axis=1), 40) for v in (x, y))
        expected = scipy_stats.pearsonr(left, right).statistic
        assert correlate(x, y, kind, given=system, n_resamples=20).value == pytest.approx(expected)


@pytest.mark.parametrize("clustered", [False, True])
def test_the_order_of_rows_changes_nothing(clustered):
    g = rng(5)
    x, y = np.round(correlated(g, 60), 1)
    units = np.repeat([f"d{i:02}" for i in range(20)], 3)
    order = g.permutation(60)
    first, again = (
        correlate(x[o], y[o], units=units[o] if clustered else None, seed=7, n_resamples=200)
        for o in (np.arange(60), order)
    )
    assert first == again


def test_clusters_widen_the_interval():
    g = rng(6)
    x, y = correlated(g, 30)
    many = np.repeat(np.arange(30), 10)
    plain = correlate(x[many], y[many], n_resamples=500)
    clustered = correlate(x[many], y[many], units=many, n_resamples=500)
    assert clustered.ci_high - clustered.ci_low > 2 * (plain.ci_high - plain.ci_low)
    assert clustered.method.startswith("clustered")


@pytest.mark.slow
@pytest.mark.parametrize("kind", PEERS)
def test_intervals_cover_at_50_rows(kind):
    """93–97 % over 200 samples, with the sampling error of so many (two standard errors, 0.031)."""
    g, rho = rng(7), 0.6
    truth = {"pearson": rho, "spearman": 6 / np.pi * np.arcsin(rho / 2), "kendall": 2 / np.pi * np.arcsin(rho)}[kind]
    hits = 0
    for i in range(200):
        out = correlate(*correlated(g, 50, rho), kind, seed=i, n_resamples=400)
        hits += out.ci_low <= truth <= out.ci_high
    assert 0.93 - 0.031 <= hits / 200 <= 0.97 + 0.031


def test_difference_of_two_metrics():
    g = rng(8)
    y, good = correlated(g, 200, 0.9)
    bad = y + 3 * g.normal(size=200)
    out = correlation_difference(good, bad, y, n_resamples=500)
    expected = scipy_stats.spearmanr(good, y).statistic - scipy_stats.spearmanr(bad, y).statistic
    assert out.value == pytest.approx(expected)
    assert out.ci_low > 0
    same = correlation_difference(good, good, y, n_resamples=100)
    assert (same.value, same.ci_low, same.ci_high) == (0, 0, 0)
    assert correlation_difference(good, np.ones(200), y).note == "the second x is constant"


def test_williams_published_example_and_reasons():
    """Steiger's case A with n = 103: correlations .4 and .5 with the common column, .1 between the two."""
    out = williams(0.4, 0.5, 0.1, 103)
    assert (round(out.t, 2), out.df, round(out.p, 2)) == (-0.89, 100, 0.37)
    assert williams(0.5, 0.5, 1.0, 30).note == "the two metrics are the same up to scale"
    assert williams(0.5, 0.4, 0.3, 3).note == "fewer than four rows"


def test_williams_rejects_a_true_null_at_its_rate():
    g, rejected = rng(9), 0
    for _ in range(1500):
        y, a, b = g.normal(size=(3, 30))
        r = np.corrcoef([a + y, b + y, y])
        rejected += williams(r[0, 2], r[1, 2], r[0, 1], 30).p <= 0.05
    assert 0.035 <= rejected / 1500 <= 0.065


numbers = st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e150, -1e150, 1e-200, np.nan])


@settings(max_examples=120)
@given(st.lists(st.tuples(numbers, numbers), max_size=8), st.sampled_from(sorted(PEERS)), st.booleans())
def test_degenerate_columns_give_a_value_or_a_reason(rows, kind, clustered):
    x, y = np.array(rows, dtype=float).reshape(-1, 2).T
    units = np.zeros(len(x)) if clustered else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = correlate(x, y, kind, units=units, n_resamples=20)
    assert out.note if out.value is None or out.ci_low is None else -1 <= out.ci_low <= out.ci_high <= 1
