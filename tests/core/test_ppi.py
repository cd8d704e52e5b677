"""Prediction-powered means: refusals, the formulas by hand, coverage, degenerate inputs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.weightstats import DescrStatsW, zconfint

from evalbench.core.ppi import corrected_mean

nan = np.nan


@pytest.mark.parametrize(
    ("judged", "human", "trust", "message"),
    [
        ([1, 2], [1], None, "one human mark"),
        ([1, np.inf], [1, nan], None, "infinite"),
        ([1, 2], [1, nan], 1.5, "trust must be between 0 and 1, got 1.5"),
    ],
)
def test_refusals(judged, human, trust, message):
    with pytest.raises(ValueError, match=message):
        corrected_mean(judged, human, trust=trust)


def sample(g, labelled=50, total=800, bias=0.25):
    """A judge that is too kind: truth 0.5, judge about 0.5 + bias / 2."""
    truth = (g.random(total) < 0.5).astype(float)
    judged = np.where(g.random(total) < 0.1, 1 - truth, np.maximum(truth, g.random(total) < bias))
    return judged, np.where(np.arange(total) < labelled, truth, nan)


def test_without_trust_it_is_the_classical_mean():
    judged, human = sample(np.random.default_rng(0))
    out = corrected_mean(judged, human, trust=0.0)
    assert (out.ci_low, out.ci_high) == pytest.approx(zconfint(human[:50]))
    assert out.value == out.human == pytest.approx(human[:50].mean())


def test_full_trust_is_the_original_method():
    judged, human = sample(np.random.default_rng(1))
    out = corrected_mean(judged, human, trust=1.0)
    rest, rectifier = DescrStatsW(judged[50:]), DescrStatsW(human[:50] - judged[:50])
    half = 1.959964 * np.hypot(rest.std_mean, rectifier.std_mean)
    assert out.value == pytest.approx(rest.mean + rectifier.mean)
    assert (out.ci_low, out.ci_high) == pytest.approx((out.value - half, out.value + half), abs=1e-6)
    assert (out.n_labelled, out.n_unlabelled) == (50, 750)


def test_the_trust_chosen_has_the_narrowest_interval():
    judged, human = sample(np.random.default_rng(2), labelled=200, total=5000)
    widths = {t: (o := corrected_mean(judged, human, trust=t)).ci_high - o.ci_low for t in np.linspace(0, 1, 101)}
    best = corrected_mean(judged, human)
    assert best.ci_high - best.ci_low == pytest.approx(min(widths.values()), rel=2e-3)
    assert best.trust == pytest.approx(min(widths, key=widths.get), abs=0.1)


def test_intervals_cover_at_50_labels_and_the_naive_mean_is_far_off():
    g, hits, width, classical = np.random.default_rng(3), 0, 0.0, 0.0
    for _ in range(2000):
        judged, human = sample(g)
        out, plain = corrected_mean(judged, human), corrected_mean(judged, human, trust=0.0)
        hits += out.ci_low <= 0.5 <= out.ci_high
        width, classical = width + out.ci_high - out.ci_low, classical + plain.ci_high - plain.ci_low
    assert 0.93 - 0.011 <= hits / 2000 <= 0.97
    assert width < 0.85 * classical
    assert out.naive > 0.55


def test_a_useless_judge_is_not_trusted():
    g = np.random.default_rng(4)
    out = corrected_mean(np.ones(300), np.where(np.arange(300) < 60, g.random(300), nan))
    assert out.trust == 0
    assert out.value == pytest.approx(out.human)


@pytest.mark.parametrize(
    ("judged", "human", "value", "note"),
    [
        ([], [], None, "no judged item has a human label"),
        ([1, 0], [nan, nan], None, "no judged item has a human label"),
        ([nan, 0], [1, nan], None, "no judged item has a human label"),
        ([1, 0, 1], [1, nan, nan], 1.0, "no interval: fewer than two labelled"),
        ([1, 0], [1, 0], 0.5, "fewer than 20 labelled items"),
        ([1, 1, 1], [1, 1, nan], 1.0, "all labels agree"),
    ],
)
def test_what_is_missing_has_a_reason(judged, human, value, note):
    out = corrected_mean(judged, human)
    assert out.value == value
    assert note in out.note


marks = st.sampled_from([0.0, 1.0, 0.1, 1e100, nan])


@settings(max_examples=80)
@given(st.lists(st.tuples(marks, marks), max_size=7))
def test_degenerate_marks_give_a_value_or_a_reason(rows):
    judged, human = np.array(rows, dtype=float).reshape(-1, 2).T
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = corrected_mean(judged, human)
    assert out.note if out.value is None or out.ci_low is None else np.isfinite([out.value, out.ci_low]).all()


@pytest.mark.parametrize(
    ("trust", "value", "low", "high"),
    [(None, 0.43677795, 0.3177907, 0.55576519), (1.0, 0.45466667, 0.31429459, 0.59503874)],
)
def test_the_authors_package_gives_the_same(trust, value, low, high):
    """Recorded from ppi-python's ppi_mean_ci on these marks; its variances divide by n, ours by n − 1."""
    g = np.random.default_rng(0)
    truth = (g.random(800) < 0.5).astype(float)
    judged = np.where(g.random(800) < 0.1, 1 - truth, np.maximum(truth, g.random(800) < 0.25))
    out = corrected_mean(judged, np.where(np.arange(800) < 50, truth, nan), trust=trust)
    assert out.value == pytest.approx(value, abs=1e-3)
    assert out.ci_high - out.ci_low == pytest.approx((high - low) * np.sqrt(50 / 49), abs=1e-3)
