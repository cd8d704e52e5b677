"""Separability: the fit is scikit-learn's, the Gini is that of pairs within a fold, copies leak nothing, the null holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from evalbench.core.separability import WithinFolds, gram, grouped_folds, logistic, separability


def cloud(seed: int, n: int, d: int, apart: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    side = np.arange(n) % 2 == 1
    rows = rng.normal(size=(n, d))
    rows[side, 0] += apart
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), side


@pytest.mark.parametrize("strength", [0.1, 1.0, 100.0])
def test_the_fit_is_that_of_an_independent_library(strength: float) -> None:
    from sklearn.linear_model import LogisticRegression

    rows, side = cloud(0, 120, 15, 1.5)
    labels = np.stack([side, np.roll(side, 1), np.random.default_rng(1).random(120) < 0.2], axis=1)
    weights, intercept = logistic(gram(rows), labels, strength)
    for i in range(3):
        peer = LogisticRegression(C=strength, tol=1e-10, max_iter=10_000).fit(rows, labels[:, i])
        assert np.allclose(rows.T @ weights[:, i], peer.coef_[0], atol=1e-3 * max(1, np.abs(peer.coef_).max()))
        assert intercept[i] == pytest.approx(peer.intercept_[0], abs=1e-3)


def test_out_of_fold_scores_are_those_of_an_independent_library() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    rows, side = cloud(2, 101, 6, 1.0)
    found = separability(gram(rows), side, n_permutations=0, n_resamples=50)
    ginis, pairs = [], []
    for fold in range(5):
        held = found.folds == fold
        peer = LogisticRegression(tol=1e-10, max_iter=10_000).fit(rows[~held], side[~held])
        scores = peer.predict_proba(rows[held])[:, 1]
        assert np.allclose(scores, found.scores[held], atol=1e-4)
        ginis.append(2 * roc_auc_score(side[held], scores) - 1)
        pairs.append(side[held].sum() * (~side[held]).sum())
    assert found.gini.value == pytest.approx(np.average(ginis, weights=pairs), abs=1e-9)
    assert math.isnan(found.p)


def test_weighted_pairs_by_hand_ties_half() -> None:
    rng = np.random.default_rng(3)
    scores, folds = rng.integers(0, 4, 40) / 4, rng.integers(0, 3, 40)
    side, weight = rng.random(40) < 0.5, rng.integers(0, 3, (2, 40)).astype(float)
    for row, found in zip(weight, WithinFolds(scores, side, folds)(weight), strict=True):
        won = n = 0.0
        for i in np.flatnonzero(side):
            for j in np.flatnonzero(~side & (folds == folds[i])):
                w = row[i] * row[j]
                won, n = won + w * ((scores[i] > scores[j]) + (scores[i] == scores[j]) / 2), n + w
        assert found == pytest.approx(2 * won / n - 1)


def test_inner_products_of_sparse_rows() -> None:
    rng = np.random.default_rng(4)
    rows = rng.random((60, 200)) * (rng.random((60, 200)) < rng.random(200) ** 3)
    assert np.allclose(gram(csr_matrix(rows)), rows @ rows.T)


def test_folds_hold_whole_groups_and_both_sides() -> None:
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 60, 200)
    side = rng.random(200) < 0.3
    folds = grouped_folds(side, groups, 5, rng)
    assert all(len(set(folds[groups == g])) == 1 for g in set(groups.tolist()))
    for of in (side, ~side):
        assert (np.abs(np.bincount(folds[of], minlength=5) / of.sum() - 0.2) < 0.06).all()


def test_copies_in_other_folds_would_be_known_and_in_one_fold_are_not() -> None:
    rng = np.random.default_rng(6)
    own = rng.normal(size=(30, 200))
    rows = np.repeat(own / np.linalg.norm(own, axis=1, keepdims=True), 4, axis=0)
    side = np.repeat(np.arange(30) % 2 == 1, 4)
    kernel = gram(rows)
    leaked = separability(kernel, side, n_permutations=0, n_resamples=50)
    kept = separability(kernel, side, groups=np.repeat(np.arange(30), 4), n_permutations=39, n_resamples=50)
    assert leaked.gini.value > 0.9
    assert abs(kept.gini.value) < 0.6
    assert kept.p > 0.05
    assert "clustered" in kept.gini.method


def test_what_differs_is_found_and_scored() -> None:
    rows, side = cloud(7, 100, 5, 4.0)
    found = separability(gram(rows), side, n_permutations=49, n_resamples=200)
    assert found.gini.ci_low > 0.5
    assert found.p == 1 / 50
    assert found.scores[side].mean() > 0.5 > found.scores[~side].mean()


@pytest.mark.parametrize(
    ("side", "groups", "why"),
    [
        ([], None, "fewer than two rows"),
        ([True] * 5, None, "fewer than two rows"),
        ([True, False, False, False], None, "fewer than two rows"),
        ([True, True, False, False], [0, 0, 1, 2], "that differ"),
    ],
)
def test_too_little_has_no_gini(side: list[bool], groups: list[int] | None, why: str) -> None:
    found = separability(np.eye(len(side)), np.array(side, dtype=bool), groups=groups)
    assert found.gini.value is None
    assert why in found.gini.note
    assert math.isnan(found.p)
    assert len(found.scores) == len(side)


def test_one_group_over_both_sides_and_equal_rows() -> None:
    side = np.arange(12) % 2 == 1
    found = separability(np.ones((12, 12)), side, n_permutations=9, n_resamples=20)
    assert (found.gini.value, found.p) == (0, 1)
    found = separability(
        np.eye(12), side, groups=[0] * 6 + list(range(1, 7)), n_folds=5, n_permutations=9, n_resamples=20
    )
    assert found.gini.value is not None
    assert "near-copies" in found.note


@pytest.mark.slow
def test_the_null_holds_and_the_gini_is_near_0() -> None:
    """100 runs of 60 rows and 39 deals: each fits 5 folds × 40 labellings, which 400 runs of 99 deals would take minutes for."""
    ginis, ps, covered = [], [], 0
    for seed in range(100):
        rows, side = cloud(1000 + seed, 60, 20)
        found = separability(gram(rows), side, n_permutations=39, n_resamples=200, seed=seed)
        ginis.append(found.gini.value)
        ps.append(found.p)
        covered += found.gini.ci_low <= 0 <= found.gini.ci_high
    assert abs(np.mean(ginis)) < 0.03
    assert 0.02 <= np.mean(np.array(ps) <= 0.05) <= 0.08
    assert covered >= 85


def test_folds_share_one_factorisation_and_are_fitted_as_each_by_itself() -> None:
    rows, side = cloud(3, 90, 12, 1.0)
    found = separability(gram(rows), side, n_permutations=0, n_resamples=2)
    for fold in range(5):
        held = found.folds == fold
        weights, intercept = logistic(gram(rows[~held]), side[~held, None])
        alone = 1 / (1 + np.exp(-(rows[held] @ rows[~held].T @ weights + intercept)[:, 0]))
        np.testing.assert_allclose(found.scores[held], alone, atol=1e-5)
