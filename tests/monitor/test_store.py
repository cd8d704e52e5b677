"""A log store keeps what it is given: every column and text, each row once, by windows of time, on both databases."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta, timezone

import pytest
from logged import HOSTILE, START, ended, interaction, processes, remark

from evalbench.errors import BadInput
from evalbench.monitor.clients import client_hash
from evalbench.monitor.store import Appended, LogStore, create
from evalbench.readers.log_store.log import Log
from evalbench.readers.log_store.tables import INTERACTIONS
from evalbench.readers.log_store.times import window_of

KEY = b"a key of the tests only"
FULL = {
    "id": "full", "client": client_hash("anna", KEY), "ts": START, "request": "q", "response": "a", "model": "kestrel-2",
    "stages": [{"retrieved": ["d1", None]}, 1.5, True], "prompt_version": "v7", "latency": 1.25, "input_tokens": 12,
    "output_tokens": 2**53 + 1, "cost": 0.0004, "error": "timeout",
}  # fmt: skip


@pytest.fixture
def log(log_place):
    with LogStore(log_place, create=True) as made:
        yield made


def test_every_column_comes_back(log):
    assert set(FULL) == set(INTERACTIONS)
    assert log.append([FULL, interaction(1)]) == (2, 0)
    full, sparse = log.rows()
    assert full == FULL | {"stages": '[{"retrieved":["d1",null]},1.5,true]'}
    assert sparse == dict.fromkeys(INTERACTIONS) | interaction(1)


def test_times_are_kept_as_instants(log):
    east = START.astimezone(timezone(timedelta(hours=14)))
    log.append([interaction(0, ts=east), interaction(1, ts="2026-05-01T05:00:00.000001+03:00")])
    assert [row["ts"] for row in log.rows()] == [START, START + timedelta(hours=2, microseconds=1)]


def test_hostile_texts_come_back_as_they_were(log):
    rows = [interaction(i, request=text, response=text, stages={text[:9]: text}) for i, text in enumerate(HOSTILE)]
    log.append(rows)
    assert [(row["request"], row["response"]) for row in log.rows()] == [(text, text) for text in HOSTILE]
    assert {type(row["stages"]) for row in log.rows()} == {str}


def test_batches_hold_what_a_file_can_hold_and_count_the_rest(log):
    log.append([interaction(i, request=text) for i, text in enumerate(HOSTILE)])
    batches = list(log.batches(rows=4))
    found = [text for batch in batches for text in batch["request"].to_pylist()]
    assert found == [text.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd") for text in HOSTILE]
    assert log.cut == 1
    assert max(batch.num_rows for batch in batches) <= 4
    assert str(batches[0].schema.field("ts").type) == "timestamp[us, tz=UTC]"


def test_a_batch_ends_where_its_texts_are_large(log):
    log.append([interaction(i, request="x" * 1000) for i in range(10)])
    assert [batch.num_rows for batch in log.batches(bytes=3000)] == [3, 3, 3, 1]
    assert [batch.num_rows for batch in log.batches(columns=["id"])] == [10]
    assert list(log.batches(window_of("2027-01-01"))) == []


def test_an_id_is_kept_once(log):
    assert log.append([interaction(1), interaction(2)]) == Appended(2, 0)
    assert log.append([interaction(2, request="other"), interaction(3), interaction(3)]) == Appended(1, 2)
    assert [row["request"] for row in log.rows()] == ["q1", "q2", "q3"]
    assert log.append([]) == Appended(0, 0)


def test_rows_of_equal_times_come_in_the_order_of_their_arrival_page_by_page(log):
    for i in reversed(range(25)):
        log.append([interaction(i, ts=START)])
    assert [i for batch in log.batches(rows=7) for i in batch["id"].to_pylist()] == [
        f"r{i:05d}" for i in reversed(range(25))
    ]


def test_rows_that_arrive_while_it_is_read_are_left_out(log):
    log.append([interaction(i) for i in range(6)])
    reading = log.batches(rows=3)
    first = next(reading)
    log.append([interaction(99)])
    assert first.num_rows + sum(batch.num_rows for batch in reading) == 6


def test_windows_are_half_open(log):
    log.append([interaction(i) for i in range(5)])
    window = window_of("2026-05-01T01:00", "2026-05-01T05:00:00+02:00")
    assert [row["id"] for row in log.rows(window)] == ["r00001", "r00002"]
    assert log.count(window) == 2
    assert log.count(window_of("", "2026-05-01")) == 0


def test_what_arrived_since_a_mark_is_counted_whatever_its_time(log):
    assert log.mark() == 0
    log.append([interaction(i) for i in range(5)])
    mark = log.mark()
    log.append([interaction(7, ts=START - timedelta(days=900)), interaction(3)])
    assert (log.count(after=mark), log.count()) == (1, 6)


def test_feedback_belongs_to_interactions(log):
    log.append([interaction(1)])
    given = [remark(1, judge="ann"), remark(1, "user", -1, comment="no \x00"), remark(1, "judge", None, comment="?")]
    assert log.append_feedback(given) == Appended(3, 0)
    assert log.append_feedback(given) == Appended(0, 3)
    kept = {(row["source"], row["value"], row["comment"]) for row in log.rows(table="feedback")}
    assert kept == {("annotator", 1, None), ("judge", None, "?"), ("user", -1, "no \x00")}
    with pytest.raises(BadInput, match="not in the log:\n  - r00002\n  - r00003"):
        log.append_feedback([remark(2), remark(1), remark(3)])
    assert log.append_feedback([remark(2)], orphans=True) == Appended(1, 0)
    status = log.status()
    assert (dict(status.feedback), status.orphans) == ({"annotator": 2, "judge": 1, "user": 1}, 1)
    assert status.ahead == 0
    log.append([interaction(4, ts=datetime.now(UTC) + timedelta(minutes=m)) | {"id": f"late {m}"} for m in (5, 30)])
    assert log.status().ahead == 1


def test_losses_are_summed_by_reason(log):
    lost = {"ts": START, "since": START, "until": START + timedelta(seconds=5), "process": "p1", "reason": "queue full"}
    log.append_losses([lost | {"id": "a", "rows": 2}, lost | {"id": "b", "rows": 3}])
    log.append_losses([lost | {"id": "b", "rows": 3}])
    (loss,) = log.status().losses
    assert (loss.reason, loss.rows, loss.until - loss.since) == ("queue full", 5, 5_000_000)


def test_all_faults_are_named_and_nothing_is_kept(log):
    rows = [
        interaction(1),
        interaction(2, ts=START.replace(tzinfo=None), latency=-1, input_tokens=1.5, cost=float("nan"), colour="red"),
        interaction(3, id=" x ", client="anna", stages={1, 2}, request=None, response=7),
        interaction(4, id="i" * 256, ts=3),
    ]
    with pytest.raises(BadInput) as error:
        log.append(rows, places=["line 7", "line 8", "line 9", "line 10"])
    said = str(error.value)
    assert "line 7" not in said
    for fault in (
        "line 8: column ts: a time without a time zone",
        "line 8: column latency: expected a number of at least 0, found -1",
        "line 8: column input_tokens: expected a whole number",
        "line 8: column cost: expected a number",
        "line 8: unknown column colour",
        "line 9: column id: expected a text without blanks",
        "line 9: column client: expected a keyed hash",
        "line 9: column request: is missing",
        "line 9: column stages: not JSON",
        "line 9: column response: expected a text, found int",
        "line 10: column id: expected at most 255 characters, found 256",
        "line 10: column ts: expected a time with its time zone, found int",
    ):
        assert fault in said
    assert "anna" not in said
    assert log.count() == 0


def test_faults_of_feedback(log):
    log.append([interaction(1)])
    with pytest.raises(BadInput) as error:
        log.append_feedback([remark(1, "boss"), remark(1, "user", None), remark(1, "user", "good")])
    said = str(error.value)
    assert "row 1: column source: expected one of user, annotator, judge" in said
    assert "row 2: neither value nor comment" in said
    assert "row 3: column value: expected a number" in said


def test_one_key_for_all_clients(log):
    log.use_key(KEY)
    log.use_key(KEY)
    with pytest.raises(BadInput, match="another key") as error:
        log.use_key(b"another key of the tests")
    assert "of the tests" not in str(error.value)
    assert log.status().has_key
    with Log(str(log.address)) as read:
        assert KEY.decode() not in str(read.status())


def test_a_process_that_was_forked_has_connections_of_its_own(log):
    log.append([interaction(1)])
    child = os.fork()
    if not child:
        log.append([interaction(2)])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    log.append([interaction(3)])
    assert log.count() == 3


@pytest.mark.slow
def test_many_processes_make_one_store(log_place):
    code = """
    from evalbench.monitor.store import LogStore
    from datetime import UTC, datetime
    with LogStore(sys.argv[1], create=True) as log:
        print(log.append([{"id": sys.argv[2], "ts": datetime.now(UTC), "request": "q"}]).new)
    """
    said = ended(processes(code, [(log_place, i) for i in range(3)]))
    assert said == ["1\n"] * 3
    with LogStore(log_place) as log:
        assert (log.count(), create(log)) == (3, False)


def test_reading_makes_nothing(log_place):
    with Log(log_place) as log, pytest.raises(BadInput, match="no such log store|without a log store"):
        log.count()
    if "://" not in log_place:
        assert not os.path.exists(log_place)
