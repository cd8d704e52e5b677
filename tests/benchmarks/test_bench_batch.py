"""A batch of sixteen runs on two workers against the same runs one after another."""

from __future__ import annotations

import os
import time
from pathlib import Path

import nbformat
import pytest
from benchmark_table import against
from nbformat.v4 import new_code_cell, new_notebook
from timing import race, seconds

from evalbench.runs.batch import run_batch
from evalbench.runs.run import run
from evalbench.runs.suite import read_suite

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.large,
    pytest.mark.timeout(1200),
    pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="two workers need two cores"),
]

MOST_OF_ALONE = 0.65
CODE = """import numpy as np
import pandas as pd
from evalbench import record, show
from evalbench.core.result import DataLabel, Estimate, Result, Summary
from evalbench.core.verdict import Verdict
from evalbench.draw.pictures import interval_bars
values = np.random.default_rng(k).normal(size=200)
means = np.random.default_rng(k).choice(values, (20_000, 200)).mean(axis=1)
low, high = np.quantile(means, [0.025, 0.975])
show(interval_bars(["all"], [values.mean()], [low], [high], title="The mean is near 0", xlabel="mean (no unit)", domain=(-1, 1)))
items = pd.DataFrame({"id": [str(i) for i in range(200)], "value": values, "unscored": "", "undefined": ""})
estimate = Estimate(metric="mean", value=values.mean(), ci_low=low, ci_high=high, n=200)
record(Result(study="means", question="What is the mean?", judged="numbers", parameters={"k": k}, data=DataLabel("normal", "", "0"),
              id="id", items=items, summary=Summary((estimate,), Verdict("unlit", "a mean", ""))))"""


@pytest.fixture
def suite(tmp_path: Path):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [new_code_cell("k: int = 1", metadata={"tags": ["parameters"]}), new_code_cell(CODE)]
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), tmp_path / "means.ipynb")
    ks = ", ".join(map(str, range(16)))
    (tmp_path / "suite.yaml").write_text(
        f"runs:\n  - {{study: means.ipynb, matrix: {{k: [{ks}]}}}}\n", encoding="utf-8"
    )
    return read_suite(tmp_path / "suite.yaml")


def one_after_another(jobs, reports: Path) -> None:
    for job in jobs:
        assert run(job.plan, out=reports, fork=False).status == "ok"


def batch(jobs, reports: Path, fork: bool) -> None:
    assert all(outcome.ok for outcome in run_batch(jobs, reports=reports, workers=2, fork=fork))


def test_sixteen_runs_on_two_workers(suite, tmp_path, record):
    took = race(
        lambda n: batch(suite, tmp_path / f"forked{n}", fork=True),
        lambda n: one_after_another(suite, tmp_path / f"alone{n}"),
        goal=1 / MOST_OF_ALONE,
        clock=time.perf_counter,
        rounds=1,
        most=4,
    )
    fresh = seconds(lambda: batch(suite, tmp_path / "fresh", fork=False), time.perf_counter)
    record(against("16 runs, two workers, forked", took, "one after another", 1 / MOST_OF_ALONE))
    record(against("16 runs, two workers, fresh kernels", took._replace(ours=fresh), "one after another", 1))
