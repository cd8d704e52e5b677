"""Scores that all touch an end of their scale: means and differences have a width, and cover what they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from evalbench.core.comparison import Compared, compare_measures
from evalbench.core.correlation import correlate
from evalbench.core.ends import at_an_end
from evalbench.core.measures import mean_of
from evalbench.core.stats import holding, percentile_interval

SCORE = [mean_of("score")]


def against(a, b, *, paired=True, measures=SCORE) -> Compared:
    ids = [np.array([f"{name if not paired else ''}{i:03}" for i in range(len(x))]) for name, x in (("a", a), ("b", b))]
    column = measures[0].sums[0]
    return compare_measures(
        {column: np.asarray(a, float)}, {column: np.asarray(b, float)}, measures, units_a=ids[0], units_b=ids[1], seed=0,
        paired=paired, n_resamples=400, n_permutations=400,
    ).comparisons[0]  # fmt: skip


@pytest.mark.parametrize(("k", "n"), [(20, 20), (0, 20), (1, 1), (7, 7)])
def test_the_interval_of_scores_at_an_end_is_that_of_statsmodels(k, n):
    low, high = at_an_end(k / n, n, (0.0, 1.0))
    assert (low, high) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)


@pytest.mark.parametrize(("n_a", "n_b", "b"), [(20, 30, 1.0), (10, 10, 0.0), (50, 20, 0.0)])
def test_an_unpaired_difference_of_scores_at_the_ends_has_newcombes_interval(n_a, n_b, b):
    found = against(np.ones(n_a), np.full(n_b, b), paired=False)
    low, high = confint_proportions_2indep(n_a, n_a, int(n_b * b), n_b, method="newcomb")
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high), abs=1e-9)
    assert found.method.startswith("Newcombe's")
    assert "no width" not in found.note


def test_an_unpaired_difference_with_one_side_at_an_end_is_wider_than_the_other_sides_bootstrap():
    mixed = np.tile([1.0, 0.5], 10)
    found = against(np.ones(20), mixed, paired=False)
    drawn = np.random.default_rng(0).choice(mixed, (4000, 20)).mean(axis=1)
    low, high = percentile_interval(1 - drawn)
    assert found.ci_low < low
    assert found.ci_high >= high - 0.02


def test_a_paired_difference_of_scores_that_all_agree_is_bounded_by_the_number_of_items():
    found = against(np.ones(20), np.ones(20))
    assert found.outcome == "same"
    assert (found.ci_low, found.ci_high) == pytest.approx((-0.1611, 0.1611), abs=1e-4)
    apart = against(np.ones(20), np.zeros(20))
    assert (apart.outcome, apart.ci_high) == ("better", 1.0)
    assert apart.ci_low == pytest.approx(1 - 2 * 0.1611, abs=2e-4)
    assert apart.method.startswith("worst case of 20 units of which all agree")
    constant = against(np.full(20, 0.7), np.full(20, 0.5))
    assert constant.ci_low < 0.2 < constant.ci_high
    assert "no width" not in constant.note


def test_runs_that_agree_between_the_ends_differ_by_0():
    mixed = np.tile([1.0, 0.5], 10)
    found = against(mixed, mixed)
    assert (found.outcome, found.ci_low, found.ci_high) == ("same", 0.0, 0.0)


def test_on_a_scale_that_is_not_known_nothing_changes():
    found = against(np.ones(20), np.ones(20), measures=[mean_of("words", unit="words")])
    assert (found.ci_low, found.ci_high) == (0.0, 0.0)


def test_the_interval_of_ranks_with_ties_holds_its_estimate():
    rng = np.random.default_rng(5)
    for _ in range(8):
        x = rng.normal(size=60)
        found = correlate(x, x + rng.normal(scale=0.004, size=60), kind="spearman", seed=1)
        assert found.ci_low <= found.value <= found.ci_high
    assert holding(0.9995, 0.9961, 0.9983) == (0.9961, 0.9995)


def draws(kind: str, mean: float, size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Scores between 0 and 1 of a mean, most of them 1: right or wrong; half right instead of wrong; anything else below 1."""
    below = {"right or wrong": 0.0, "half": 0.5, "anything": 0.5}[kind]
    wrong = rng.uniform(size=size) < (1 - mean) / (1 - below)
    other = rng.uniform(size=size) if kind == "anything" else below
    return np.where(wrong, other, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.9, 0.97, 0.99])
@pytest.mark.parametrize("n", [10, 50])
@pytest.mark.parametrize("kind", ["right or wrong", "half", "anything"])
def test_intervals_of_means_near_an_end_cover(kind, n, mean):
    """Of 2 000 tables each, of 500 where scores are anything, by the same two rules as :func:`evalbench.core.measures.estimate`.

    Where a few scores are anywhere below the end and none touches the other, the bootstrap that the conventions have is
    too narrow, down to 86 %: of n scores hardly any is far below, and a resample cannot be worse than those.
    """
    rng = np.random.default_rng(n)
    scores = np.sort(draws(kind, mean, (2000, n), rng), axis=1)
    if kind == "anything":
        scores = scores[:500]
    scores, counts = np.unique(scores, axis=0, return_counts=True)  # tables of the same scores have the same interval
    value = scores.mean(axis=1)
    ends = np.array(at_an_end(1.0, n, (0.0, 1.0)))
    low, high = np.full(len(scores), ends[0]), np.full(len(scores), ends[1])
    for at in np.flatnonzero(value < 1):
        times = rng.multinomial(n, np.full(n, 1 / n), 500)
        low[at], high[at] = holding(value[at], *percentile_interval(times @ scores[at] / n))
    covered = np.average((low <= mean + 1e-9) & (mean - 1e-9 <= high), weights=counts)
    assert covered >= (0.86 if kind == "anything" else 0.93)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 50])
@pytest.mark.parametrize("means", [(0.9, 0.9), (0.97, 0.9), (0.99, 0.99), (0.99, 0.9)])
def test_differences_of_means_near_an_end_cover(n, means):
    """Unpaired, of right or wrong: wherever a side touches the end."""
    truth = means[0] - means[1]
    hits = total = 0.0
    drawn = {
        m: np.random.default_rng(m).choice(np.repeat([1.0, 0.0], [m, n - m]), (2000, n)).mean(axis=1) for m in range(n)
    }
    chances = [scipy_stats.binom.pmf(np.arange(n + 1), n, mean) for mean in means]
    at_end = np.array(at_an_end(1.0, n, (0.0, 1.0)))
    for i in range(n + 1):
        for j in range(n + 1):
            weight = chances[0][i] * chances[1][j]
            if weight < 1e-6:
                continue
            if n in (i, j):
                (la, ua), (lb, ub) = (at_end if m == n else percentile_interval(drawn[m]) for m in (i, j))
                d = (i - j) / n
                low, high = d - np.hypot(i / n - la, ub - j / n), d + np.hypot(ua - i / n, j / n - lb)
            else:
                low, high = percentile_interval(drawn[i] - np.random.default_rng(0).permutation(drawn[j]))
            total += weight
            hits += weight * bool(low - 1e-9 <= truth <= high + 1e-9)
    assert round(hits / total, 2) >= 0.93
