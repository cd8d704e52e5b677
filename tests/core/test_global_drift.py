"""Predicted quality from distances: against statsmodels' formula by hand, and each reason for none."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.core.global_drift import FEATURES, LEAST_SAMPLES, _predicted, features, global_drift


def rows(rng: np.random.Generator, n: int, far: np.ndarray) -> np.ndarray:
    """Unit vectors around one direction, ``far`` of each turned away from it."""
    noise = rng.normal(size=(n, 6)) * 0.05
    noise[:, 0] += np.cos(far)
    noise[:, 1] += np.sin(far)
    return noise / np.linalg.norm(noise, axis=1, keepdims=True)


def sample(seed: int, n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Requests of which the far ones are answered wrongly."""
    rng = np.random.default_rng(seed)
    far = np.where(rng.random(n) < 0.35, 1.2, 0.1)
    return rows(rng, n, far), (far < 1).astype(float)


def test_features_by_hand() -> None:
    d = np.arange(60, dtype=float).reshape(20, 3) / 60
    ad = np.sort(d.mean(axis=1))[::-1]
    rows = np.stack([d.mean(axis=1), (d**2).mean(axis=1), d.max(axis=1)], axis=1)
    known = dict(zip(FEATURES, features(rows).tolist(), strict=True))
    assert known["std_d"] == pytest.approx(d.std())
    assert known["mean_d"] == pytest.approx(ad.mean())
    assert known["sum_largest_5_ad"] == pytest.approx(ad[:5].sum())
    assert known["max_ad"] == ad[0]


def test_the_quality_of_a_new_sample_is_predicted() -> None:
    vectors, right = sample(0)
    new, truth = sample(1, 600)
    found = global_drift(vectors, right, new)
    assert not found.why
    assert found.n_samples == 100
    assert found.low <= truth.mean() <= found.high
    assert found.predicted == pytest.approx(truth.mean(), abs=0.05)
    chosen = {each.feature for each in found.correlated if each.chosen}
    assert "mean_d" in chosen
    assert all(each.p <= each.p_holm for each in found.correlated)


def test_each_reason_for_no_prediction() -> None:
    vectors, right = sample(0)
    few = global_drift(vectors[:500], right[:500], vectors)
    assert "at least 30 are needed, that is 900 labelled rows" in few.why
    assert np.isnan(few.predicted)
    assert "fewer than 15 new rows" in global_drift(vectors, right, vectors[:10]).why
    chance = np.random.default_rng(2).permutation(right)
    assert "no feature correlates" in global_drift(vectors, chance, vectors).why
    assert "no feature correlates" in global_drift(vectors, np.ones(len(vectors)), vectors).why
    rng = np.random.default_rng(3)
    away = global_drift(vectors, right, rows(rng, 300, np.full(300, 2.0)))
    assert "outside what was seen" in away.why
    assert "mean_d" in away.outside


def test_the_interval_is_that_of_a_prediction() -> None:
    """Draper and Smith's formula for one regressor, written out."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=LEAST_SAMPLES)
    y = 0.3 + 0.2 * x + rng.normal(size=LEAST_SAMPLES) * 0.05
    at = 0.4
    slope = np.cov(x, y)[0, 1] / x.var(ddof=1)
    rest = y - y.mean() - slope * (x - x.mean())
    n = len(x)
    s = np.sqrt((rest**2).sum() / (n - 2))
    half = 2.048407141795244 * s * np.sqrt(1 + 1 / n + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum())
    value, width = _predicted(x[:, None], y, np.array([at]))
    assert (value, width) == pytest.approx((y.mean() + slope * (at - x.mean()), half))


@pytest.mark.slow
def test_the_interval_covers() -> None:
    held = 0
    for seed in range(100):
        vectors, right = sample(2 * seed)
        new, truth = sample(2 * seed + 1, 15)
        found = global_drift(vectors, right, new)
        held += bool(found.why) or found.low <= truth.mean() <= found.high
    assert held >= 88
