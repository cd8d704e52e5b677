"""Files and surroundings that nobody would want: each is one message, nothing is written outside, nothing stays running."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from evalbench import BadInput
from evalbench.readers import catalog
from evalbench.readers.parameters import parse_cell
from evalbench.readers.runs import write_json
from evalbench.report.index import write_index
from evalbench.runs import folder as folders
from evalbench.runs.batch import _history
from evalbench.runs.closing import close, end_orphans
from evalbench.runs.kernel import Ended
from evalbench.runs.parameters import checked_values
from evalbench.runs.run import plan, run
from evalbench.runs.suite import read_suite

ENTRY = """x@1.0.0:
  study: matching
  title: A title
  licence: CC0-1.0
  synthetic: true
  files: {items: {path: a.csv, sha256: "00", rows: 3}}
"""


def evalbench(*words: str, cwd: Path, before: tuple[str, ...] = (), **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "-m", "evalbench.cli", *words], capture_output=True, text=True, cwd=cwd, check=False,
        env={**os.environ, **env},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [("[]", "expected a mapping"), ("just words", "expected a mapping"), ("3", "expected a mapping"), ("{", "not valid YAML"),
     ("x@1.0.0: [study, title, licence, synthetic, files]", "expected a mapping with study"), ("x@1.0.0: study title", "expected a mapping"),
     ("x@1.0.0:", "expected a mapping with study"), ("x@1.0.0: {study: a}", "lacks title, licence"), ("[a]: b", "not valid YAML"),
     (ENTRY.replace("A title", "[a]"), "title: expected a text"), (ENTRY.replace("true", "perhaps"), "synthetic: expected yes or no"),
     (ENTRY.replace("study: matching", "study: {a: b}"), "study: expected a name"), (ENTRY.replace("{items: {path: a.csv, sha256: \"00\", rows: 3}}", "[a.csv]"), "files: expected a mapping"),
     (ENTRY.replace("path: a.csv", "path: 3"), "files: items: path: expected a text"), (ENTRY.replace("rows: 3", "rows: many"), "rows: expected a count"),
     (ENTRY.replace('{path: a.csv, sha256: "00", rows: 3}', "a.csv"), "files: expected a mapping"), (ENTRY.replace("A title", "2026-13-45"), "not valid YAML"),
     ("[" * 5000, "nested too deeply"), ("x: !!python/object:os.system {}", "not valid YAML"), ("\x00", "not valid YAML"), ("x: &a [*a]", "expected name@version|expected a mapping"),
     (b"\xff\xfe\xff", "not valid YAML")],
)  # fmt: skip
def test_a_malformed_catalog_is_one_message(text, said, tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "catalog.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput, match=said):
        catalog.entries(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [("runs: &a [*a]", "line 1: an alias within its own anchor"), ("runs:\n- study: tiny\n  parameters: &p {k: *p}", "line 3: an alias within its own anchor"),
     ("runs:\n- &e {study: tiny, matrix: {k: [*e]}}", "line 2: an alias within its own anchor"), ("[" * 5000, "nested too deeply"),
     ("timeout: .nan\nruns:\n- study: tiny", "timeout: expected seconds above 0 and up to a year, found nan"),
     ("timeout: .inf\nruns:\n- study: tiny", "found inf"), ("timeout: 1.0e+300\nruns:\n- study: tiny", "found 1e"),
     ("runs:\n- study: tiny\n  timeout: 0", "found 0"), ("runs:\n- study: tiny\n  data: 2026-13-45", "not YAML"),
     ("runs: []\nruns:\n- study: tiny", "runs appears twice"), ("runs:\n- study: tiny\n  parameters: {k: " + "[" * 200 + "]" * 200 + "}", "expected int"),
     ("\x00", "not YAML"), ("", "expected a mapping")],
)  # fmt: skip
def test_a_malformed_suite_is_one_message(text, said, bench):
    (bench / "suite.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        read_suite(bench / "suite.yaml", bench)


def test_anchors_that_hold_something_else_are_welcome(bench):
    text = "runs:\n- {study: tiny, data: &d words.csv, parameters: &p {k: 1}}\n- {study: tiny, data: *d, parameters: {<<: *p, k: 2}}"
    (bench / "suite.yaml").write_text(text, encoding="utf-8")
    assert [job.plan.parameters["k"] for job in read_suite(bench / "suite.yaml", bench)] == [1, 2]


def test_a_value_that_holds_itself_is_refused():
    circle: list = []
    circle.append(circle)
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    known = parse_cell("a: list = []", "x")
    for value in (circle, deep):
        with pytest.raises(BadInput, match="cannot be held by JSON"):
            checked_values(known, {"a": value}, "x")


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 0, -1, 1e12])
def test_a_time_limit_is_a_time(seconds, bench):
    planned = plan("tiny", {"data": str(bench / "words.csv")}, bench)
    with pytest.raises(BadInput, match="expected seconds above 0"):
        run(planned, timeout=seconds)
    assert not (bench / "reports").exists()


# -- names of notebooks -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["...ipynb", "..ipynb", ".hidden.ipynb", "....ipynb", "index.html.ipynb"])
def test_a_notebook_whose_name_leads_elsewhere_is_refused(name, bench):
    shutil.copy(bench / "notebooks" / "tiny.ipynb", bench / name)
    with pytest.raises(BadInput, match=r"must not begin with a dot|not a notebook|no study|no such"):
        plan(str(bench / name), {"data": str(bench / "words.csv")}, bench)


def test_a_name_that_is_a_pattern_names_itself_only(bench):
    """``a[1]`` as a pattern would be ``a1``."""
    for name in ("a[1]", "a1", "b*"):
        shutil.copy(bench / "notebooks" / "tiny.ipynb", bench / f"{name}.ipynb")
    (bench / "suite.yaml").write_text(
        "runs:\n- {study: 'a[1].ipynb', data: words.csv}\n- {study: 'b*.ipynb', data: words.csv}\n"
    )
    jobs = read_suite(bench / "suite.yaml", bench)
    for study, job in [("a[1]", jobs[0]), ("a1", jobs[0]), ("b*", jobs[1])]:
        folder = folders.create(bench / "reports", study, job.plan.hash8)
        begun = {"status": "failed", "study": study, "sha256": {"identity": job.plan.identity}}
        write_json(folder / "run.json", begun)
    assert [content["study"] for _, content in folders.runs(bench / "reports", "a[1]")] == ["a[1]"]
    assert [content["study"] for _, content in folders.runs(bench / "reports", "b*")] == ["b*"]
    assert len(list(folders.runs(bench / "reports"))) == 3
    _, failed = _history(jobs, bench / "reports")
    assert failed == {1: 1, 2: 1}


def test_results_that_cannot_be_read_are_not_resumed(bench):
    (bench / "suite.yaml").write_text("runs:\n- {study: tiny, data: words.csv}\n")
    jobs = read_suite(bench / "suite.yaml", bench)
    folder = folders.create(bench / "reports", "tiny", jobs[0].plan.hash8)
    write_json(folder / "run.json", {"status": "ok", "sha256": {"identity": jobs[0].plan.identity}})
    write_json(folder / "results.json", {})
    assert _history(jobs, bench / "reports") == ({}, {1: 0})


# -- surroundings -------------------------------------------------------------------------------


def with_cell(bench: Path, source: str) -> None:
    path = bench / "notebooks" / "tiny.ipynb"
    node = nbformat.read(path, as_version=4)
    node.cells.append(nbformat.v4.new_code_cell(source))
    nbformat.write(node, path)


@pytest.mark.parametrize(
    ("written", "said"),
    [("{}", "schema_version: missing"),
     *(pytest.param(*case, marks=pytest.mark.slow) for case in
       (("[]", "expected a JSON object"), ("", "cannot be read"), ("valid", "missing: items.parquet")))],
)  # fmt: skip
def test_results_that_a_notebook_wrote_itself_are_none(written, said, bench):
    source = f"(folder / 'results.json').write_text({written!r})"
    if written == "valid":
        source = "(folder / 'items.parquet').unlink()"
    with_cell(bench, source)
    done = run(plan("tiny", {"data": str(bench / "words.csv")}, bench))
    assert done.status == "no-result"
    assert said in done.error
    assert not (done.folder / "results.json").exists()
    assert "Traceback" not in (done.folder / "report.html").read_text()


@pytest.mark.parametrize("command", ["run", pytest.param("batch", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_long_path_for_temporary_files_is_no_obstacle(command, bench):
    if sys.platform == "win32":
        pytest.skip("not on this platform: Windows has no such sockets")
    long = bench / ("t" * 100)
    long.mkdir()
    (bench / "suite.yaml").write_text("runs:\n- {study: tiny, data: words.csv}\n")
    words = ["run", "tiny", "--data", "words.csv"] if command == "run" else ["batch", "suite.yaml", "--workers", "1"]
    done = evalbench(*words, cwd=bench, TMPDIR=str(long))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_long_path_without_another_is_said(tmp_path, monkeypatch):
    from evalbench.runs import sockets

    long = tmp_path / ("t" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(BadInput, match="its path is too long for the sockets"):
        sockets.short_folder()
    assert list(long.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "kilobytes"),
    [("run", 4), pytest.param("run", 24, marks=pytest.mark.slow), pytest.param("run", 60, marks=pytest.mark.slow), pytest.param("batch", 4, marks=pytest.mark.slow),
     pytest.param("batch", 24, marks=pytest.mark.slow), pytest.param("batch", 60, marks=pytest.mark.slow)],
)  # fmt: skip
def test_a_full_disk_is_one_message(command, kilobytes, bench):
    """A disk of so many kilobytes below ``reports``: too few for a run."""
    if (
        sys.platform != "linux"
        or subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("needs root, or namespaces of users, for a small disk")
    (bench / "reports").mkdir()
    (bench / "suite.yaml").write_text("runs:\n- {study: tiny, data: words.csv}\n")
    mount = f'mount -t tmpfs -o size={kilobytes}k tmpfs reports && exec "$@"'
    words = ["run", "tiny", "--data", "words.csv"] if command == "run" else ["batch", "suite.yaml", "--workers", "1"]
    done = evalbench(*words, cwd=bench, before=("unshare", "-rm", "sh", "-c", mount, "sh"))
    if "mount:" in done.stderr:
        pytest.skip("needs root, or namespaces of users, for a small disk")
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert "No space left on device" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout
    assert done.stderr.count("evalbench:") <= 1
    assert len(done.stderr.splitlines()) < 12


@pytest.mark.parametrize(
    "spoilt",
    [
        "shutil.rmtree(folder)",
        *(f"folder.joinpath({name!r}).unlink(missing_ok=True); folder.joinpath({name!r}).mkdir()"
          for name in ("results.json", "run.json", "report.html", "items.parquet", "notebook.ipynb")),
    ],
)  # fmt: skip
def test_what_a_notebook_does_to_its_folder_stops_neither_its_end_nor_the_index(spoilt, tmp_path):
    folder = folders.create(tmp_path, "tiny", "0" * 8)
    begun = {"schema_version": 1, "study": "tiny", "run_id": folder.name, "status": "running", "error": "", "started": folders.now(),
             "host": folders.host(), "process": 2**22 + 1}  # fmt: skip
    for ended in (Ended("failed", "why"), Ended("ok")):
        write_json(folder / "run.json", begun)
        write_json(folder / "results.json", {})
        exec(spoilt, {"folder": folder, "shutil": shutil})
        assert close(folder, begun, ended).status in ("failed", "no-result")
        assert folders.read_json(folder / "run.json")["status"] in ("failed", "no-result")
        assert "</html>" in (folder / "report.html").read_text()
        assert end_orphans(tmp_path) == []
        assert write_index(tmp_path).is_file()


@pytest.mark.slow
@pytest.mark.parametrize("words", [("run", "x" * 1000), ("compare", "x" * 1000, "y" * 1000)])
def test_a_name_too_long_for_a_file_is_one_message(words, bench):
    done = evalbench(*words, cwd=bench)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no file can have so long a name" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_below_a_file_is_one_message(bench):
    (bench / "taken").write_text("", encoding="utf-8")
    done = evalbench(
        "models", "load", "http://127.0.0.1:9/v1#m", "--levels", "1", "--seconds", "0.1", "--out", "taken/x", cwd=bench
    )
    assert done.returncode == 2
    assert "taken" in done.stderr
    assert "Traceback" not in done.stderr
