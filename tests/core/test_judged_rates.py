"""A judge's pass rate, corrected: worked examples, simulated coverage, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalbench.core.judged_rates import post_stratified_rate, rogan_gladen_rate
from evalbench.core.stats import wilson

nan = math.nan
CASES = [(0.7, 0.9, 0.8, 1000, 100), (0.9, 0.9, 0.7, 500, 50), (0.5, 0.8, 0.8, 200, 60), (0.95, 0.95, 0.6, 1000, 100)]
R = 1500


def drawn(true: float, se: float, sp: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    g = np.random.default_rng(7)
    truth = (g.random((R, n)) < true).astype(float)
    passed = np.where(truth == 1, g.random((R, n)) < se, g.random((R, n)) >= sp).astype(float)
    return truth, passed


def test_post_stratification_by_hand() -> None:
    """100 verdicts, 80 passed; 20 passed ones labelled, 15 good; 10 failed ones labelled, none good."""
    labels = [1] * 15 + [0] * 5 + [nan] * 60 + [0] * 10 + [nan] * 10
    found = post_stratified_rate([1] * 80 + [0] * 20, labels)
    a, b = 16 / 22, 1 / 12
    spread = 0.8**2 * a * (1 - a) / 22 + 0.2**2 * b * (1 - b) / 12 + (a - b) ** 2 * 0.8 * 0.2 / 100
    assert found.value == pytest.approx(0.8 * a + 0.2 * b)
    assert found.ci_high - found.value == pytest.approx(1.959964 * math.sqrt(spread), rel=1e-6)
    assert (found.naive, found.human, found.n_labelled, found.n_unlabelled) == (0.8, 0.5, 30, 70)


def test_rogan_and_gladen_by_hand() -> None:
    labels = [1] * 50 + [0] * 50 + [nan] * 200
    verdicts = [1] * 45 + [0] * 5 + [1] * 10 + [0] * 40 + [1] * 110 + [0] * 90
    found = rogan_gladen_rate(verdicts, labels)
    assert found.value == pytest.approx((0.55 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found.ci_low < 0.5 < found.ci_high


@pytest.mark.slow
@pytest.mark.parametrize(("true", "se", "sp", "n", "m"), CASES)
def test_both_intervals_cover_and_the_default_is_narrower_than_the_labels_alone(true, se, sp, n, m) -> None:
    truth, passed = drawn(true, se, sp, n + m)
    within, beside, widths, alone = [], [], [], []
    for y, f in zip(truth, passed, strict=True):
        inside = post_stratified_rate(f[:n], np.where(np.arange(n) < m, y[:n], nan))
        within.append(inside.ci_low <= true <= inside.ci_high)
        widths.append(inside.ci_high - inside.ci_low)
        other = rogan_gladen_rate(f, np.where(np.arange(n + m) < m, y, nan))
        if other.value is not None:
            beside.append(other.ci_low <= true <= other.ci_high)
        low, high = wilson(y[:m].sum(), m)
        alone.append(float(high - low))
    assert 0.93 <= np.mean(within) <= 0.98
    assert 0.93 <= np.mean(beside) <= 0.98
    assert len(beside) > 0.9 * R
    assert np.mean(widths) < np.mean(alone)


@pytest.mark.parametrize(
    ("verdicts", "labels", "why"),
    [
        ([1, 0, 1, 1], [1, 0, 1, nan], "1 bad"),
        ([1, 0, 1, 0, 1], [1, 1, 0, 0, nan], "too nearly the same"),
        ([1, 0], [1, 0], "none is left"),
    ],
)
def test_what_cannot_be_corrected_has_its_reason(verdicts, labels, why) -> None:
    found = rogan_gladen_rate(verdicts, labels)
    assert (found.value, found.ci_low, found.ci_high) == (None, None, None)
    assert why in found.note


def test_verdicts_that_are_missing_are_left_out_and_no_label_is_no_value() -> None:
    assert post_stratified_rate([1, nan, 0], [nan, 1, nan]).note == "no judged item has a human label"
    assert post_stratified_rate([], []).naive is None
    assert post_stratified_rate([1, nan, 0, 1], [1, 1, nan, nan]).n_unlabelled == 2


@pytest.mark.parametrize("correct", [post_stratified_rate, rogan_gladen_rate])
def test_marks_and_lengths_that_do_not_fit_are_refused(correct) -> None:
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        correct([0.5, 1], [1, nan])
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        correct([1, math.inf], [1, nan])
    with pytest.raises(ValueError, match="shapes"):
        correct([1, 1], [1])
    with pytest.raises(ValueError, match="level"):
        correct([1, 1, 0, 0, 1], [1, 1, 0, 0, nan], level=1)


@pytest.mark.parametrize("correct", [post_stratified_rate, rogan_gladen_rate])
def test_the_order_of_items_changes_nothing(correct) -> None:
    g = np.random.default_rng(3)
    f, y = (g.random((2, 200)) < 0.6).astype(float)
    y[g.random(200) < 0.5] = nan
    order = g.permutation(200)
    assert correct(f, y) == pytest.approx(correct(f[order], y[order]))
