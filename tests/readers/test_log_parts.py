"""A log store in parts: all rows of its window once, with the statistics that its Parquet files have."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

from evalbench.kit.streaming import Window as Side
from evalbench.kit.streaming import streamed
from evalbench.monitor.store import LogStore, create
from evalbench.readers import log_parts
from evalbench.readers.large import STREAM, Large, sample_of
from evalbench.readers.log_store.times import EVERYTHING, Window, microseconds
from evalbench.readers.partitions import ParquetPart

START = pd.Timestamp("2026-03-01", tz="UTC").to_pydatetime()


def rows(n: int = 300) -> list[dict]:
    return [
        {
            "id": f"r{i}",
            "ts": START + timedelta(hours=i),
            "request": f"where is order {i % 7}",
            "response": None if i % 50 == 3 else f"it is {'lost' if i > 200 else 'here'} {i % 11}",
        }
        for i in range(n)
    ]


@pytest.fixture
def store(log_place: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(log_parts, "PART_ROWS", 100)
    with LogStore(log_place, create=True) as log:
        log.append(rows())
    return log_place


def test_every_row_of_a_window_is_in_one_part(store: str) -> None:
    parts = log_parts.log_parts(store)
    assert [part.rows for part in parts] == [100, 100, 100]
    ids = [i for part in parts for _, batch in part.batches(["id"]) for i in batch.column("id").to_pylist()]
    assert sorted(ids) == sorted(row["id"] for row in rows())
    window = Window(microseconds(START + timedelta(hours=10)), microseconds(START + timedelta(hours=30)))
    assert sum(part.rows for part in log_parts.log_parts(store, window)) == 20
    assert log_parts.log_parts(store, Window(5, 6)) == ()


def test_an_empty_store_has_no_parts(tmp_path: Path) -> None:
    with LogStore(tmp_path / "log.sqlite", create=True) as log:
        create(log)
    assert log_parts.log_parts(str(tmp_path / "log.sqlite"), EVERYTHING) == ()


def test_a_store_and_its_parquet_file_have_the_same_statistics(store: str, tmp_path: Path) -> None:
    parts = log_parts.log_parts(store)
    names = {"request": "question", "response": "answer", "ts": "time"}
    frame = sample_of("log.sqlite", parts, 50, {})
    assert {*names.values()} <= {*frame.columns}
    assert len(frame) == 50
    assert str(frame.attrs[STREAM]).startswith("50 of 300 rows were read")
    path = tmp_path / "log.parquet"
    pd.DataFrame(rows()).to_parquet(path)
    plain = sample_of("log.parquet", (ParquetPart(str(path), 0, 1, 300),), 50, names)
    assert plain["id"].tolist() == frame["id"].tolist()
    sample = frame.assign(
        side=["oos" if pd.Timestamp(at) < START + timedelta(hours=150) else "oot" for at in frame["time"]]
    )
    middle = pd.Timestamp(START + timedelta(hours=150))
    windows = {"oos": Side(None, middle), "oot": Side(middle, None)}
    one = streamed({"oos": frame.attrs[STREAM]}, sample, windows=windows)
    other = streamed({"oos": plain.attrs[STREAM]}, sample, windows=windows)
    for name in ("question", "answer"):
        assert repr(one.columns[name]) == repr(other.columns[name])
    assert one.columns["answer"].rows == (150, 150)
    assert one.columns["answer"].texts == (147, 147)
    assert one.columns["answer"].new.examples[0] == ("lost", 97)
    assert isinstance(frame.attrs[STREAM], Large)
