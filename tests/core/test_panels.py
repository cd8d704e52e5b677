"""The worth of a panel: copies are worth one judge, independent ones their number."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.core.panels import effective_judges, majority

nan = np.nan


def panel(n: int, k: int, shared: float, rate: float = 0.25, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    g = np.random.default_rng(seed)
    truth = g.integers(0, 2, n).astype(float)
    own, common = g.random((n, k)) < rate, g.random((n, 1)) < rate
    wrong = np.where(g.random((n, k)) < shared, common, own)
    return np.where(wrong, 1 - truth[:, None], truth[:, None]), truth


def test_copies_are_worth_one_judge() -> None:
    verdicts, truth = panel(400, 1, 0)
    found = effective_judges(np.repeat(verdicts, 5, axis=1), truth, n_resamples=200)
    assert found.effective.value == 1.0
    assert (found.effective.ci_low, found.effective.ci_high) == pytest.approx((1, 1))


def test_independent_judges_are_worth_their_number() -> None:
    verdicts, truth = panel(20_000, 6, 0)
    found = effective_judges(verdicts, truth, n_resamples=200)
    assert found.effective.value == pytest.approx(6, abs=0.25)
    assert found.effective.ci_high <= 6


def test_the_mean_correlation_is_numpys() -> None:
    verdicts, truth = panel(500, 4, 0.6)
    errors = (verdicts != truth[:, None]).astype(float)
    expected = np.corrcoef(errors.T)[np.triu_indices(4, 1)].mean()
    found = effective_judges(verdicts, truth, n_resamples=300)
    assert found.correlation == pytest.approx(expected)
    assert found.effective.value == pytest.approx(4 / (1 + 3 * expected))
    assert found.effective.ci_low < found.effective.value < found.effective.ci_high


def test_a_judge_without_errors_is_left_out_and_named() -> None:
    verdicts, truth = panel(300, 3, 0.5)
    perfect = np.column_stack([verdicts, truth])
    found = effective_judges(perfect, truth, names=["a", "b", "c", "perfect"], n_resamples=100)
    assert found.left_out == ("perfect",)
    assert found.n_judges == 4


def test_one_judge_that_errs_is_not_a_panel() -> None:
    verdicts, truth = panel(100, 1, 0)
    found = effective_judges(np.column_stack([verdicts, truth]), truth)
    assert found.effective.value is None
    assert found.effective.note.startswith("fewer than two judges")
    assert effective_judges(np.empty((0, 2)), np.empty(0)).effective.value is None


def test_items_that_a_judge_did_not_mark_are_left_out() -> None:
    verdicts, truth = panel(300, 3, 0.5)
    some = verdicts.copy()
    some[:50, 1] = nan
    truth[-10:] = nan
    assert effective_judges(some, truth, n_resamples=50).n_items == 240
    whole = effective_judges(verdicts[50:-10], truth[50:-10], n_resamples=50)
    assert effective_judges(some, truth, n_resamples=50).effective == whole.effective


def test_the_majority_of_annotators() -> None:
    assert majority([[1, 1, 0], [nan, 0, nan]]).tolist() == [1.0, 0.0]
    assert np.isnan(majority([[1, 0, nan], [nan, nan, nan], [0, 1, 2]])).all()
    assert np.isnan(majority(np.full((2, 2), nan))).all()
