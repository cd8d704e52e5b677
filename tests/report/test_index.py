"""The index: what a run's files say, what changed, and a page that opens fast and says it to everybody."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest
import synthetic
from click.testing import CliRunner

from evalbench.commands.index import index
from evalbench.errors import BadInput
from evalbench.report.history import headline, lines, read_runs, standings
from evalbench.report.index import change_html, clipped, index_html, sparkline, took


def add(reports: Path, day: int, results: dict | None = None, **run) -> Path:
    folder = reports / "rag" / f"202611{day:02d}T060000Z-{day:08x}"
    folder.mkdir(parents=True)
    record = {
        "study": "rag",
        "status": "ok",
        "started": f"2026-11-{day:02d}T06:00:00Z",
        "seconds": 7.23,
        "error": "",
        **run,
    }
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    (folder / "report.html").write_text("", encoding="utf-8")
    if results is not None:
        (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    return folder


def made(value, half=0.02, **fields):
    return synthetic.results("rag", "relevance", fields.pop("judged", "oak-7b"), "tea@1.0.0", value, half, **fields)


def test_no_runs(tmp_path):
    assert "There are no runs yet" in index_html(read_runs(tmp_path))


def test_runs_come_newest_first_with_their_page(tmp_path):
    add(tmp_path, 2, made(0.7))
    add(tmp_path, 3, made(0.8))
    runs = read_runs(tmp_path)
    assert [run.started[:10] for run in runs] == ["2026-11-03", "2026-11-02"]
    assert runs[0].href == "rag/20261103T060000Z-00000003/report.html"
    assert (runs[0].headline.metric, runs[0].headline.value, runs[0].light) == ("relevance", 0.8, "green")


def test_broken_files_are_rows_too(tmp_path):
    (add(tmp_path, 1) / "run.json").write_text("{", encoding="utf-8")
    add(tmp_path, 2)
    (add(tmp_path, 3) / "run.json").write_text("[]", encoding="utf-8")
    runs = read_runs(tmp_path)
    assert [run.status for run in runs] == ["cannot be read"] * 3
    page = index_html(runs)
    assert page.count("</span> cannot be read</span>") >= 3
    assert "results.json; is it the folder of a finished run?" in page


def test_the_headline_is_the_whole_or_the_first_group():
    rows = [
        {"metric": "f1", "value": 0.5, "checker": "fern"},
        {"metric": "f1", "value": 0.6, "checker": "moss"},
        {"metric": "f1", "value": 0.55, "checker": None},
        {"metric": "n", "value": 3, "checker": "fern"},
    ]
    unlit = {"by": ["checker"], "light": "unlit"}
    assert headline({**unlit, "summary": rows}).value == 0.55
    found = headline({**unlit, "summary": rows[:2]})
    assert (found.value, found.group, found.n_groups) == (0.5, "fern", 2)
    assert headline({**unlit, "summary": []}) is None


def test_the_headline_is_the_figure_that_the_light_judges():
    rows = [
        {"metric": "f1", "value": 0.85, "settings": "defaults", "light": "unlit"},
        {"metric": "gain", "value": 0.07, "settings": "", "light": "green"},
    ]
    assert headline({"by": ["settings"], "light": "green", "summary": rows}).metric == "gain"


def grouped(values: dict[str, float], decider: str, light: str = "red") -> dict:
    """A result of several groups, one of which decided."""
    base = made(0.0)
    (row,) = base["summary"]
    rows = [
        {
            **row,
            "checker": name,
            "value": value,
            "ci_low": value - 0.02,
            "ci_high": value + 0.02,
            "light": "red" if name == decider else "green",
        }
        for name, value in values.items()
    ]
    place = {"metric": row["metric"], "checker": decider}
    return {**base, "by": ["checker"], "light": light, "summary": rows, "decided_by": place}


def test_the_light_has_beside_it_the_figure_of_the_group_that_decided(tmp_path):
    add(tmp_path, 1, grouped({"ash": 0.79, "moss": 0.65}, "moss"))
    (run,) = read_runs(tmp_path)
    assert (run.headline.group, run.headline.value, run.headline.decides) == ("moss", 0.65, True)
    page = index_html([run])
    assert "moss, which decides, of 2" in page
    assert "0.79" not in page


def test_a_run_of_a_time_before_decided_by_shows_a_figure_with_its_light(tmp_path):
    older = grouped({"ash": 0.79, "moss": 0.65}, "moss")
    del older["decided_by"]
    add(tmp_path, 1, older)
    (run,) = read_runs(tmp_path)
    assert (run.headline.group, run.headline.decides) == ("moss", False)


def test_a_change_is_that_of_the_same_group_though_another_one_decided_before(tmp_path):
    add(tmp_path, 1, grouped({"ash": 0.60, "moss": 0.75}, "ash"))
    add(tmp_path, 2, grouped({"ash": 0.79, "moss": 0.65}, "moss"))
    found = lines(read_runs(tmp_path))
    assert found[0].change.delta == pytest.approx(-0.10)
    (standing,) = standings(found)
    assert [f.value for f in standing.history] == [0.75, 0.65]


def test_a_line_names_the_parameters_that_tell_runs_on_one_data_set_apart(tmp_path):
    add(tmp_path, 1, made(0.7, parameters={"embed": "jaccard", "k": 5, "seed": 1}))
    add(tmp_path, 2, made(0.8, parameters={"embed": "<minilm>", "k": 5, "seed": 2}))
    assert [line.differs for line in lines(read_runs(tmp_path))] == ["embed=<minilm>", "embed=jaccard"]
    page = index_html(read_runs(tmp_path))
    assert "embed=&lt;minilm&gt;" in page
    assert "embed=<minilm>" not in page


def test_a_line_without_another_value_names_no_parameter(tmp_path):
    add(tmp_path, 1, made(0.7))
    add(tmp_path, 2, made(0.8))
    assert [line.differs for line in lines(read_runs(tmp_path))] == ["", ""]


@pytest.mark.parametrize(
    ("changed", "compared"),
    [
        ({}, True),
        ({"parameters": {"k": 5, "seed": 9, "n_resamples": 10}}, True),
        ({"parameters": {"k": 6, "seed": 0}}, False),
        ({"judged": "elm-70b"}, False),
        ({"sha256": "60" * 32}, False),
    ],
)
def test_a_change_is_against_the_previous_comparable_run(tmp_path, changed, compared):
    add(tmp_path, 1, made(0.70))
    add(tmp_path, 2, status="died", error="gone")
    add(tmp_path, 3, made(0.80, **changed))
    newest = lines(read_runs(tmp_path))[0]
    assert (newest.change is not None) == compared
    if compared:
        assert newest.change.delta == pytest.approx(0.1)
        assert newest.change.clear
        assert newest.change.better


@pytest.mark.parametrize(
    ("then", "now", "half", "lower", "said"),
    [
        (0.70, 0.80, 0.02, False, ("▲", "+0.10", "better")),
        (0.80, 0.70, 0.02, False, ("▼", "−0.10", "worse")),
        (0.80, 0.70, 0.02, True, ("▼", "−0.10", "better")),
        (0.70, 0.72, 0.05, False, ('class="within"', "+0.02")),
        (0.70, 0.7004, 0.05, False, ('class="within"', "±0.00")),
        (0.70, 0.70, 0.05, False, ("same",)),
    ],
)
def test_a_change_that_may_be_chance_has_neither_arrow_nor_word(tmp_path, then, now, half, lower, said):
    add(tmp_path, 1, made(then, half, lower=lower))
    add(tmp_path, 2, made(now, half, lower=lower))
    shown = change_html(lines(read_runs(tmp_path))[0])
    assert all(word in shown for word in said)
    if "within" in said[0]:
        assert "▲" not in shown
        assert "better" not in shown


def test_a_run_without_a_value_is_not_compared(tmp_path):
    add(tmp_path, 1, made(0.7))
    add(tmp_path, 2, made(None))
    found = lines(read_runs(tmp_path))
    assert found[0].change is None
    assert "no value" in index_html(read_runs(tmp_path))


def test_standings_join_failures_to_their_data(tmp_path):
    for day in range(1, 6):
        add(tmp_path, day, made(0.6 + day / 50))
    add(tmp_path, 6, status="failed", error="ValueError: x", data={"name": "tea", "version": "1.0.0"})
    (standing,) = standings(lines(read_runs(tmp_path)))
    assert standing.last.status == "failed"
    assert standing.n_runs == 6
    assert standing.line.run.headline.value == pytest.approx(0.7)
    assert [figure.value for figure in standing.history] == pytest.approx([0.62, 0.64, 0.66, 0.68, 0.7])
    assert 'aria-label="relevance over 5 runs, from 0.620 to 0.700"' in sparkline(standing.history)


def test_a_history_of_one_run_has_no_line(tmp_path):
    add(tmp_path, 1, made(0.7))
    assert sparkline([r.headline for r in read_runs(tmp_path)]) == ""


def test_a_constant_history_is_a_line_in_the_middle(tmp_path):
    for day in (1, 2):
        add(tmp_path, day, made(0.7, 0.0))
    assert 'points="3.0,13.0 117.0,13.0"' in sparkline([r.headline for r in read_runs(tmp_path)])


HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>\u202e'


def test_hostile_texts_stay_texts(tmp_path):
    add(tmp_path, 1, made(0.7, judged=HOSTILE))
    add(tmp_path, 2, status="failed", error=HOSTILE)
    folder = tmp_path / 'rag"><b>' / "x-1"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"status": HOSTILE, "started": HOSTILE}), encoding="utf-8")
    (folder / "report.html").write_text("", encoding="utf-8")
    page = index_html(read_runs(tmp_path))
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert '<b>"' not in page
    assert "\u202e" not in page


def test_nothing_is_asked_of_any_other_place(tmp_path):
    add(tmp_path, 1, made(0.7))
    page = index_html(read_runs(tmp_path))
    assert "default-src 'none'" in html.unescape(page)
    assert "http://" not in page
    assert "https://" not in page


def test_texts_for_reading():
    assert (took(7.23), took(192), took(7260), took(None)) == ("7.2 s", "3 min 12 s", "2 h 1 min", "")
    assert clipped("a\n  b") == "a b"
    assert len(clipped("x" * 1000)) == 300


def test_the_command_rebuilds_the_index_and_ends_orphans(tmp_path):
    with pytest.raises(BadInput, match="there are no reports yet"):
        CliRunner().invoke(index, ["--out", str(tmp_path / "none")], catch_exceptions=False, standalone_mode=False)
    from evalbench.runs.folder import host

    add(tmp_path, 1, made(0.7))
    add(tmp_path, 2, status="running", host=host(), process=2**30)
    done = CliRunner().invoke(index, ["--out", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "died" in done.stderr
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "the process that ran it is gone" in page


def test_a_failed_run_is_replaced_by_a_newer_one_of_its_study_and_data(tmp_path):
    data = {"name": "tea", "version": "1.0.0"}
    add(tmp_path, 1, status="failed", error="no", data=data)
    add(tmp_path, 2, made(0.7))
    add(tmp_path, 3, status="failed", error="no", data={**data, "version": "2.0.0"})
    add(tmp_path, 4, status="died", error="no", data=data)
    assert [line.replaced for line in lines(read_runs(tmp_path))] == [False, False, False, True]


def test_the_index_begins_with_what_the_latest_runs_answer_and_what_changed(tmp_path):
    line = {"text": "", "at": "figures"}
    said = {"answer": "Oak <b> is fine.", "decided_by": line, "could_change": line, "next": line}
    add(tmp_path, 1, {**grouped({"moss": 0.75}, "moss"), "answer": {**said, "answer": "Oak was bad."}})
    add(tmp_path, 2, {**grouped({"moss": 0.65}, "moss"), "answer": said})
    page = index_html(read_runs(tmp_path))
    answers = page.partition('<h2 id="answers">')[2].partition("</section>")[0]
    assert "Oak &lt;b&gt; is fine." in answers
    assert "Oak was bad" not in answers
    assert "since the last run" in answers
    add(tmp_path, 3, grouped({"moss": 0.65}, "moss"))
    assert 'id="answers"' not in index_html(read_runs(tmp_path))
