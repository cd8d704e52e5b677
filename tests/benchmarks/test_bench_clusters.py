"""Time and memory of a bootstrap of clusters: a million rows in 100 000 of them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from benchmark_table import at_most
from peak_memory import peak_bytes
from timing import alone

from evalbench.core.measures import estimate, mean_of

pytestmark = pytest.mark.benchmark

ROWS, CLUSTERS, MOST_SECONDS = 1_000_000, 100_000, 5


def a_million_rows():
    generator = np.random.default_rng(0)
    names = np.char.add("passage ", generator.integers(0, CLUSTERS, ROWS).astype(str)).astype(object)
    columns = {"score": generator.random(ROWS), "cluster": names}
    begin = time.perf_counter()
    (found,) = estimate(columns, [mean_of("score")], units=np.arange(ROWS), seed=0, n_resamples=2000).estimates
    return {"seconds": time.perf_counter() - begin, "peak": peak_bytes(), "method": found.method}


def test_a_million_rows_in_100_000_clusters(record):
    found = alone(a_million_rows)
    assert "clusters, widened by t, 2000 resamples" in found["method"]
    record(at_most("bootstrap of 100 000 clusters, a million rows", found["seconds"], MOST_SECONDS, "s"))
    record(at_most("bootstrap of 100 000 clusters, memory", found["peak"], 1e9, "B"))
