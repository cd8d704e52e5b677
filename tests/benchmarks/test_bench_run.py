"""From the command to the page, with a fresh process each time: wall time, processor time of all processes, memory of the largest."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import psutil
import pytest
from benchmark_table import at_most
from zipf_texts import texts

from evalbench.readers.runs import read_json
from evalbench.runs.kernel import peak_memory_mb

pytestmark = pytest.mark.benchmark

SAMPLES = ("matching", "matching_calibration", "citation")
MOST_SECONDS, MOST_PROCESSOR_SECONDS = 3.5, 5.0


class Took(NamedTuple):
    """Wall time of a command, the processor time of it and of all that it started, and the peak of the largest of these."""

    wall: float
    processor: float
    peak_bytes: float


def took(command: list[str], env: Mapping[str, str] | None = None) -> Took:
    begun = time.perf_counter()
    process = psutil.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})}
    )
    known, used, peak = {process.pid: process}, {}, 0.0
    while process.poll() is None:
        for one in list(known.values()):
            # Children that have ended, and whom nobody waited for, are gone: what was last seen of each counts.
            try:
                known.update({child.pid: child for child in one.children()})
                times = one.cpu_times()
                used[one.pid] = times.user + times.system
                peak = max(peak, 1e6 * (peak_memory_mb(one.pid) or 0.0))
            except psutil.Error:
                known.pop(one.pid, None)
        time.sleep(0.02)
    assert process.returncode in (0, 3)
    return Took(time.perf_counter() - begun, sum(used.values()), peak)


def median_of_three(command: list[str], env: Mapping[str, str] | None = None) -> Took:
    found = [took(command, env) for _ in range(3)]
    return Took(*(statistics.median(column) for column in zip(*found, strict=True)))


def evalbench(*words: str) -> list[str]:
    return [sys.executable, "-m", "evalbench.cli", *words]


@pytest.mark.large
@pytest.mark.parametrize("study", SAMPLES)
def test_a_sample_is_on_its_page_in_three_and_a_half_seconds(study, tmp_path, record):
    found = median_of_three(evalbench("run", study, "--out", str(tmp_path)))
    record(at_most(f"{study} on its sample, command to page", found.wall, MOST_SECONDS, "s"))
    record(at_most(f"{study} on its sample, processor time", found.processor, MOST_PROCESSOR_SECONDS, "s"))


@pytest.mark.parametrize(("words", "most"), [(("--help",), 0.3), (("list",), 1.0)])
def test_help_and_the_list_of_studies_come_at_once(words, most, record):
    record(at_most(f"evalbench {' '.join(words)}", median_of_three(evalbench(*words)).wall, most, "s"))


def many_outputs(path: Path) -> Path:
    """1 000 documents × 20 systems, 10 metrics, 3 criteria."""
    rng = np.random.default_rng(0)
    document, system = np.divmod(np.arange(20_000), 20)
    shared = 0.6 * rng.standard_normal(1000)[document] + 0.5 * rng.standard_normal(20)[system]
    criteria = [shared + rng.standard_normal(20_000) for _ in range(3)]
    columns = {f"c{k}": np.clip(np.round(c + 3), 1, 5) for k, c in enumerate(criteria)}
    columns |= {f"m{k}": 0.6 * criteria[k % 3] + rng.standard_normal(20_000) for k in range(10)}
    ids = {"doc_id": [f"d{d:04d}" for d in document], "system": [f"s{s:02d}" for s in system]}
    pd.DataFrame({**ids, "output": [f"text {i}" for i in range(20_000)], **columns}).to_parquet(path)
    return path


@pytest.mark.large
@pytest.mark.timeout(300)
def test_metrics_against_criteria_over_20_000_rows(tmp_path, record):
    data = many_outputs(tmp_path / "many.parquet")
    names = [
        'metrics=["m0","m1","m2","m3","m4","m5","m6","m7","m8","m9"]',
        'criteria=["c0","c1","c2"]',
        'trusted=["c0"]',
    ]
    options = [word for name in names for word in ("-p", name)]
    found = took(evalbench("run", "human_correlation", "--data", str(data), *options, "--out", str(tmp_path)))
    (page,) = tmp_path.glob("human_correlation/*/report.html")
    name = "20 000 rows × 10 metrics × 3 criteria"
    record(at_most(f"{name}, command to page", found.wall, 20, "s"))
    record(at_most(f"{name}, memory", found.peak_bytes, 450e6, "B"))
    record(at_most(f"{name}, page", page.stat().st_size, 500e3, "B"))


@pytest.mark.large
@pytest.mark.timeout(300)
def test_three_lexical_metrics_over_100_000_rows(tmp_path, record):
    outputs, references = texts(100_000)
    data = tmp_path / "many.csv"
    pd.DataFrame({"id": np.arange(100_000), "output": outputs, "reference": references}).to_csv(data, index=False)
    metrics = 'metrics=["f1_score", "rougeL", "chrf"]'
    found = took(evalbench("run", "text_metrics", "--data", str(data), "-p", metrics, "--out", str(tmp_path)))
    name = "100 000 rows × f1_score, rougeL, chrf"
    record(at_most(f"{name}, command to page", found.wall, 12, "s"))
    record(at_most(f"{name}, memory", found.peak_bytes, 500e6, "B"))


@pytest.mark.large
@pytest.mark.timeout(300)
def test_five_metrics_over_1_000_rows_with_one_by_embedding(tmp_path, record):
    outputs, references = texts(1000, low=10, high=40)
    data = tmp_path / "some.csv"
    pd.DataFrame({"id": np.arange(1000), "output": outputs, "reference": references}).to_csv(data, index=False)
    metrics = 'metrics=["f1_score", "rougeL", "chrf", "jaccard_similarity", "sentence_transformers_similarity"]'
    command = evalbench("run", "text_metrics", "--data", str(data), "-p", metrics, "--out", str(tmp_path))
    cold = took(command, {"EVALBENCH_CACHE": str(tmp_path / "cache")})
    kept = median_of_three(command, {"EVALBENCH_CACHE": str(tmp_path / "cache")})
    name = "1 000 rows × 5 metrics, one by embedding"
    record(at_most(f"{name}, command to page", cold.wall, 8.5, "s"))
    record(at_most(f"{name}, vectors kept, command to page", kept.wall, 4, "s"))


@pytest.mark.large
def test_the_second_run_of_a_batch_is_on_its_page_in_less_than_two_seconds(tmp_path, record):
    suite = tmp_path / "suite.yaml"
    suite.write_text("runs:\n  - {study: matching, matrix: {yellow_from: [0.3, 0.4, 0.5, 0.6], green_from: [0.8]}}\n")
    took(evalbench("batch", str(suite), "--workers", "1", "--out", str(tmp_path / "reports")))
    records = [read_json(file) for file in (tmp_path / "reports").glob("matching/*/run.json")]
    later = sorted(records, key=lambda run: run["started"])[1:]
    record(at_most("a later run of a batch, matching", statistics.median(r["seconds"] for r in later), 1.8, "s"))
