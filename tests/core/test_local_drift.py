"""Expected quality from neighbours: both formulas, exact neighbours, no drop without drift."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.core.local_drift import expected_quality, labels_near, local_drift, nearest


def unit(rng: np.random.Generator, n: int, d: int = 8) -> np.ndarray:
    drawn = rng.normal(size=(n, d))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def test_neighbours_are_those_of_a_plain_sort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalbench.core.local_drift._ROWS", 100)
    rng = np.random.default_rng(0)
    known, new = unit(rng, 40), unit(rng, 9)
    places, similarity = nearest(new, known, 3)
    cosines = new @ known.T
    assert places.tolist() == [sorted(range(40), key=lambda i: -row[i])[:3] for row in cosines]
    assert np.allclose(similarity, np.sort(cosines, axis=1)[:, ::-1][:, :3], atol=1e-6)
    own, _ = nearest(known, known, 3, itself=True)
    assert all(i not in row for i, row in enumerate(own))


def test_the_two_formulas_by_hand() -> None:
    assert expected_quality([[0.8, 0.4]], [[1, 0]]).tolist() == pytest.approx([2 / 3])
    assert expected_quality([[0.8, 0.4]], [[1, 0]], "handbook").tolist() == pytest.approx([0.5 * (1 + 0.4 / 2)])
    assert np.isnan(expected_quality([[-0.2, 0.0]], [[1, 1]])).all()
    assert expected_quality([[1.0, 1.0]], [[0, 0]], "handbook").tolist() == [0]


@pytest.mark.slow
@pytest.mark.parametrize("formula", ["weighted", "handbook"])
def test_without_drift_there_is_no_drop(formula: str) -> None:
    held, drops = 0, []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        vectors = unit(rng, 300)
        right = (rng.random(300) < 0.5 + 0.4 * vectors[:, 0]).astype(float)
        found = local_drift(vectors[:200], right[:200], vectors[200:], formula=formula, n_resamples=300)
        drops.append(found.drop.value)
        held += found.drop.ci_low <= 0 <= found.drop.ci_high
    assert abs(np.mean(drops)) < 0.01
    assert held >= 85


def test_a_move_to_where_answers_are_wrong_is_a_drop() -> None:
    rng = np.random.default_rng(5)
    vectors = unit(rng, 400)
    right = (vectors[:, 0] > 0).astype(float)
    bad = vectors[vectors[:, 0] < 0][:50]
    found = local_drift(vectors, right, bad, n_resamples=200)
    assert found.drop.ci_low > 0.25
    assert found.baseline == pytest.approx(right.mean(), abs=0.1)


def test_of_many_copies_of_a_request_each_counts() -> None:
    rng = np.random.default_rng(6)
    vectors = np.repeat([[1.0, 0.0], [0.0, 1.0]], [60, 20], axis=0)
    right = np.concatenate([np.sort(rng.permutation(60) < 45), np.arange(20) < 5]).astype(float)
    found = local_drift(vectors, right, np.array([[1.0, 0.0]] * 30), n_resamples=50)
    assert np.allclose(found.each, 0.75)
    assert found.baseline == pytest.approx(right.mean())
    around, _ = nearest(vectors, vectors, 5, itself=True)
    loo = labels_near(vectors, right, around, itself=True)
    assert loo[:60, 0].tolist() == pytest.approx([(45 - y) / 59 for y in right[:60]])


def test_labels_of_distinct_requests_are_their_own() -> None:
    rng = np.random.default_rng(7)
    vectors, right = unit(rng, 50), rng.random(50)
    for itself in (False, True):
        places, _ = nearest(vectors, vectors, 4, itself=itself)
        assert (labels_near(vectors, right, places, itself=itself) == right[places]).all()
