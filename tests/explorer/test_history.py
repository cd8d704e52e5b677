"""An item in other runs of the same data."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from evalbench.explorer.history import history
from evalbench.explorer.reports import Explorer

pytest.importorskip("duckdb", reason="peer not importable: duckdb")


def copied(folder: Path, name: str, **results: object) -> Path:
    made = folder.with_name(name)
    shutil.copytree(folder, made)
    file = made / "results.json"
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **results}), encoding="utf-8")
    run = {"status": "ok", "study": "needle", "run_id": name, "started": f"2026-01-0{len(name)}T00:00:00Z"}
    (made / "run.json").write_text(json.dumps(run), encoding="utf-8")
    return made


def test_only_runs_of_the_same_data_that_have_the_item_are_listed(folder: Path) -> None:
    older = copied(folder, "o")
    items = pd.read_parquet(older / "items.parquet")
    items.loc[3, "score"] = 0.125
    items.iloc[::-1].to_parquet(older / "items.parquet", index=False)
    copied(folder, "new")
    copied(folder, "elsewhere", data={"name": "d", "version": "1", "sha256": "1"})
    gone = copied(folder, "gone")
    items[items["id"] != "q1"].to_parquet(gone / "items.parquet", index=False)
    (copied(folder, "broken") / "items.parquet").write_bytes(b"PAR1")
    found = history(Explorer(folder.parent.parent), "needle/run", 3)
    assert [one["run"] for one in found] == ["needle/new", "needle/o"]
    assert found[1]["row"] == 56
    assert found[1]["item"]["score"] == 0.125
    assert (found[1]["item"]["id"], found[1]["item"]["model"]) == ("q1", "birch")
    assert history(Explorer(folder.parent.parent), "needle/elsewhere", 3) == []
