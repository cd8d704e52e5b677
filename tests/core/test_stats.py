"""Bootstrap: refusals, oracles, coverage, degenerate inputs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats as scipy_stats

from evalbench.core.stats import bootstrap_sums, bootstrap_weights, percentile_interval, with_interval


def f1(sums):
    return (2 * sums[:, 0] / (2 * sums[:, 0] + sums[:, 1] + sums[:, 2]))[:, None]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("units", "message"),
    [
        (np.empty((0, 2)), "nothing to resample"),
        (np.arange(3.0), "nothing to resample: units of shape"),
        ([[1.0], [np.nan]], "not finite"),
        ([[1.0], [np.inf]], "not finite"),
    ],
)
def test_bootstrap_refuses(units, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_sums(units, lambda s: s, rng())


@pytest.mark.parametrize("n", [1, 2, 3, 49, 50, 64, 257, 5000, 70_001])
@pytest.mark.parametrize("kind", ["distinct", "equal", "mixed"])
def test_each_resample_draws_n_units(n, kind):
    rows = {"distinct": np.arange(n), "equal": np.ones(n), "mixed": np.where(np.arange(n) % 3, 1, np.arange(n))}[kind]
    columns = np.column_stack([np.ones(n), rows, rows == 1])
    sums = bootstrap_sums(columns, lambda s: s, rng(), 40)
    assert (sums[:, 0] == n).all()
    assert ((sums[:, 1] >= n * rows.min()) & (sums[:, 1] <= n * rows.max())).all()
    assert (sums == np.round(sums)).all()


@pytest.mark.parametrize("n", [3, 7, 100])
def test_how_often_each_unit_is_drawn_is_multinomial(n):
    """Means, variances and covariances of the counts: 1, 1 − 1/n and −1/n; each within five standard errors."""
    drawn = bootstrap_sums(np.eye(n), lambda s: s, rng(1), 40_000)
    covariance = np.cov(drawn.T)
    assert np.abs(drawn.mean(axis=0) - 1).max() < 5 / np.sqrt(40_000)
    assert np.abs(np.diag(covariance) - (1 - 1 / n)).max() < 0.06
    assert np.abs(covariance - np.diag(np.diag(covariance)) + (1 - np.eye(n)) / n).max() < 0.04


def test_counts_of_one_unit_follow_the_binomial():
    drawn = bootstrap_sums(np.eye(9), lambda s: s, rng(2), 20_000)
    for unit in drawn.T:
        expected = scipy_stats.binom.pmf(np.arange(5), 9, 1 / 9) * len(unit)
        seen = np.bincount(unit.astype(int), minlength=10)
        test = scipy_stats.chisquare(
            np.append(seen[:5], seen[5:].sum()), np.append(expected, len(unit) - expected.sum())
        )
        assert test.pvalue > 1e-4


def test_the_collapsed_and_the_plain_way_have_one_distribution():
    """Equal rows are drawn together; a tiny unique column makes every row distinct: same law, other code."""
    g = rng(3)
    counts = g.poisson([3, 1, 1], size=(800, 3)).astype(float)
    marked = np.column_stack([counts, np.arange(800.0)])
    together = bootstrap_sums(counts, f1, rng(4), 4000)[:, 0]
    apart = bootstrap_sums(marked, f1, rng(5), 4000)[:, 0]
    assert scipy_stats.ks_2samp(together, apart).pvalue > 0.01


@pytest.mark.parametrize("statistic", ["mean", "f1"])
def test_interval_agrees_with_scipy(statistic):
    counts = rng(6).poisson([3, 1, 1], size=(400, 3)).astype(float)

    def reference(tp, fp, fn, axis=-1):
        tp, fp, fn = tp.sum(axis), fp.sum(axis), fn.sum(axis)
        return tp / 400 if statistic == "mean" else 2 * tp / (2 * tp + fp + fn)

    value = (lambda s: s[:, :1] / 400) if statistic == "mean" else f1
    low, high = percentile_interval(bootstrap_sums(counts, value, rng(7), 20_000))
    peer = scipy_stats.bootstrap(
        tuple(counts.T), reference, paired=True, n_resamples=20_000, method="percentile", rng=8
    )
    width = peer.confidence_interval.high - peer.confidence_interval.low
    assert abs(low[0] - peer.confidence_interval.low) < 0.04 * width
    assert abs(high[0] - peer.confidence_interval.high) < 0.04 * width


def test_multiplicity_stands_for_repeated_rows():
    rows, times = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]]), np.array([700, 3, 60])
    sums = bootstrap_sums(rows, lambda s: s, rng(9), 4000, multiplicity=times)
    plain = bootstrap_sums(np.repeat(rows, times, axis=0), lambda s: s, rng(9), 4000)
    assert scipy_stats.ks_2samp(sums[:, 1], plain[:, 1]).pvalue > 0.01
    np.testing.assert_allclose(sums.mean(axis=0), times @ rows, rtol=0.02)


def test_same_seed_same_bytes_and_figures_share_resamples():
    counts = rng(10).random((300, 2))
    first, again = (bootstrap_sums(counts, lambda s: s, rng(11), 200) for _ in range(2))
    assert first.tobytes() == again.tobytes()
    both = bootstrap_sums(np.column_stack([counts, counts.sum(axis=1)]), lambda s: s, rng(11), 200)
    np.testing.assert_allclose(both[:, 0] + both[:, 1], both[:, 2])


def test_general_bootstrap_agrees_with_the_sums():
    x = rng(12).random(60)
    replicates = bootstrap_weights(np.arange(60), lambda w: w @ x / w.sum(axis=1), rng(13), 5000)
    sums = bootstrap_sums(x[:, None], lambda s: s / 60, rng(14), 5000)[:, 0]
    assert scipy_stats.ks_2samp(replicates, sums).pvalue > 0.01


def test_clusters_are_drawn_whole():
    units = np.repeat(["a", "b", "c"], [4, 1, 2])

    def whole(weights):
        return np.array([[len(set(w[units == u])) for u in "abc"] for w in weights])

    assert (bootstrap_weights(units, whole, rng(), 100) == 1).all()


def test_general_bootstrap_refuses_nothing():
    with pytest.raises(ValueError, match="there are no units"):
        bootstrap_weights([], lambda w: w.sum(axis=1), rng())


def test_percentiles_leave_undefined_replicates_out():
    table = np.array([[1.0, np.nan, np.nan], [2.0, 5.0, np.nan], [3.0, 7.0, np.nan]])
    low, high = percentile_interval(table, 0.5)
    np.testing.assert_array_equal(low, [1.5, 5.5, np.nan])
    np.testing.assert_array_equal(high, [2.5, 6.5, np.nan])
    assert np.isnan(percentile_interval([])[0])


def draw_f1(g, n):
    truth = g.poisson(4, n)
    found = g.binomial(truth, 0.7)
    return np.column_stack([found, g.poisson(1.2, n), truth - found]).astype(float)


def test_intervals_cover_at_50_units():
    """Of a mean of skewed bounded scores and of F1, 1 000 samples each: 93–97 % within sampling error (±0.014)."""
    g = rng(15)
    hits = np.zeros(2)
    for _ in range(1000):
        table = np.column_stack([g.beta(3, 1.5, 50), draw_f1(g, 50)])
        values = bootstrap_sums(table, lambda s: np.column_stack([s[:, 0] / 50, f1(s[:, 1:])]), g, 1000)
        low, high = percentile_interval(values)
        truth = np.array([2 / 3, 5.6 / 8])
        hits += (low <= truth) & (truth <= high)
    assert (hits / 1000 > 0.93 - 0.014).all()
    assert (hits / 1000 < 0.97 + 0.014).all()


def test_f1_under_20_units_is_said_to_be_too_narrow_because_it_is():
    g, hits = rng(16), 0
    for _ in range(600):
        low, high = percentile_interval(bootstrap_sums(draw_f1(g, 8), f1, g, 500))
        hits += low[0] <= 0.7 <= high[0]
    assert hits / 600 < 0.93
    assert "fewer than 20 units" in with_interval(0.5, [0.4, 0.6], n=8, n_units=8).note


@pytest.mark.parametrize(
    ("replicates", "units", "note"),
    [
        ([], 1, "no interval: fewer than two units"),
        ([np.nan, np.nan], 30, "no interval: no resample has a value"),
        ([0.4, np.nan, 0.7, 0.6], 30, "25.0% of the resamples have no value and are left out"),
        ([0.5, 0.5], 30, "all resamples agree: the interval has no width"),
        ([0.5, 0.5 + 1e-16, 0.5 - 1e-16], 30, "all resamples agree: the interval has no width"),
        ([0.4, 0.6], 30, ""),
        ([0.6, 0.8], 30, "the resamples leave the value out: the interval is widened to hold it"),
    ],
)
def test_an_interval_says_what_it_lacks(replicates, units, note):
    out = with_interval(0.5, replicates, n=units, n_units=units)
    assert out.note == note
    assert out.ci_low is None or out.ci_low <= 0.5 <= out.ci_high


@settings(max_examples=60)
@given(
    hnp.arrays(
        float, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.sampled_from([0.0, -0.0, 0.1, 1e300])
    )
)
def test_degenerate_units_never_warn(units):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = bootstrap_sums(units, lambda s: s, rng(), 20)
    assert out.shape == (20, units.shape[1])
    assert np.isfinite(out).all()


@pytest.mark.parametrize("n", [300, 150_000])
def test_tables_side_by_side_are_drawn_as_one(n):
    a, b = (np.random.default_rng(k).random((n, 2)).round(3) for k in (1, 2))
    a[:, 1] = 1
    apart, together = (
        bootstrap_sums(units, lambda sums: sums, np.random.default_rng(0), 200) for units in ([a, b], np.hstack([a, b]))
    )
    assert (apart == together).all()
    assert (apart[:, 1] == n).all()
