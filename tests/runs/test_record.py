"""record() without a run: shown, not written; with a folder: an interactive run."""

from __future__ import annotations

import json

import pytest

from evalbench import BadInput, load, matching, record
from evalbench.runs.record import command_line


@pytest.fixture(scope="module")
def result():
    return matching.evaluate(
        load("house_style_curated@1.0.0", study="matching"), embed="jaccard", n_resamples=50
    )


def test_nothing_is_written_and_the_command_line_is_printed(result, capsys, monkeypatch):
    monkeypatch.delenv("EVALBENCH_RUN", raising=False)
    record(result)
    said = capsys.readouterr().out
    assert "evalbench run matching" in said
    assert "-p embed=jaccard" in said
    assert "-p n_resamples=50" in said


def test_the_command_line_takes_the_notebooks_variables(result):
    line = command_line(
        result,
        {"data": "my file.csv", "seed": 7, "yellow_from": None, "embed": "jaccard", "n_resamples": 2000},
    )
    assert line == "evalbench run matching --data 'my file.csv' -p embed=jaccard -p seed=7"


def test_with_out_an_interactive_run_is_written(result, tmp_path, monkeypatch):
    monkeypatch.delenv("EVALBENCH_RUN", raising=False)
    record(result, out=tmp_path / "mine")
    assert json.loads((tmp_path / "mine" / "run.json").read_text())["status"] == "interactive"
    assert json.loads((tmp_path / "mine" / "results.json").read_text())["study"] == "matching"
    with pytest.raises(BadInput, match="is not empty"):
        record(result, out=tmp_path / "mine")
