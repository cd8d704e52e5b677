"""Escalation with a promise: labels needed, bounds, thresholds by hand, refusals; the promise kept in simulated sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, binom

from evalbench.core.escalation import LEVELS, asked_of, labels_needed, routes, thresholds_with_promise, upper_bound


def test_labels_needed_are_the_least() -> None:
    assert [labels_needed(k) for k in (2, 3)] == [52, 65]
    for errors, alpha, delta in ((0, 0.1, 0.1), (7, 0.05, 0.1), (40, 0.2, 0.01), (0, 0.5, 0.5)):
        n = labels_needed(errors, alpha, delta)
        assert binom.cdf(errors, n, alpha) <= delta < binom.cdf(errors, n - 1, alpha)


def test_the_bound_is_the_quantile_of_a_beta() -> None:
    k, n = np.array([0, 2, 9, 10, 0]), np.array([22, 52, 10, 10, 0])
    assert upper_bound(k, n)[:3] == pytest.approx(beta.ppf(0.9, k[:3] + 1, n[:3] - k[:3]))
    assert upper_bound(k, n)[3:].tolist() == [1, 1]
    with pytest.raises(ValueError, match="between 0 and n"):
        upper_bound(3, 2)


def test_the_first_sure_judge_decides() -> None:
    by = routes([[0.9, 0.9], [0.7, 0.8], [math.nan, 0.8], [0.7, 0.6], [math.nan, math.nan]], [0.8, 0.7])
    assert by.tolist() == [0, 1, 1, 2, 2]
    assert asked_of(by, 2).tolist() == [5, 4, 2]


def test_thresholds_by_hand() -> None:
    """60 items at .95 without an error, 20 at .8 with 3, 20 at .6 with 12: the sequence ends where errors are too many."""
    sure = np.repeat([0.95, 0.8, 0.6], [60, 20, 20])
    right = np.concatenate([np.ones(60), np.ones(17), np.zeros(3), np.ones(8), np.zeros(12)])
    found = thresholds_with_promise(np.column_stack([sure]), np.column_stack([right]))
    assert found.thresholds is not None
    assert 0.6 < found.thresholds[0] <= 0.8
    assert (found.n[found.chosen], found.errors[found.chosen]) == (80, 3)
    assert found.upper[found.chosen] == pytest.approx(beta.ppf(0.9, 4, 77))
    assert np.isnan(found.upper[: np.argmax(found.n >= 52)]).all()
    assert found.n[-1] == 100
    strict = thresholds_with_promise(np.column_stack([sure]), np.column_stack([right]), alpha=0.04)
    assert strict.thresholds is not None
    assert strict.errors[strict.chosen] == 0
    worse = thresholds_with_promise(np.column_stack([sure]), np.column_stack([right[::-1]]))
    assert worse.thresholds is None
    assert worse.note == "of 60 labelled items of which judges are most sure, they disagree with people on 15"


def test_too_few_labels_are_said() -> None:
    found = thresholds_with_promise(np.full((21, 1), 0.9), np.ones((21, 1)))
    assert found.thresholds is None
    assert found.note == "21 labelled items that judges decide; without any error 22 are needed"
    assert thresholds_with_promise(np.full((22, 1), 0.9), np.ones((22, 1))).thresholds is not None
    none = thresholds_with_promise(np.full((30, 2), math.nan), np.full((30, 2), math.nan))
    assert none.note.startswith("0 labelled items")
    assert thresholds_with_promise(np.empty((0, 1)), np.empty((0, 1))).thresholds is None


@pytest.mark.parametrize(
    ("c", "right", "settings", "why"),
    [
        ([[0.5]], [1], {}, "of shape"),
        ([[1.5]], [[1]], {}, "must lie in"),
        ([[0.5]], [[0.5]], {}, "be 0 or 1"),
        ([[0.5]], [[1]], {"path": [[0.1], [0.2]]}, "never rise"),
        ([[0.5]], [[1]], {"alpha": 0}, "alpha is 0"),
    ],
)
def test_refused(c, right, settings, why) -> None:
    with pytest.raises(ValueError, match=why):
        thresholds_with_promise(c, right, **settings)
    with pytest.raises(ValueError, match="negative"):
        labels_needed(-1)


def test_levels_are_from_strict_to_lenient() -> None:
    assert (np.diff(LEVELS) <= 0).all()
    assert LEVELS[-1] == 0


def drawn(g: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A cheap judge that is right on 71 % and a strong one on 84 %; hard items are hard for both; both too sure."""
    easy = g.normal(size=n)
    chance = np.maximum(np.column_stack([expit(m + 1.6 * easy + 0.5 * g.normal(size=n)) for m in (1.2, 2.4)]), 0.3)
    return np.maximum(chance, 0.5) ** 0.8, (g.random((n, 2)) < chance).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "labels"), [(0.1, 200), (0.15, 100)])
def test_the_promise_is_kept_and_costs_less_than_the_strong_judge(alpha: float, labels: int) -> None:
    """200 sets of labels; the strong judge at 20 times the price of the cheap one, asked about every item otherwise."""
    g = np.random.default_rng(0)
    c, right = drawn(g, 50_000)
    kept, cost, coverage = [], [], []
    for _ in range(200):
        found = thresholds_with_promise(*drawn(g, labels), alpha=alpha)
        if found.thresholds is None:
            kept.append(True)  # everything goes to people
            continue
        by = routes(c, found.thresholds)
        machine = by < 2
        kept.append(right[machine, by[machine]].mean() >= 1 - alpha)
        cheap, strong, people = asked_of(by, 2)
        cost.append((cheap + 20 * strong) / (20 * len(c)))
        coverage.append(1 - people / len(c))
    assert np.mean(kept) >= 0.9
    assert right[:, 1].mean() < 1 - alpha  # the strong judge alone would break the promise at .1 and at .15
    assert len(cost) > 100
    assert np.mean(cost) < 0.85
    assert np.mean(coverage) > 0.5


def test_a_judge_that_is_always_right_decides_everything() -> None:
    found = thresholds_with_promise(np.full((60, 2), 0.5), np.ones((60, 2)))
    assert found.thresholds == (0.0, 0.0)
