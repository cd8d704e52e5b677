"""Folders of Parquet files, and tables of which only a sample is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalbench.errors import BadInput
from evalbench.readers import large
from evalbench.readers.dataset import load
from evalbench.readers.large import LARGE_ROWS, STREAM, sample_rows
from evalbench.readers.partitions import parquet_files, parquet_parts
from evalbench.readers.schema import Column, Table

COLUMNS = (
    Column("id", "id"),
    Column("request", "text", empty_ok=True, keep_null=True),
    Column("ts", "ts", required=False, empty_ok=True),
)
WHOLE = {"oos": Table(COLUMNS, unique=("id",))}
SAMPLED = {"oos": Table(COLUMNS, unique=("id",), sampled=40)}


def rows(n: int, start: int = 0) -> pd.DataFrame:
    return pd.DataFrame({"id": [f"r{i}" for i in range(start, start + n)], "request": [f"text {i}" for i in range(n)]})


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE_ROWS", 100)


def written(path: Path, frame: pd.DataFrame | pa.Table, **options: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, path, **options)
    return path


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    for i in range(3):
        written(tmp_path / "logs" / f"month=2026-0{i + 1}" / "part-0.parquet", rows(5, 5 * i))
    written(tmp_path / "logs" / "_temporary" / "part-9.parquet", rows(1))
    found = load(tmp_path / "logs", WHOLE)
    assert found["oos"]["id"].tolist() == [f"r{i}" for i in range(15)]
    assert found.notes == (
        "logs: its 3 Parquet files were read as one table",
        "logs: columns that are in the names of folders (month=…) are not read",
    )
    (tmp_path / "logs" / "month=2026-02" / "part-0.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadInput, match=r"month=2026-02/part-0.parquet: not a Parquet file"):
        load(tmp_path / "logs", WHOLE)


def test_files_of_other_columns_are_refused(tmp_path: Path) -> None:
    written(tmp_path / "logs" / "a.parquet", rows(2))
    written(tmp_path / "logs" / "b.parquet", rows(2, 2).assign(model="m"))
    with pytest.raises(BadInput, match=r"b.parquet: other columns than a.parquet has \(model\)"):
        load(tmp_path / "logs", WHOLE)


def test_rows_of_a_folder_are_named_by_file_and_row(tmp_path: Path) -> None:
    written(tmp_path / "oos" / "a.parquet", rows(3))
    written(tmp_path / "oos" / "b.parquet", rows(3).assign(id=["x", "r1", "y"]))
    with pytest.raises(BadInput, match=r"a.parquet:2.*b.parquet:2"):
        load(tmp_path, WHOLE)


def test_a_large_table_is_sampled_the_same_in_any_order(tmp_path: Path, small: None) -> None:
    frame = rows(300)
    one = written(tmp_path / "one.parquet", frame, row_group_size=70)
    shuffled = frame.sample(frac=1, random_state=1)
    for i, part in enumerate((shuffled[:90], shuffled[90:95], shuffled[95:])):
        written(tmp_path / "several" / f"{i}.parquet", part)
    first, second = (load(path, SAMPLED) for path in (one, tmp_path / "several"))
    assert first["oos"]["id"].tolist() == second["oos"]["id"].tolist()
    assert len(first["oos"]) == 40
    source = first["oos"].attrs[STREAM]
    assert (source.name, source.rows, source.sampled) == ("one.parquet", 300, 40)
    assert first.notes == (f"one.parquet: {source}",)
    assert "40 of 300 rows were read" in first.notes[0]
    assert first.label.sha256 != second.label.sha256
    assert first.rows["oos"][0].startswith("one.parquet:")
    assert frame["id"][int(first.rows["oos"][0].partition(":")[2]) - 1] == first["oos"]["id"][0]


def test_other_studies_and_small_tables_read_all_rows(tmp_path: Path, small: None) -> None:
    path = written(tmp_path / "one.parquet", rows(300))
    assert len(load(path, WHOLE)["oos"]) == 300
    path = written(tmp_path / "one.parquet", rows(100))
    found = load(path, SAMPLED)["oos"]
    assert len(found) == 100
    assert STREAM not in found.attrs


def test_the_sample_favours_no_row() -> None:
    class Rows:
        rows = 20_000

        def batches(self, columns):
            from evalbench.readers.partitions import Where

            for start in range(0, 20_000, 500):
                yield Where("x", start + 1), pa.RecordBatch.from_pydict({"id": list(range(start, start + 500))})

    table, _ = sample_rows([Rows()], 2000, ["id"])
    taken = np.array(table.column("id").to_pylist())
    assert len(set(taken)) == 2000
    assert abs(taken.mean() - 10_000) < 4 * 20_000 / np.sqrt(12 * 2000)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (rows(150).assign(id=[None, *map(str, range(149))]), "one.parquet: row 1: column id: an id is missing"),
        (rows(150).assign(id=[*map(str, range(149)), ""]), "one.parquet: row 150: column id: an id is missing"),
        (rows(150).rename(columns={"id": "key"}), r"one.parquet: column id is missing: .*; there are key, request"),
        (rows(150).assign(id=np.arange(150) / 2), "column id: expected texts, found double"),
    ],
)  # fmt: skip
def test_ids_of_a_large_table(tmp_path: Path, small: None, frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        load(written(tmp_path / "one.parquet", frame), SAMPLED)


def test_a_large_table_with_an_id_of_another_name(tmp_path: Path, small: None) -> None:
    path = written(tmp_path / "one.parquet", rows(150).rename(columns={"id": "key"}))
    found = load(path, SAMPLED, columns={"key": "id"})["oos"]
    assert len(found) == 40
    assert found.attrs[STREAM].renamed == {"id": "key"}


def test_parts_are_row_groups(tmp_path: Path) -> None:
    path = written(tmp_path / "one.parquet", rows(10), row_group_size=3)
    (part,) = parquet_parts(parquet_files(path))
    assert (part.first, part.last, part.rows) == (0, 4, 10)
    assert LARGE_ROWS == 200_000


def test_damaged_files_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "one.parquet", rows(500), compression="none")
    raw = bytearray(path.read_bytes())
    raw[60:900] = bytes(840)
    path.write_bytes(raw)
    with pytest.raises(BadInput, match=r"one.parquet: (the Parquet file is damaged|row|not a Parquet|column)"):
        sample_rows(parquet_parts([path]), 10, ["id", "request"])
