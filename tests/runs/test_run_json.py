"""``evalbench run --json`` and ``-q``: one object or one path on standard output, all else beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from chat import Chat, chat_endpoint
from commands import evalbench
from jsonschema import Draft202012Validator

from evalbench.cli import group

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "run.schema.json").read_text(encoding="utf-8"))
TABLE = "id,output,reference\n" + "".join(f"{i},word{i} here,word{i % 3} here\n" for i in range(9))


def in_a_process(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evalbench.cli", *words], capture_output=True, text=True, cwd=cwd, check=False
    )


def the_object(printed: str) -> dict:
    assert printed.count("\n") == 1
    found = json.loads(printed)
    Draft202012Validator(SCHEMA).validate(found)
    return found


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mine")
    (folder / "mine.csv").write_text(TABLE)
    return folder


def test_a_run_that_is_ok(table: Path) -> None:
    words = ("--data", "mine.csv", "-p", 'metrics=["f1_score"]', "-p", "n_resamples=100", "--out", "reports")
    done = in_a_process("run", "text_metrics", *words, "--fail-on", "red", "--json", cwd=table)
    found = the_object(done.stdout)
    assert (done.returncode, found["exit_code"], found["status"]) == (0, 0, "ok")
    results = json.loads((Path(found["folder"]) / "results.json").read_text())
    assert [found[name] for name in ("light", "sentence", "summary", "by")] == [
        results[name] for name in ("light", "sentence", "summary", "by")
    ]
    assert Path(found["report"]).is_file()
    assert "\n".join(found["notes"]) in done.stderr
    quiet = in_a_process("run", "text_metrics", *words, "-q", cwd=table)
    assert quiet.stdout.count("\n") == 1
    assert Path(quiet.stdout.strip()).name == "report.html"
    assert quiet.stderr == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [(("no_such_study",), "no study 'no_such_study'"), (("text_metrics", "--data", "gone.csv"), "no such file"),
     (("text_metrics", "--data", "mine.csv", "--map", "output=gone"), ""), (("text_metrics", "-p", "k"), "expected name=value")],
)  # fmt: skip
def test_what_is_refused_is_an_object_too(table: Path, words: tuple[str, ...], says: str) -> None:
    done = evalbench("run", *words, "--json", cwd=table)
    found = the_object(done.stdout)
    assert (done.returncode, found["exit_code"], found["status"], found["light"]) == (2, 2, "refused", None)
    assert says in found["error"]
    assert found["error"].splitlines()[0] in done.stderr


@pytest.mark.parametrize(
    ("words", "study", "says"),
    [(("text_metrics", "--timeout", "soon"), "text_metrics", "'soon' is not a valid number"),
     (("text_metrics", "--dta", "mine.csv"), "text_metrics", "No such option"),
     (("text_metrics", "--fail-on", "blue"), "text_metrics", "'blue' is not one of"),
     (("text_metrics", "matching"), "text_metrics", "unexpected extra argument"),
     (("text_metrics", "-p"), "text_metrics", "requires an argument"),
     ((), "", "Missing argument")],
)  # fmt: skip
def test_a_command_line_that_cannot_be_read_is_an_object_too(
    table: Path, words: tuple[str, ...], study: str, says: str
) -> None:
    done = evalbench("run", "--json", *words, cwd=table)
    found = the_object(done.stdout)
    assert (done.returncode, found["exit_code"], found["status"]) == (2, 2, "refused")
    assert found["study"] == study
    assert says in found["error"]
    assert says in done.stderr
    assert "Usage: " in done.stderr
    plain = evalbench("run", *words, cwd=table)
    assert (plain.returncode, plain.stdout) == (2, "")


@pytest.mark.slow
def test_a_run_that_fails_names_its_page(tmp_path: Path, bench: Path) -> None:
    done = in_a_process("run", "notebooks/tiny.ipynb", "-p", "data=words.csv", "-p", "fail=true", "--json", cwd=bench)
    found = the_object(done.stdout)
    assert (done.returncode, found["status"], found["summary"]) == (1, "failed", [])
    assert "asked to fail" in found["error"]
    assert Path(found["report"]).is_file()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="not on this platform: signals")
def test_an_interrupted_run_is_an_object(bench: Path) -> None:
    words = ["run", "notebooks/tiny.ipynb", "-p", "data=words.csv", "-p", "sleep=60", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "evalbench.cli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=bench,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )
    until = time.monotonic() + 60
    while not list(bench.glob("reports/tiny/*/notebook.ipynb")) and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1)
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    found = the_object(out)
    assert (process.returncode, found["status"]) == (130, "interrupted")


@pytest.fixture
def asking(bench: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Chat]]:
    """A workbench whose notebook asks a model of the loopback twelve questions."""
    code = """from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
replies = collect([Request(f"question {i}", item_id=str(i), purpose="answer", max_tokens=20) for i in range(12)], model)"""
    file = bench / "notebooks" / "tiny.ipynb"
    book = nbformat.read(file, as_version=4)
    book.cells[1].source += '\nmodel: str = ""  # who answers'
    book.cells.insert(2, nbformat.v4.new_code_cell(code))
    nbformat.write(book, file)
    monkeypatch.setenv("EVALBENCH_CACHE", str(bench / "cache"))
    with chat_endpoint(lambda prompt: "yes") as server:
        yield bench, server


@pytest.mark.slow
def test_a_dry_run_writes_nothing_and_a_budget_stops_the_run(asking: tuple[Path, Chat]) -> None:
    bench, server = asking
    words = ["run", "notebooks/tiny.ipynb", "-p", "data=words.csv", "--model", server.name]
    done = in_a_process(*words, "--dry-run", "--json", cwd=bench)
    found = the_object(done.stdout)
    assert (done.returncode, found["status"], found["folder"]) == (0, "dry-run", None)
    (row,) = found["plan"]["rows"]
    assert (row["calls"], row["tokens_out"], row["cost"]) == ([12, 12], [12, 240], None)
    assert (server.answered, (bench / "reports").exists()) == ([], False)
    done = in_a_process(*words, "--max-calls", "5", "--json", cwd=bench)
    found = the_object(done.stdout)
    assert (done.returncode, found["budget"]["calls"], found["budget"]["not_asked"], len(server.answered)) == (
        0,
        5,
        7,
        5,
    )
    page = Path(found["report"]).read_text(encoding="utf-8")
    assert page.count("Stopped by its budget after 5 of at least 12 calls") == 1
    done = in_a_process(*words, "--max-calls", "10", cwd=bench)
    assert "budget  Stopped by its budget after 10 of at least 12 calls" in done.stdout
    assert len(server.answered) == 10
    done = in_a_process(*words, "--max-cost", "1", cwd=bench)
    assert (done.returncode, len(server.answered)) == (2, 10)
    assert "needs the price of http" in done.stderr


def test_the_help_names_the_schema() -> None:
    from click.testing import CliRunner

    assert "docs/run.schema.json" in CliRunner().invoke(group, ["run", "--help"]).output.replace("\n", "")
