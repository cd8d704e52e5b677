"""record() without a run: shown, not written; with a folder: an interactive run."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from evalbench import BadInput, load, matching, record, text_metrics
from evalbench.core.result import DataLabel
from evalbench.runs.record import command_line
from evalbench.runs.run import plan


@pytest.fixture(scope="module")
def result():
    return matching.evaluate(load("house_style_curated@1.1.0", study="matching"), embed="jaccard", n_resamples=50)


def test_nothing_is_written_and_the_command_line_is_printed(result, capsys, monkeypatch):
    monkeypatch.delenv("EVALBENCH_RUN", raising=False)
    record(result)
    said = capsys.readouterr().out
    assert "evalbench run matching" in said
    assert "-p embed=jaccard" in said
    assert "-p n_resamples=50" in said


def test_the_command_line_takes_the_names_of_files_from_the_notebooks_variables(result, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALBENCH_ROOT", str(Path(__file__).parents[2]))
    mine = replace(result, data=DataLabel("my file.csv", "", "0" * 64))
    line = command_line(mine, {"data": "my file.csv", "columns": {"a": "b"}, "documents": "texts.csv"})
    assert shlex.split(line) == [
        "evalbench", "run", "matching", "--data", str(tmp_path / "my file.csv"),
        "-p", 'columns={"a": "b"}', "-p", "embed=jaccard", "-p", f"documents={tmp_path / 'texts.csv'}",
        "-p", "n_resamples=50",
    ]  # fmt: skip


def test_the_command_line_believes_the_result_not_stale_variables(result):
    line = command_line(result, {"data": "other@1.0.0", "seed": 7, "embed": "use-multilingual", "n_resamples": 2000})
    assert line == "evalbench run matching -p embed=jaccard -p n_resamples=50"


def test_without_a_variable_the_data_are_those_of_the_result(tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text("id,output,reference\n1,a,a\n2,b,c\n")
    monkeypatch.setenv("EVALBENCH_ROOT", str(Path(__file__).parents[2]))
    monkeypatch.chdir(tmp_path)
    made = text_metrics.evaluate(load("mine.csv", study="text_metrics"), metrics=["f1_score"], n_resamples=100)
    words = shlex.split(command_line(made, {}))
    assert words[3:5] == ["--data", str(tmp_path / "mine.csv")]
    planned = plan(words[2], {"data": words[4], **dict(w.split("=", 1) for w in words[6::2])})
    assert planned.parameters == {
        "data": str(tmp_path / "mine.csv"), "metrics": ["f1_score"], "n_resamples": 100
    }  # fmt: skip


def test_frames_have_no_command_line(capsys, monkeypatch):
    monkeypatch.delenv("EVALBENCH_RUN", raising=False)
    frame = pd.DataFrame({"id": ["1", "2"], "output": ["a", "b"], "reference": ["a", "c"]})
    record(text_metrics.evaluate(load({"items": frame}, study="text_metrics"), metrics=["f1_score"], n_resamples=50))
    said = capsys.readouterr().out
    assert "load them from files" in said
    assert "evalbench run" not in said


def test_with_out_an_interactive_run_is_written(result, tmp_path, monkeypatch):
    monkeypatch.delenv("EVALBENCH_RUN", raising=False)
    record(result, out=tmp_path / "mine")
    assert json.loads((tmp_path / "mine" / "run.json").read_text())["status"] == "interactive"
    assert json.loads((tmp_path / "mine" / "results.json").read_text())["study"] == "matching"
    with pytest.raises(BadInput, match="is not empty"):
        record(result, out=tmp_path / "mine")


def test_an_interactive_run_that_holds_a_key_is_not_kept(result, tmp_path, monkeypatch):
    monkeypatch.delenv("EVALBENCH_RUN", raising=False)
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789abcdef")
    with pytest.raises(BadInput, match="SOME_API_KEY in results.json") as caught:
        record(replace(result, judged="a model with sk-0123456789abcdef"), out=tmp_path / "mine")
    assert "sk-0123456789abcdef" not in str(caught.value)
    assert not (tmp_path / "mine").exists()
    record(result, out=tmp_path / "mine")
    assert (tmp_path / "mine" / "results.json").is_file()
