"""pass@k, pass^k and items that flicker: unbiased, safe for large counts, the 95 % rule."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from evalbench.core.seeds import rng
from evalbench.core.trials import flickers, largest_k, pass_at_k, pass_hat_k, passed


@pytest.mark.parametrize("n", range(1, 8))
def test_they_are_shares_of_all_subsets(n):
    """Of all choices of k trials, those in which one is right, and those in which all are."""
    for c in range(n + 1):
        right = [True] * c + [False] * (n - c)
        for k in range(1, n + 1):
            subsets = list(combinations(right, k))
            assert pass_at_k([n], [c], k)[0] == pytest.approx(np.mean([any(s) for s in subsets]))
            assert pass_hat_k([n], [c], k)[0] == pytest.approx(np.mean([all(s) for s in subsets]))


@pytest.mark.parametrize(("n", "c", "k"), [(10_000, 3, 5_000), (10_000, 9_990, 700), (100_000, 1, 1_000)])
def test_large_counts_neither_overflow_nor_lose_digits(n, c, k):
    assert pass_at_k([n], [c], k)[0] == pytest.approx(1 - comb(n - c, k) / comb(n, k), rel=1e-9)
    assert pass_hat_k([n], [c], k)[0] == pytest.approx(comb(c, k) / comb(n, k), rel=1e-9)


def test_both_are_unbiased():
    draw = rng(0, "unbiased")
    p = np.array([0.05, 0.3, 0.7, 0.95])
    for k in (1, 2, 4):
        c = draw.binomial(6, p, size=(40_000, 4))
        n = np.full(c.shape, 6)
        assert pass_at_k(n, c, k).mean(axis=0) == pytest.approx(1 - (1 - p) ** k, abs=0.01)
        assert pass_hat_k(n, c, k).mean(axis=0) == pytest.approx(p**k, abs=0.01)
    plugged = 1 - (1 - c / 6) ** 4  # what is not unbiased
    assert abs(plugged.mean(axis=0) - (1 - (1 - p) ** 4)).max() > 0.03


def test_too_few_trials_have_no_value():
    assert np.isnan(pass_at_k([2], [1], 3)).all()
    assert np.isnan(pass_hat_k([2], [1], 3)).all()


@pytest.mark.parametrize(("n", "c", "k"), [([2], [3], 1), ([2], [-1], 1), ([2], [1], 0)])
def test_impossible_counts_are_refused(n, c, k):
    with pytest.raises(ValueError, match="right trials must be between|k must be at least 1"):
        pass_at_k(n, c, k)


@pytest.mark.parametrize("n_items", [1, 19, 20, 21, 39, 40, 100])
def test_k_goes_as_far_as_95_percent_of_the_items(n_items):
    draw = rng(n_items, "k")
    n = draw.integers(1, 6, n_items)
    top = largest_k(n)
    assert (n >= top).mean() >= 0.95 > (n >= top + 1).mean()


def test_items_with_fewer_trials_are_left_out_and_counted():
    found = passed([3] * 38 + [1, 2, 0], [3] * 38 + [0, 0, 0])
    assert (found.k.tolist(), found.n_items, found.left_out) == ([1, 2, 3], 38, 2)
    assert found.at.tolist() == [1, 1, 1]
    assert found.at_low[0] == pytest.approx(0.908, abs=0.001)


def test_no_trial_no_figure():
    found = passed([0, 0], [0, 0])
    assert (len(found.k), len(found.at), found.n_items, found.left_out) == (0, 0, 0, 0)


def test_one_item_has_no_interval():
    found = passed([4], [2])
    assert found.at[0] == 0.5
    assert np.isnan(found.at_low).all()


def test_the_intervals_cover():
    held = np.zeros((2, 3))
    for seed in range(200):
        draw = rng(seed, "covered")
        c = draw.binomial(3, draw.beta(0.6, 0.5, 60))
        found = passed(np.full(60, 3), c, seed=seed, n_resamples=400)
        raw = [
            np.prod([(0.6 + j) / (1.1 + j) for j in range(k)]) for k in (1, 2, 3)
        ]  # moments of the beta distribution
        none = [np.prod([(0.5 + j) / (1.1 + j) for j in range(k)]) for k in (1, 2, 3)]
        held[0] += (found.hat_low <= raw) & (raw <= found.hat_high)
        held[1] += (found.at_low <= 1 - np.array(none)) & (1 - np.array(none) <= found.at_high)
    assert (held / 200 >= 0.9).all()
    assert (held / 200 <= 0.985).all()


def test_at_one_both_are_the_mean_and_then_they_part():
    draw = rng(3, "order")
    n = np.full(50, 5)
    found = passed(n, draw.binomial(5, draw.random(50)))
    assert found.at[0] == pytest.approx(found.hat[0])
    assert (np.diff(found.at) >= 0).all()
    assert (np.diff(found.hat) <= 0).all()


def test_the_order_of_items_changes_nothing():
    n, c = np.array([3, 4, 5, 3]), np.array([1, 4, 0, 2])
    same, turned = passed(n, c), passed(n[::-1], c[::-1])
    assert all((a == b).all() if isinstance(a, np.ndarray) else a == b for a, b in zip(same, turned, strict=True))


def test_flickering_is_neither_always_right_nor_always_wrong():
    assert flickers([2, 2, 2, 1, 0], [0, 1, 2, 1, 0]).tolist() == [False, True, False, False, False]
