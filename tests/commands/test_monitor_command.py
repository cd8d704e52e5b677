"""``evalbench monitor`` over a store's life: made, filled, looked at, exported, forgotten; what is wrong is one message."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from logged import START, interaction

from evalbench.commands.monitor import monitor
from evalbench.errors import BadInput
from evalbench.monitor.store import LogStore

KEY = "a key of the tests only"
ROWS = [
    {"id": "1", "ts": "2026-05-01T10:00:00Z", "request": "q1", "response": "a1", "client": "anna", "latency": 0.5},
    {"id": "2", "ts": "2026-06-01T10:00:00+03:00", "request": "q2", "error": "timeout"},
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_LOG_KEY", KEY)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "marks.csv").write_text("item,mark\n1,1\n2,0\n")
    return tmp_path


def run(*words, stdin=None):
    return CliRunner().invoke(monitor, list(map(str, words)), input=stdin, catch_exceptions=False).output


def test_the_life_of_a_store(place):
    log, rows, marks, out = place / "log.sqlite", place / "rows.jsonl", place / "marks.csv", place / "out"
    assert run("init", log) == f"{log}: made\n"
    assert run("init", log) == f"{log}: exists already\n"
    assert run("append", log, rows) == f"{rows}: 2 appended\n"
    assert run("append", log, rows) == f"{rows}: 0 appended, 2 were there already\n"
    given = ("--source", "annotator", "--judge", "ann", "--at", "2026-06-03T00:00:00Z")
    assert (
        run("feedback", log, marks, "--map", "item=interaction", "--map", "mark=value", *given)
        == f"{marks}: 2 appended\n"
    )
    assert run("status", log).splitlines() == [
        f"{log}: version 2, 2 interactions",
        "  from 2026-05-01T10:00:00Z to 2026-06-01T07:00:00Z; 1 with an error",
        "  feedback of source annotator: 2",
        "  client ids: keyed hashes",
    ]
    assert run("export", log, out) == f"{out}: 2 interactions, 2 feedback, 0 losses in 3 files\n"
    assert "would remove 1 interaction, 1 feedback" in run("forget", log, "--client", "-", "--dry-run", stdin="anna\n")
    assert "removed 1 interaction, 1 feedback, 0 reports of losses" in run("forget", log, "--client", "anna")
    assert "removed 1 interaction, 1 feedback" in run("forget", log, "--before", "2027-01-01")
    assert "removed: 3 files of months without rows" in run("export", log, out)
    assert run("migrate", log) == f"{log}: is of version 2\n"


def test_an_export_is_appended_to_another_store_with_its_hashes(place):
    first, second = place / "a.sqlite", place / "b.sqlite"
    for store in (first, second):
        run("init", store)
    run("append", first, place / "rows.jsonl")
    run("export", first, place / "out")
    for file in sorted((place / "out" / "interactions").glob("*/*")):
        run("append", second, file, "--hashed")
    with LogStore(first) as a, LogStore(second) as b:
        assert list(a.rows()) == list(b.rows())
    with pytest.raises(BadInput, match="keyed hashes"):
        run("append", second, place / "rows.jsonl", "--hashed")


def test_what_applications_lost_is_shown(place):
    with LogStore(place / "log.sqlite", create=True) as log:
        log.append_losses([{"id": "l", "ts": START, "since": START, "until": START, "reason": "queue full", "rows": 7}])
    shown = run("status", place / "log.sqlite")
    assert "  lost, queue full: 7 rows, from 2026-05-01T00:00:00Z to 2026-05-01T00:00:00Z\n" in shown
    assert "client ids: none were hashed here" in shown


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("status", "{}/missing.sqlite"), "no such log store; evalbench monitor init"),
        (("append", "{}/missing.sqlite", "{}/rows.jsonl"), "no such log store"),
        (("append", "{}/log.sqlite", "{}/missing.jsonl"), "no such file"),
        (("append", "{}/log.sqlite", "{}/marks.csv"), "column request: is missing"),
        (("feedback", "{}/log.sqlite", "{}/marks.csv", "--source", "user"), "column interaction: is missing"),
        (("forget", "{}/log.sqlite"), "nothing to forget is named"),
        (("forget", "{}/log.sqlite", "--before", "May"), "--before: 'May': not a time in ISO 8601"),
        (("forget", "{}/log.sqlite", "--client", "anna"), "no client id was ever hashed here"),
        (("forget", "{}/log.sqlite", "--client", "-"), "standard input is empty"),
        (("export", "{}/log.sqlite", "{}/out", "--from", "2026-06-01", "--to", "2026-05-01"), "is not before --to"),
        (("status", "postgresql://me:hunter2@host/logs"), "password in the address is refused"),
    ],
)
def test_what_is_wrong_is_said(place, words, what):
    run("init", place / "log.sqlite")
    with pytest.raises(BadInput, match=what) as error:
        run(*[word.format(place) for word in words])
    assert "hunter2" not in str(error.value)


def test_feedback_on_what_is_not_there_is_refused_before_any_is_appended(place):
    log = place / "log.sqlite"
    with LogStore(log, create=True) as store:
        store.append([interaction(i) for i in range(300)])
        rows = [
            {"interaction": f"r{i:05d}", "ts": "2026-06-01T00:00:00Z", "source": "user", "value": 1} for i in range(301)
        ]
        (place / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        with pytest.raises(BadInput, match="not in the log:\n  - r00300"):
            run("feedback", log, place / "many.jsonl")
        assert store.status().feedback == {}


def test_another_key_is_refused(place, monkeypatch):
    log = place / "log.sqlite"
    run("init", log)
    run("append", log, place / "rows.jsonl")
    monkeypatch.setenv("EVALBENCH_LOG_KEY", KEY + "!")
    for words in (("append", log, place / "rows.jsonl"), ("forget", log, "--client", "anna")):
        with pytest.raises(BadInput, match="hashed with another key"):
            run(*words)
