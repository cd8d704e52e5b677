"""Statistics of all rows of tables that do not fit: those of the whole table in memory, in any division, on any number of workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from evalbench.core.psi import psi_of_counts, psi_of_numbers
from evalbench.core.schedulers import SCHEDULER
from evalbench.errors import BadInput
from evalbench.kit import workers
from evalbench.kit.streaming import Streamed, Window, is_large, streamed
from evalbench.kit.workers import on_cluster
from evalbench.metrics.text_statistics import text_statistics
from evalbench.metrics.text_streams import NUMBERS
from evalbench.readers.large import STREAM, Large, whole
from evalbench.readers.partitions import parquet_files, parquet_parts

NOBODY = np.random.default_rng(0)
DAY = pd.Timedelta(days=1)
START = pd.Timestamp("2026-01-01", tz="UTC")


def log(n: int = 240) -> pd.DataFrame:
    """Requests and responses of 24 days, of which the last twelve speak of refunds."""
    rng = np.random.default_rng(n)
    words = np.array(["where", "is", "my", "order", "где", "мой", "заказ", "我的订单", "7.5", "it's"])
    day = np.arange(n) * 24 // n
    texts = [" ".join(words[rng.integers(0, 10, rng.integers(1, 12))]) for _ in range(2 * n)]
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(n)], "time": START + day * DAY, "question": texts[:n]})
    frame["answer"] = [f"{text} refund{i % 9}" if day[i] >= 12 else text for i, text in enumerate(texts[n:])]
    frame.loc[frame.index % 17 == 3, "answer"] = None
    frame.loc[frame.index % 31 == 4, "question"] = ""
    return frame


def large(path: Path, **renamed: str) -> Large:
    parts = parquet_parts(parquet_files(path))
    return Large(path.name, parts, sum(part.rows for part in parts), 10, renamed)


def written(path: Path, frame: pd.DataFrame, cuts: list[int] = [], groups: int = 1000) -> Path:  # noqa: B006
    path.mkdir(parents=True)
    for i, part in enumerate(np.split(np.arange(len(frame)), sorted(cuts))):
        table = pa.Table.from_pandas(frame.iloc[part], preserve_index=False)
        pq.write_table(table, path / f"{i}.parquet", row_group_size=groups)
    return path


def sided(frame: pd.DataFrame, windows: dict[str, Window]) -> pd.DataFrame:
    own = {s: frame[(frame["time"] >= w.low) & (frame["time"] < w.high)] for s, w in windows.items()}
    return pd.concat([part.assign(side=s) for s, part in own.items()])


WINDOWS = {"oos": Window(START, START + 10 * DAY), "oot": Window(START + 12 * DAY, START + 23 * DAY)}


def as_in_memory(found: Streamed, sample: pd.DataFrame) -> None:
    current = (sample["side"] == "oot").to_numpy()
    ids = (sample["side"] + "/" + sample["id"]).tolist()
    for name, own in found.columns.items():
        whole = text_statistics(sample[name].tolist(), current, ids)
        for number in NUMBERS:
            expected = psi_of_numbers(getattr(whole, number), current, NOBODY, n_permutations=0)
            assert own.psi[number].edges == expected.edges
            assert own.psi[number].reference == expected.reference
            assert own.psi[number].current == expected.current
        expected = psi_of_counts(whole.counts, current, NOBODY, n_permutations=0)
        assert_allclose(own.psi["tokens"].value, expected.value, atol=1e-12)
        assert_allclose(own.new.increase, whole.new.increase, atol=1e-12)
        assert own.new.examples == whole.new.examples
        assert own.rows == (int((~current).sum()), int(current.sum()))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 240), max_size=4), st.integers(1, 200), st.integers(0, 99))
def test_one_table_that_windows_divide(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], groups: int, order: int
) -> None:
    frame = log()
    shuffled = frame.sample(frac=1, random_state=order)
    path = written(tmp_path_factory.mktemp("log") / "log", shuffled, cuts, groups)
    sample = sided(frame, WINDOWS)
    found = streamed({"oos": large(path)}, sample, windows=WINDOWS)
    assert found.outside == len(frame) - len(sample)
    as_in_memory(found, sample)
    assert found.columns["answer"].new.share > 0.05 > found.columns["question"].new.share


def test_two_tables_with_an_id_of_another_name(tmp_path: Path) -> None:
    frame = log()
    oos, oot = frame[:100], frame[120:]
    paths = {
        "oos": written(tmp_path / "a", oos.rename(columns={"id": "key"})),
        "oot": written(tmp_path / "b", oot.rename(columns={"id": "key"}), [3]),
    }
    sample = pd.concat([oos.assign(side="oos"), oot.assign(side="oot")])
    tables = {side: large(path, id="key") for side, path in paths.items()}
    found = streamed(tables, sample)
    as_in_memory(found, sample)
    assert found.outside == 0
    backwards = streamed(dict(reversed(tables.items())), sample[::-1])
    assert repr(backwards) == repr(found)
    assert {name: repr(own) for name, own in backwards.columns.items()} == {
        name: repr(own) for name, own in found.columns.items()
    }


def test_a_table_that_was_read_whole_beside_a_large_one(tmp_path: Path) -> None:
    frame = log()
    oos, oot = frame[:100], frame[120:]
    sample = pd.concat([oos.assign(side="oos"), oot.assign(side="oot")])
    found = streamed({"oos": whole("oos", oos), "oot": large(written(tmp_path / "b", oot))}, sample)
    as_in_memory(found, sample)
    found = streamed({"oos": whole("log", frame)}, sided(frame, WINDOWS), windows=WINDOWS)
    as_in_memory(found, sided(frame, WINDOWS))


def test_a_smaller_sample_changes_neither_numbers_nor_new_tokens(tmp_path: Path) -> None:
    frame = log()
    path = written(tmp_path / "log", frame)
    sample = sided(frame, WINDOWS)
    whole = streamed({"oos": large(path)}, sample, windows=WINDOWS).columns["answer"]
    found = streamed({"oos": large(path)}, sample[::20], windows=WINDOWS).columns["answer"]
    for name in ("n_tokens", "n_characters", "tokens"):
        assert found.psi[name].value == whole.psi[name].value
    assert found.new.increase == whole.new.increase
    assert found.vocabulary.counted == whole.vocabulary.counted


@pytest.mark.parametrize(
    ("column", "cells", "message"),
    [
        ("question", [1.5] * 240, r"0.parquet: column question: expected texts, found double"),
        ("question", [["a"]] * 240, r"0.parquet: column question: expected texts, found list"),
        ("question", [b"\xff"] * 240, r"0.parquet: column question: expected texts, found binary"),
        ("id", [None] + ["a"] * 239, r"0.parquet: row 1: column id: an id is missing"),
        ("time", ["2026-01-01"] * 239 + ["soon"], r"0.parquet: row 240: column time: expected a time \(ISO 8601\), found 'soon'"),
        ("time", [5] * 240, r"column time: expected a time"),
    ],
)  # fmt: skip
def test_cells_of_other_types_are_refused_with_their_row(
    tmp_path: Path, column: str, cells: list, message: str
) -> None:
    frame = log()
    sample = sided(frame, WINDOWS)
    frame[column] = cells
    with pytest.raises(BadInput, match=message):
        streamed({"oos": large(written(tmp_path / "log", frame))}, sample, windows=WINDOWS)


def test_texts_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    frame = log()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    broken = pa.array([b"\xff\xfe"] * 240, pa.binary()).view(pa.string())
    (tmp_path / "log").mkdir()
    pq.write_table(table.set_column(2, "question", broken), tmp_path / "log" / "0.parquet")
    with pytest.raises(BadInput, match=r"0.parquet: column question: a text is not UTF-8 \(rows 1 to 240\)"):
        streamed({"oos": large(tmp_path / "log")}, sided(frame, WINDOWS), windows=WINDOWS)


def test_whole_numbers_and_categories_are_read_as_texts(tmp_path: Path) -> None:
    frame = log()
    sample = sided(frame.assign(question="7"), WINDOWS)
    path = written(tmp_path / "log", frame.assign(question=7, answer=frame["answer"].astype("category")))
    found = streamed({"oos": large(path)}, sample, windows=WINDOWS)
    as_in_memory(found, sample)


def test_a_column_that_a_part_lacks(tmp_path: Path) -> None:
    frame = log()
    path = written(tmp_path / "log", frame.drop(columns="answer"))
    with pytest.raises(BadInput, match=r"0.parquet: column answer is missing; there are id, time, question"):
        streamed({"oos": large(path)}, sided(frame, WINDOWS), windows=WINDOWS)


def test_whether_a_frame_is_a_sample() -> None:
    frame = log(4)
    assert not is_large(frame)
    frame.attrs[STREAM] = Large("x", (), 5, 4)
    assert is_large(log(4), frame)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://10.0.0.1:8786", "EVALBENCH_SCHEDULER tcp://10.0.0.1:8786: plain tcp:// carries code"),
        ("tcp://127.0.0.1:9", "EVALBENCH_SCHEDULER tcp://127.0.0.1:9: no connection"),
    ],
)
def test_schedulers_that_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, message: str
) -> None:
    monkeypatch.setenv(SCHEDULER, address)
    monkeypatch.setattr(workers, "_PATIENCE", "0.2s")
    frame = log()
    with pytest.raises(BadInput, match=message):
        streamed({"oos": large(written(tmp_path / "log", frame))}, sided(frame, WINDOWS), windows=WINDOWS)


@pytest.mark.slow
def test_a_cluster_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evalbench.runs.cluster import local_client

    frame = log()
    path = written(tmp_path / "log", frame, [20, 90, 91, 200], 50)
    sample = sided(frame, WINDOWS)
    alone = streamed({"oos": large(path)}, sample, windows=WINDOWS, most_tokens=5)
    with local_client(2) as client:
        found = streamed({"oos": large(path)}, sample, windows=WINDOWS, most_tokens=5, mapped=on_cluster(client))
        assert {name: repr(own) for name, own in found.columns.items()} == {
            name: repr(own) for name, own in alone.columns.items()
        }
        monkeypatch.setenv(SCHEDULER, client.scheduler.address)
        found = streamed({"oos": large(path)}, sample, windows=WINDOWS)
        monkeypatch.delenv(SCHEDULER)
        assert repr(found.columns["question"]) == repr(
            streamed({"oos": large(path)}, sample, windows=WINDOWS).columns["question"]
        )
        table = large(path)
        (path / "2.parquet").unlink()
        with pytest.raises(BadInput, match=r"on a worker of the cluster: .*2.parquet: no such file"):
            streamed({"oos": table}, sample, windows=WINDOWS, mapped=on_cluster(client))
