"""Where the workbench is: named, upwards, or the checkout that the package was installed from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalbench import BadInput, load, workbench
from evalbench.commands.check import check
from evalbench.readers import catalog
from evalbench.runs import record as recording
from evalbench.runs.run import plan

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A folder that belongs to no workbench, as the current one."""
    monkeypatch.delenv("EVALBENCH_ROOT", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def a_workbench(folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "notebooks").mkdir()
    (folder / "data" / "catalog.yaml").write_text("{}\n")
    return folder


def test_outside_of_a_workbench_it_is_the_packages_own(outside):
    assert workbench.root() == ROOT
    assert len(load("house_style_curated@1.1.0", study="matching").tables["truth"]) > 0
    assert plan("matching").root == ROOT


def test_reports_go_where_the_user_is(outside, monkeypatch):
    assert workbench.reports() == outside / "reports"
    assert plan("matching").reports == outside / "reports"
    mine = a_workbench(outside / "mine")
    monkeypatch.chdir(mine / "data")
    assert workbench.root() == mine
    assert workbench.reports() == mine / "reports"
    assert workbench.reports(ROOT) == ROOT / "reports"
    with pytest.raises(BadInput, match="is not a workbench"):
        workbench.reports(outside)


def test_models_are_those_of_the_folder_where_the_user_is(outside, monkeypatch):
    from evalbench.models.names import models_file

    monkeypatch.delenv("EVALBENCH_MODELS", raising=False)
    assert models_file() in (None, ROOT / "models.toml")
    (outside / "models.toml").write_text("")
    assert models_file() == outside / "models.toml"
    assert not plan("matching").is_at_home
    assert plan("matching", root=ROOT).is_at_home


def test_without_a_checkout_the_message_says_what_to_do(outside, monkeypatch):
    monkeypatch.setattr(workbench, "_OWN", outside / "site-packages")
    with pytest.raises(BadInput, match=r"no workbench found upwards from .*: change into a clone of evalbench"):
        workbench.root()


def test_the_hint_of_record_never_raises(outside, monkeypatch, capsys):
    from evalbench import text_metrics

    (outside / "mine.csv").write_text("id,output,reference\n1,a,a\n2,b,c\n")
    made = text_metrics.evaluate(load("mine.csv", study="text_metrics"), metrics=["f1_score"], n_resamples=100)
    monkeypatch.delenv("EVALBENCH_RUN", raising=False)
    monkeypatch.setattr(workbench, "_OWN", outside)
    recording.record(made)
    said = capsys.readouterr().out
    assert "Nothing was written. There is no command that reproduces it from here: no workbench found" in said


@pytest.mark.slow
def test_a_copied_notebook_runs_under_papermill_from_any_folder(outside):
    shutil.copy(ROOT / "notebooks" / "text_metrics.ipynb", outside / "mine.ipynb")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EVALBENCH_")}
    words = ["-m", "papermill", "mine.ipynb", "out.ipynb", "-y", "{metrics: [f1_score], n_resamples: 100}"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "evalbench run text_metrics" in (outside / "out.ipynb").read_text()
    assert not (outside / "reports").exists()


@pytest.fixture
def installed(outside, monkeypatch):
    """A package whose workbench is what its wheel brought."""
    package = outside / "site-packages" / "evalbench"
    shipped = a_workbench(package / "shipped")
    monkeypatch.setattr(workbench, "_PACKAGE", package)
    monkeypatch.setattr(workbench, "_OWN", shipped)
    return shipped


def test_nothing_is_written_into_an_installed_package(installed, outside, monkeypatch):
    (installed / "data" / "x.csv").write_text("id,output,reference\n1,a,a\n")
    card = {"study": ["text_metrics"], "title": "t", "licence": "CC0-1.0", "synthetic": True, "card": ""}
    way_out = r"shipped belongs to the installed package.*`evalbench init DIR`.*EVALBENCH_ROOT"
    with pytest.raises(BadInput, match=way_out):
        catalog.add("x@1.0.0", {"items": installed / "data" / "x.csv"}, **card)
    with pytest.raises(BadInput, match=way_out):
        CliRunner().invoke(check, ["matching", "--accept"], catch_exceptions=False, standalone_mode=False)
    with pytest.raises(BadInput, match=way_out):
        workbench.own_root(installed)
    assert workbench.root() == installed, "it is read all the same"
    assert (installed / "data" / "catalog.yaml").read_text() == "{}\n"
    assert not (installed / "tests").exists()
    mine = a_workbench(outside / "mine")
    monkeypatch.chdir(mine)
    (mine / "data" / "x.csv").write_text("id,output,reference\n1,a,a\n")
    catalog.add("x@1.0.0", {"items": mine / "data" / "x.csv"}, **card)
    assert list(catalog.entries()) == ["x@1.0.0"]


def test_what_cannot_be_catalogued_is_said_at_once(outside, monkeypatch):
    mine = a_workbench(outside / "mine")
    monkeypatch.chdir(mine)
    (outside / "y.csv").write_text("id\n1\n")
    files = {"": Path(), "items": outside / "y.csv", "gone": mine / "data" / "gone.csv"}
    with pytest.raises(BadInput) as error:
        catalog.add("x", files, study=["s"], title="t", licence="l", synthetic=True, card="")
    said = str(error.value)
    assert "'x': expected name@version" in said
    assert "=.: expected table=path of a file" in said
    assert "y.csv is not in" in said
    assert "gone.csv: expected table=path of a file" in said
