"""Overviews of schedules on the index."""

from __future__ import annotations

import json

from evalbench.report.index import write_index


def test_overviews_of_schedules_come_first_each_with_its_lights(tmp_path):
    for name in ("damaged", "old <b>plan", "plan"):
        (tmp_path / "monitor" / name).mkdir(parents=True)
        (tmp_path / "monitor" / name / "monitor.html").write_text("")
        said = {
            "schedule": name,
            "sentence": f"Last lights: 1 red ({name}).",
            "made": "2026-05-31 12:00",
            "timezone": "UTC",
        }
        (tmp_path / "monitor" / name / "monitor.json").write_text("{" if name == "damaged" else json.dumps(said))
    (tmp_path / "monitor" / "never finished").mkdir()
    page = write_index(tmp_path).read_text(encoding="utf-8")
    assert '<a href="monitor/plan/monitor.html">plan</a>: Last lights: 1 red (plan).' in page
    assert "As of 2026-05-31 12:00 UTC" in page
    assert 'href="monitor/damaged/monitor.html"' in page
    assert "its monitor.json cannot be read" in page
    assert "<b>plan" not in page
    assert 'href="monitor/old%20%3Cb%3Eplan/monitor.html' in page
    assert "never finished" not in page
