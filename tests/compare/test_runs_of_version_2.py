"""Runs that an earlier version of the package wrote are indexed, and compared with what today's code says of the same data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalbench import load, studies
from evalbench.compare.runs import Hooks, compare
from evalbench.compare.sides import Side, read_side, with_names
from evalbench.kit.options import taken
from evalbench.report.history import read_runs
from evalbench.report.index import index_html

RUNS = Path(__file__).resolve().parents[1] / "runs_of_version_2"
FOLDERS = {folder.parent.name: folder for folder in sorted(RUNS.glob("*/*"))}


@pytest.fixture(params=FOLDERS)
def earlier(request: pytest.FixtureRequest) -> Side:
    return read_side(FOLDERS[request.param])


def test_they_are_runs_of_schema_version_2() -> None:
    assert len(FOLDERS) == 3
    assert {
        json.loads((f / "results.json").read_text(encoding="utf-8"))["schema_version"] for f in FOLDERS.values()
    } == {2}


def test_they_are_indexed_with_their_figures() -> None:
    runs = read_runs(RUNS)
    page = index_html(runs)
    assert {run.study for run in runs} == {*FOLDERS}
    for run in runs:
        assert run.study in page
        assert run.headline is not None
        assert run.headline.shown in page


@pytest.mark.slow
def test_the_same_data_have_the_same_figures_today(earlier: Side) -> None:
    name, parameters = earlier.results["study"], earlier.results["parameters"]
    study = studies.study(name)
    data = load(studies.defaults(name)["data"], study=name)
    result = study.evaluate(data, **taken(study.evaluate, parameters))
    today = Side("today", json.loads(json.dumps(result.to_json())), {}, result.items)
    found = compare(
        *with_names([earlier, today])[:1],
        with_names([earlier, today])[1:],
        Hooks.of(study),
        n_resamples=50,
        n_summaries=4,
    )[0]
    assert len(found.rows) >= 3
    assert {row.comparison.difference for row in found.rows} <= {0.0, None}
    assert {row.comparison.outcome for row in found.rows} <= {"same", "undefined"}
