"""Intervals at system level: systems and documents are both drawn from a population."""

import numpy as np
import pytest
from generated import in_soak

from evalbench.core.correlation_table import KINDS, correlation_table
from evalbench.core.stats import percentile_interval

DOCUMENTS = 60


def drawn(rng, systems, correlation):
    """A table of systems by documents: quality of two kinds, the document's difficulty, noise of the single mark."""
    quality = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], size=systems)
    difficulty = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=DOCUMENTS)
    marks = difficulty[:, None] + quality[None] + rng.standard_normal((DOCUMENTS, systems, 2))
    document, system = (a.ravel() for a in np.indices((DOCUMENTS, systems)))
    return marks[:, :, :1].reshape(-1, 1), marks[:, :, 1:].reshape(-1, 1), document, system


def of_population(correlation):
    """The correlation of all systems' true quality: Pearson's as drawn, the others as they follow for a normal."""
    return {
        "pearson": correlation,
        "spearman": 6 / np.pi * np.arcsin(correlation / 2),
        "kendall": 2 / np.pi * np.arcsin(correlation),
    }


def coverage(systems, correlation, samples, n_resamples):
    rng = np.random.default_rng(systems)
    true, held = of_population(correlation), dict.fromkeys(KINDS, 0)
    for seed in range(samples):
        x, y, document, system = drawn(rng, systems, correlation)
        found = correlation_table(
            x, y, document=document, system=system, levels=("system",), seed=seed, n_resamples=n_resamples
        )
        for kind in KINDS:
            low, high = percentile_interval(found["system", kind].replicates[:, 0, 0])
            held[kind] += int(low <= true[kind] <= high)
    return {kind: count / samples for kind, count in held.items()}


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("systems", [10, 20, 40][: in_soak(3, 1)])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_intervals_hold_the_correlation_of_the_population_of_systems(systems, correlation):
    found = coverage(systems, correlation, samples=in_soak(400, 150), n_resamples=250)
    assert 0.88 <= found["pearson"] <= 0.97, found
    assert found["spearman"] >= 0.93, found
    assert found["kendall"] >= 0.93, found


def test_systems_are_drawn_beside_documents():
    """With documents alone, ten systems that correlate by 0.5 look certain: at most every second interval holds it."""
    found = coverage(10, 0.5, samples=40, n_resamples=100)
    assert min(found.values()) >= 0.85, found
    x, y, document, system = drawn(np.random.default_rng(0), 10, 0.5)
    options = {"document": document, "system": system, "levels": ("system",)}
    both = correlation_table(x, y, **options, n_resamples=300)["system", "pearson"].replicates[:, 0, 0]
    counts = np.random.default_rng(1).multinomial(DOCUMENTS, [1 / DOCUMENTS] * DOCUMENTS, size=300)
    documents = correlation_table(x, y, **options, counts=counts)["system", "pearson"].replicates[:, 0, 0]
    assert np.ptp(percentile_interval(both)) > 2 * np.ptp(percentile_interval(documents))


def test_a_system_drawn_twice_counts_twice_and_one_not_drawn_is_not_missed():
    rng = np.random.default_rng(2)
    x, y, document, system = drawn(rng, 4, 0.3)
    x[(system == 3) & (document > 0)] = np.nan
    times, documents = np.array([[2.0, 1, 1, 0]]), np.ones((1, DOCUMENTS))
    documents[0, 0] = 0  # the only document with the fourth system
    found = correlation_table(
        x, y, document=document, system=system, levels=("system",), counts=documents, system_counts=times
    )
    kept = (document > 0) & (system < 3)
    rows = np.concatenate([np.flatnonzero(kept), np.flatnonzero(kept & (system == 0))])
    copies = np.concatenate([system[kept], np.full(int((kept & (system == 0)).sum()), 4)])
    once = np.ones((1, DOCUMENTS - 1))
    peer = correlation_table(x[rows], y[rows], document=document[rows], system=copies, levels=("system",), counts=once)
    for kind in KINDS:
        one, other = (t["system", kind].replicates[0, 0, 0] for t in (found, peer))
        assert one == pytest.approx(other, abs=1e-9)
    everything = correlation_table(x, y, document=document, system=system, levels=("system",), counts=documents)
    assert np.isnan(everything["system", "pearson"].replicates[0, 0, 0])


def test_counts_of_another_number_of_systems_are_refused():
    x, y, document, system = drawn(np.random.default_rng(0), 4, 0.3)
    with pytest.raises(ValueError, match="system_counts"):
        correlation_table(x, y, document=document, system=system, system_counts=np.ones((5, 3)), n_resamples=5)
