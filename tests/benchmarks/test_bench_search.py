"""Searching chunks: exactly beside the bare matrix product, and a million by a graph with its recall."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmark_table import Row, against, at_least, at_most
from timing import Race, alone, race, seconds

from evalbench.models.similarity.search import exact_nearest, graph_of, recall_against

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]

CHUNKS, DIMENSION, QUERIES, K = 50_000, 384, 1_000, 10
MOST_SECONDS, MOST_BESIDE, MOST_OF_THE_PRODUCT = 1.0, 200e6, 1.5
MANY, LEAST_RECALL, MOST_BUILDING = 1_000_000, 0.95, 600


def vectors(n: int, seed: int) -> np.ndarray:
    """Like embeddings: of few directions beside noise, in thousands of subjects; no batch larger than it must be."""
    fixed, draw = np.random.default_rng(0), np.random.default_rng(seed)
    directions = fixed.standard_normal((24, DIMENSION), dtype=np.float32)
    subjects = fixed.standard_normal((2000, 24), dtype=np.float32)
    out = np.empty((n, DIMENSION), np.float32)
    for start in range(0, n, 50_000):
        m = min(50_000, n - start)
        near = subjects[draw.integers(len(subjects), size=m)] + 0.7 * draw.standard_normal((m, 24), dtype=np.float32)
        made = near @ directions + 0.5 * draw.standard_normal((m, DIMENSION), dtype=np.float32)
        out[start : start + m] = made / np.linalg.norm(made, axis=1, keepdims=True)
    return out


def exactly() -> dict[str, Any]:
    """Against the product of all queries with all vectors and nothing else."""
    table, asked = vectors(CHUNKS, 1), vectors(QUERIES, 2)
    exact_nearest(table, asked[:2], K)
    tracemalloc.start()
    found = exact_nearest(table, asked, K)
    _, beside = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    took = race(lambda _: exact_nearest(table, asked, K), lambda _: asked @ table.T, goal=1 / MOST_OF_THE_PRODUCT)
    cosines = asked @ table.T
    assert (found.places == np.argsort(-cosines, axis=1, kind="stable")[:, :K]).mean() > 0.9999
    return {"took": took, "beside": beside}


def test_exact_search(record: Callable[[Row], None]) -> None:
    found = alone(exactly)
    took = Race(*found["took"])
    record(at_most("top-10 of 1 000 queries among 50 000 vectors", took.ours, MOST_SECONDS, "s"))
    record(against("the same", took, "the bare matrix product", 1 / MOST_OF_THE_PRODUCT))
    record(at_most("the same, memory beside the vectors", found["beside"], MOST_BESIDE, "B"))


def by_graph() -> dict[str, float]:
    """A million vectors; the recall on queries that are not among them."""
    table, asked = vectors(MANY, 1), vectors(200, 2)
    true = exact_nearest(table, asked, K)
    kept: list[Any] = []
    building = seconds(lambda: kept.append(graph_of(table)))
    searching = seconds(lambda: kept.append(kept[0](asked, K)))
    return {"building": building, "searching": searching, "recall": recall_against(kept[1], true)}


@pytest.mark.large
def test_a_million_by_a_graph(record: Callable[[Row], None]) -> None:
    found = alone(by_graph)
    record(at_least("recall@10 of a graph of a million vectors", found["recall"], LEAST_RECALL, ""))
    record(at_most("building that graph, one thread", found["building"], MOST_BUILDING, "s"))
    record(at_most("200 queries to it", found["searching"], MOST_SECONDS, "s"))
