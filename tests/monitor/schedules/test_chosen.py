"""Metrics for monitoring are chosen by annotators' labels: the figures are those of the run, the rule holds, traps do not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from evalbench import load, record
from evalbench.commands.monitor_due import choose
from evalbench.core.significance import holm
from evalbench.errors import BadInput
from evalbench.monitor.chosen import chosen_of, p_of, read_chosen
from evalbench.studies import human_correlation

N = 40


def table(n: int = N) -> pd.DataFrame:
    """Metrics that follow the marks, oppose them, fall as they rise, have no relation, or are there for few only."""
    draw = np.random.default_rng(5)
    rows = []
    for i in range(n):
        for j in range(4):
            mark = draw.integers(0, 5)
            rows.append({
                "doc_id": f"d{i:02}", "system": f"s{j}", "output": f"Answer {i} {j}. " * int(mark + 1), "request": f"Question {i}?",
                "helpful": float(mark), "good": mark + draw.normal(0, 1), "error_rate": -mark + draw.normal(0, 1),
                "against": -mark + draw.normal(0, 0.5), "noise": draw.normal(),
                "rare": mark + draw.normal(0, 0.2) if i < 6 else 1.0,
            })  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    data = tmp_path_factory.mktemp("chosen")
    table().to_csv(data / "marks.csv", index=False)
    result = human_correlation.evaluate(
        load(str(data / "marks.csv"), study="human_correlation"),
        metrics=["good", "error_rate", "against", "noise", "rare", "length"], criteria=["helpful"], trusted=["helpful"],
        lower_is_better=["error_rate"], n_resamples=500,
    )  # fmt: skip
    return Path(record(result, out=data / "run") or data / "run")


COLUMNS = ("output", "request", "good", "error_rate", "against", "noise", "rare")


def test_those_that_follow_the_labels_are_monitored(run):
    found = chosen_of(run, available=COLUMNS)
    assert {one.metric for one in found.monitored} == {"good", "error_rate", "length"}
    why = {one.metric: one.why for one in found.metrics if not one.monitored}
    assert why == {
        "against": "it goes against the labels",
        "noise": why["noise"],
        "rare": "it has a value on 6 documents only",
    }
    assert "0.3" in why["noise"] or "against" in why["noise"]


def test_the_figures_are_those_of_the_run(run):
    results = json.loads((run / "results.json").read_text())
    rows = {row["scorer"]: row for row in results["summary"] if row["metric"] == "trusted_mean"}
    for one in chosen_of(run, available=COLUMNS).metrics:
        assert (one.value, one.ci_low, one.ci_high) == tuple(
            rows[one.metric][k] for k in ("value", "ci_low", "ci_high")
        )
        assert (one.n, one.higher_is_better) == (rows[one.metric]["n"], rows[one.metric]["higher_is_better"])


def test_p_is_adjusted_for_all_that_were_looked_at(run):
    tested = [one for one in chosen_of(run, available=COLUMNS).metrics if one.p is not None]
    assert len(tested) == 5
    np.testing.assert_allclose([one.p_holm for one in tested], holm([one.p for one in tested]))


def test_what_the_log_lacks_is_not_monitored(run):
    found = chosen_of(run)
    assert [one.metric for one in found.monitored] == ["length"]
    assert "name it with --available" in next(one.why for one in found.metrics if one.metric == "good")


def test_so_many_at_most(run):
    found = chosen_of(run, available=COLUMNS, most=1)
    assert len(found.monitored) == 1
    assert found.monitored[0].agreement == max(one.agreement for one in found.metrics if one.p is not None)
    assert "more than the 1 highest" in {one.why for one in found.metrics}


def test_the_file_is_read_as_it_was_written(run, tmp_path):
    out = tmp_path / "monitored.json"
    said = CliRunner().invoke(choose, [str(run), "--out", str(out), *(f"--available={name}" for name in COLUMNS)])
    assert said.exit_code == 0, said.output
    assert read_chosen(out) == chosen_of(run, available=COLUMNS)._replace(
        criteria=["helpful"], metrics=read_chosen(out).metrics
    )
    content = json.loads(out.read_text())
    assert "on new labels" in content["caution"]
    assert "p ≤ 0.05 after Holm's adjustment for 5 metrics" in content["rule"]


def test_where_none_qualifies_the_exit_code_says_so(run, tmp_path):
    out = tmp_path / "monitored.json"
    said = CliRunner().invoke(choose, [str(run), "--out", str(out), "--alpha", "0.001"])
    assert said.exit_code == 4
    with pytest.raises(BadInput, match="no metric that is monitored"):
        read_chosen(out)


@pytest.mark.parametrize("content", ["{}", '{"schema_version": 1, "metrics": [5]}', '{"schema_version": 9}', "[]", "x"])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "m.json"
    path.write_text(content)
    with pytest.raises(BadInput):
        read_chosen(path)


def test_bad_options_all_at_once(run):
    with pytest.raises(BadInput) as error:
        chosen_of(run, alpha=2, at_least=-1, most=0)
    assert len(error.value.faults) == 3
    with pytest.raises(BadInput, match="no criterion kind; there are helpful"):
        chosen_of(run, criteria=["kind"])


def test_p_is_uniform_where_there_is_no_relation():
    """The share of p ≤ .05 among bootstrapped means of noise is near .05."""
    draw = np.random.default_rng(0)
    values = draw.normal(size=(400, 60))
    picks = draw.integers(0, 60, (400, 500, 60))
    ps = [p_of(values[i][picks[i]].mean(axis=1)) for i in range(400)]
    assert 0.02 <= float(np.mean([p <= 0.05 for p in ps])) <= 0.085
