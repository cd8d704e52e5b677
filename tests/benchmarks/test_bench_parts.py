"""Items of a table that does not fit, part by part: two processes against one, and what one of them holds."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from benchmark_table import against, at_most
from peak_memory import peak_bytes
from timing import Race, alone, seconds

pytestmark = pytest.mark.benchmark

METRICS = ["f1_score", "chrf", "exact_match"]


def write(folder, n):
    """n answers of two models to questions of 3 to 11 words, three words in ten of them others than the reference's."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(2_000)], dtype=object)
    for start in range(0, n, 200_000):
        size = min(200_000, n - start)
        right = words[rng.integers(0, len(words), (size, 11))]
        said = np.where(rng.random(right.shape) < 0.3, words[rng.integers(0, len(words), right.shape)], right)
        lengths = rng.integers(3, 12, size)
        answers, references = (
            [" ".join(row[:k]) for row, k in zip(t.tolist(), lengths, strict=True)] for t in (said, right)
        )
        ids = [f"q{(start + i) // 2:09d}" for i in range(size)]
        models = [("oak", "fern")[i % 2] for i in range(size)]
        table = pa.table({"id": ids, "model": models, "answer": answers, "reference": references})
        pq.write_table(table, Path(folder) / f"{start:09d}.parquet")


def evaluated(folder, processes):
    """Seconds of a whole evaluation, without its start, and the memory of the process that joins."""
    from evalbench import load, text_metrics
    from evalbench.core.schedulers import PROCESSES

    os.environ[PROCESSES] = str(processes)
    data = load(folder, study="text_metrics")
    took = seconds(lambda: text_metrics.evaluate(data, metrics=METRICS), time.perf_counter)
    return took, peak_bytes()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_two_processes(record):
    with tempfile.TemporaryDirectory() as folder:
        alone(write, folder, 400_000)
        (one, _), (two, peak) = alone(evaluated, folder, 1), alone(evaluated, folder, 2)
    record(against("text metrics of 400 000 rows in parts, two processes", Race(two, one, 1), "one process", 1.5))
    record(at_most("text metrics of 400 000 rows in parts, memory", peak, 700e6, "B"))


@pytest.mark.large
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_ten_million_rows_take_linear_time(record):
    with tempfile.TemporaryDirectory() as folder:
        alone(write, folder, 1_000_000)
        some = alone(evaluated, folder, 2)[0]
    with tempfile.TemporaryDirectory() as folder:
        alone(write, folder, 10_000_000)
        took, peak = alone(evaluated, folder, 2)
    record(at_most("ten times the rows in parts", took / some / 10, 1.2, "×"))
    record(at_most("text metrics of 10 million rows in parts, memory", peak, 2e9, "B"))
