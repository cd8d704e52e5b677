"""Runs of earlier versions under today's names of columns: figures, groups, items, tables, parameters."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalbench.compare.sides import read_side, selected
from evalbench.readers import former_names
from evalbench.readers.runs import read_frame, read_items, read_results, read_run, read_table

RUNS = Path(__file__).resolve().parents[1] / "runs_of_version_2"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of version 2 of a study whose names have changed, with tables."""
    (source,) = (RUNS / "rag_retrieval").iterdir()
    names = {"passage_id": "doc_id", "query_id": "id", "run": "model", "verdicts_of_all": {"run": "who"}}
    monkeypatch.setattr(former_names, "_known", lambda: {"rag_retrieval": names})
    monkeypatch.setattr(former_names, "_former", lambda: frozenset({"passage_id", "query_id", "run"}))
    folder = tmp_path / "reports" / "rag_retrieval" / source.name
    shutil.copytree(source, folder)
    content = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    content["tables"] = {}  # their files are not kept with the tests
    found = pd.DataFrame({"query_id": ["q1"], "run": ["reed"], "passage_id": ["p1"]})
    for name in ("found", "calls", "verdicts_of_all"):
        found.to_parquet(folder / f"{name}.parquet")
        content["tables"][name] = f"{name}.parquet"
    content["parameters"] |= {"slices": ["run", "lang"], "cluster": "passage_id"}
    content |= {
        "decided_by": {"metric": "ndcg_at_5", "run": "reed-words"},
        "trials": {"noise": [{"run": "reed-words", "share": 0.5}]},
    }
    written(folder, content)
    return folder


def written(folder: Path, content: dict[str, Any]) -> None:
    (folder / "results.json").write_text(json.dumps(content), encoding="utf-8")


def test_figures_groups_and_parameters_have_todays_names(old: Path) -> None:
    results = read_results(old)
    assert (results["id"], results["by"], results["schema_version"]) == ("id", ["model"], 2)
    assert {row["model"] for row in results["summary"]} == {"moss-vectors", "reed-words"}
    assert not any("run" in row for row in results["summary"])
    assert results["decided_by"] == {"metric": "ndcg_at_5", "model": "reed-words"}
    assert results["trials"]["noise"] == [{"model": "reed-words", "share": 0.5}]
    assert (results["parameters"]["slices"], results["parameters"]["cluster"]) == (["model", "lang"], "doc_id")


def test_items_and_tables_have_todays_names_and_records_of_calls_their_own(old: Path) -> None:
    assert list(read_items(old))[:2] == ["id", "model"]
    found = read_table(old, "found")
    assert found is not None
    assert list(found) == ["id", "model", "doc_id"]
    assert list(read_frame(old / "calls.parquet")) == ["query_id", "run", "passage_id"]
    assert list(read_frame(old / "verdicts_of_all.parquet")) == ["query_id", "who", "passage_id"]


def test_a_run_of_today_keeps_its_names(old: Path) -> None:
    content = json.loads((old / "results.json").read_text(encoding="utf-8"))
    written(old, {**content, "schema_version": 3})
    assert read_results(old)["by"] == ["run"]
    assert list(read_items(old))[:2] == ["query_id", "run"]


def test_renames_of_an_earlier_run_are_to_todays_columns(old: Path) -> None:
    about = json.loads((old / "run.json").read_text(encoding="utf-8"))
    about["parameters"]["columns"] = {"searcher": "run", "topic": "topic"}
    (old / "run.json").write_text(json.dumps(about), encoding="utf-8")
    assert read_run(old)["parameters"]["columns"] == {"searcher": "model", "topic": "topic"}
    assert read_run(old)["parameters"]["run"] == ""


def test_a_group_is_found_by_its_former_name(old: Path) -> None:
    side = selected(read_side(old), {"run": "reed"}, "--of")
    assert side.selected == {"model": "reed-words"}


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"schema_version": "2"}'])
def test_tables_beside_a_damaged_file_keep_their_names(old: Path, damage: str) -> None:
    (old / "results.json").write_text(damage, encoding="utf-8")
    assert list(read_frame(old / "found.parquet")) == ["query_id", "run", "passage_id"]


def test_the_explorer_has_todays_names(old: Path) -> None:
    pytest.importorskip("duckdb", reason="the explorer needs DuckDB")
    from evalbench.explorer.rows import Rows

    rows = Rows(old)
    assert (rows.id, rows.by) == ("id", ["model"])
    assert rows.count("model=reed-words") == 26
    assert list(rows.frame("model=reed-words"))[:2] == list(rows.frame())[:2] == ["id", "model"]
    assert rows.item(0)["place"] == {"id": "karrowmere-q1", "model": "moss-vectors"}
