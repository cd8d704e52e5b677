"""Replicates from influence functions against those of ranks made anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.core import correlation_table as module
from evalbench.core.correlation_table import correlation_table
from evalbench.core.linearised import _net_concordance, levels_of


def table(levels: bool, documents: int = 1500, systems: int = 4):
    """Metrics, one of them of few levels, and criteria, with effects of documents and systems."""
    rng = np.random.default_rng(3)
    document, system = np.divmod(np.arange(documents * systems), systems)
    of_document, of_system = rng.standard_normal(documents)[document], rng.standard_normal(systems)[system]
    latent = 0.7 * of_document + 0.5 * of_system + rng.standard_normal(len(document))
    y = np.clip(np.round(latent + 3), 1, 5) if levels else np.exp(latent)
    x = np.stack(
        [latent + rng.standard_normal(len(latent)), np.round(latent + rng.standard_normal(len(latent)))], axis=1
    )
    x[:, 0] += of_document
    return x, y[:, None], document, system


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "documents", "systems"), [(True, 1500, 4), (False, 300, 17)])
def test_the_ends_of_intervals_are_within_two_per_cent_of_the_width(levels, documents, systems, monkeypatch):
    x, y, document, system = table(levels, documents, systems)
    options = {"document": document, "system": system, "levels": ("dataset",), "partial": True, "n_resamples": 1000}
    fast = correlation_table(x, y, **options)
    monkeypatch.setattr(module, "is_linearised", lambda rows, documents: False)
    exact = correlation_table(x, y, **options)
    for name, expected in exact.items():
        found = fast[name]
        np.testing.assert_allclose(found.values, expected.values, atol=1e-12)
        low, high = np.percentile(expected.replicates, [2.5, 97.5], axis=0)
        ends = np.percentile(found.replicates, [2.5, 97.5], axis=0)
        assert (np.abs(ends - [low, high]) < 0.02 * (high - low)).all(), name
        for i in range(x.shape[1]):
            assert np.corrcoef(found.replicates[:, i, 0], expected.replicates[:, i, 0])[0, 1] > 0.997


def test_gaps_and_constant_columns_are_as_in_small_tables(monkeypatch):
    x, y, document, system = table(True)
    x[::7, 0], x[:, 1] = np.nan, 4.0
    options = {"document": document, "system": system, "levels": ("dataset",), "partial": True, "n_resamples": 3}
    fast = correlation_table(x, y, **options)
    monkeypatch.setattr(module, "is_linearised", lambda rows, documents: False)
    for name, expected in correlation_table(x, y, **options).items():
        np.testing.assert_array_equal(np.isnan(fast[name].values), np.isnan(expected.values))
        np.testing.assert_array_equal(np.isnan(fast[name].replicates), np.isnan(expected.replicates))
        np.testing.assert_array_equal(fast[name].n, expected.n)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1, max_size=40))
def test_concordance_of_each_row_is_that_of_all_its_pairs(rows):
    x, y = np.array(rows, float).T
    expected = (np.sign(x[:, None] - x) * np.sign(y[:, None] - y)).sum(axis=1)
    assert _net_concordance(levels_of(x), levels_of(y)).tolist() == expected.tolist()
