"""What of the scores of another tool is read in one piece, and what is refused of those that are read part by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tables_of_scores import apart, beside

from evalbench import imported, load
from evalbench.core.result import Result
from evalbench.core.schedulers import PROCESSES
from evalbench.errors import BadInput
from evalbench.kit import parts
from evalbench.readers import large
from evalbench.studies.imported import inputs


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of fifty rows do not fit, and are read by this process alone."""
    monkeypatch.setattr(large, "LARGE_ROWS", 30)
    monkeypatch.setattr(parts, "ROWS", 15)
    monkeypatch.setenv(PROCESSES, "1")
    for name in ("items", "scores"):
        monkeypatch.setitem(imported.SCHEMA, name, replace(inputs.SCHEMA[name], sampled=20))


def evaluated(folder: Path, tables: Mapping[str, pd.DataFrame], **options: Any) -> Result:
    for name, frame in tables.items():
        (folder / name).mkdir(parents=True)
        frame.to_parquet(folder / name / "part.parquet", index=False)
    return imported.evaluate(load(folder, study="imported"), n_resamples=50, **options)


def in_parts(result: Result) -> bool:
    return any("rows were read, in parts" in note for note in result.notes)


def test_copies_of_other_rows_are_read_whole(tmp_path: Path) -> None:
    rows = beside()["items"].query("model == 'oak'").assign(perturbation="", instance_id=lambda f: f["id"])
    copies = rows.assign(id=rows["id"] + " typo", perturbation="typo", faithfulness=0.0)
    both = evaluated(tmp_path / "both", {"items": pd.concat([rows, copies])})
    assert not in_parts(both)
    assert any("are perturbed copies of other rows, and left out" in note for note in both.notes)
    pd.testing.assert_frame_equal(both.items, evaluated(tmp_path / "rows", {"items": rows}).items)
    assert in_parts(evaluated(tmp_path / "other", {"items": pd.concat([rows, copies]).drop(columns="instance_id")}))


def test_answers_of_several_models_in_a_row_are_read_whole(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        {"id": [f"q{i}" for i in range(40)], "score": 0.5, "answer_oak": "yes it is", "answer_fern": "no"}
    )
    found = evaluated(tmp_path / "wide", {"items": rows})
    assert not in_parts(found)
    assert set(found.items["model"]) == {"oak", "fern"}


def test_texts_are_noted_of_a_sample(tmp_path: Path) -> None:
    result = evaluated(tmp_path / "log", {"items": beside()["items"].assign(answer="Error code: 500")})
    assert any("20 of 20 sampled outputs read like an error of an endpoint" in note for note in result.notes)


def test_metrics_that_no_row_has_are_refused_before_items_are_made(tmp_path: Path) -> None:
    for tables, there in (
        (beside(), "correct, faithfulness, late, n_tokens, rating"),
        (apart(), "right, manner, rare"),
    ):
        with pytest.raises(BadInput, match=f"metrics: no scores of colour; there are {there}$"):
            evaluated(tmp_path / there, tables, metrics=["colour"])
    with pytest.raises(BadInput, match="metric kind: the column holds other cells than numbers"):
        evaluated(tmp_path / "kind", beside(), metrics=["kind"])


def test_faults_of_all_parts_are_in_one_message(tmp_path: Path) -> None:
    tables = apart()
    scores = tables["scores"].sort_values("id")
    doubled = pd.concat([scores, scores.head(1), scores.tail(1)])
    with pytest.raises(BadInput, match="log: faults in parts of it") as caught:
        evaluated(tmp_path / "log", {**tables, "scores": doubled})
    assert [fault.partition(", first ")[2].partition(",")[0] for fault in caught.value.faults] == ["q000", "q029"]


def test_options_that_do_not_fit_all_scores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="directions: colour is not among the metrics") as caught:
        evaluated(
            tmp_path / "log",
            beside(),
            directions={"colour": "lower"},
            lights={"shape": {"green_from": 1, "yellow_from": 0}},
        )
    assert "shape" in str(caught.value)
