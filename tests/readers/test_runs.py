"""A run's folder as other code reads it: items and tables by name, and what is said where they are not there."""

from __future__ import annotations

import json
from contextlib import suppress

import pandas as pd
import pytest
import synthetic

from evalbench.errors import BadInput
from evalbench.readers.runs import read_items, read_table, run_folders, table_file, whole_file, write_json


@pytest.fixture
def folder(tmp_path):
    content = synthetic.results("rag", "relevance", "oak-7b", "tea@1.0.0", 0.7)
    content["tables"] = {"pairs": table_file("pairs")}
    (tmp_path / "results.json").write_text(json.dumps(content), encoding="utf-8")
    return tmp_path


def test_items_and_tables_are_read_by_name(folder):
    rows = pd.DataFrame({"id": ["007"], "score": [0.5]})
    rows.to_parquet(folder / "items.parquet")
    rows.to_parquet(folder / "pairs.parquet")
    pd.testing.assert_frame_equal(read_items(folder), rows)
    pd.testing.assert_frame_equal(read_table(folder, "pairs"), rows)
    assert read_table(folder, "solutions") is None


def test_a_file_that_is_not_there_or_damaged_is_named(folder):
    with pytest.raises(BadInput, match=r"has no items\.parquet; is it the folder of a finished run\?"):
        read_items(folder)
    with pytest.raises(BadInput, match=r"has no pairs\.parquet"):
        read_table(folder, "pairs")
    (folder / "items.parquet").write_bytes(b"half")
    with pytest.raises(BadInput, match=r"items\.parquet: cannot be read"):
        read_items(folder)
    with pytest.raises(BadInput, match=r"has no results\.json"):
        read_table(folder / "none", "pairs")


def test_only_folders_with_a_run_are_runs(tmp_path):
    for name in ("rag/1-aa", "rag/2-bb", "tea/1-aa", "[x]/1-aa"):
        (tmp_path / name).mkdir(parents=True)
        write_json(tmp_path / name / "run.json", {})
    (tmp_path / "rag" / "empty").mkdir()
    (tmp_path / "README.md").write_text("reports", encoding="utf-8")
    assert [f.relative_to(tmp_path).as_posix() for f in run_folders(tmp_path)] == [
        "[x]/1-aa",
        "rag/1-aa",
        "rag/2-bb",
        "tea/1-aa",
    ]
    assert run_folders(tmp_path, "rag", "bb") == [tmp_path / "rag" / "2-bb"]
    assert run_folders(tmp_path, "[x]") == [tmp_path / "[x]" / "1-aa"]


def test_a_file_is_whole_or_as_it_was(tmp_path):
    write_json(tmp_path / "a.json", {"a": "ü"})
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"a": float("nan")})
    with suppress(RuntimeError), whole_file(tmp_path / "a.json") as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"a": "ü"}
