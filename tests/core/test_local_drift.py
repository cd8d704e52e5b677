"""Expected quality from neighbours: both formulas, exact neighbours, no drop without drift."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.core.local_drift import expected_quality, local_drift, nearest


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
