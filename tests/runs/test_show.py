"""``evalbench show`` and the summary of a step, on real runs."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from evalbench import studies
from evalbench.cli import group
from evalbench.errors import BadInput


def said(*words: str) -> str:
    done = CliRunner().invoke(group, words)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


@pytest.mark.slow
def test_a_run_is_shown_and_summed_up(bench, monkeypatch):
    monkeypatch.chdir(bench)
    monkeypatch.delenv("EVALBENCH_ROOT", raising=False)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(bench / "summary.md"))
    page = said("run", "tiny", "-p", "data=words.csv", "-q").strip()
    folder = page.removesuffix("/report.html")
    run_id = folder.rpartition("/")[2]
    summary = (bench / "summary.md").read_text()
    assert summary == said("show", folder, "--as", "markdown") + "\n"
    assert "### ● tiny: green" in summary
    assert said("show", run_id).startswith("● green  7 words\n")
    suite = ET.fromstring(said("show", run_id, "--as", "junit"))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "0")

    failed = CliRunner().invoke(group, ["run", "tiny", "-p", "data=words.csv", "-p", "fail=true"])
    assert failed.exit_code == 1
    assert "### ✕ tiny: failed" in (bench / "summary.md").read_text()
    folder = next(line for line in failed.stderr.splitlines() if line.startswith("report  ")).removeprefix("report  ")
    assert "asked to fail" in said("show", folder)
    assert "<error" in said("show", folder, "--as", "junit")

    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(bench / "gone" / "summary.md"))
    done = CliRunner().invoke(group, ["run", "tiny", "-p", "data=words.csv", "-q"])
    assert done.exit_code == 0
    assert "GITHUB_STEP_SUMMARY: " in done.stderr


def test_what_is_no_run_is_refused(bench, monkeypatch):
    monkeypatch.chdir(bench)
    monkeypatch.delenv("EVALBENCH_ROOT", raising=False)
    (bench / "empty").mkdir()
    for name, message in (("empty", "not the folder of a run"), ("nothing", "neither a folder nor the id")):
        done = CliRunner().invoke(group, ["show", name])
        assert isinstance(done.exception, BadInput)
        assert message in str(done.exception)


@pytest.mark.slow
def test_a_batch_is_summed_up(bench, monkeypatch):
    monkeypatch.chdir(bench)
    monkeypatch.delenv("EVALBENCH_ROOT", raising=False)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(bench / "summary.md"))
    (bench / "suite.yaml").write_text("runs:\n  - study: tiny\n    parameters: {data: words.csv}\n")
    said("batch", "suite.yaml", "--workers", "1")
    assert "### 1 run of suite.yaml" in (bench / "summary.md").read_text()
    assert "1 runs: 1 ok, 0 failed" in (bench / "summary.md").read_text()


@pytest.mark.slow
def test_a_run_of_the_sample_says_so_last(tmp_path):
    options = ["-p", 'metrics=["length"]', "-p", "n_resamples=100", "--out", str(tmp_path)]
    last = said("run", "text_metrics", *options).splitlines()[-1]
    assert (
        last
        == f"data    {studies.defaults('text_metrics')['data']}, the sample that comes with evalbench; --data FILE takes yours"
    )
    (tmp_path / "mine.csv").write_text("id,answer\n1,so\n")
    assert "the sample" not in said("run", "text_metrics", "--data", str(tmp_path / "mine.csv"), *options)
