"""Batches: honest about every run, whatever happens to its worker."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner
from waiting import gone, wait_until

from evalbench.commands.batch import Progress, batch, suite_exit_code, table
from evalbench.core.schedulers import checked_address
from evalbench.errors import BadInput
from evalbench.report.history import read_runs
from evalbench.runs import folder as folders
from evalbench.runs.batch import Outcome, Watcher, run_batch
from evalbench.runs.closing import end_orphans
from evalbench.runs.suite import read_suite


def jobs(bench: Path, text: str):
    path = bench / "suite.yaml"
    path.write_text(f"runs:\n  - {{study: tiny, data: words.csv, {text}}}\n", encoding="utf-8")
    return read_suite(path, bench)


def statuses(reports: Path) -> list[str]:
    return sorted(run.status for run in read_runs(reports))


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://10.0.0.5:8786", "use tls://"),
        ("scheduler.example:8786", "use tls://"),
        ("tcp://127.0.0.1.example.org:8786", "use tls://"),
        ("ws://127.0.0.1:8786", "expected tls://HOST:PORT"),
        ("tls://127.0.0.1", "expected tls://HOST:PORT"),
        ("tls://127.0.0.1:port", "expected tls://HOST:PORT"),
        ("tls://user:word@127.0.0.1:8786", "user or password"),
    ],
)
def test_addresses_that_are_refused(address, said):
    with pytest.raises(BadInput) as error:
        checked_address(address)
    assert said in str(error.value)
    assert "word@" not in str(error.value)


@pytest.mark.parametrize("address", ["tls://10.0.0.5:8786", "tcp://[::1]:8786", "tcp://localhost:1", "127.0.0.1:8786"])
def test_addresses_that_are_taken(address):
    assert checked_address(address).endswith(address)


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer(bench, monkeypatch):
    monkeypatch.setitem(
        __import__("evalbench.runs.cluster", fromlist=["SETTINGS"]).SETTINGS, "distributed.comm.timeouts.connect", "1s"
    )
    with pytest.raises(BadInput, match="no connection"):
        run_batch(jobs(bench, "parameters: {k: 1}"), reports=bench / "reports", scheduler="tcp://127.0.0.1:9")


def test_workers_and_scheduler_exclude_each_other(bench):
    with pytest.raises(BadInput, match="use only one of the two"):
        CliRunner().invoke(
            batch, [str(bench / "s.yaml"), "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"],
            catch_exceptions=False, standalone_mode=False,
        )  # fmt: skip


@pytest.mark.slow
def test_a_batch_writes_folders_index_and_summary_and_resumes(bench):
    (bench / "suite.yaml").write_text(
        "runs:\n"
        "  - {study: tiny, data: words.csv, matrix: {k: [1, 2, 13]}}\n"
        "  - {study: tiny, data: words.csv, parameters: {fail: true}}\n"
        "  - {study: tiny, data: words.csv, parameters: {sleep: 30}, timeout: 3}\n",
        encoding="utf-8",
    )
    arguments = [str(bench / "suite.yaml"), "--root", str(bench), "--workers", "2", "--fail-on", "red"]
    first = CliRunner().invoke(batch, arguments, catch_exceptions=False)
    assert first.exit_code == 1
    reports = bench / "reports"
    assert statuses(reports) == ["failed", "ok", "ok", "ok", "timeout"]
    assert "5 runs: 3 ok, 2 failed" in first.stdout
    assert "ValueError: asked to fail" in first.stdout
    assert "not done within 3 s" in first.stdout
    assert "■ red" in first.stdout
    assert "5/5" in first.stderr
    assert "left" in first.stderr
    page = (reports / "index.html").read_text(encoding="utf-8")
    assert len(re.findall("<tr[^>]*><td[^>]*data-v=", page)) == 5
    assert "asked to fail" in page
    for folder, record in folders.runs(reports):
        assert record["peak_memory_mb"] > 20
        assert (folder / "report.html").is_file()

    again = CliRunner().invoke(batch, [*arguments, "--resume"], catch_exceptions=False)
    assert "3 of them already finished" in again.stdout
    assert statuses(reports) == ["failed"] * 2 + ["ok"] * 3 + ["timeout"] * 2
    assert sorted(record["attempt"] for _, record in folders.runs(reports)) == [1] * 5 + [2] * 2

    (bench / "suite.yaml").write_text(
        "runs:\n  - {study: tiny, data: words.csv, matrix: {k: [1, 13]}}\n", encoding="utf-8"
    )
    assert CliRunner().invoke(batch, [*arguments, "--resume"]).exit_code == 3
    assert CliRunner().invoke(batch, [*arguments[:-2], "--resume"]).exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("fork", [True, False])
def test_a_killed_worker_takes_only_its_own_run_with_it(bench, fork):
    culprit = bench / "killer.pid"
    text = (
        "runs:\n  - {study: tiny, data: words.csv, parameters: {sleep: 0.05}, matrix: {k: ["
        + ", ".join(map(str, range(1, 13)))
        + f"]}}}}\n  - {{study: tiny, data: words.csv, parameters: {{k: 100, killer: {culprit}}}}}\n"
        + "  - {study: tiny, data: words.csv, parameters: {sleep: 0.05}, matrix: {k: ["
        + ", ".join(map(str, range(20, 31)))
        + "]}}\n"
    )
    (bench / "suite.yaml").write_text(text, encoding="utf-8")
    suite = read_suite(bench / "suite.yaml", bench)
    assert len(suite) == 24
    reports = bench / "reports"
    outcomes = run_batch(suite, reports=reports, workers=2, fork=fork)
    ended = {outcome.job.number: outcome for outcome in outcomes}
    assert [n for n, outcome in ended.items() if not outcome.ok] == [13]
    assert ended[13].run["status"] == "died"
    assert "worker died" in ended[13].run["error"]
    assert len(read_runs(reports)) == 24
    assert statuses(reports) == ["died"] + ["ok"] * 23
    identities = [record["sha256"]["identity"] for _, record in folders.runs(reports)]
    assert len(set(identities)) == 24
    assert wait_until(lambda: gone(int(culprit.read_text()))), "the kernel of the killed worker lives on"

    again = run_batch(suite, reports=reports, workers=2, resume=True, fork=fork)
    assert all(outcome.ok for outcome in again)
    assert sum(not o.resumed for o in again) == 1
    assert statuses(reports) == ["died"] + ["ok"] * 24
    assert max(record["attempt"] for _, record in folders.runs(reports)) == 2


def test_orphans_of_this_machine_end_as_died_others_stay(bench):
    def orphan(name: str, **fields) -> Path:
        folder = bench / "reports" / "tiny" / name
        folder.mkdir(parents=True)
        record = {
            "status": "running",
            "host": folders.host(),
            "process": os.getpid(),
            "started": folders.now(),
            **fields,
        }
        (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
        return folder

    dead = psutil.Popen(["true"])
    dead.wait()
    gone = orphan("a-1", process=dead.pid)
    reused = orphan("a-2", started="2001-01-01T00:00:00Z")
    alive, elsewhere = orphan("a-3"), orphan("a-4", host="another", process=dead.pid)
    assert end_orphans(bench / "reports") == [gone, reused]
    said = [folders.read_json(f / "run.json")["status"] for f in (gone, reused, alive, elsewhere)]
    assert said == ["died", "died", "running", "running"]


def outcome(job, light="green", **run) -> Outcome:
    row = {"metric": "f1", "value": 0.7123, "ci_low": 0.63, "ci_high": 0.78, "light": light}
    results = {"light": light, "summary": [row], "by": []} if light else None
    return Outcome(
        job,
        Path("reports/x"),
        {"status": "ok" if light else "failed", "error": "no gold", "seconds": 75.2, "peak_memory_mb": 203.4, **run},
        results,
    )


def test_table_and_exit_codes(bench):
    (job,) = jobs(bench, "parameters: {k: 1}")
    lines = table([outcome(job), outcome(job, light="")])
    assert lines[1].split() == ["1", "tiny", "●", "green", "f1", "0.71", "[0.63,", "0.78]", "1:15", "min", "203", "MB"]
    assert "✕ failed" in lines[2]
    assert "no gold" in lines[3]
    assert lines[-1] == "2 runs: 1 ok, 1 failed"
    assert suite_exit_code([outcome(job), outcome(job, light="")], ["red"]) == 1
    assert suite_exit_code([outcome(job, "red"), outcome(job, "grey")], ["grey"]) == 3
    assert suite_exit_code([outcome(job, "green"), outcome(job, "grey")], ["grey"]) == 4
    assert suite_exit_code([outcome(job, "green"), outcome(job, "grey")], ["red"]) == 0
    assert suite_exit_code([outcome(job, "red")], []) == 0


def test_progress_says_what_is_done_and_how_long_it_may_take(bench, capsys):
    (job,) = jobs(bench, "parameters: {k: 1}")
    progress = Progress(4)
    assert progress.left() == ""
    progress.started(job, "tcp://127.0.0.1:1")
    assert progress.running == {1: "tiny"}
    progress.began -= 10
    progress.ended(outcome(job))
    assert not progress.running
    assert progress.left() == "about 30 s left"
    assert capsys.readouterr().err.startswith("1/4, about 30 s left  ● green     tiny  f1 0.71")


def test_a_watcher_has_nothing_to_do_by_default(bench):
    assert Watcher().say("x") is None
