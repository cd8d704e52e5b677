"""The tables of a suite are looked at before anything starts: all faulty runs at once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalbench.commands.batch import batch
from evalbench.errors import BadInput
from evalbench.readers import dataset
from evalbench.runs.suite import read_suite
from evalbench.runs.tables import refuse_suite

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "good.csv").write_text("id,output,reference\n1,a,a\n2,b,b\n", encoding="utf-8")
    (tmp_path / "doubled.csv").write_text("id,output,reference\n1,a,a\n1,b,b\n", encoding="utf-8")
    (tmp_path / "mute.csv").write_text("id,reference\n1,a\n", encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(
        "runs:\n"
        "  - {study: text_metrics, data: good.csv, parameters: {metrics: [rougeL]}}\n"
        "  - {study: text_metrics, data: doubled.csv, matrix: {seed: [0, 1, 2]}}\n"
        "  - {study: [text_metrics, cot_levels], data: mute.csv}\n"
        "  - {study: matching}\n",
        encoding="utf-8",
    )
    return tmp_path / "suite.yaml"


def test_all_faulty_runs_are_named_and_nothing_starts(suite: Path, monkeypatch) -> None:
    began = time.monotonic()
    with pytest.raises(BadInput) as error:
        CliRunner().invoke(batch, [str(suite), "--root", str(ROOT)], catch_exceptions=False, standalone_mode=False)
    said = str(error.value)
    assert said.startswith(f"{suite}: nothing was started:\n  - entry 2 (line 3): 3 runs: ")
    assert "id" in said.split("entry 3")[0]
    assert said.count("entry 3 (line 4): text_metrics data=mute.csv: the table lacks") == 1
    assert said.count("entry 3 (line 4): cot_levels: ") == 1
    assert "entry 1" not in said
    assert "entry 4" not in said
    assert not (suite.parent / "reports").exists()
    assert time.monotonic() - began < 20


def test_tables_that_several_runs_read_are_read_once(suite: Path, monkeypatch) -> None:
    read: list[object] = []
    real = dataset.read

    def counted(data, *args, **more):
        read.append(data)
        return real(data, *args, **more)

    monkeypatch.setattr("evalbench.readers.dataset.read", counted)
    with pytest.raises(BadInput):
        refuse_suite(read_suite(suite, ROOT), "suite.yaml")
    assert len(read) == 4


def test_options_that_refuse_a_table_are_asked_of_each_run(tmp_path: Path) -> None:
    """One table, read once: refused where a model's answers are judged that the table lacks, read where a model is asked."""
    (tmp_path / "asked.csv").write_text("id,prompt,reference\n1,say a,a\n", encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(
        "runs:\n"
        "  - {study: text_metrics, data: asked.csv, parameters: {prompt: '{{ prompt }}', model: openai/m}}\n"
        "  - {study: text_metrics, data: asked.csv}\n",
        encoding="utf-8",
    )
    with pytest.raises(BadInput, match=r"entry 2 \(line 3\): text_metrics") as error:
        refuse_suite(read_suite(tmp_path / "suite.yaml", ROOT), "suite.yaml")
    assert "entry 1" not in str(error.value)
