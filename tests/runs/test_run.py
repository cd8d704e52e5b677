"""One notebook, one folder: how runs start, how they end, and what their folders hold."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from commands import evalbench

from evalbench import BadInput, load
from evalbench.runs.fork import can_fork
from evalbench.runs.run import plan
from evalbench.runs.run import run as run_in_a_fresh_kernel

ROOT = Path(__file__).resolve().parents[2]
run = functools.partial(run_in_a_fresh_kernel, fork=can_fork())  # as batches do

TINY = """import pandas as pd
from evalbench.core.result import DataLabel, Estimate, Result, Summary
from evalbench.core.verdict import Verdict
from evalbench import record
figure = Estimate(metric="mean", value=0.5, n=2, note="no interval: a tiny result of a test")
result = Result(study="tiny", question="Is it tiny?", judged="a test", parameters={"k": k}, data=DataLabel("none", "", ""),
    id="id", items=pd.DataFrame({"id": ["b", "a"], "score": [0.0, 1.0], "unscored": "", "undefined": ""}),
    summary=Summary((figure,), Verdict("green", "It is tiny.")))
"""


def notebook(folder: Path, *code: str, parameters: str = "k: int = 1  # a number") -> Path:
    """A notebook of a test with a parameters cell and code cells."""
    node = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    head = nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})
    node.cells = [nbformat.v4.new_markdown_cell("# Tiny"), head, *map(nbformat.v4.new_code_cell, code)]
    path = folder / "tiny.ipynb"
    nbformat.write(node, path)
    return path


def cli(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evalbench.cli", *words], capture_output=True, text=True, cwd=cwd, check=False
    )


def state(folder: Path) -> dict:
    return json.loads((folder / "run.json").read_text())


def test_a_corpus_counts_by_its_content(tmp_path):
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "one.txt").write_text("Fees are given back.", encoding="utf-8")

    def planned(corpus: str):
        return plan("citation", {"judge": f"agent[calls=4, corpus={corpus}]:openai/gpt-4o"}, base=tmp_path)

    first = planned("rules")
    assert first.parameters["judge"] == f"agent[calls=4, corpus={rules}]:openai/gpt-4o"
    assert planned(f"{rules}/").identity == first.identity
    (rules / "one.txt").rename(rules / "two.txt")
    renamed = planned("rules").identity
    (rules / "two.txt").write_text("Fees are kept.", encoding="utf-8")
    assert len({first.identity, renamed, planned("rules").identity}) == 3


def test_any_notebook_that_records_gets_a_whole_folder(tmp_path):
    done = run_in_a_fresh_kernel(plan(str(notebook(tmp_path, TINY, "record(result)")), {"k": "3"}), out=tmp_path / "r")
    assert done.status == "ok"
    assert {p.name for p in done.folder.iterdir()} == {
        "run.json",
        "results.json",
        "items.parquet",
        "notebook.ipynb",
        "report.html",
    }
    assert done.results["parameters"] == {"k": 3}
    assert state(done.folder)["status"] == "ok"
    assert state(done.folder)["seconds"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "status", "said"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "died", "kernel"),
        pytest.param("import time; time.sleep(60)", "timeout", "not done within", marks=pytest.mark.slow),
        ("import sys; sys.exit(0)", "no-result", "record(result)"),
        ("1 / 0", "failed", "ZeroDivisionError: division by zero"),
        ("pass  # record(result) is only a comment", "no-result", "record(result)"),
    ],
)
def test_status_comes_from_what_happened(tmp_path, cell, status, said):
    timeout = 5 if status == "timeout" else None
    done = run(plan(str(notebook(tmp_path, cell, "'record(result)'"))), out=tmp_path / "r", timeout=timeout)
    assert done.status == status
    assert said in done.error
    assert state(done.folder)["status"] == status
    assert state(done.folder)["error"] == done.error
    assert not (done.folder / "results.json").exists()
    assert (
        status.split("-")[0] in (done.folder / "report.html").read_text().lower()
        or "ran out of time" in (done.folder / "report.html").read_text()
    )


@pytest.mark.slow
def test_a_run_that_went_well_says_nothing_on_standard_error(tmp_path):
    path = notebook(tmp_path, TINY, "record(result)", parameters="k: float | None = None  # a number, or none")
    done = cli("run", str(path), "-p", "k=0.5", "--out", str(tmp_path / "r"))
    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_that_fails_after_it_recorded_leaves_no_result(tmp_path):
    done = run(plan(str(notebook(tmp_path, TINY, "record(result)", "1 / 0"))), out=tmp_path / "r")
    assert done.status == "failed"
    assert not (done.folder / "results.json").exists()


@pytest.mark.parametrize("end", ["1 / 0", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"])
@pytest.mark.slow
def test_a_run_that_does_not_end_well_leaves_no_tables_but_its_calls(tmp_path, end):
    tables = 'tables={"pairs": result.items, "calls": result.items}'
    code = f"from dataclasses import replace\nrecord(replace(result, {tables}))"
    done = run(plan(str(notebook(tmp_path, TINY, code, end))), out=tmp_path / "r")
    assert done.status in ("failed", "died")
    assert {p.name for p in done.folder.iterdir()} == {"run.json", "calls.parquet", "notebook.ipynb", "report.html"}


def test_a_key_of_the_environment_in_a_file_fails_the_run_and_removes_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-0123")
    leak = "import os\nprint(os.environ['SOME_API_KEY'])"
    done = run(plan(str(notebook(tmp_path, TINY, leak, "record(result)"))), out=tmp_path / "r")
    assert done.status == "failed"
    assert "SOME_API_KEY in notebook.ipynb" in done.error
    assert all(b"sk-very-secret-0123" not in p.read_bytes() for p in done.folder.rglob("*") if p.is_file())


@pytest.mark.slow
def test_two_runs_give_the_same_bytes_forked_or_not(tmp_path):
    path = str(notebook(tmp_path, TINY, "record(result)"))
    first, second = run(plan(path), out=tmp_path / "a"), run_in_a_fresh_kernel(plan(path), out=tmp_path / "b")
    for name in ("results.json", "items.parquet"):
        digests = {hashlib.sha256((r.folder / name).read_bytes()).hexdigest() for r in (first, second)}
        assert len(digests) == 1, name


def test_equal_plans_have_equal_hashes_and_other_parameters_others(tmp_path):
    path = str(notebook(tmp_path, TINY, "record(result)"))
    assert plan(path).hash8 == plan(path, {"k": 1}).hash8 != plan(path, {"k": 2}).hash8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "matchin"], "did you mean matching?"),
        (["run", "matching", "--data", "nothing@9"], "no data set 'nothing@9'"),
        (["run", "matching", "--data", "nowhere.csv"], "nowhere.csv: no such file"),
        (["run", "matching", "--data", "house_style_curated"], "is house_style_curated@1.1.0 meant?"),
        (["run", "matching", "-p", "api_key=abc"], "come from the environment only"),
        (["run", "matching", "-p", "seeds=1"], "unknown parameter seeds; did you mean seed?"),
        (["run", "matching", "-p", "seed"], "expected name=value"),
        (["run", "nowhere.ipynb"], "no such notebook"),
        (["data", "check", "nowhere.csv", "--study", "matching"], "no such file"),
        (["data", "check", "x.csv", "--study", "matchin"], "no study 'matchin'; did you mean matching?"),
    ],
)
def test_bad_usage_is_one_message_and_exit_2(words, said, tmp_path):
    done = evalbench(*words, *(["--out", str(tmp_path / "r")] if words[0] == "run" else []))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: (f / "truth.csv").write_text(""), "truth.csv: the file is empty"),
        (lambda f: (f / "truth.csv").write_bytes("sample_id,règle\n".encode("cp1252")), "not UTF-8"),
        (
            lambda f: (f / "truth.csv").write_text((f / "truth.csv").read_text().replace("rule", "roole", 1)),
            "column rule: is missing; expected a text; is 'roole' meant? (--map roole=rule)",
        ),
        (lambda f: (f / "predictions.csv").unlink(), "table predictions is missing"),
        (lambda f: (f / "documents.csv").write_text((f / "documents.csv").read_text() * 2), "is duplicated, found"),
    ],
)
def test_faults_of_a_table_are_one_message(change, said, tmp_path):
    mine = tmp_path / "mine"
    shutil.copytree(ROOT / "data" / "house_style_curated" / "1.1.0", mine)
    change(mine)
    with pytest.raises(BadInput) as error:
        load(mine, study="matching")
    assert said in str(error.value)


@pytest.mark.slow
def test_a_faulty_table_ends_a_run_with_exit_2_and_no_folder_and_mended_it_runs(tmp_path):
    mine = tmp_path / "mine"
    shutil.copytree(ROOT / "data" / "house_style_curated" / "1.1.0", mine)
    truth = (mine / "truth.csv").read_text()
    (mine / "truth.csv").write_text(truth.replace("rule", "roole", 1))
    options = ["--data", str(mine), "--out", str(tmp_path / "r"), "-p", "embed=jaccard", "-p", "n_resamples=100"]
    done = cli("run", "matching", *options)
    assert done.returncode == 2, done.stderr
    assert "--map roole=rule" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "r").rglob("*.*"))
    mended = cli("run", "matching", *options, "--map", "roole=rule")
    assert mended.returncode == 0, mended.stderr


@pytest.mark.slow
def test_a_light_that_reaches_fail_on_is_the_exit_code(tmp_path):
    bounds = ["-p", "yellow_from=0.5", "-p", "green_from=0.8", "-p", "embed=jaccard", "-p", "n_resamples=100"]
    done = cli("run", "matching", *bounds, "--fail-on", "red", "--out", str(tmp_path))
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("■ red")


@pytest.mark.slow
def test_a_gate_without_a_light_to_judge_is_said(tmp_path):
    path = notebook(tmp_path, TINY.replace('"green"', '"unlit"'), "record(result)")
    done = cli("run", str(path), "--fail-on", "red", "--out", str(tmp_path / "r"))
    said = "unlit: this run has no rule for a light, so --fail-on red passes it unjudged; set thresholds to judge it\n"
    assert (done.returncode, done.stderr) == (0, said)


def test_an_unwritable_folder_is_said(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(BadInput, match="no folder can be made here"):
        run(plan(str(notebook(tmp_path, TINY, "record(result)"))), out=blocked)


def test_a_notebook_without_record_or_parameters_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"never calls record"):
        plan(str(notebook(tmp_path, "x = 1")))
    path = notebook(tmp_path, "record(1)")
    node = nbformat.read(path, 4)
    node.cells[1].metadata = {}
    nbformat.write(node, path)
    with pytest.raises(BadInput, match="exactly one cell tagged 'parameters', found 0"):
        plan(str(path))


@pytest.mark.slow
def test_files_are_readable_by_others(tmp_path):
    done = run(plan(str(notebook(tmp_path, TINY, "record(result)"))), out=tmp_path / "r")
    assert all(stat.S_IMODE(p.stat().st_mode) & 0o044 for p in done.folder.iterdir())
