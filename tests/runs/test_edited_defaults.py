"""A study's notebook whose defaults somebody edited is reported: on standard error, in run.json, on the page."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from evalbench.commands.batch import batch
from evalbench.commands.run import run_study
from evalbench.readers.parameters import parse_cell
from evalbench.runs.parameters import edited_defaults, edits_text
from evalbench.runs.run import plan

ROOT = Path(__file__).resolve().parents[2]


def edited(folder: Path, old: str, new: str, source: Path = ROOT / "notebooks" / "matching.ipynb") -> Path:
    """Matching's notebook with another default, somewhere else."""
    node = nbformat.read(source, 4)
    cells = [c for c in node.cells if {"parameters", "advanced"} & {*c.metadata.get("tags", [])}]
    (cell,) = (c for c in cells if old in c.source)
    cell.source = cell.source.replace(old, new)
    path = folder / "matching.ipynb"
    nbformat.write(node, path)
    return path


def test_the_studies_own_notebooks_are_not_edited() -> None:
    assert plan("matching", root=ROOT).edited == {}


def test_edits_additions_and_losses_are_found() -> None:
    cell = parse_cell("same: int = 1\nmoved: float = 0.5\nnew: str = 'a'", "x")
    found = edited_defaults(cell, {"same": 1, "moved": 0.8, "gone": None})
    assert found == {"moved": {"own": 0.8, "here": 0.5}, "new": {"here": "a"}, "gone": {"own": None}}
    assert edits_text(found) == "moved 0.8 → 0.5, new is added, gone is missing"
    assert edited_defaults(cell, {}) == {}  # not a study's notebook


def test_true_and_one_are_not_the_same_default() -> None:
    assert edited_defaults(parse_cell("k: int = 1", "x"), {"k": True})


@pytest.mark.slow
def test_an_edited_default_is_on_stderr_in_run_json_and_on_the_page(tmp_path: Path) -> None:
    path = edited(tmp_path, "green_from: float | None = None", "green_from: float | None = 0.2")
    path = edited(tmp_path, "yellow_from: float | None = None", "yellow_from: float | None = 0.1", path)
    words = [str(path), "--root", str(ROOT), "--out", str(tmp_path / "r"), "-p", "embed=jaccard"]
    done = CliRunner().invoke(run_study, words)
    assert done.exit_code == 0, done.output
    assert "matching.ipynb: edited; its defaults are not the study's own: " in done.stderr
    assert "yellow_from null → 0.1" in done.stderr
    (run_json,) = (tmp_path / "r").rglob("run.json")
    run = json.loads(run_json.read_text())
    assert run["edited_defaults"]["green_from"] == {"own": None, "here": 0.2}
    assert run["parameters"]["green_from"] == 0.2  # in force, though nobody gave it
    assert run["parameters"]["embed"] == "jaccard"
    assert run["given"] == ["embed"]
    page = (run_json.parent / "report.html").read_text()
    assert "This run used an edited notebook" in page
    assert "<code>green_from</code>: <code>0.2</code> instead of <code>null</code>" in page


def test_a_batch_reports_an_edited_notebook_before_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalbench.runs.batch.run_batch", lambda *_, **__: [])  # a fake: nothing is run
    edited(tmp_path, "n_resamples: int = 2000", "n_resamples: int = 100")
    suite = tmp_path / "suite.yaml"
    suite.write_text("runs:\n  - study: matching.ipynb\n    parameters: {embed: jaccard}\n")
    done = CliRunner().invoke(batch, [str(suite), "--root", str(ROOT), "--out", str(tmp_path / "r"), "--workers", "1"])
    assert "matching.ipynb: edited; its defaults are not the study's own: n_resamples 2000 → 100" in done.stderr


@pytest.mark.parametrize("study", ["text_metrics", "human_correlation"])
def test_what_a_notebook_has_for_its_sample_holds_for_the_sample_only(tmp_path, study):
    mine = tmp_path / "mine.csv"
    mine.write_text("doc_id,id,output\n1,1,a\n", encoding="utf-8")
    assert "metrics" not in plan(study, root=ROOT).parameters
    assert plan(study, {"data": str(mine)}, root=ROOT).in_force["metrics"] == "auto"
    assert plan(study, {"data": str(mine), "metrics": '["rouge1"]'}, root=ROOT).in_force["metrics"] == ["rouge1"]
    own = tmp_path / f"{study}.ipynb"
    node = nbformat.read(ROOT / "notebooks" / f"{study}.ipynb", 4)
    (cell,) = (c for c in node.cells if "parameters" in c.metadata.get("tags", []))
    cell.source = cell.source.replace('= ["', '= ["length", "', 1)
    nbformat.write(node, own)
    assert plan(str(own), {"data": str(mine)}, root=ROOT).in_force["metrics"][0] == "length"


def test_data_that_were_written_into_a_notebook_have_no_metrics_of_the_sample(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("doc_id,output,reference,quality\n1,a,a,1\n", encoding="utf-8")
    node = nbformat.read(ROOT / "notebooks" / "human_correlation.ipynb", 4)
    (cell,) = (c for c in node.cells if "parameters" in c.metadata.get("tags", []))
    path = tmp_path / "human_correlation.ipynb"
    cell.source = cell.source.replace('"town_desk@1.1.0"', '"mine.csv"')
    nbformat.write(node, path)
    planned = plan(str(path), root=ROOT, base=tmp_path)
    assert planned.in_force["metrics"] == "auto"
    assert planned.in_force["data"] == str(tmp_path / "mine.csv")
    cell.source = cell.source.replace('["juniper_judge", ', '["my_judge", ')
    nbformat.write(node, path)
    assert plan(str(path), root=ROOT, base=tmp_path).in_force["metrics"][0] == "my_judge", "edited metrics stay"
