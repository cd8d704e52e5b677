"""``evalbench monitor due``: what is due is run with its exit code, what is not is said, and the overview shows it."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from logged import interaction, remark

from evalbench.cli import group
from evalbench.errors import BadInput
from evalbench.monitor.ledger import opened
from evalbench.monitor.schedule import read_schedule
from evalbench.monitor.store import LogStore

ROOT = Path(__file__).resolve().parents[2]
LONG_AGO = "starts: 2026-01-01"


@pytest.fixture
def called(bench, monkeypatch):
    """``called("entries: …", "--list")``: the schedule of that text, called in the workbench."""
    monkeypatch.chdir(bench)
    monkeypatch.setenv("EVALBENCH_ROOT", str(bench))

    def call(text: str, *options: str):
        (bench / "plan.yaml").write_text(text if "timezone" in text else f"timezone: Europe/Berlin\n{text}")
        return CliRunner().invoke(group, ["monitor", "due", "plan.yaml", *options], catch_exceptions=False)

    return call


def entry(name: str, *more: str, what: str = "study: tiny, data: words.csv") -> str:
    return f"  - {{name: {name}, {', '.join(more)}, {what}}}\n"


def test_the_list_says_what_is_due_and_why_and_writes_nothing(called, bench):
    text = "entries:\n" + entry("old", 'cron: "0 6 * * *"', LONG_AGO) + entry("new", 'cron: "0 7 * * MON"')
    said = called(text, "--list", "--at", "2026-01-03T12:00")
    assert said.exit_code == 0
    assert said.stdout.splitlines() == [
        "plan, as of 2026-01-03 12:00 CET, time zone Europe/Berlin",
        "due        old  due 2026-01-03 06:00 CET; one run for all 3 due times since 2026-01-01 06:00 CET; next 2026-01-04 06:00 CET",
        "waiting    new  next 2026-01-05 07:00 CET",
    ]
    assert not list(bench.glob("*.sqlite*"))
    assert not (bench / "reports").exists()


def test_nothing_due_is_0_with_what_it_waits_for(called, bench):
    said = called("entries:\n" + entry("new", 'cron: "0 6 * * *"'), "--fail-on", "red")
    assert said.exit_code == 0
    assert said.stdout.startswith("nothing was due\nwaiting    new  next ")
    assert (bench / "reports/monitor/plan/monitor.html").is_file()


def test_a_run_that_cannot_start_fails_alone_and_is_tried_again(called, bench):
    text = "entries:\n" + entry("gone", 'cron: "0 6 * * *"', LONG_AGO, what="study: tiny, data: gone.csv")
    said = called(text)
    assert said.exit_code == 1
    assert "failed     gone  the entry: data: " in said.stdout
    assert "gone.csv: no such file or folder" in said.stdout
    assert "retry      gone  the run before it failed; attempt 2 from " in said.stdout
    content = json.loads((bench / "reports/monitor/plan/monitor.json").read_text())
    assert [run["status"] for run in content["entries"][0]["runs"]] == ["failed"]


def test_the_overview_shows_no_folder_of_the_machine(called, bench):
    elsewhere = bench.parent / "else where"
    (elsewhere / "deep").mkdir(parents=True)
    LogStore(bench / "log.sqlite", create=True).append([interaction(1, ts=datetime(2026, 1, 1, tzinfo=UTC))])
    text = "store: log.sqlite\nentries:\n"
    text += entry("gone", 'cron: "0 6 * * *"', LONG_AGO, what="study: tiny, data: deep/gone.csv")
    text += entry("far", 'cron: "0 6 * * *"', LONG_AGO, what=f"study: tiny, data: {elsewhere}/deep/gone.csv")
    text += entry("out", 'cron: "0 6 * * *"', LONG_AGO, what=f"export: {elsewhere}/deep")
    called(text)
    content = (bench / "reports/monitor/plan/monitor.json").read_text()
    page = (bench / "reports/monitor/plan/monitor.html").read_text()
    for shown in (content, page):
        assert str(bench) not in shown
        assert str(bench.parent) not in shown
        assert "deep/gone.csv: no such file" in shown
    assert "log store log.sqlite" in page
    index = (bench / "reports/index.html").read_text()
    assert '<a href="monitor/plan/monitor.html">plan</a>: ' in index


def test_a_window_without_rows_is_nothing_to_judge(called, bench):
    """Neither a failed run, which would be tried again, nor a light that changed."""
    LogStore(bench / "log.sqlite", create=True).append([interaction(1, ts=datetime(2026, 1, 1, tzinfo=UTC))])
    text = "store: log.sqlite\nentries:\n"
    text += entry("words", 'cron: "0 6 * * *"', LONG_AGO, what="study: tiny, window: last 2 hours")
    text += entry("closer", "after_light: {entry: words}", what="study: tiny, data: words.csv")
    said = called(text, "--fail-on", "red")
    assert said.exit_code == 0, said.output
    first = said.stdout.splitlines()[0]
    assert first.startswith("◌ grey     words  nothing to judge: no interactions in the log from ")
    content = json.loads((bench / "reports/monitor/plan/monitor.json").read_text())
    assert [(run["status"], run["light"]) for one in content["entries"] for run in one["runs"]] == [("empty", "grey")]
    assert content["sentence"].startswith("Nothing to judge, since no rows of the log were in its window: words; ")
    assert "nothing was due" in called(text, "--fail-on", "grey").stdout
    with opened(read_schedule(bench / "plan.yaml", bench).state).engine.begin() as connection:
        connection.exec_driver_sql("UPDATE schedule_entries SET covered = '2026-01-02T00:00:00.000000Z'")
    assert called(text, "--fail-on", "grey").exit_code == 4


def test_a_file_without_chosen_metrics_fails_its_entry_alone(called, bench):
    shutil.copy(ROOT / "notebooks" / "text_metrics.ipynb", bench / "notebooks")
    (bench / "monitored.json").write_text("{}")
    what = "study: text_metrics, data: words.csv, metrics_from: monitored.json"
    said = called("entries:\n" + entry("light", 'cron: "0 6 * * *"', LONG_AGO, what=what))
    assert said.exit_code == 1
    assert "monitored.json: not what `evalbench monitor choose` writes" in said.stdout
    assert (bench / "reports/monitor/plan/monitor.html").is_file()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--at", "2026-01-01"), "--at goes with --list"),
        (("--list", "--at", "soon"), "expected a time in ISO 8601"),
        (("--entry", "nw"), "no entry 'nw'; there are new"),
        (("--workers", "2", "--scheduler", "tcp://127.0.0.1:1"), "use only one of the two"),
    ],
)
def test_options_that_are_refused(called, options, said):
    with pytest.raises(BadInput, match=said):
        called("entries:\n" + entry("new", 'cron: "0 6 * * *"'), *options)


def test_a_lease_is_ended_by_hand(called, bench):
    text = "entries:\n" + entry("new", 'cron: "0 6 * * *"', LONG_AGO)
    assert "nobody was running it" in called(text, "--release", "new").stdout
    schedule = read_schedule(bench / "plan.yaml", bench)
    assert schedule.state.path == bench / "plan.due.sqlite"
    opened(schedule.state).close()


def test_the_store_has_to_be_there(called):
    with pytest.raises(BadInput, match="no such log store"):
        called("store: none.sqlite\nentries:\n" + entry("new", "rows: 5"))


@pytest.mark.slow
def test_from_the_log_to_a_light_and_what_follows_it(called, bench):
    """A red light by the clock, which brings a closer look at a window of the log, with chosen metrics; then nothing."""
    shutil.copy(ROOT / "notebooks" / "text_metrics.ipynb", bench / "notebooks")
    now = datetime.now(UTC)
    with LogStore(bench / "log.sqlite", create=True) as log:
        log.append([interaction(i, ts=now - timedelta(hours=i)) for i in range(100)])
        log.append_feedback([remark(i, "user", float(i % 3 > 0)) for i in range(0, 30, 2)])
    metric = {"value": 0.5, "ci_low": 0.4, "ci_high": 0.6, "p": 0.001, "p_holm": 0.002, "n": 40, "n_of": "documents",
              "higher_is_better": True, "monitored": True, "why": ""}  # fmt: skip
    chosen = {"schema_version": 1, "run": "r", "data": {"name": "marks", "version": "", "sha256": ""}, "level": "summary",
              "coefficient": "spearman", "criteria": ["helpful"], "rule": "at least 0.3", "caution": "on new labels lower",
              "metrics": [{"metric": "length", **metric}]}  # fmt: skip
    (bench / "monitored.json").write_text(json.dumps(chosen))
    text = (
        "store: log.sqlite\nentries:\n"
        + entry("words", 'cron: "* * * * *"', LONG_AGO, what="study: tiny, data: words.csv, parameters: {k: K}")
        + entry(
            "closer", "after_light: {entry: words, to: [red]}",
            what="study: text_metrics, window: last 48 hours, metrics_from: monitored.json, parameters: {n_resamples: 100}",
        )
        + entry("out", 'cron: "0 0 1 1 *"', LONG_AGO, what="export: delivered")
    )  # fmt: skip
    first = called(text.replace("k: K", "k: 1"), "--fail-on", "red")
    assert first.exit_code == 0, first.output
    assert "● green    words" in first.stdout
    with opened(read_schedule(bench / "plan.yaml", bench).state).engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE schedule_entries SET covered = '2026-01-02T00:00:00.000000Z' WHERE entry = 'words'"
        )
    second = called(text.replace("k: K", "k: 13"), "--fail-on", "red", "--entry", "words", "--entry", "closer")
    assert second.exit_code == 3, second.output
    assert "the light of words changed from green to red" in second.output
    assert "○ unlit    closer" in second.stdout
    content = json.loads((bench / "reports/monitor/plan/monitor.json").read_text())
    lights = {one["name"]: [run["light"] for run in one["runs"]] for one in content["entries"]}
    assert lights == {"words": ["green", "red"], "closer": ["unlit"], "out": [""]}
    assert len(pd.read_parquet(bench / "delivered" / "interactions")) == 100
    assert sum(row["answered"] for row in content["feedback"]["rows"]) == 15
    assert "self-selected" in (bench / "reports/monitor/plan/monitor.html").read_text()
    for one in content["entries"]:
        for run in one["runs"]:
            assert all((bench / "reports/monitor/plan" / page).is_file() for page in run["pages"])
