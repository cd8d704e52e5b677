"""The overview of a schedule: lights in their order, what failed named, nothing of anybody's as markup."""

from __future__ import annotations

from typing import Any

from evalbench.report.monitor_page import overview_html, sentence, write_overview

HOSTILE = '<script>alert("x")</script>\u202e'


def run(status: str = "ok", light: str = "green", day: int = 1, **more: Any) -> dict[str, Any]:
    at = f"2026-05-{day:02} 06:00"
    return {
        "due": at, "started": at, "finished": at, "status": status, "light": light, "said": "F1 0.80 [0.70, 0.90]", "attempt": 1,
        "missed": 0, "because": f"due {at}", "owner": "host a", "pages": ["../../x/r1/report.html"], **more,
    }  # fmt: skip


def entry(name: str, *runs: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name, "what": "study", "target": "drift", "state": "waiting", "because": "", "due": None,
        "next": "2026-06-01 06:00", "runs": list(runs),
    }  # fmt: skip


def content(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    about = {
        "schedule": "plan",
        "timezone": "Europe/Berlin",
        "made": "2026-05-31 12:00",
        "store": None,
        "runs_shown": 100,
        "runs_kept": 1000,
        "chosen": [],
        "feedback": None,
    }
    return {**about, "entries": list(entries), **more}


def test_the_worst_comes_first_and_what_failed_has_no_light():
    said = sentence([
        entry("a", run(light="green")), entry("b", run(), run(light="red", day=2)), entry("c", run("failed", "")),
        entry("d"), entry("e", run(light="unlit")),
    ])  # fmt: skip
    assert said == (
        "Last lights: 1 red (b), 1 green (a), 1 unlit (e); no light, since the last run did not succeed: c (failed); "
        "1 entry has not run yet."
    )
    assert sentence([entry("a", run("empty", "grey")), entry("b", run(light="red"))]) == (
        "Last lights: 1 red (b); nothing to judge, since no rows of the log were in its window: a."
    )
    assert sentence([]) == "Nothing has run yet."


def test_the_newest_light_comes_first_each_with_its_page():
    html = overview_html(
        content(entry("a", *(run(light=light, day=i) for i, light in enumerate(("green", "yellow", "red"), 1))))
    )
    lights = html.partition('id="lights"')[2].partition("</section>")[0]
    places = [lights.index(f"eb-lamp eb-{light}") for light in ("red", "yellow", "green")]
    assert places == sorted(places)
    assert lights.count('href="../../x/r1/report.html"') == 3


def test_where_an_entry_is_and_what_it_ran_for():
    due = entry("a", run(day=3)) | {"state": "due", "because": "due 2026-05-04 06:00 CEST"}
    waits = entry("b") | {"because": "5 new rows since yesterday, 10 make it due"}
    now = overview_html(content(due, waits)).partition('id="now"')[2].partition("</section>")[0]
    assert "due: due" not in now
    for said in (
        "due 2026-05-04 06:00 CEST",
        "waiting: 5 new rows",
        "of 2026-05-03 06:00",
        "study drift",
        "not run yet",
    ):
        assert said in now


def test_what_others_wrote_is_no_markup(tmp_path):
    bad = run("failed", "", said=HOSTILE, because=HOSTILE, owner=HOSTILE, pages=['"><img src=x onerror=alert(1)>.html'])
    page = write_overview(tmp_path, content(entry(HOSTILE, bad), schedule=HOSTILE))
    html = page.read_text(encoding="utf-8").partition("</head>")[2]
    assert 'alert("x")</script>' not in html
    assert "<img" not in html
    assert "\u202e" not in html


def test_feedback_is_named_as_what_it_is():
    row = {
        "label": "2026-05", "interactions": 100, "clients": 10, "answered": 20, "answering": 10, "share": 0.2, "share_low": 0.13,
        "share_high": 0.29, "mean": 0.75, "low": 0.6, "high": 0.9, "busiest": 0.5, "if_silent_low": 0.15, "if_silent_high": 0.95,
        "labelled": 0, "labels_mean": None, "labels_low": None, "labels_high": None, "note": "",
    }  # fmt: skip
    html = overview_html(content(entry("a"), feedback={"bias": "who answers is self-selected", "rows": [row]}))
    for said in (
        "who answers is self-selected",
        "20 (20% [13%, 29%])",
        "10 of 10",
        "0.75 [0.60, 0.90]",
        "0.15 to 0.95",
        "50%",
    ):
        assert said in html
    assert "no user ids" not in html
    nobody = row | {"clients": 0, "answering": 0}
    of_feedback = {"bias": "", "rows": [nobody, nobody | {"label": "2026-06", "interactions": 0, "answered": 0}]}
    html = overview_html(content(entry("a"), feedback=of_feedback))
    assert html.count("no user ids") == 1, "a month without interactions lacks no ids"
