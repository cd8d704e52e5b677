"""``evalbench init``: all of a workbench or nothing; what is in it is its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from rattler import MatchSpec

from evalbench import load, workbench
from evalbench.commands import init as module
from evalbench.commands.init import init, lay_out
from evalbench.errors import BadInput
from evalbench.runs.run import plan
from evalbench.runs.suite import read_suite

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A workbench as the current folder."""
    monkeypatch.delenv("EVALBENCH_ROOT", raising=False)
    lay_out(tmp_path / "bench")
    monkeypatch.chdir(tmp_path / "bench")
    return tmp_path / "bench"


def test_it_lays_out_everything_and_says_what_to_do_next(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(init, ["new/bench"])
    assert done.exit_code == 0, done.output
    assert "cd new/bench\n  evalbench list\n  evalbench run matching" in done.output
    made = tmp_path / "new" / "bench"
    top = {path.name for path in made.iterdir()}
    assert top == {"notebooks", "data", "docs", "scripts", "README.md", "environment.yml", "suite.yaml", ".gitignore"}
    assert {p.name for p in (made / "notebooks").iterdir()} == {p.name for p in (ROOT / "notebooks").glob("*.ipynb")}
    for name, source in workbench.own_files().items():
        assert (made / name).read_bytes() == source.read_bytes(), name
    assert "{" not in (made / "README.md").read_text()


def test_runs_and_suite_are_planned_on_the_workbench_s_own_files(bench):
    assert workbench.root() == bench
    assert len(load("house_style_curated@1.1.0", study="matching").tables["truth"]) > 0
    planned = plan("matching")
    assert (planned.root, planned.reports) == (bench, bench / "reports")
    assert planned.notebook == bench / "notebooks" / "matching.ipynb"
    jobs = read_suite(bench / "suite.yaml")
    assert len(jobs) > 2
    assert all(job.plan.root == bench and not job.plan.edited for job in jobs)


def test_an_edited_notebook_is_the_workbench_s_own(bench):
    path = bench / "notebooks" / "matching.ipynb"
    original = (ROOT / "notebooks" / "matching.ipynb").read_bytes()
    before = plan("matching")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("n_resamples: int = 2000", "n_resamples: int = 1234")
    path.write_text(json.dumps(notebook), encoding="utf-8")
    shutil.copy(path, bench / "notebooks" / "mine.ipynb")
    edited = plan("matching")
    assert edited.in_force["n_resamples"] == plan("mine").in_force["n_resamples"] == 1234
    assert set(edited.edited) == {"n_resamples"}
    assert edited.identity != before.identity
    assert (ROOT / "notebooks" / "matching.ipynb").read_bytes() == original


def test_a_checkout_s_edited_data_are_not_the_workbench_s(bench):
    (bench / "data" / "catalog.yaml").write_text("{}\n")
    with pytest.raises(BadInput, match="house_style_curated"):
        plan("matching")
    assert plan("matching", root=ROOT).dataset == "house_style_curated@1.1.0"


def test_an_empty_folder_is_filled_also_the_current_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lay_out(Path("."))
    assert (tmp_path / "data" / "catalog.yaml").is_file()
    assert not list(tmp_path.glob(".evalbench-*"))


def test_a_folder_with_anything_in_it_is_refused_and_stays_as_it_was(tmp_path):
    (tmp_path / ".hidden").write_text("mine")
    with pytest.raises(BadInput, match=r"^.* is not empty: name a new folder, or empty this one$"):
        lay_out(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [".hidden"]


def test_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    for name in ("file", "nowhere"):
        with pytest.raises(BadInput, match="is a file: name a folder"):
            lay_out(tmp_path / name)
    with pytest.raises(BadInput, match="no workbench can be made here"):
        lay_out(tmp_path / "file" / "bench")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("made_before", [True, False], ids=["an empty folder", "a new folder"])
@pytest.mark.parametrize("fault", ["copy", "move"])
def test_nothing_half_written_stays(tmp_path, monkeypatch, made_before, fault):
    target = tmp_path / "new" / "bench"
    if made_before:
        target.mkdir(parents=True)
    kept, calls = (shutil.copyfile, Path.rename)[fault == "move"], []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == 4:
            raise OSError(28, "No space left on device")
        return kept(*arguments)

    monkeypatch.setattr(*((module.shutil, "copyfile") if fault == "copy" else (Path, "rename")), failing)
    with pytest.raises(BadInput, match=r"bench: no workbench can be made here: No space left on device"):
        lay_out(target)
    assert [p.name for p in tmp_path.rglob("*")] == (["new", "bench"] if made_before else [])


def test_an_installation_without_notebooks_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(workbench, "_OWN", tmp_path / "site-packages")
    with pytest.raises(BadInput, match="has no notebooks and no data: install its wheel or a clone"):
        lay_out(tmp_path / "bench")
    assert not (tmp_path / "bench").exists()


def test_the_environment_names_this_version(bench):
    listed = yaml.safe_load((bench / "environment.yml").read_text())["dependencies"]
    for line in listed[:-1]:
        assert MatchSpec(line).name is not None
    from importlib.metadata import version

    assert listed[-1] == {"pip": [f"evalbench[lab]=={version('evalbench')}"]}
