"""Suites: every fault with its place in one message; what a suite spans."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from evalbench.commands.batch import batch
from evalbench.errors import BadInput
from evalbench.runs.suite import read_suite


def suite(bench: Path, text: str) -> Path:
    path = bench / "suite.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("runs: [", "not YAML"),
        ("- a list", "expected a mapping with 'runs:'"),
        ("runs: {a: 1}", "expected a mapping with 'runs:'"),
        ("runs: []", "it has no runs"),
        ("runs:\n  - 5", "entry 1 (line 2): expected 'study:'"),
        ("runs:\n  - data: words.csv", "entry 1 (line 2): study: expected a name"),
        ("runs:\n  - {study: tiny, mtrix: {}}", "unknown key mtrix; did you mean matrix?"),
        ("run:\n  - {study: tiny}\nruns: []", "unknown key run; did you mean runs?"),
        ("runs:\n  - {study: tiny, data: words.csv, matrix: {k: 3}}", "matrix: k: expected a list"),
        ("runs:\n  - {study: tiny, data: words.csv, matrix: {k: []}}", "matrix: k: expected a list of at least one"),
        ("runs:\n  - {study: tiny, data: words.csv, parameters: {k: 1}, matrix: {k: [2]}}", "k: given twice"),
        ("runs:\n  - {study: tiny, data: words.csv, parameters: {data: words.csv}}", "data: given twice"),
        ("runs:\n  - {study: tiny, data: words.csv, parameters: [1]}", "parameters: expected 'name: value' lines"),
        ("runs:\n  - {study: tiny, data: words.csv, timeout: -1}", "timeout: expected seconds above 0 and up to a year, found -1"),
        ("runs:\n  - {study: tiny, data: words.csv, timeout: yes}", "timeout: expected seconds above 0 and up to a year, found True"),
        ("runs:\n  - {study: tiny, data: words.csv, max_calls: 0}", "entry 1 (line 2): max_calls is 0; expected a whole number from 1"),
        ("max_cost: yes\nruns:\n  - {study: tiny, data: words.csv}", "max_cost is True; expected a number above 0"),
        ("runs:\n  - study: tiny\n    study: tiny\n    data: words.csv", "line 3: study appears twice"),
        ("runs:\n  - {study: tiny, data: words.csv}\n  - {study: tiny, data: words.csv, matrix: {k: [1]}}",
         "entry 2 (line 3): tiny k=1: the same run as in entry 1 (line 2)"),
        ("runs:\n  - {study: tinny, data: words.csv}", "did you mean tiny?"),
        ("runs:\n  - {study: ../else/x.ipynb}", "no such notebook"),
        ("runs:\n  - {study: tiny, data: words.csv, parameters: {api_key: x}}", "environment only"),
    ],
)  # fmt: skip
def test_refuses(bench, text, said):
    with pytest.raises(BadInput) as error:
        read_suite(suite(bench, text), bench)
    assert said in str(error.value)


def test_a_file_that_is_not_there(bench):
    with pytest.raises(BadInput, match="cannot be read"):
        read_suite(bench / "none.yaml", bench)


BAD = """runs:
{good}
  - study: tiny
    data: words.csv
    parameters:
      k: many
      sleep: 1
  - {{study: tinny, data: words.csv}}
  - {{study: tiny, data: absent.csv, parameters: {{k: 1.5, kk: 2}}}}
  - {{study: tiny, data: nothing@1.0.0}}
"""


def test_all_faults_with_their_places_in_one_message_and_nothing_starts(bench):
    good = "\n".join(f"  - {{study: tiny, data: words.csv, parameters: {{k: {k}}}}}" for k in range(1, 17))
    path = suite(bench, BAD.format(good=good))
    with pytest.raises(BadInput) as error:
        CliRunner().invoke(batch, [str(path), "--root", str(bench)], catch_exceptions=False, standalone_mode=False)
    said = str(error.value)
    assert said.startswith(f"{path}: nothing was started:")
    assert "entry 17 (line 21): k: expected int, found 'many'" in said
    assert "entry 18 (line 23): no study 'tinny'" in said
    assert "entry 19 (line 24): k: expected int, found 1.5 (float)" in said
    assert "entry 19 (line 24): unknown parameter kk; did you mean k?" in said
    assert "absent.csv: no such file or folder" in said
    assert "entry 20 (line 25): no data set 'nothing@1.0.0'" in said
    assert len(said.splitlines()) == 7
    assert not (bench / "reports").exists()


def test_a_suite_spans_studies_data_and_parameters(bench):
    (bench / "more.csv").write_text("others", encoding="utf-8")
    text = """
timeout: 50
runs:
  - study: [tiny, ./notebooks/tiny.ipynb]
    data: [words.csv, more.csv]
    parameters: {sleep: 1}
    matrix: {k: [1, 2, 3], fail: [false, true]}
    timeout: 9
  - {study: tiny, data: words.csv}
"""
    with pytest.raises(BadInput, match="the same run as in entry 1"):
        read_suite(suite(bench, text), bench)
    jobs = read_suite(suite(bench, text.replace(", ./notebooks/tiny.ipynb", "")), bench)
    assert len(jobs) == 2 * 3 * 2 + 1
    assert [job.number for job in jobs] == list(range(1, 14))
    assert {job.timeout for job in jobs[:12]} == {9}
    assert jobs[12].timeout == 50
    assert jobs[0].label == "tiny data=words.csv k=1 fail=False"
    assert jobs[12].label == "tiny"
    assert jobs[0].plan.parameters["data"] == str(bench / "words.csv")
    assert len({job.plan.identity for job in jobs}) == 13


def test_a_budget_is_of_each_run_and_makes_it_another(bench):
    text = "max_calls: 9\nruns:\n  - {study: tiny, data: words.csv}\n  - {study: tiny, data: words.csv, max_calls: 3}\n"
    own = read_suite(suite(bench, text), bench, {"max_calls": 5})
    assert [job.plan.limits for job in own] == [{"max_calls": 9}, {"max_calls": 3}]
    plain = "runs:\n  - {study: tiny, data: words.csv}\n"
    (without,) = read_suite(suite(bench, plain), bench)
    (given,) = read_suite(suite(bench, plain), bench, {"max_cost": 0.5})
    assert (without.plan.limits, given.plan.limits) == ({}, {"max_cost": 0.5})
    assert len({job.plan.identity for job in (*own, without, given)}) == 4


def test_runs_of_one_name_are_told_apart_by_what_their_entries_state(bench):
    text = """
runs:
  - {study: tiny, data: words.csv}
  - {study: tiny, data: words.csv, parameters: {k: 2}}
  - {study: tiny, data: words.csv, parameters: {k: 3, fail: true}}
  - {study: tiny, data: words.csv, matrix: {k: [4, 5]}}
"""
    jobs = read_suite(suite(bench, text), bench)
    assert [job.label for job in jobs] == ["tiny", "tiny k=2", "tiny k=3 fail=True", "tiny k=4", "tiny k=5"]


def test_the_gallery_shows_every_study():
    root = Path(__file__).resolve().parents[2]
    shown = {job.plan.study for job in read_suite(root / "notebooks" / "gallery.yaml", root)}
    assert shown == {path.stem for path in (root / "notebooks").glob("*.ipynb")}
