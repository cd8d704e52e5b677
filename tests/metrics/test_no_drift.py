"""Where nothing drifts: on bursty texts each test of drift raises a false alarm as often as it says, and no figure leans."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.core.local_drift import local_drift
from evalbench.core.psi import psi_of_counts, psi_of_numbers
from evalbench.metrics.separability import separated
from evalbench.metrics.text_statistics import text_statistics

RUNS, ROWS, DEALS = 400, 80, 99
VOCABULARY = np.array([f"word{i}" for i in range(300)])
ZIPF = 1 / np.arange(1, 301)


def bursty(rng: np.random.Generator, n: int = ROWS) -> list[str]:
    """Requests of shared words, each with a topic of its own that it names five times."""
    shared = rng.choice(VOCABULARY, (n, 10), p=ZIPF / ZIPF.sum())
    topics = rng.integers(0, 400, n)
    lengths = rng.integers(4, 11, n)
    return [" ".join([*row[:m], *[f"topic{t}"] * 5]) for row, t, m in zip(shared, topics, lengths, strict=True)]


def alarms(p_values: list[float]) -> float:
    return float(np.mean(np.array(p_values) < 0.05))


@pytest.mark.slow
def test_indexes_of_texts_alarm_as_often_as_chance() -> None:
    side = np.arange(ROWS) % 2 == 1
    ids = [str(i) for i in range(ROWS)]
    tokens, lengths, shares, excess = [], [], [], []
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        found = text_statistics(bursty(rng), side, ids)
        index = psi_of_counts(found.counts, side, rng, n_permutations=DEALS)
        tokens.append(index.p)
        excess.append(index.excess)
        lengths.append(psi_of_numbers(found.n_tokens, side, rng, n_permutations=DEALS).p)
        shares.append(psi_of_numbers(found.stop_share, side, rng, n_permutations=DEALS).p)
    for each in (tokens, lengths, shares):
        assert 0.02 <= alarms(each) <= 0.08
    assert abs(np.mean(excess)) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("copies", [1, 4])
def test_classifiers_of_texts_alarm_as_often_as_chance(copies: int) -> None:
    """With 4 each text comes in a burst of near-copies on one side, which dealing rows singly would take for drift.

    60 runs of 39 deals each, for every deal fits five classifiers: p is at most .05 in 3 of 60 by design, and 7 or more would
    come about thrice in a hundred times.
    """
    found = []
    for run in range(60):
        rng = np.random.default_rng(1000 + run)
        once = bursty(rng, ROWS // copies)
        texts = [f"{text}{'!' * i}" for text in once for i in range(copies)]
        side = np.repeat(rng.permutation(ROWS // copies) % 2 == 1, copies)
        found.append(separated(texts, side, n_permutations=39, n_resamples=100, seed=run).by_text)
    assert np.mean([f.p <= 0.05 for f in found]) <= 0.1
    assert abs(np.mean([f.gini.value for f in found])) < 0.05
    assert np.mean([f.gini.ci_low <= 0 <= f.gini.ci_high for f in found]) >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("formula", ["weighted", "handbook"])
def test_neighbours_expect_no_drop(formula: str) -> None:
    """Requests come in 12 topics; how often answers are right depends on the topic."""
    drops, missed = [], []
    for run in range(RUNS):
        rng = np.random.default_rng(2000 + run)
        centres = rng.normal(size=(12, 8))
        topic = rng.integers(0, 12, 240)
        vectors = centres[topic] + 0.5 * rng.normal(size=(240, 8))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        right = (rng.random(240) < rng.random(12)[topic]).astype(float)
        drop = local_drift(vectors[:160], right[:160], vectors[160:], formula=formula, seed=run, n_resamples=300).drop
        drops.append(drop.value)
        missed.append(not drop.ci_low <= 0 <= drop.ci_high)
    assert abs(np.mean(drops)) < 0.005
    assert 0.02 <= np.mean(missed) <= 0.09
