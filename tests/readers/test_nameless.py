"""Rows that name no model: a group of their own in files, frames and log stores alike, or no group where none is named."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import pytest
from logged import interaction

from evalbench.core.notes import first_rank
from evalbench.errors import BadInput
from evalbench.monitor.export import export
from evalbench.monitor.store import LogStore
from evalbench.readers import Column, Table
from evalbench.readers.dataset import load
from evalbench.studies.text_metrics import SCHEMA, evaluate

GROUPS = ["tiny", "model not named", "large"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_some_rows_without_a_model_are_a_group(tmp_path, ending):
    frame = pd.DataFrame({"id": ["1", "2", "3"], "output": ["a", "b", "c"], "model": ["tiny", None, "large"]})
    path = tmp_path / f"items.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    for data, columns in ((path, None), (frame, None), (frame.rename(columns={"model": "by"}), {"by": "model"})):
        found = load(data, SCHEMA, columns=columns)
        assert found["items"]["model"].tolist() == GROUPS
        assert any("1 of 3 rows names no model; it is the group “model not named”" in note for note in found.notes)


def test_a_model_for_no_row_is_no_column():
    found = load(pd.DataFrame({"id": ["1", "2"], "output": ["a", "b"], "model": [None, ""]}), SCHEMA)
    assert "model" not in found["items"]
    assert any("no row names a model" in note for note in found.notes)


def test_where_a_model_is_needed_its_lack_is_a_fault():
    needed = {"items": Table((Column("id", "id"), Column("model", "id"), Column("answer", "text")))}
    frame = pd.DataFrame({"id": ["1", "2"], "model": ["a", None], "answer": ["x", "y"]})
    with pytest.raises(BadInput, match="column model: empty"):
        load(frame, needed)


def test_an_export_is_judged_as_its_store_is(tmp_path):
    """Both have the same groups and figures."""
    at = datetime(2026, 5, 1, tzinfo=UTC)
    with LogStore(tmp_path / "log.sqlite", create=True) as log:
        log.append([interaction(i, ts=at, model=[None, "tiny"][i % 2]) for i in range(6)])
        export(log, tmp_path / "exported")
    exported = tmp_path / "exported" / "interactions" / "month=2026-05" / "part-0.parquet"
    names = {"response": "output", "request": "prompt"}
    of_store, of_export = (
        evaluate(load(data, SCHEMA, columns=names), metrics=["length"], n_resamples=100)
        for data in (tmp_path / "log.sqlite", exported)
    )
    assert {e.group["model"] for e in of_store.summary.estimates} == {"tiny", "model not named"}
    assert of_export.summary.estimates == of_store.summary.estimates


def test_a_row_of_totals_is_no_model(tmp_path):
    lines = [f"q{i},{model},word,{i % 5}" for i in range(20) for model in ("tiny", "large")]
    path = tmp_path / "items.csv"
    path.write_text("\n".join(["question,model,answer,score", *lines, "TOTAL,,,80"]) + "\n", encoding="utf-8")
    found = load(path, SCHEMA)
    assert found["items"]["model"].tolist() == ["tiny", "large"] * 20
    (said,) = (note for note in first_rank(found.notes) if "no model" in note)
    assert said.short.endswith("1 of 41 rows names no model (row 42), so that it is left out")
    path.write_text("\n".join(["question,model,answer,score", *lines[:10], "TOTAL,,,80"]) + "\n", encoding="utf-8")
    assert "model not named" in set(load(path, SCHEMA)["items"]["model"])
