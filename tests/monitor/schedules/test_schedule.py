"""Schedules are checked whole: every fault with its entry, in one message."""

from __future__ import annotations

import pytest
import yaml

from evalbench.errors import BadInput
from evalbench.monitor import schedule as module
from evalbench.monitor.schedule import read_schedule


@pytest.fixture(autouse=True)
def suite(tmp_path):
    (tmp_path / "s.yaml").write_text("runs: [{study: matching}]\n")


GOOD = 'name: a, cron: "0 6 * * *"'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x: 1", "expected a mapping with 'entries:'"),
        (f"name: ../up\nentries: [{{{GOOD}, suite: s.yaml}}]", "name: expected 1 to 80 characters"),
        ("entries: []", "a list of at least one"),
        ("entries: [5]", "entry 1: expected 'name:', when it is due"),
        (f"entries: [{{{GOOD}, suite: s.yaml}}]\ntimezone: Mars/Base", "timezone: no time zone 'Mars/Base'"),
        (f"entries: [{{{GOOD}, suite: s.yaml}}]\ntimezone: [1]", "timezone: no time zone"),
        (f"leas: 5\nentries: [{{{GOOD}, suite: s.yaml}}]", "unknown key leas; did you mean lease?"),
        (f"lease: 0\nentries: [{{{GOOD}, suite: s.yaml}}]", "lease: expected minutes from 1 to 1440, found 0"),
        (f"store: postgresql://me:secret@db/logs\nentries: [{{{GOOD}, suite: s.yaml}}]", "password"),
        (f"store: 5\nentries: [{{{GOOD}, suite: s.yaml}}]", "store: expected a text, found 5"),
        ("entries: [{cron: '0 6 * * *', suite: s.yaml}]", "entry 1: name: expected 1 to 80"),
        ("entries: [{name: ../up, cron: '0 6 * * *', suite: s.yaml}]", "entry 1 (../up): name: expected 1 to 80"),
        ("entries: [{name: a, suite: s.yaml}]", "entry 1 (a): when is it due? Expected at least one of cron, rows, after_light"),
        ("entries: [{name: a, cron: 6am, suite: s.yaml}]", "cron: '6am': expected minute, hour"),
        ("entries: [{name: a, rows: 0, suite: s.yaml}]", "rows: expected a count of new rows from 1, found 0"),
        ("entries: [{name: a, rows: true, suite: s.yaml}]", "found True"),
        ("entries: [{name: a, rows: 5, suite: s.yaml}]", "rows: needs a log store"),
        (f"entries: [{{{GOOD}}}]", "what is run? Expected one of study, suite, export"),
        (f"entries: [{{{GOOD}, suite: s.yaml, study: matching}}]", "what is run?"),
        (f"entries: [{{{GOOD}, suite: none.yaml}}]", "suite: none.yaml: no such file"),
        (f"entries: [{{{GOOD}, suite: s.yaml, parameters: {{}}}}]", "parameters: only with study"),
        (f"entries: [{{{GOOD}, export: out}}]", "export: needs a log store"),
        (f"entries: [{{{GOOD}, study: matchin}}]", "did you mean matching?"),
        (f"entries: [{{{GOOD}, study: matching, parameters: {{sed: 1}}}}]", "unknown key sed; did you mean seed?"),
        (f"store: l.sqlite\nentries: [{{{GOOD}, study: matching, windows: {{oos: last 3 days}}}}]",
         "windows: matching has no parameter oos_from, oos_to"),
        (f"store: l.sqlite\nentries: [{{{GOOD}, study: matching, window: 3 days}}]", "window: '3 days': expected last N hours"),
        (f"store: l.sqlite\nentries: [{{{GOOD}, study: matching, window: last 3 days, data: x}}]", "state only one of the two"),
        (f"entries: [{{{GOOD}, study: matching, window: last 3 days}}]", "window: needs a log store"),
        (f"entries: [{{{GOOD}, study: matching, metrics_from: m.json}}]", "metrics_from: matching has no parameter metrics"),
        (f"entries: [{{{GOOD}, study: text_metrics, metrics_from: m.json}}]", "m.json: no such file; `evalbench monitor choose RUN`"),
        (f"entries: [{{{GOOD}, suite: s.yaml, retries: -1}}]", "retries: expected a count up to 100, found -1"),
        (f"entries: [{{{GOOD}, suite: s.yaml, starts: soon}}]", "starts: expected a date or time from 2000 to 2199"),
        (f"entries: [{{{GOOD}, suite: s.yaml}}, {{{GOOD}, suite: s.yaml}}]", "a: two entries have this name"),
        ("entries: [{name: a, after_light: {entry: b}, suite: s.yaml}]", "after_light: no entry 'b'"),
        ("entries: [{name: a, after_light: {entry: a}, suite: s.yaml}]", "after_light: a: they wait for each other"),
        ("entries: [{name: a, after_light: {entry: b}, suite: s.yaml}, {name: b, after_light: {entry: a}, suite: s.yaml}]",
         "after_light: a, b: they wait for each other"),
        ("entries: [{name: a, after_light: {entry: b, to: [blue]}, suite: s.yaml}]", "to: expected lights out of"),
        ("entries: [{name: a, after_light: b, suite: s.yaml}]", "after_light: expected {entry: NAME}"),
        (f"entries: [{{{GOOD}, suite: s.yaml, suite: s.yaml}}]", "'suite' appears twice"),
    ],
)  # fmt: skip
def test_refuses(written, text, said):
    with pytest.raises(BadInput) as error:
        written(text)
    assert said in str(error.value)


def test_every_fault_at_once(tmp_path, root):
    path = tmp_path / "schedule.yaml"
    path.write_text(
        "lease: x\nentries:\n  - {name: a, cron: x, study: nothing}\n  - {name: a, rows: 1, suite: none.yaml}\n  - 5\n"
    )
    with pytest.raises(BadInput) as error:
        read_schedule(path, root)
    assert [fault.partition(": ")[0] for fault in error.value.faults] == [
        "timezone", "lease", "entry 1 (a)", "entry 1 (a)", "entry 2 (a)", "entry 2 (a)", "entry 3", "a",
    ]  # fmt: skip


def test_the_example_of_the_docstring_is_read(written, tmp_path):
    (tmp_path / "nightly.yaml").write_text("runs: [{study: matching}]\n")
    (tmp_path / "monitored.json").write_text("{}")
    text = (module.__doc__ or "").partition("::\n\n")[2].partition("\n\nRelative")[0]
    content = yaml.safe_load(text)
    content["entries"] = [entry for entry in content["entries"] if entry.get("study") != "drift"]
    for entry in content["entries"]:
        entry.pop("after_light", None)
        entry.setdefault("cron", "0 0 * * *")
    schedule = written(yaml.safe_dump(content))
    assert [entry.what for entry in schedule.entries] == ["study", "suite", "export"]
    assert schedule.state == schedule.store
    assert schedule.store.path == tmp_path / "logs.sqlite"


def test_where_the_state_is(written, tmp_path):
    entries = f"entries: [{{{GOOD}, suite: s.yaml}}]"
    assert written(entries).state.path == tmp_path / "schedule.due.sqlite"
    stated = written(f"state: postgresql://db.example/state\nstore: logs.sqlite\n{entries}")
    assert str(stated.state) == "postgresql://db.example/state"
