"""The queue and the thread behind a log: bounded, never in the way, nothing lost without being counted."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from waiting import wait_until

from evalbench.monitor.counts import CLOSED, FAULT, FULL, LARGE, LEFT, REFUSED
from evalbench.monitor.writing import Writer


class Shelf:
    """A store in memory for tests, which fails, hangs and refuses rows on demand; ids are unique, as in a real one."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, dict[str, Any]]] = {"interactions": {}, "feedback": {}, "losses": {}}
        self.down = False
        self.written_but_broken = False
        self.hang = threading.Event()
        self.hang.set()
        self.poison: set[str] = set()
        self.writes: list[int] = []
        self.opened = self.closed = 0

    def open(self) -> Shelf:
        self.opened += 1
        return self

    def write(self, table: str, rows: list[dict[str, Any]]) -> None:
        self.hang.wait(20)
        if self.down:
            raise ConnectionError("postgresql://me:secret@host is away")
        if self.poison & {row["id"] for row in rows}:
            raise ValueError("a row that no store takes")
        self.writes.append(len(rows))
        for row in rows:
            self.rows[table].setdefault(row["id"], row)
        if self.written_but_broken:
            self.written_but_broken = False
            raise ConnectionError("after the commit")

    def close(self) -> None:
        self.closed += 1

    @property
    def ids(self) -> list[str]:
        return list(self.rows["interactions"])


def writer(shelf: Shelf, **options: Any) -> Writer:
    return Writer(shelf.open, lambda table, row: row, **{"linger": 0.01, **options})


def put(one: Writer, *ids: Any, size: int = 100) -> list[bool]:
    return [one.put("interactions", {"id": str(id)}, size) for id in ids]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def test_rows_are_written_in_order_and_in_batches(shelf):
    one = writer(shelf, linger=0.2)
    put(one, *range(250))
    assert one.flush(5)
    assert shelf.ids == [str(i) for i in range(250)]
    assert shelf.writes == [100, 100, 50]
    one.close()
    counts = one.counts
    assert (counts.given, counts.written, counts.waiting, counts.lost) == (250, 250, 0, {})
    assert shelf.closed == shelf.opened == 1


def test_feedback_comes_after_what_it_is_about(shelf):
    one = writer(shelf, linger=0.1)
    order = []
    shelf.write = lambda table, rows: order.append((table, len(rows)))
    one.put("feedback", {"id": "f"}, 10)
    put(one, 1, 2)
    one.close()
    assert order == [("interactions", 2), ("feedback", 1)]


def test_a_store_that_is_down_loses_nothing_that_fits(shelf, caplog):
    shelf.down = True
    one = writer(shelf)
    put(one, *range(150))
    assert not one.flush(0.3)
    assert one.counts.waiting == 150
    assert one.counts.first_failure == "ConnectionError"
    shelf.down = False
    assert one.flush(5)
    assert sorted(shelf.ids, key=int) == [str(i) for i in range(150)]
    one.close()
    said = [record.getMessage() for record in caplog.records]
    assert "the log store cannot be written (ConnectionError); up to 10000 rows wait for it" in said
    assert any(text.startswith("the log store is written again") for text in said)
    assert "secret" not in caplog.text


def test_what_finds_no_room_is_lost_counted_and_reported_when_the_store_is_up_again(shelf, caplog):
    shelf.down = True
    one = writer(shelf, max_rows=10)
    assert put(one, *range(25)) == [True] * 10 + [False] * 15
    assert one.counts.lost == {FULL: 15}
    assert shelf.rows["losses"] == {}
    shelf.down = False
    assert one.flush(5)
    (loss,) = shelf.rows["losses"].values()
    assert (loss["reason"], loss["rows"]) == (FULL, 15)
    assert loss["since"] <= loss["until"] <= loss["ts"]
    assert one.counts.written == 10
    shelf.down = True
    put(one, *range(100, 120))
    shelf.down = False
    one.close()
    assert sum(loss["rows"] for loss in shelf.rows["losses"].values()) == 25
    assert "log of interactions: 20 of 45 written, 25 lost (queue full)" in caplog.text


def test_a_batch_that_was_written_although_it_failed_is_not_doubled(shelf):
    shelf.written_but_broken = True
    one = writer(shelf)
    put(one, *range(30))
    one.close()
    assert len(shelf.ids) == 30
    assert one.counts.written == 30


def test_a_row_that_the_store_refuses_stops_no_other(shelf):
    shelf.poison = {"3", "7", "8"}
    one = writer(shelf, linger=0.1)
    put(one, *range(20))
    assert one.flush(10)
    one.close()
    assert sorted(shelf.ids, key=int) == [str(i) for i in range(20) if str(i) not in shelf.poison]
    assert one.counts.lost == {REFUSED: 3}
    assert [loss["first"] for loss in shelf.rows["losses"].values()] == ["ValueError"] * len(shelf.rows["losses"])


def test_bytes_are_bounded_too(shelf):
    shelf.hang.clear()
    one = writer(shelf, max_bytes=10_000_000)
    assert put(one, *range(9), size=2_000_000) == [True] * 5 + [False] * 4
    assert put(one, "huge", size=10_000_001) == [False]
    assert one.counts.lost == {FULL: 4, LARGE: 1}
    shelf.hang.set()
    assert one.flush(5)
    assert put(one, *range(9, 12), size=2_000_000) == [True] * 3
    one.close()
    assert max(shelf.writes) <= 2, "a batch has at most 4 MiB"


def test_a_store_that_hangs_is_in_nobody_s_way(shelf, caplog):
    shelf.hang.clear()
    one = writer(shelf, max_rows=100)
    begun = time.perf_counter()
    put(one, *range(1000))
    assert time.perf_counter() - begun < 1
    begun = time.perf_counter()
    one.close(timeout=0.2)
    assert time.perf_counter() - begun < 1.5
    assert one.counts.lost == {FULL: 900, LEFT: 100}
    assert put(one, "late") == [False]
    assert one.counts.lost[CLOSED] == 1
    assert "100 lost (not written at exit)" in caplog.text
    shelf.hang.set()


def test_a_row_that_cannot_be_cleaned_stops_no_other(shelf):
    def cleaned(table: str, row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "n": 1 / (int(row["id"]) - 3)}

    one = Writer(shelf.open, cleaned, linger=0.05)
    put(one, *range(6))
    one.close()
    counts = one.counts
    assert sorted(shelf.ids) == ["0", "1", "2", "4", "5"]
    assert (counts.lost, counts.faults) == ({FAULT: 1}, 1)
    assert counts.first_fault.startswith("ZeroDivisionError in cleaned, line ")
    assert "exceptions within the hook: 1, the first: ZeroDivisionError in cleaned" in str(counts)


def test_losses_that_cannot_be_reported_hold_no_row_up(shelf, caplog):
    shelf.rows.pop("losses")  # a function of the application's own that does not know this table
    one = writer(shelf, max_bytes=1000)
    for round_ in range(5):
        put(one, f"large {round_}", size=1001)
        put(one, round_)
        wait_until(lambda n=round_: one.counts.written > n, seconds=4)
    assert one.counts.written == 5
    begun = time.monotonic()
    one.close(0.5)
    assert time.monotonic() - begun < 3
    assert "cannot be written" not in caplog.text
    assert one.counts.first_failure == "KeyError"


def test_many_threads_lose_nothing(shelf):
    one = writer(shelf)
    threads = [threading.Thread(target=lambda n=n: put(one, *range(n * 500, n * 500 + 500))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert one.flush(10)
    one.close()
    assert len(shelf.ids) == one.counts.written == 4000


def test_closing_twice_or_without_a_row_does_nothing(shelf):
    one = writer(shelf)
    one.close()
    one.close()
    assert (shelf.opened, shelf.closed) == (0, 0)
    assert str(one.counts) == "0 of 0 written"
