"""Speed and memory of the statistics, as ratios against scipy at its best settings where there is a peer."""

from __future__ import annotations

import numpy as np
import pytest
from benchmark_table import against, at_most
from peak_memory import peak_bytes
from scipy import stats as scipy_stats
from timing import Race, alone, least, race, seconds

from evalbench.core.agreement import krippendorff_alpha
from evalbench.core.measures import estimate, f1_of, mean_of, share_of
from evalbench.core.stats import bootstrap_sums, percentile_interval

pytestmark = pytest.mark.benchmark

UNITS, RESAMPLES = 10_000, 2000
LEAST_OF_SCIPY, MOST_SECONDS_OF_ALPHA = 3, 1
# scipy is fastest where a batch fits the processor's cache; the best of these is its figure.
BATCHES = (5, 10, 20, 50, 200, None)


def against_scipy(units, value, data, statistic):
    """A race with scipy's bootstrap in its fastest batches."""

    def ours(_=0):
        percentile_interval(bootstrap_sums(units, value, np.random.default_rng(0), RESAMPLES))

    def scipys(batch):
        scipy_stats.bootstrap(
            data,
            statistic,
            paired=True,
            n_resamples=RESAMPLES,
            batch=batch,
            method="percentile",
            vectorized=True,
            rng=np.random.default_rng(0),
        )

    ours()
    best = min(BATCHES, key=lambda batch: min(seconds(lambda: scipys(batch)) for _ in range(2)))
    return race(ours, lambda _: scipys(best), goal=LEAST_OF_SCIPY)


def mean(sums):
    return sums / UNITS


def f1(sums):
    return (2 * sums[:, 0] / (2 * sums[:, 0] + sums[:, 1] + sums[:, 2]))[:, None]


def scores(kind):
    g = np.random.default_rng(0)
    return {
        "right or wrong": lambda: (g.random(UNITS) < 0.7).astype(float),
        "marks 0 to 1 in twentieths": lambda: g.binomial(20, 0.7, UNITS) / 20,
        "shares of tokens": lambda: (lambda words: g.binomial(words, 0.6) / words)(g.integers(5, 25, UNITS)),
        "all different": lambda: g.beta(4, 2, UNITS),
    }[kind]()


def bootstrap_of_a_mean(kind):
    x = scores(kind)
    return against_scipy(x[:, None], mean, (x,), np.mean)


@pytest.mark.parametrize("kind", ["right or wrong", "marks 0 to 1 in twentieths", "shares of tokens", "all different"])
def test_bootstrap_of_a_mean(kind, record):
    took = Race(*alone(bootstrap_of_a_mean, kind))
    record(against(f"bootstrap of a mean, 10 000 {kind}", took, "scipy", LEAST_OF_SCIPY))


def bootstrap_of_f1():
    g = np.random.default_rng(1)
    truth = g.poisson(4, UNITS)
    tp = g.binomial(truth, 0.7)
    counts = np.column_stack([tp, g.poisson(1.2, UNITS), truth - tp]).astype(float)

    def reference(tp, fp, fn, axis=-1):
        tp, fp, fn = tp.sum(axis), fp.sum(axis), fn.sum(axis)
        return 2 * tp / (2 * tp + fp + fn)

    return against_scipy(counts, f1, tuple(counts.T), reference)


def test_bootstrap_of_f1(record):
    took = Race(*alone(bootstrap_of_f1))
    record(against("bootstrap of F1, 10 000 documents", took, "scipy", LEAST_OF_SCIPY))


def twenty_against_one():
    table = np.random.default_rng(2).random((UNITS, 20))

    def resampled(units):
        percentile_interval(bootstrap_sums(units, mean, np.random.default_rng(0), RESAMPLES))

    return race(lambda _: resampled(table), lambda _: resampled(table[:, :1]), goal=1 / 3)


def test_twenty_figures_cost_at_most_three_times_one(record):
    took = Race(*alone(twenty_against_one))
    record(against("bootstrap of twenty means", took, "of one", 1 / 3))


def a_million_units():
    n, g = 1_000_000, np.random.default_rng(0)
    columns = {
        "score": g.random(n),
        "right": (g.random(n) < 0.7).astype(float),
        **{name: g.poisson(k, n).astype(float) for name, k in (("tp", 3), ("fp", 1), ("fn", 1))},
    }
    made = [mean_of("score"), share_of("right"), f1_of("tp", "fp", "fn")]
    mean_score, *_ = estimate(columns, made, units=np.arange(n), seed=0, n_resamples=2000).estimates
    return {"peak": peak_bytes(), "mean": [mean_score.value, mean_score.ci_low, mean_score.ci_high]}


def test_a_million_units_take_less_than_a_gigabyte(record):
    """The whole process, data included."""
    found = alone(a_million_units)
    record(at_most("three figures over a million units, memory", found["peak"], 1e9, "B"))
    value, low, high = found["mean"]
    assert low < value < high
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(1 / 12 / 1e6), rel=0.1)


def alpha_with_interval(level):
    g = np.random.default_rng(3)
    truth = g.integers(1, 6, 25_000)
    ratings = np.clip(truth + g.integers(-1, 2, (4, 25_000)), 1, 5)
    units = np.broadcast_to([f"text-{i}" for i in range(25_000)], ratings.shape)
    return least(lambda: krippendorff_alpha(units.ravel(), ratings.ravel(), level), goal=MOST_SECONDS_OF_ALPHA)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_over_100_000_ratings(level, record):
    """With its interval of 2 000 resamples: four annotators, 25 000 texts, marks 1 to 5."""
    took = alone(alpha_with_interval, level)
    record(at_most(f"alpha ({level}) of 100 000 ratings, with interval", took, MOST_SECONDS_OF_ALPHA, "s"))
