"""A run is followed from outside its kernel: what it is at, in lines where there is no terminal."""

from __future__ import annotations

import sys

import nbformat
import pytest

from evalbench.core import progress
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
from evalbench.runs.run import plan, run


def following(notebook, code: str):
    book = nbformat.read(notebook, as_version=4)
    book.cells.insert(3, nbformat.v4.new_code_cell(code))
    nbformat.write(book, notebook)
    return notebook


@pytest.mark.slow
def test_steps_of_a_kernel_are_lines_on_standard_error(bench, monkeypatch, capfd):
    monkeypatch.setattr(progress, "EVERY_S", 0.2)
    monkeypatch.chdir(bench)
    code = "from evalbench.core.progress import at\nat('scoring by rouge1', 3, 11)\ntime.sleep(1.5)"
    planned = plan(str(following(bench / "notebooks" / "tiny.ipynb", code)), {"data": "words.csv"})
    done = run(planned, progress=lambda read: progress.Shown(read, sys.stderr, planned.study))
    assert done.status == "ok", done.error
    said = capfd.readouterr().err
    assert "min: scoring by rouge1, 3 of 11\n" in said
    assert all(line.startswith("tiny 0:") for line in said.splitlines())
    assert not [path for path in done.folder.iterdir() if "progress" in path.name]


def test_calls_of_a_run_are_written_for_who_waits(monkeypatch, tmp_path, capsys):
    from faultserver import fault_server

    monkeypatch.setenv("EVALBENCH_RUN", str(tmp_path))
    monkeypatch.setenv(progress.FILE, str(tmp_path / "p.json"))
    with fault_server() as server:
        asked = [Request(f"told {i}", purpose="entailment") for i in range(5)] + [Request("do:500 told")]
        collect(asked, server.url + "#tiny", cache=False, max_retries=0)
    said = progress.line(progress.told(tmp_path / "p.json"))
    assert "#tiny (entailment), 6 of 6 replies, 1 failed (server-error 1), " in said
    assert capsys.readouterr().err == ""


def test_a_script_without_a_terminal_says_it_now_and_then(monkeypatch, capsys):
    from faultserver import fault_server

    monkeypatch.delenv("EVALBENCH_RUN", raising=False)
    monkeypatch.setattr(progress, "EVERY_S", 0.01)
    monkeypatch.setattr("evalbench.models.chat.progress._watched", lambda: False)
    with fault_server() as server:
        collect([Request(f"line {i}") for i in range(40)], server.url + "#tiny", cache=False, concurrency=1)
    said = capsys.readouterr().err
    assert " of 40 replies" in said
    assert "\r" not in said


@pytest.mark.slow
def test_a_batch_shows_what_its_runs_are_at(bench, monkeypatch, capsys):
    from evalbench.commands.batch import Progress
    from evalbench.runs.batch import Watcher, run_batch
    from evalbench.runs.suite import read_suite

    state = "{'what': 'asking x', 'done': 3, 'total': 9, 'unit': 'replies', 'fresh': 3, 'failed': 0, 'since': time.time(), 'tokens': 5, 'cost': None}"
    following(
        bench / "notebooks" / "tiny.ipynb", f"from evalbench.core.progress import tell\ntell({state})\ntime.sleep(3)"
    )
    (bench / "suite.yaml").write_text("runs:\n  - {study: tiny, data: words.csv}\n", encoding="utf-8")
    monkeypatch.chdir(bench)
    shown = Progress(1)
    heard: list[str] = []

    def at(job, told):
        shown.at(job, told)
        heard.extend(shown.lines())

    jobs = read_suite(bench / "suite.yaml", bench)
    (done,) = run_batch(
        jobs, reports=bench / "reports", workers=1, watcher=Watcher(shown.started, shown.ended, shown.say, at)
    )
    assert done.ok, done.run
    assert heard
    assert heard[0].startswith("tiny: asking x, 3 of 9 replies, 5 tokens, ")
    assert shown.lines() == []


def test_lines_of_a_batch_come_now_and_then_where_there_is_no_terminal(monkeypatch, capsys):
    import threading

    from evalbench.commands.batch import Progress

    monkeypatch.setattr(progress, "EVERY_S", 0.05)
    shown, ended = Progress(2), threading.Event()
    shown.running, shown.states = {1: "one", 2: "two"}, {1: {"what": "scoring", "done": 1, "total": 2}, 2: {}}
    thread = threading.Thread(target=shown.follow, args=(ended,))
    thread.start()
    ended.wait(0.2)
    ended.set()
    thread.join()
    assert set(capsys.readouterr().err.splitlines()) == {"one: scoring, 1 of 2"}


def test_what_a_terminal_shows_of_a_batch_keeps_to_its_width(monkeypatch):
    import os
    import shutil

    from evalbench.commands.batch import Progress

    class Bar:
        said = ""

        def set_description_str(self, said: str) -> None:
            self.said = said

    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_, **__: os.terminal_size((120, 24)))
    shown = Progress(2, Bar())
    shown.running = {1: "text_metrics", 2: "citation"}
    shown.states = {1: {"what": "asking a model", "done": 1, "total": 2}, 2: {"what": "x" * 100}}
    shown._show()
    assert shown.bar.said.startswith("text_metrics: asking a model, 1 of 2 · citation: xxx")
    assert len(shown.bar.said) == 72
