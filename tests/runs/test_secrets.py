"""No key reaches a file or a stream: every form of it, every file of a run, every way in which a run may end."""

from __future__ import annotations

import base64
import html
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import click
import nbformat
import pandas as pd
import pytest

from evalbench import BadInput
from evalbench.commands.terminal import clean_streams
from evalbench.models.redact import holds
from evalbench.readers.parameters import parse_cell
from evalbench.readers.runs import write_json
from evalbench.runs import folder as folders
from evalbench.runs.closing import close, end_orphans
from evalbench.runs.kernel import Ended
from evalbench.runs.leaks import leaks
from evalbench.runs.parameters import checked_values
from evalbench.runs.provenance import git_state, host_and_path
from evalbench.runs.suite import read_suite

ROOT = Path(__file__).resolve().parents[2]
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "abcDEF123_-" * 30 + "." + "Zz9" * 15
ODD = "p<4>&s\"w'o\\r d/ü+9=="
FORMS = {
    "raw": lambda key: key,
    "json": json.dumps,
    "html": html.escape,
    "url": lambda key: quote(key, safe=""),
    "base64": lambda key: base64.b64encode(b"user:" + key.encode()).decode(),
    "base64 in lines": lambda key: base64.encodebytes(b"user:" + key.encode()).decode(),
    "cut": lambda key: key[: max(12, len(key) * 2 // 3)] + "…",
    "coloured": lambda key: f"{key[:9]}\x1b[31m{key[9:]}",
    "in tags": lambda key: f"{html.escape(key[:9])}<wbr>{html.escape(key[9:])}",
}


def text_file(path: Path, said: str) -> None:
    path.write_text(said, encoding="utf-8")


def json_file(path: Path, said: str) -> None:
    path.write_text(json.dumps({"deep": [{"said": said}]}, ensure_ascii=False), encoding="utf-8")


def notebook_file(path: Path, said: str) -> None:
    node = nbformat.v4.new_notebook()
    output = nbformat.v4.new_output("stream", name="stdout", text=f"one line\n{said}\nanother")
    node.cells = [nbformat.v4.new_code_cell("1", outputs=[output])]
    nbformat.write(node, path)


def table_file(path: Path, said: str) -> None:
    # Repeated beginnings are what compression takes out of a file's bytes.
    texts = [said[:n] for n in range(4, 12)] * 40 + [f"a reply: {said}"]
    nested = [{"logprobs": []}] * (len(texts) - 1) + [{"logprobs": [said]}]
    pd.DataFrame({"id": range(len(texts)), "reply": texts, "more": nested}).to_parquet(path)


FILES = {
    "run.json": json_file, "results.json": json_file, "report.html": text_file, "index.html": text_file,
    "notebook.ipynb": notebook_file, "calls.parquet": table_file, "items.parquet": table_file, "kernel.log": text_file,
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", [JWT, ODD], ids=["jwt", "odd"])
def test_every_form_of_a_key_is_found_in_every_file(key, form, name, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY_BACKUP", key)
    FILES[name](tmp_path / name, "an honest text")
    assert leaks(tmp_path) == []
    FILES[name](tmp_path / name, FORMS[form](key))
    assert leaks(tmp_path) == [(tmp_path / name, "SOME_API_KEY_BACKUP")]


def test_half_a_parquet_file_is_looked_through_too(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", JWT)
    (tmp_path / ".calls.parquet.x1").write_bytes(b"PAR1\x00\xff" + JWT.encode() + b"\xff")
    assert [name for _, name in leaks(tmp_path)] == ["SOME_API_KEY"]


def test_a_short_key_that_is_a_word_fails_no_run_and_one_that_is_not_is_found_as_a_word(tmp_path, monkeypatch):
    for name, value in {"A_KEY": "1", "B_TOKEN": "test", "C_API_KEY": "EMPTY", "D_KEY": "ab12"}.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "run.json").write_text('{"said": "1 test, EMPTY, xab12"}')
    assert leaks(tmp_path) == []
    (tmp_path / "run.json").write_text('{"said": "ab12"}')
    assert [name for _, name in leaks(tmp_path)] == ["D_KEY"]


# -- whole runs ---------------------------------------------------------------------------------

SAYS = {
    "exception": "raise ValueError('401: ' + secret)",
    "exception in forms": "import json, html, base64, urllib.parse as u\n"
    "raise ValueError(' '.join([json.dumps(secret), html.escape(secret), u.quote(secret, safe=''), "
    "base64.b64encode(b'u:' + secret.encode()).decode(), secret[:200]]))",
    "bad input": "from evalbench import BadInput\nraise BadInput('words.csv: ' + secret)",
    "standard error": "import sys, logging\nprint(secret, file=sys.stderr)\nlogging.warning('key %s', secret)",
    "standard output": "print(secret)",
    "a file": "import pathlib\n(folder / 'mine.log').write_text(secret)",
    "a result": "from dataclasses import replace\nresult = replace(result, judged=secret)",
    "run.json": "(folder / 'run.json').write_text(json.dumps({'note': secret}))",
    "a table": "result = __import__('dataclasses').replace(result, tables={'calls': pd.DataFrame({'id': ['0'], 'raw': [secret]})})",
}  # fmt: skip

QUICK = ("exception in forms",)


def with_cell(bench: Path, source: str) -> None:
    path = bench / "notebooks" / "tiny.ipynb"
    node = nbformat.read(path, as_version=4)
    cell = nbformat.v4.new_code_cell(f"secret = os.environ['SOME_TOKEN_2']\n{source}")
    node.cells.insert(3, cell)
    nbformat.write(node, path)


def evalbench(bench: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "SOME_TOKEN_2": JWT}
    return subprocess.run(
        [sys.executable, "-m", "evalbench.cli", *words], capture_output=True, text=True, cwd=bench, env=env, check=False
    )  # fmt: skip


def assert_nowhere(bench: Path, said: subprocess.CompletedProcess[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert not holds(said.stdout, JWT)
    assert not holds(said.stderr, JWT)
    assert "Traceback" not in said.stderr
    monkeypatch.setenv("SOME_TOKEN_2", JWT)
    assert leaks(bench / "reports") == []


@pytest.mark.slow
@pytest.mark.parametrize("way", [way if way in QUICK else pytest.param(way, marks=pytest.mark.slow) for way in SAYS])
def test_no_run_says_a_long_key_and_each_comes_to_its_end(way, bench, monkeypatch):
    with_cell(bench, SAYS[way])
    done = evalbench(bench, "run", "tiny", "--data", "words.csv")
    assert_nowhere(bench, done, monkeypatch)
    found = [content for _, content in folders.runs(bench / "reports")]
    if way == "bad input":
        assert (done.returncode, found) == (2, [])
        assert "words.csv: [key removed]" in done.stderr
        return
    assert [run["status"] for run in found] == ["ok" if way == "standard error" else "failed"]
    assert done.returncode == (0 if way == "standard error" else 1)
    if way.startswith("exception"):
        assert "ValueError" in found[0]["error"]
        assert "[key removed]" in found[0]["error"]
        page = next((bench / "reports" / "tiny").glob("*/report.html")).read_text()
        assert "Where it stopped" in page
    elif way != "standard error":
        assert "SOME_TOKEN_2 in " in found[0]["error"]


@pytest.mark.slow
def test_a_key_that_a_library_writes_past_python_reaches_no_terminal(bench, monkeypatch):
    """Kernels repeat on the streams they were given what libraries in C write to theirs."""
    with_cell(
        bench, r"os.write(1, secret.encode()); os.write(2, b'\x1b]0;title\x07 ' + secret.encode()); time.sleep(0.3)"
    )
    done = evalbench(bench, "run", "tiny", "--data", "words.csv")
    assert_nowhere(bench, done, monkeypatch)
    assert "title" not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_kernel_that_dies_says_its_last_words_without_keys(bench, monkeypatch):
    with_cell(bench, "os.write(2, b'out of paper ' + secret.encode()); time.sleep(0.3); os._exit(3)")
    done = evalbench(bench, "run", "tiny", "--data", "words.csv")
    assert_nowhere(bench, done, monkeypatch)
    assert "the kernel died" in done.stderr
    assert "out of paper [key removed]" in done.stderr


def test_a_folder_named_like_a_key_is_found_and_removed(bench, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN_2", JWT[:60])
    folder = folders.create(bench / "reports", "tiny", "0" * 8)
    (folder / "more" / JWT[:60]).mkdir(parents=True)
    (folder / "more" / JWT[:60] / "file").write_text("honest")
    begun = {"schema_version": 1, "study": "tiny", "run_id": folder.name, "status": "running", "error": "", "started": folders.now()}  # fmt: skip
    assert close(folder, begun, Ended("failed", "why")).status == "failed"
    assert leaks(folder) == []
    assert not (folder / "more").exists()


@pytest.mark.slow
def test_no_batch_says_a_long_key(bench, monkeypatch):
    with_cell(bench, "if k == 1:\n    raise ValueError(secret)\nif k == 2:\n    print(secret)")
    suite = bench / "suite.yaml"
    suite.write_text("runs:\n- study: tiny\n  data: words.csv\n  matrix: {k: [0, 1, 2]}\n")
    done = evalbench(bench, "batch", str(suite), "--workers", "1")
    assert_nowhere(bench, done, monkeypatch)
    assert (bench / "reports" / "index.html").is_file()
    assert sorted(content["status"] for _, content in folders.runs(bench / "reports")) == ["failed", "failed", "ok"]  # fmt: skip


def test_an_exception_of_ours_is_reported_without_the_key(bench, monkeypatch):
    """What nobody foresaw: a traceback, redacted."""
    code = (
        "import os, click\nfrom evalbench import cli\n"
        "@click.command()\ndef broken(): raise RuntimeError('for ' + os.environ['SOME_TOKEN_2'] + chr(8238))\n"
        "cli.group.get_command = lambda ctx, name: broken\ncli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "broken"], capture_output=True, text=True, check=False, env={**os.environ, "SOME_TOKEN_2": JWT}
    )  # fmt: skip
    assert done.returncode == 1
    assert "RuntimeError: for [key removed]‹RLO›" in done.stderr
    assert not holds(done.stderr, JWT)


def test_the_page_of_a_run_that_died_holds_no_key(bench, monkeypatch):
    """A run that died says so on a page without the key that its notebook printed."""
    monkeypatch.setenv("SOME_TOKEN_2", JWT)
    folder = folders.create(bench / "reports", "tiny", "0" * 8)
    begun = {"schema_version": 1, "study": "tiny", "run_id": folder.name, "status": "running", "error": "", "started": folders.now(),
             "host": folders.host(), "process": 2**22 + 1}  # fmt: skip
    write_json(folder / "run.json", begun)
    notebook_file(folder / "notebook.ipynb", JWT)
    assert end_orphans(bench / "reports") == [folder]
    assert leaks(bench) == []
    assert not (folder / "notebook.ipynb").exists()
    assert "SOME_TOKEN_2 in notebook.ipynb" in folders.read_json(folder / "run.json")["error"]


def test_the_guards_own_errors_hold_no_key_and_what_it_could_not_read_is_not_shown(bench, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN_2", JWT)

    def broken(folder: Path) -> None:
        raise ValueError(JWT)

    monkeypatch.setattr("evalbench.runs.closing.leaks", broken)
    folder = folders.create(bench / "reports", "tiny", "0" * 8)
    begun = {"schema_version": 1, "study": "tiny", "run_id": folder.name, "status": "running", "error": "", "started": folders.now()}  # fmt: skip
    write_json(folder / "run.json", {**begun, "note": JWT})
    notebook_file(folder / "notebook.ipynb", JWT)
    (folder / "more").mkdir()
    ended = close(folder, begun, Ended("ok"))
    assert (ended.status, "ValueError" in ended.error) == ("failed", True)
    assert {path.name for path in folder.iterdir()} == {"run.json", "report.html"}
    assert leaks(folder) == []


def test_no_bytes_in_a_table_hide_a_key(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setenv("SOME_TOKEN_2", JWT)
    said = [f"{JWT[:k]} a reply".encode() for k in range(4, 12)] * 20 + [b"\xff\xfe", f"a reply {JWT}".encode()]
    texts = pa.array(said, pa.binary()).view(pa.string())
    nested = pa.ListArray.from_arrays(pa.array(range(len(said) + 1), pa.int32()), texts)
    for name, column in {"texts": texts, "lists": nested, "words": pa.array([JWT] * 3).dictionary_encode()}.items():
        folder = tmp_path / name
        folder.mkdir()
        pq.write_table(pa.table({"reply": column}), folder / "calls.parquet")
        assert [variable for _, variable in leaks(folder)] == ["SOME_TOKEN_2"], name


@pytest.mark.parametrize("form", ["raw", "json", "html", "url", "base64", "cut"])
@pytest.mark.parametrize("key", [JWT, ODD], ids=["jwt", "odd"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_no_form_of_a_key_passes_a_stream(stream, key, form, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY_BACKUP", key)
    raw = io.StringIO()
    monkeypatch.setattr(sys, stream, raw)
    clean_streams()
    wrapped = getattr(sys, stream)
    click.echo(f"said: {FORMS[form](key)}", err=stream == "stderr")
    wrapped.writelines([f"{FORMS[form](key)}\n"])
    monkeypatch.undo()
    assert raw.getvalue().count("[key removed]") == 2
    monkeypatch.setenv("SOME_API_KEY_BACKUP", key)
    assert not holds(raw.getvalue(), key)


def test_what_a_notebook_writes_into_run_json_cannot_replace_what_the_runner_knows(bench):
    folder = folders.create(bench / "reports", "tiny", "0" * 8)
    begun = {"schema_version": 1, "study": "tiny", "run_id": folder.name, "status": "running", "error": "", "started": folders.now()}  # fmt: skip
    for written in ('{"study": "other", "calls": 3}', "{", "[]", '{"status": NaN}'):
        (folder / "run.json").write_text(written)
        close(folder, begun, Ended("failed", "why"))
        found = folders.read_json(folder / "run.json")
        assert (found["study"], found["status"], found["error"]) == ("tiny", "failed", "why")


# -- before anything is written -----------------------------------------------------------------


@pytest.mark.parametrize(
    "value", ["http://user:hunter2secret@host.example/v1#m", "http://user:p@ss/w@host/v1", ["a", "http://tok@host"]]
)
def test_an_address_with_a_password_is_refused_and_not_repeated(value):
    known = parse_cell('model: str = "x"  # m\nmodels: list = []  # ms', "x")
    name = "model" if isinstance(value, str) else "models"
    with pytest.raises(BadInput, match="user or password in it is refused") as caught:
        checked_values(known, {name: value}, "x")
    assert "hunter2" not in str(caught.value)
    assert "tok@" not in str(caught.value)


def test_a_suite_with_a_password_or_a_key_starts_nothing(bench, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN_2", JWT)
    suite = bench / "suite.yaml"
    suite.write_text(
        "runs:\n- study: tiny\n  data: words.csv\n"
        f"  matrix: {{killer: ['http://user:hunter2secret@host.example/v1#m', '{JWT}']}}\n"
    )
    with pytest.raises(BadInput) as caught:
        read_suite(suite, bench)
    assert "line 4" in str(caught.value)
    assert "holds the value of SOME_TOKEN_2" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert not holds(str(caught.value), JWT)


@pytest.mark.parametrize(
    ("remote", "kept"),
    [("https://me:pa@ss@git.example/a/b.git", "git.example/a/b.git"), ("https://me:pa/s@s@git.example/a.git", "git.example/a.git"),
     ("https://git.example/a.git?private_token=x#y", "git.example/a.git"), ("git@git.example:a/b.git", "git.example:a/b.git"),
     ("ssh://git@git.example:22/a.git", "git.example:22/a.git"), ("/srv/a@b/c.git", "/srv/a@b/c.git"), ("ext::sh -c x", "")],
)  # fmt: skip
def test_of_a_remote_host_and_path_are_kept(remote, kept, tmp_path):
    assert host_and_path(remote) == kept
    for words in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"],
                  ["remote", "add", "origin", remote]):  # fmt: skip
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    assert git_state(tmp_path)["remote"] == kept
