"""Files of interactions and feedback: read whole or refused whole, with every fault."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from evalbench.errors import BadInput
from evalbench.monitor.clients import client_hash, is_client_hash, key_of_environment, needed_key
from evalbench.monitor.from_files import hashed, rows_of

KEY = b"a key of the tests only"
LINES = [
    {
        "id": "007",
        "ts": "2026-05-01T10:00:00+03:00",
        "request": "",
        "response": "",
        "stages": {"a": [1, None]},
        "cost": 0,
    },
    {"id": "8", "ts": "2026-05-01T10:00:00Z", "request": "q", "response": None, "input_tokens": 3, "error": "timeout"},
    {"id": "9", "ts": "2026-05-01", "request": "q"},
]


def file(tmp_path, rows, name="rows.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_of_json_lines(tmp_path):
    path = file(tmp_path, LINES[:2])
    rows, notes = rows_of("interactions", path)
    assert notes == [f"{path}: 1 row without a request, kept as an empty text (row 1)"]
    first, second = ({name: value for name, value in row.items() if value is not None} for row in rows)
    assert first == {
        "id": "007",
        "ts": "2026-05-01T07:00:00Z",
        "request": "",
        "response": "",
        "stages": {"a": [1, None]},
        "cost": 0.0,
    }
    assert second == {name: value for name, value in LINES[1].items() if value is not None}


def test_times_in_the_future_are_refused_and_clocks_may_differ(tmp_path):
    now = datetime.now(UTC)
    ahead = [
        {"id": str(i), "ts": (now + timedelta(minutes=m)).isoformat(), "request": "q"}
        for i, m in enumerate((0, 8, 20, 9999))
    ]
    rows, _ = rows_of("interactions", file(tmp_path, ahead[:2]))
    assert len(rows) == 2
    said = "column ts: more than 10 minutes after this machine's clock (rows 3, 4)"
    with pytest.raises(BadInput, match=re.escape(said)):
        rows_of("interactions", file(tmp_path, ahead))
    marks = [{"interaction": "0", "ts": ahead[3]["ts"], "source": "user", "value": 1}]
    with pytest.raises(BadInput, match="10 minutes after this machine's clock"):
        rows_of("feedback", file(tmp_path, marks))


def test_rows_of_parquet_and_csv_are_those_of_json_lines(tmp_path):
    frame = pd.DataFrame(
        {"id": ["a"], "ts": [datetime(2026, 5, 1, tzinfo=UTC)], "request": ["q"], "output_tokens": [4]}
    )
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.assign(ts="2026-05-01T00:00:00+00:00").to_csv(tmp_path / "rows.csv", index=False)
    parquet, csv = (rows_of("interactions", tmp_path / name)[0] for name in ("rows.parquet", "rows.csv"))
    assert parquet == csv == [{"id": "a", "ts": "2026-05-01T00:00:00Z", "request": "q", "output_tokens": 4}]


def test_a_time_without_a_zone_is_a_fault_unless_it_is_stated(tmp_path):
    path = file(tmp_path, LINES)
    with pytest.raises(BadInput, match=r"ts: a time without a time zone; .*--utc if such times are in UTC \(row 3\)"):
        rows_of("interactions", path)
    assert rows_of("interactions", path, naive_is_utc=True)[0][2]["ts"] == "2026-05-01T00:00:00Z"


def test_all_faults_of_a_file_at_once(tmp_path):
    wrong = [
        {"id": "1", "ts": "yesterday", "request": ["q"], "latency": -1, "input_tokens": 1.5},
        {"id": "1", "ts": None, "request": "q", "stages": "{", "cost": "free"},
        {"id": None, "ts": 1777593600, "request": "q"},
    ]
    with pytest.raises(BadInput) as error:
        rows_of("interactions", file(tmp_path, wrong))
    said = str(error.value)
    for fault in (
        "column request: expected a text", "column latency: expected a finite number, at least 0", "column input_tokens",
        "column stages: expected valid JSON", "column cost", "column id: empty", "column id: is duplicated",
        "column ts: empty", "ts: not a time in ISO 8601; expected one such as 2026-05-01T09:30:00Z, found 'yesterday' (row 1)",
        "found '1777593600' (row 3)",
    ):  # fmt: skip
        assert fault in said, fault


def test_faults_that_only_the_store_knows_are_found_before_anything_is_appended(tmp_path):
    rows = [{"interaction": "a", "ts": "2026-05-01T00:00:00Z", "source": "user"}]
    with pytest.raises(BadInput, match=r"rows.jsonl: row 1: neither value nor comment"):
        rows_of("feedback", file(tmp_path, rows))
    long = [LINES[1] | {"id": "i" * 300}]
    with pytest.raises(BadInput, match="row 1: column id: expected at most 255 characters"):
        rows_of("interactions", file(tmp_path, long))


def test_rows_without_a_request_are_kept_and_counted(tmp_path):
    path = file(
        tmp_path, [{"id": f"r{i}", "ts": "2026-05-01T00:00:00Z", "request": r} for i, r in enumerate((None, "a", ""))]
    )
    rows, notes = rows_of("interactions", path)
    assert [row["request"] for row in rows] == ["", "a", ""]
    assert notes == [f"{path}: 2 rows without a request, kept as an empty text (rows 1, 3)"]


def test_columns_are_renamed_and_given(tmp_path):
    path = file(tmp_path, [{"item": "a", "stars": 4, "note": "x"}])
    given = {"source": "annotator", "judge": "ann", "ts": "2026-05-01T00:00:00Z"}
    rows, notes = rows_of("feedback", path, columns={"item": "interaction", "stars": "value"}, given=given)
    assert rows == [{"interaction": "a", "value": 4.0, **given}]
    assert notes == [f"{path}: columns that are not kept: note"]
    with pytest.raises(BadInput) as error:
        rows_of("feedback", path, columns={"itme": "interaction"}, given=given | {"note": "y"})
    assert "column note: is in the file, and given for all rows" in str(error.value)
    assert "itme" in str(error.value)


def test_clients_are_hashed_with_the_key(tmp_path):
    rows = [{"id": "1", "client": "anna"}, {"id": "2", "client": None}, {"id": "3"}]
    made = hashed(rows, KEY)
    assert made == [{"id": "1", "client": client_hash("anna", KEY)}, *rows[1:]]
    assert hashed(made, None) == made
    with pytest.raises(BadInput, match="expected keyed hashes") as error:
        hashed(rows, None)
    assert "anna" not in str(error.value)


def test_a_hash_is_that_of_its_client_and_key_alone():
    others = ["anna", "Anna", "anna ", "an\u0301na", "", "\ud800", "a\0"]
    assert len({client_hash(client, KEY) for client in others} | {client_hash("anna", KEY + b"2")}) == 8
    assert is_client_hash(client_hash("anna", KEY))
    assert not is_client_hash("anna")


def test_the_key_of_the_environment(monkeypatch):
    monkeypatch.delenv("EVALBENCH_LOG_KEY", raising=False)
    assert key_of_environment() is None
    with pytest.raises(BadInput, match="clients: client ids are kept as keyed hashes only; set EVALBENCH_LOG_KEY"):
        needed_key("clients")
    monkeypatch.setenv("EVALBENCH_LOG_KEY", "hunter2")
    with pytest.raises(BadInput, match="has 7 bytes") as error:
        key_of_environment()
    assert "hunter2" not in str(error.value)
    monkeypatch.setenv("EVALBENCH_LOG_KEY", KEY.decode())
    assert needed_key("clients") == KEY
