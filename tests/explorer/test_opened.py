"""``open_run``: a run in a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest
from studied import whole

import evalbench
from evalbench.errors import BadInput
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("needle")
    record(whole("needle"), made)
    return made


def test_figures_items_and_other_thresholds(folder: Path) -> None:
    run, result = evalbench.open_run(folder), whole("needle")
    assert repr(run).startswith(f"<Run of needle: {result.light}, {len(result.items):,} items.".replace(",", " ")[:20])
    assert run.figures["value"].tolist() == [row.value for row in result.summary.estimates]
    for figures in (run.figures, result.figures):
        assert figures[["unit", "higher_is_better"]].values.tolist() == [
            [row.unit, row.higher_is_better] for row in result.summary.estimates
        ]
    assert len(run.items()) == len(result.items)
    lost = run.items("model=fern-1b recall=0", sort="length")
    assert set(lost["model"]) == {"fern-1b"}
    assert (lost["recall"] == 0).all()
    assert lost["length"].is_monotonic_increasing
    first = lost.iloc[0]
    assert run.item(first["id"], model="fern-1b")["tables"]["replies"][0]["answer"]
    stricter = run.with_options(green_from=0.99, yellow_from=0.98)
    assert stricter is not None
    assert stricter.verdict.light == "red"
    assert run.with_options("model=no-such") is None


def test_distributions_are_frames(folder: Path) -> None:
    run = evalbench.open_run(folder)
    counted = run.distribution("model", "recall=1")
    assert counted["all"].sum() == len(run.items())
    assert counted["filtered"].sum() == len(run.items("recall=1"))
    assert list(run.distribution("length", bins=5)) == ["from", "to", "filtered", "all"]


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is it the folder of a finished run"):
        evalbench.open_run(tmp_path)
    with pytest.raises(BadInput, match="neither a folder nor the id of a run"):
        evalbench.open_run("no-such-run")
