"""From the command to the page, with a fresh process each time: wall time and processor time of all processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
from benchmark_table import at_most

pytestmark = pytest.mark.benchmark

SAMPLES = ("matching", "matching_calibration", "citation")
MOST_SECONDS, MOST_PROCESSOR_SECONDS = 3.5, 5.0


def took(command: list[str]) -> tuple[float, float]:
    """Wall time of a command, and the processor time of it and of all that it started."""
    begun = time.perf_counter()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    known, used = {process.pid: process}, {}
    while process.poll() is None:
        for one in list(known.values()):
            # Children that have ended, and whom nobody waited for, are gone: what was last seen of each counts.
            try:
                known.update({child.pid: child for child in one.children()})
                times = one.cpu_times()
                used[one.pid] = times.user + times.system
            except psutil.Error:
                known.pop(one.pid, None)
        time.sleep(0.02)
    assert process.returncode in (0, 3)
    return time.perf_counter() - begun, sum(used.values())


def median_of_three(command: list[str]) -> tuple[float, float]:
    found = [took(command) for _ in range(3)]
    wall, processor = (statistics.median(column) for column in zip(*found, strict=True))
    return wall, processor


def evalbench(*words: str) -> list[str]:
    return [sys.executable, "-m", "evalbench.cli", *words]


@pytest.mark.large
@pytest.mark.parametrize("study", SAMPLES)
def test_a_sample_is_on_its_page_in_three_and_a_half_seconds(study, tmp_path, record):
    wall, processor = median_of_three(evalbench("run", study, "--out", str(tmp_path)))
    record(at_most(f"{study} on its sample, command to page", wall, MOST_SECONDS, "s"))
    record(at_most(f"{study} on its sample, processor time", processor, MOST_PROCESSOR_SECONDS, "s"))


@pytest.mark.parametrize(("words", "most"), [(("--help",), 0.3), (("list",), 1.0)])
def test_help_and_the_list_of_studies_come_at_once(words, most, record):
    wall, _ = median_of_three(evalbench(*words))
    record(at_most(f"evalbench {' '.join(words)}", wall, most, "s"))


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
    wall, _ = took(evalbench("run", "human_correlation", "--data", str(data), *options, "--out", str(tmp_path)))
    (page,) = tmp_path.glob("human_correlation/*/report.html")
    record(at_most("20 000 rows × 10 metrics × 3 criteria, command to page", wall, 20, "s"))
    record(at_most("20 000 rows × 10 metrics × 3 criteria, page", page.stat().st_size, 500e3, "B"))
