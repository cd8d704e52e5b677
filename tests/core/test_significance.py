"""Permutation tests, McNemar, Holm, against scipy and statsmodels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_peer
from statsmodels.stats.multitest import multipletests

from evalbench.core import significance
from evalbench.core.significance import holm, mcnemar, shuffle_test, sign_flip_test, swap_test


def rng(seed=0):
    return np.random.default_rng(seed)


def f1(sums):
    with np.errstate(all="ignore"):
        return (2 * sums[:, 0] / (2 * sums[:, 0] + sums[:, 1] + sums[:, 2]))[:, None]


def test_refusals():
    with pytest.raises(ValueError, match="same units and columns"):
        swap_test(np.ones((3, 1)), np.ones((2, 1)), f1, rng())
    with pytest.raises(ValueError, match="same columns"):
        shuffle_test(np.ones((3, 1)), np.ones((3, 2)), f1, rng())
    with pytest.raises(ValueError, match="not finite"):
        sign_flip_test([1.0, np.nan], rng())
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, 1.5])
    with pytest.raises(ValueError, match="not be negative"):
        mcnemar(-1, 2)


def test_few_units_are_enumerated_as_scipy_does():
    d = np.array([0.3, 0.1, -0.2, 0.5, 0.4, 0.25, 0.0, 0.31])
    peer = scipy_stats.permutation_test(
        (d,), lambda x, axis: np.mean(x, axis), permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    ours = sign_flip_test(d, rng())
    assert ours.exact
    assert ours.p == pytest.approx(peer.pvalue)


def test_many_units_are_sampled_near_the_t_test():
    d = rng(1).normal(0.15, 1, 200)
    ours = sign_flip_test(d, rng(2), 50_000)
    assert not ours.exact
    assert ours.p == pytest.approx(scipy_stats.ttest_1samp(d, 0).pvalue, abs=0.006)


def test_equal_moves_drawn_together_give_the_binomial_answer():
    """0/1 scores: the sign-flip test of the mean is the sign test, McNemar's exact test."""
    d = np.repeat([1.0, -1.0, 0.0], [40, 24, 500])
    assert sign_flip_test(d, rng(3), 100_000).p == pytest.approx(mcnemar(40, 24), abs=0.004)


def test_swaps_recompute_f1_as_a_loop_does():
    g = rng(4)
    a, b = g.poisson([4, 1, 1], (30, 3)).astype(float), g.poisson([4, 1.6, 1.2], (30, 3)).astype(float)
    observed = (f1(a.sum(0)[None]) - f1(b.sum(0)[None])).item()
    hits = 0
    for _ in range(4000):
        swap = g.random(30) < 0.5
        x, y = np.where(swap[:, None], b, a).sum(0), np.where(swap[:, None], a, b).sum(0)
        hits += abs((f1(x[None]) - f1(y[None])).item()) >= abs(observed) - 1e-12
    assert swap_test(a, b, f1, rng(5))[0].p == pytest.approx(hits / 4000, abs=0.03)


def of_sums(sums):
    with np.errstate(all="ignore"):
        return np.column_stack([sums[:, 0] / 7, sums[:, 0] / sums[:, 1], sums[:, 1] / (sums[:, 0] + sums[:, 1])])


@pytest.mark.parametrize("seed", range(40))
def test_either_side_first_gives_one_p(seed):
    """Of means and of ratios; of few units and many, whose differences are counts, shares or all unlike."""
    g = rng(seed)
    n = int(g.integers(1, 90))
    a, b = (g.integers(0, 3, (2, n, 2)).astype(float), g.integers(0, 2, (2, n, 2)) / 3, g.normal(0.1, 1, (2, n, 2)))[
        seed % 3
    ]
    one, other = (swap_test(*sides, of_sums, rng(seed), 500) for sides in ((a, b), (b, a)))
    assert one == other


@pytest.mark.parametrize("few", [True, False])
def test_dealing_anew_agrees_with_scipy(few):
    g = rng(6)
    a, b = (g.integers(0, 4, 60) / 3, g.integers(0, 5, 80) / 4) if few else (g.random(60), g.random(80) + 0.08)
    table = [np.column_stack([x, np.ones(len(x))]) for x in (a, b)]
    ours = shuffle_test(*table, lambda s: s[:, :1] / s[:, 1:], rng(7), 6000)[0]
    peer = scipy_stats.permutation_test(
        (a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), n_resamples=6000, vectorized=True, rng=8
    )
    assert ours.p == pytest.approx(peer.pvalue, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("test", [swap_test, shuffle_test])
def test_a_true_null_is_rejected_at_its_rate(test):
    g, rejected = rng(9), 0
    for _ in range(400):
        a, b = g.poisson([4, 1, 1], (2, 25, 3)).astype(float)
        rejected += test(a, b, f1, g, 400)[0].p <= 0.05
    assert 0.02 <= rejected / 400 <= 0.085


def test_nothing_to_test():
    assert sign_flip_test([], rng()).note == "there are no pairs"
    assert sign_flip_test([0, 0, 0], rng()).p == 1
    out = swap_test(np.zeros((4, 3)), np.ones((4, 3)), f1, rng())[0]
    assert (out.p, out.note) == (None, "one side has no value")


@settings(max_examples=50)
@given(st.lists(st.sampled_from([0.0, 0.1, -0.1, 1e-300, 1e300]), min_size=1, max_size=20))
def test_degenerate_differences_give_a_p_value(d):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = sign_flip_test(d, rng(), 100).p
    assert 0 < p <= 1


@settings(max_examples=60)
@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_agrees_with_statsmodels(b, c):
    assert mcnemar(b, c) == pytest.approx(min(1, mcnemar_peer([[5, b], [c, 9]], exact=True).pvalue) if b + c else 1)


@pytest.mark.parametrize("p", [[0.2], [0.01, 0.04, 0.03], [0.5, 0.5, 0.001, 1.0], list(np.linspace(0, 1, 12) ** 3)])
def test_holm_agrees_with_statsmodels(p):
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], atol=1e-12)


def test_holm_does_not_count_what_was_not_tested():
    np.testing.assert_allclose(holm([0.01, np.nan, 0.04]), [0.02, np.nan, 0.04])


def test_rows_of_one_column_that_varies_are_told_apart_as_others_are():
    rows = np.column_stack([np.full(500, 2.0), np.random.default_rng(0).integers(-3, 4, 500), np.zeros(500)])
    found, count = significance._distinct_rows(rows)
    expected, times = np.unique(rows, axis=0, return_counts=True)
    assert found.tolist() == expected.tolist()
    assert count.tolist() == times.tolist()
