"""Parquet of a log store: a folder per month, the rows of the store, replaced month by month."""

from __future__ import annotations

from datetime import timedelta

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from logged import HOSTILE, START, interaction, remark

from evalbench.errors import BadInput
from evalbench.monitor import export as exports
from evalbench.monitor.export import export
from evalbench.monitor.forget import forget
from evalbench.monitor.store import LogStore
from evalbench.readers.log_store.times import instant, window_of


@pytest.fixture
def log(log_place):
    """An interaction every ten days from May 1 to August 9, 2026, and feedback on each a day later."""
    with LogStore(log_place, create=True) as made:
        made.append([interaction(i * 240) for i in range(11)])
        made.append_feedback([remark(i * 240) for i in range(11)])
        yield made


def months(folder, table="interactions"):
    return {path.parent.name: path.stat().st_mtime_ns for path in sorted((folder / table).glob("*/*"))}


def ids(folder, table="interactions"):
    rows = ds.dataset(folder / table, partitioning="hive").to_table().sort_by("ts")
    return rows["id"].to_pylist()


def test_all_rows_are_in_the_folders_of_their_months(log, tmp_path):
    out = tmp_path / "out"
    found = export(log, out)
    assert (found.rows, found.files) == ({"interactions": 11, "feedback": 11, "losses": 0}, 8)
    assert list(months(out)) == [f"month=2026-0{i}" for i in (5, 6, 7, 8)]
    assert ids(out) == [row["id"] for row in log.rows()]
    for path in (out / "interactions").glob("*/*"):
        table = pq.read_table(path)
        assert {f"month={time:%Y-%m}" for time in table["ts"].to_pylist()} == {path.parent.name}
    assert str(pq.read_schema(path).field("ts").type) == "timestamp[us, tz=UTC]"


def test_row_groups_are_bounded(log, tmp_path, monkeypatch):
    monkeypatch.setattr(exports, "GROUP_ROWS", 3)
    export(log, tmp_path / "out")
    files = [pq.ParquetFile(path) for path in (tmp_path / "out" / "interactions").glob("*/*")]
    sizes = [file.metadata.row_group(i).num_rows for file in files for i in range(file.num_row_groups)]
    assert (sum(sizes), max(sizes)) == (11, 3)
    assert ids(tmp_path / "out") == [row["id"] for row in log.rows()]


def test_a_month_is_replaced_and_others_stay(log, tmp_path):
    out = tmp_path / "out"
    export(log, out)
    before = months(out)
    log.append([interaction(5), interaction(2000)])
    found = export(log, out, window_of("2026-07-01"))
    after = months(out)
    assert [name for name in before if after[name] == before[name]] == ["month=2026-05", "month=2026-06"]
    assert (found.rows["interactions"], "r02000" in ids(out), "r00005" in ids(out)) == (5, True, False)


def test_a_part_of_a_month_does_not_replace_it(log, tmp_path):
    out = tmp_path / "out"
    export(log, out)
    before = months(out)
    with pytest.raises(BadInput, match="only in part") as error:
        export(log, out, window_of("2026-05-15", "2026-07-02"))
    assert [f"month=2026-0{i}" in str(error.value) for i in (5, 6, 7)] == [True, False, True]
    assert months(out) == before
    export(log, tmp_path / "new", window_of("2026-05-15", "2026-07-02"))
    assert len(ids(tmp_path / "new")) == 5


def test_months_that_were_forgotten_are_removed(log, tmp_path):
    out = tmp_path / "out"
    export(log, out)
    forget(log, before=instant("2026-07-01T00:00:00Z"))
    assert export(log, out, window_of("2026-06-01")).removed == 2
    assert list(months(out)) == ["month=2026-05", "month=2026-07", "month=2026-08"]
    export(log, out)
    assert list(months(out)) == ["month=2026-07", "month=2026-08"]


def test_one_that_is_interrupted_leaves_whole_files(log, tmp_path, monkeypatch):
    out = tmp_path / "out"
    export(log, out, window_of("", "2026-06-01"))
    before = months(out)

    def broken(batch):
        yield from [pair for pair in by_month(batch) if pair[0] < "2026-07"]
        raise KeyboardInterrupt

    by_month = exports._by_month
    monkeypatch.setattr(exports, "_by_month", broken)
    with pytest.raises(KeyboardInterrupt):
        export(log, out)
    assert sorted(path.name for path in out.rglob("*") if path.is_file()) == ["part-0.parquet"] * 2
    assert months(out).keys() == before.keys()
    monkeypatch.undo()
    export(log, out)
    assert len(ids(out)) == 11


def test_hostile_texts(log_place, tmp_path):
    with LogStore(log_place, create=True) as log:
        log.append([interaction(i, ts=START + timedelta(seconds=i), response=text) for i, text in enumerate(HOSTILE)])
        found = export(log, tmp_path / "out")
    (path,) = (tmp_path / "out" / "interactions").glob("*/*")
    texts = pq.read_table(path)["response"].to_pylist()
    assert (found.cut, len(texts)) == (1, len(HOSTILE))
    assert texts[1] == HOSTILE[1]
    assert texts[2] == "half \ufffd a character, and \ufffd"
