"""Tables of which drift reads a sample: the texts of all rows are counted, and the page says what is of which."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalbench.core.result import Result
from evalbench.readers import large
from evalbench.readers.dataset import load
from evalbench.studies import drift
from evalbench.studies.drift.pictures import statistics_shown

SAMPLED = {name: replace(table, sampled=120) for name, table in drift.SCHEMA.items()}
QUICK: dict[str, Any] = {
    "tests": ["statistics"], "embed": "", "n_resamples": 20, "n_permutations": 19, "period": "month", "languages": ["en", "ru"]
}  # fmt: skip
SMALL = 200_000


@pytest.fixture
def tables(root: Path) -> dict[str, pd.DataFrame]:
    folder = root / "data" / "desk_log" / "1.0.0"
    found = {side: pd.read_csv(folder / f"{side}.csv", dtype=str, keep_default_na=False) for side in ("oos", "oot")}
    return {side: frame[frame["response"] != ""][-260:].reset_index(drop=True) for side, frame in found.items()}


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE_ROWS", 100)


def written(folder: Path, tables: dict[str, pd.DataFrame]) -> Path:
    for name, frame in tables.items():
        (folder / name).mkdir(parents=True)
        middle = len(frame) // 2
        frame[middle:].to_parquet(folder / name / "a.parquet", index=False)
        frame[:middle].to_parquet(folder / name / "b.parquet", index=False)
    return folder


def ran(data: object, **options: Any) -> Result:
    return drift.evaluate(load(data, SAMPLED, adapt=drift.adapt), **{**QUICK, **options})


def as_over_all(found: Result, whole: Result) -> None:
    """The column of all rows is the index that the whole tables have in memory."""
    own, expected = (r.tables["statistics"].set_index(["statistic", "of"]) for r in (found, whole))
    for key, value in own["all_rows"].items():
        if key[0] == "predictions":
            continue
        exact = expected.loc[key, "value" if key[0] == "new_tokens" else "psi"]
        assert value == pytest.approx(exact, abs=1e-9), key


def test_two_folders_of_parquet_files(tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None) -> None:
    found = ran(written(tmp_path / "log", tables))
    whole = drift.evaluate(load(tables, drift.SCHEMA, adapt=drift.adapt), **QUICK)
    assert found.items.groupby("side").size().tolist() == [120, 120]
    assert len(whole.items) > 240
    as_over_all(found, whole)
    assert "all_rows" not in whole.tables["statistics"]
    shown = statistics_shown(found)
    assert "all rows" in shown
    notes = " ".join(found.notes)
    assert "oos: 120 of" in notes
    assert f"of all {len(tables['oos'])} rows of OOS and {len(tables['oot'])} of OOT" in notes
    assert "all other tests are of the 240 rows that were read" in notes


def test_one_file_that_times_divide(tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None) -> None:
    frame = pd.concat(tables.values(), ignore_index=True)
    frame["id"] = [str(i) for i in range(len(frame))]
    frame.to_parquet(tmp_path / "log.parquet", index=False)
    windows = {"oos_to": tables["oot"]["ts"].min(), "oot_from": tables["oot"]["ts"].min()}
    found = ran(tmp_path / "log.parquet", **windows)
    whole = drift.evaluate(load(frame, drift.SCHEMA, adapt=drift.adapt), **QUICK, **windows)
    assert len(found.items) == 120
    as_over_all(found, whole)


def test_a_log_store(log_place: str, tables: dict[str, pd.DataFrame], lowered: None, monkeypatch: Any) -> None:
    from evalbench.monitor.store import LogStore
    from evalbench.readers.log_store import frames

    monkeypatch.setattr(frames, "LARGE_ROWS", 100)
    frame = pd.concat(tables.values(), ignore_index=True)[["ts", "request", "response"]]
    frame["id"] = [str(i) for i in range(len(frame))]
    with LogStore(log_place, create=True) as log:
        log.append(frame.to_dict("records"))
    windows = {"oos_to": tables["oot"]["ts"].min(), "oot_from": tables["oot"]["ts"].min()}
    found = ran(log_place, **windows)
    assert len(found.items) == 120
    as_over_all(found, drift.evaluate(load(frame, drift.SCHEMA, adapt=drift.adapt), **QUICK, **windows))


def test_a_small_table_beside_a_large_one(tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None) -> None:
    some = {"oos": tables["oos"][:90], "oot": tables["oot"]}
    found = ran(written(tmp_path / "log", some))
    as_over_all(found, drift.evaluate(load(some, drift.SCHEMA, adapt=drift.adapt), **QUICK))
    assert found.items.groupby("side").size().tolist() == [90, 120]


def test_a_column_of_parts_is_of_the_sample_alone(
    tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None
) -> None:
    frame = pd.concat([table.assign(part=name) for name, table in tables.items()], ignore_index=True)
    frame["id"] = [str(i) for i in range(len(frame))]
    frame.to_parquet(tmp_path / "log.parquet", index=False)
    found = ran(tmp_path / "log.parquet")
    assert "all_rows" not in found.tables["statistics"]
    assert any(note.startswith("Test 2 is of the sample alone") for note in found.notes)


def test_the_study_reads_all_rows_of_smaller_tables() -> None:
    assert large.LARGE_ROWS == SMALL
    assert {table.sampled for table in drift.SCHEMA.values()} == {10_000}
