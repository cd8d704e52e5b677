"""Resamples and permutations of more units than are drawn one by one: the same distribution, at once."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.core import resample, significance
from evalbench.core.comparison import compare_measures
from evalbench.core.measures import estimate, mean_of
from evalbench.core.resample import CROWD, drawn_in_words, root_of, spread_of
from evalbench.core.stats import bootstrap_sums, percentile_interval

N = 4000


@pytest.fixture
def of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crowd of some thousands, so that drawing one by one is quick, too."""
    monkeypatch.setattr(resample, "CROWD", 1000)
    monkeypatch.setattr(significance, "CROWD", 1000)
    monkeypatch.setattr(resample, "_LARGEST_WEIGHT", 0.05)


def scores(seed: int = 0) -> np.ndarray:
    """Skewed scores of which a third are 0, their weights, and a column that is a sum of both."""
    draw = np.random.default_rng(seed)
    score = np.where(draw.random(N) < 1 / 3, 0.0, draw.beta(2, 5, N))
    weight = draw.uniform(1, 3, N)
    return np.c_[score * weight, weight, score + weight, np.ones(N)]


def replicates(units: np.ndarray, seed: int = 1) -> np.ndarray:
    return bootstrap_sums(units, lambda s: np.c_[s, s[:, 0] / s[:, 1]], np.random.default_rng(seed), 20_000)


def test_sums_of_a_crowd_have_the_distribution_of_those_that_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = replicates(scores())
    monkeypatch.setattr(resample, "CROWD", 1000)
    monkeypatch.setattr(resample, "_LARGEST_WEIGHT", 0.05)
    at_once = replicates(scores())
    assert np.allclose(at_once.mean(axis=0), drawn.mean(axis=0), rtol=1e-3)
    spread = drawn.std(axis=0)
    assert np.allclose(at_once.std(axis=0), spread, rtol=0.03)
    assert (at_once[:, 3] == N).all()
    assert np.allclose(np.corrcoef(at_once[:, :3].T), np.corrcoef(drawn[:, :3].T), atol=0.03)
    one, other = (np.array(percentile_interval(r[:, 4])) for r in (drawn, at_once))
    assert np.abs(one - other).max() < 0.05 * spread[4]


@pytest.mark.usefixtures("of_few")
def test_equal_units_stay_counted_and_the_rest_is_a_crowd() -> None:
    units = np.r_[np.tile([[1.0, 0.0]], (3000, 1)), np.c_[np.random.default_rng(2).random(2000), np.ones(2000)]]
    found = bootstrap_sums(units, lambda s: s, np.random.default_rng(3), 20_000)
    assert (found[:, 1] == np.round(found[:, 1])).all()  # how many were of the crowd is drawn, not approximated
    assert np.allclose(found.std(axis=0), units.std(axis=0) * np.sqrt(len(units)), rtol=0.03)


def test_where_a_single_unit_weighs_much_each_is_drawn() -> None:
    rare = np.zeros((N, 1))
    rare[:3] = 1
    assert spread_of(rare, rare.mean()) is None
    assert spread_of(np.random.default_rng(0).random((200_000, 1)), 0.5) is not None


def test_a_root_of_a_covariance_of_dependent_columns_gives_it_back() -> None:
    columns = scores()[:, :3]
    columns = np.c_[columns, columns @ [1, 2, 3], columns[:, 0]]
    covariance = np.cov(columns.T)
    root = root_of(covariance)
    assert np.allclose(root @ root.T, covariance)
    assert np.allclose(root, np.tril(root))
    assert np.allclose(root[4], root[0])  # an equal column moves with the first


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 0.006])
def test_p_values_of_a_crowd_are_those_of_swaps_and_deals(monkeypatch: pytest.MonkeyPatch, shift: float) -> None:
    draw = np.random.default_rng(5)
    a = np.c_[draw.beta(2, 5, N) + shift, np.ones(N)]
    b = np.c_[draw.beta(2, 5, N), np.ones(N)]

    def p_values() -> list[float]:
        def ratio(s: np.ndarray) -> np.ndarray:
            return s[:, :1] / s[:, 1:]

        tests = (significance.swap_test, significance.shuffle_test)
        return [test(a, b, ratio, np.random.default_rng(6), 4000)[0].p or 0.0 for test in tests]

    one_by_one = p_values()
    monkeypatch.setattr(significance, "CROWD", 1000)
    monkeypatch.setattr(resample, "_LARGEST_WEIGHT", 0.05)
    assert p_values() == pytest.approx(one_by_one, abs=0.03)


@pytest.mark.usefixtures("of_few")
def test_either_side_first_gives_one_p_value() -> None:
    draw = np.random.default_rng(7)
    a, b = draw.random((N, 2)) + 1, draw.random((N, 2)) + 1

    def ratio(s: np.ndarray) -> np.ndarray:
        return s[:, :1] / s[:, 1:]

    one, other = (
        significance.swap_test(*pair, ratio, np.random.default_rng(8), 2000)[0].p for pair in ((a, b), (b, a))
    )
    assert one == other


@pytest.mark.slow
def test_a_figure_of_a_crowd_says_how_its_interval_was_drawn() -> None:
    n = CROWD + 50_000
    draw, ids = np.random.default_rng(9), np.arange(n)
    one, other = ({"score": draw.beta(2, 5, n)} for _ in "ab")
    found = estimate(one, [mean_of("score")], units=ids, seed=0).estimates[0]
    half = 1.96 * one["score"].std() / np.sqrt(n)
    assert found.method == f"percentile bootstrap, {drawn_in_words(2000, n)}"
    assert found.ci_high - found.ci_low == pytest.approx(2 * half, rel=0.05)
    compared = compare_measures(one, other, [mean_of("score")], units_a=ids, units_b=ids, seed=0).comparisons[0]
    assert "sums of unlike units by their normal limit" in compared.method
    assert compared.ci_high - compared.ci_low == pytest.approx(2**1.5 * half, rel=0.05)
