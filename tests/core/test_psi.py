"""Population stability index: published counts and edges, and a null that holds where nothing changed."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from evalbench.core.psi import binned, inner_edges, psi, psi_of_counts, psi_of_numbers

PARTS = ("2022H2_vs_2026", "2022H2_even_vs_odd_control")


def reference(folder: Path, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    rows = [json.loads(line) for line in (folder / f"{name}_features.jsonl").read_text().splitlines()]
    return json.loads((folder / "expected.json").read_text())[name], rows


@pytest.mark.external
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("feature", ["n_tokens", "n_chars", "stop_share"])
def test_published_edges_counts_and_index(external_data, name: str, feature: str) -> None:
    expected, rows = reference(external_data("drift_reference"), name)
    known = expected[feature]
    current = [row["part"] != "ref" for row in rows]
    found = psi_of_numbers([row[feature] for row in rows], current, np.random.default_rng(0))
    assert np.allclose(found.edges, known["inner_edges"])
    assert (list(found.reference), list(found.current)) == (known["ref_counts"], known["cur_counts"])
    assert found.value == pytest.approx(known["psi_eps1e4"], abs=1e-6)
    if feature != "stop_share":
        assert (found.p == 1 / 201) == (name == PARTS[0])


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ([10] * 10, [8, 9, 10, 11, 12, 11, 10, 10, 9, 10], 0.012123),
        ([5, 10, 20, 30, 20, 10, 5], [10, 20, 25, 20, 15, 7, 3], 0.190977),
        ([50, 50], [90, 10], 0.87889),
        ([1, 1], [1, 0], (0.5 - 1e-4) * math.log(0.5 / 1e-4) + 0.5 * math.log(2)),
        ([0, 0], [1, 1], math.nan),
        ([], [], math.nan),
    ],
)
def test_tables_in_closed_form(before: list[int], after: list[int], value: float) -> None:
    assert float(psi(before, after)) == pytest.approx(value, abs=1e-6, nan_ok=True)


def test_bins_are_those_of_the_reference_alone() -> None:
    rng = np.random.default_rng(1)
    values, current = rng.integers(0, 12, 300).astype(float), rng.random(300) < 0.4
    found = psi_of_numbers(values, current, rng, n_permutations=0)
    edges = inner_edges(values[~current])
    assert found.edges == tuple(edges.tolist())
    assert list(found.reference) == binned(values[~current], edges).tolist()
    assert list(found.current) == binned(values[current], edges).tolist()
    assert math.isnan(found.p)


def test_an_empty_side_has_no_index() -> None:
    rng = np.random.default_rng(1)
    assert math.isnan(psi_of_numbers([1, math.nan], [False, True], rng).value)
    assert math.isnan(psi_of_counts(csr_matrix([[1, 0]]), [True], rng).value)


def test_zipf_tokens_without_drift_have_a_high_index_and_no_excess() -> None:
    rng = np.random.default_rng(2)
    share = 1 / np.arange(1, 5001)
    rows = csr_matrix(rng.multinomial(20, share / share.sum(), 100).astype(float))
    found = psi_of_counts(rows, np.arange(100) % 2 == 1, rng)
    assert 1.3 < found.value < 2.3
    assert abs(found.excess) < 0.15
    assert found.p > 0.05


def bursty(rng: np.random.Generator, n: int) -> csr_matrix:
    """Requests that repeat a word of their own five times, beside words that all share."""
    rows = rng.multinomial(10, [1 / 50] * 50, n).astype(float)
    own = np.zeros((n, 400))
    own[np.arange(n), rng.integers(0, 400, n)] = 5
    return csr_matrix(np.hstack([rows, own]))


@pytest.mark.slow
def test_the_null_holds_on_bursty_text_where_tokens_dealt_singly_would_not() -> None:
    rng = np.random.default_rng(3)
    side = np.arange(80) % 2 == 1
    low = 0
    for _ in range(400):
        low += psi_of_counts(bursty(rng, 80), side, rng, n_permutations=99).p < 0.05
    assert 0.02 <= low / 400 <= 0.08
    rows = bursty(rng, 80)
    total = np.asarray(rows.sum(axis=0)).ravel()
    tokens = csr_matrix(np.eye(len(total))[np.repeat(np.arange(len(total)), total.astype(int))])
    now = np.asarray(rows.T @ side.astype(float)).ravel()
    singly = np.concatenate([np.repeat([True, False], [int(n), int(t - n)]) for n, t in zip(now, total, strict=True)])
    assert psi_of_counts(tokens, singly, rng, n_permutations=99).p == 0.01


@pytest.mark.slow
def test_the_null_of_numbers_holds() -> None:
    rng = np.random.default_rng(4)
    side = np.arange(90) % 3 == 0
    found = [psi_of_numbers(rng.poisson(12, 90), side, rng, n_permutations=99).p for _ in range(200)]
    assert 0.02 <= np.mean(np.array(found) < 0.05) <= 0.08
