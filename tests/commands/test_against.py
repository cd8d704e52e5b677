"""``evalbench batch --against previous``: which run is the previous one, what is said, how the command ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from click.testing import CliRunner

from evalbench.commands import batch as command
from evalbench.commands.against import against_lines, against_previous, state_of
from evalbench.core.result import Result
from evalbench.readers.dataset import Dataset
from evalbench.readers.runs import RUN_JSON, read_results, write_json
from evalbench.runs.batch import Outcome
from evalbench.runs.record import write
from evalbench.runs.run import plan
from evalbench.runs.suite import Job
from evalbench.studies import load, text_metrics

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "batch.schema.json").read_text(encoding="utf-8"))
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def evaluated(hits: int, data: Dataset, **options: Any) -> Result:
    """A run whose first texts score 1; the same data, as where a model behind the same name got worse."""
    result = text_metrics.evaluate(data, metrics=["f1_score", "length"], n_resamples=100, **options)
    items = result.items.assign(f1_score=[1.0 if i < hits else 0.5 for i in range(len(result.items))])
    taken = {"lights": {}, "max_unscored": 0.05, "seed": options.get("seed", 0), "n_resamples": 100}
    summary = text_metrics.summarise(items, **taken)
    return Result(**{**vars(result), "items": items, "summary": summary, "tables": {}})


@pytest.fixture(scope="module")
def data() -> Dataset:
    frame = pd.DataFrame({"id": [f"q{i:02}" for i in range(40)], "output": [WORDS[i % 10] for i in range(40)]})
    return load(frame.assign(reference="one two"), study="text_metrics")


def put(reports: Path, name: str, result: Result, started: str) -> Path:
    folder = reports / result.study / name
    folder.mkdir(parents=True)
    record = {
        "schema_version": 1, "study": result.study, "run_id": name, "status": "ok", "error": "", "started": started,
        "finished": started, "seconds": 1.0, "parameters": dict(result.parameters), "data": None,
    }  # fmt: skip
    write_json(folder / RUN_JSON, record)
    write(result, folder)
    return folder


def outcome(folder: Path, number: int = 1, **run: Any) -> Outcome:
    planned = plan("text_metrics", root=ROOT)
    job = Job(number, number, number, planned, None, None, f"text_metrics {number}")
    said = {**json.loads((folder / RUN_JSON).read_text(encoding="utf-8")), **run}
    return Outcome(job, folder, said, read_results(folder) if said["status"] == "ok" else None)


def day(n: int) -> str:
    return f"2026-01-{n:02}T00:00:00Z"


def compared(reports: Path, *folders: Path, **margins: float) -> list[Any]:
    return against_previous([outcome(f, i) for i, f in enumerate(folders, 1)], margins, reports)


def test_the_first_run_has_no_previous_one_and_that_is_no_pass(tmp_path, data) -> None:
    now = put(tmp_path, "now", evaluated(30, data), day(2))
    (one,) = compared(tmp_path, now)
    assert (one.state, one.why) == ("no previous run", "no earlier run of text_metrics")
    assert state_of([one]) == "inconclusive"


@pytest.mark.parametrize(
    ("hits", "margins", "state"),
    [
        (10, {}, "regression"),
        (30, {}, "none"),
        (29, {}, "inconclusive"),
        (29, {"f1_score": 0.1}, "none"),
        (29, {"f1_score": 0.001}, "inconclusive"),
        (10, {"f1_score": 0.5}, "none"),
    ],
)
def test_what_became_of_the_figure(tmp_path, data, hits: int, margins: Mapping[str, float], state: str) -> None:
    put(tmp_path, "before", evaluated(30, data), day(1))
    now = put(tmp_path, "now", evaluated(hits, data), day(2))
    (one,) = compared(tmp_path, now, **margins)
    assert (one.state, one.previous, state_of([one])) == (state, "before", state)
    assert [figure.comparison.metric for figure in one.figures] == ["f1_score"]
    page = one.page.read_text(encoding="utf-8")
    assert 'href="../../text_metrics/before/report.html"' in page
    assert "this run against the previous run" in page


def test_the_previous_run_is_the_last_comparable_one_before_it(tmp_path, data) -> None:
    put(tmp_path, "long ago", evaluated(30, data), day(1))
    put(tmp_path, "last", evaluated(20, data), day(2))
    put(tmp_path, "other parameters", evaluated(5, data, normalise="squad"), day(3))
    now = put(tmp_path, "now", evaluated(20, data), day(4))
    put(tmp_path, "later", evaluated(1, data), day(5))
    (one,) = compared(tmp_path, now)
    assert (one.previous, one.state) == ("last", "none")


def test_runs_of_the_suite_are_not_a_reference_for_each_other(tmp_path, data) -> None:
    before = [put(tmp_path, f"before {s}", evaluated(30, data, seed=s), day(1 + s)) for s in (0, 1)]
    now = [put(tmp_path, f"now {s}", evaluated(30, data, seed=s), day(5 + s)) for s in (0, 1)]
    found = compared(tmp_path, *now)
    assert [one.previous for one in found] == [folder.name for folder in before], "the one with the same seed"


def test_why_there_is_none_names_what_differs(tmp_path, data) -> None:
    put(tmp_path, "before", evaluated(30, data), day(1))
    stemmed = put(tmp_path, "stemmed", evaluated(30, data, normalise="squad"), day(2))
    (one,) = compared(tmp_path, stemmed)
    assert one.why == "no earlier run is comparable; in the last on these data, before, normalise differs"
    other = load(data["items"].drop(columns="model", errors="ignore").assign(output="one"), study="text_metrics")
    changed = put(tmp_path, "changed", evaluated(30, other), day(3))
    (one,) = compared(tmp_path, changed)
    assert one.why.startswith("other data than in all earlier runs of text_metrics, such as stemmed")


def test_a_run_that_cannot_be_read_is_no_evidence(tmp_path, data) -> None:
    before = put(tmp_path, "before", evaluated(30, data), day(1))
    now = put(tmp_path, "now", evaluated(30, data), day(2))
    (before / "items.parquet").write_bytes(b"no table")
    (one,) = compared(tmp_path, now)
    assert one.state == "inconclusive"
    assert one.why.startswith("not compared: ")


def test_a_comparison_that_breaks_is_no_pass_and_ends_nothing(tmp_path, data, monkeypatch) -> None:
    put(tmp_path, "before", evaluated(30, data), day(1))
    now = put(tmp_path, "now", evaluated(30, data), day(2))

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("evalbench.compare.runs.compare", broken)
    (one,) = compared(tmp_path, now)
    assert (one.state, one.why) == ("inconclusive", "not compared: ZeroDivisionError: a bug")


def test_a_failed_run_is_not_compared(tmp_path, data) -> None:
    now = put(tmp_path, "now", evaluated(30, data), day(2))
    assert against_previous([outcome(now, status="failed")], {}, tmp_path) == []


def test_what_a_terminal_shows(tmp_path, data) -> None:
    put(tmp_path, "before", evaluated(30, data), day(1))
    now = put(tmp_path, "now", evaluated(10, data), day(2))
    found = compared(tmp_path, now)
    lines = against_lines(found, {1: "text_metrics"}, state_of(found))
    assert lines[1] == "   1  ↓ regression  text_metrics"
    assert lines[2].startswith("      ↓ f1_score: this run is worse than the previous run: −0.25 [")
    assert lines[-1] == "against the previous runs: regression (1 regression)"


@pytest.fixture
def suite(tmp_path, data, monkeypatch) -> Path:
    """A suite of one run, whose notebook is not started: the run's folder is made here."""
    path = tmp_path / "suite.yaml"
    path.write_text("runs:\n  - study: text_metrics\n", encoding="utf-8")
    hits = iter([30, 30, 10, 20])
    clock = iter(range(1, 9))

    def run_batch(jobs: list[Job], *, reports: Path, **_: Any) -> list[Outcome]:
        n = next(clock)
        return [outcome(put(reports, f"run {n}", evaluated(next(hits), data), day(n)))]

    monkeypatch.setattr("evalbench.runs.batch.run_batch", run_batch)
    return path


def summary_of(out: Path) -> dict[str, Any]:
    folder = max((out / "batch").iterdir(), key=lambda f: f.stat().st_mtime_ns)
    said: dict[str, Any] = json.loads((folder / "batch.json").read_text(encoding="utf-8"))
    jsonschema.validate(said, SCHEMA)
    page = (folder / "batch.html").read_text(encoding="utf-8")
    assert page.count("<script>") == 1
    assert "http://" not in page
    assert "https://" not in page
    return said


def test_exit_codes_and_summary_of_the_command(suite, tmp_path, monkeypatch) -> None:
    out, step = tmp_path / "reports", tmp_path / "step.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    arguments = [str(suite), "--root", str(ROOT), "--out", str(out), "--against", "previous"]
    codes, states = [], []
    for _ in range(3):
        done = CliRunner().invoke(command.batch, arguments, catch_exceptions=False)
        codes.append(done.exit_code)
        said = summary_of(out)
        states.append((said["exit_code"], said["against"]["state"], said["runs"][0]["against"]["state"]))
        assert f"against the previous runs: {said['against']['state']}" in done.stdout
    assert codes == [5, 0, 3]
    assert states == [(5, "inconclusive", "no previous run"), (0, "none", "none"), (3, "regression", "regression")]
    figure = said["runs"][0]["against"]["figures"][0]
    assert (figure["metric"], figure["n_tests"], figure["p_holm"] < 0.001) == ("f1_score", 1, True)
    assert "against the previous runs: regression (1 regression)" in step.read_text(encoding="utf-8")
    wrong = CliRunner().invoke(command.batch, [*arguments, "--margin", "f1_scor=0.9"], catch_exceptions=False)
    assert "did you mean f1_score?" in wrong.stdout
    assert wrong.exit_code == 5, "a margin that nothing is judged by is no pass"


def test_without_the_option_nothing_is_compared(suite, tmp_path) -> None:
    out = tmp_path / "reports"
    done = CliRunner().invoke(command.batch, [str(suite), "--root", str(ROOT), "--out", str(out)])
    assert done.exit_code == 0
    assert "previous" not in done.stdout
    assert summary_of(out)["against"] is None


def test_a_margin_without_against_is_refused(suite) -> None:
    done = CliRunner().invoke(command.batch, [str(suite), "--margin", "f1=0.1"])
    assert "--margin goes with --against previous" in str(done.exception)
