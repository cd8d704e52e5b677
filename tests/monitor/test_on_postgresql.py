"""What PostgreSQL alone does: passwords that no address has, transactions that end in another order than they began."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest
from logged import interaction

from evalbench.errors import BadInput
from evalbench.monitor.store import LogStore
from evalbench.readers import log_parts
from evalbench.readers.log_store import log as of_log
from evalbench.readers.log_store.log import Log

pytestmark = pytest.mark.slow
INSERT = "INSERT INTO interactions (id, ts, request) VALUES ('late', 1, 'q')"


@pytest.fixture
def place(postgresql):
    return postgresql.database()


@pytest.fixture
def over_tcp(postgresql, place, monkeypatch):
    """The address of a store to which nobody comes without a password."""
    for name in ("PGPASSWORD", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    database = place.removeprefix("postgresql:///").partition("?")[0]
    return f"postgresql://127.0.0.1:{postgresql.port}/{database}?user=tester"


def test_a_mark_waits_for_transactions_that_began_before_it(place):
    """The row of one has a lower number than one that is there: counted from the higher number it would be missed."""
    with LogStore(place, create=True) as log, psycopg.connect(place) as slow:
        log.append([interaction(0)])
        slow.execute(INSERT)
        log.append([interaction(1)])
        threading.Timer(0.5, slow.commit).start()
        begun = time.monotonic()
        mark = log.mark()
        assert time.monotonic() - begun > 0.3
        assert log.count() == 3, "what is not after the mark is there when it is taken"
        assert log.count(after=mark) == 0
        log.append([interaction(2)])
        assert log.count(after=mark) == 1


def test_a_mark_does_not_wait_for_ever_nor_for_those_who_begin_later(place, monkeypatch):
    monkeypatch.setattr(of_log, "_WRITERS_S", 0.3)
    with LogStore(place, create=True) as log, psycopg.connect(place) as slow:
        log.append([interaction(0)])
        slow.execute(INSERT)
        begun = time.monotonic()
        assert log.mark() == 1
        assert 0.2 < time.monotonic() - begun < 3
        slow.rollback()


def test_the_password_comes_from_the_environment_or_the_password_file(
    postgresql, place, over_tcp, tmp_path, monkeypatch
):
    with LogStore(place, create=True) as log:
        log.append([interaction(0)])
    with pytest.raises(BadInput, match=r"no password supplied; the password comes from PGPASSWORD or ~/\.pgpass"):
        Log(over_tcp).count()
    monkeypatch.setenv("PGPASSWORD", "not the password")
    with pytest.raises(BadInput, match="password authentication failed") as refused:
        Log(over_tcp).count()
    assert "not the password" not in str(refused.value)
    monkeypatch.setenv("PGPASSWORD", postgresql.password)
    with Log(over_tcp) as log:
        assert log.count() == 1
    monkeypatch.delenv("PGPASSWORD")
    words = tmp_path / ".pgpass"
    words.write_text(f"127.0.0.1:{postgresql.port}:*:tester:{postgresql.password}\n")
    words.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(words))
    with LogStore(over_tcp) as log:
        assert log.append([interaction(1)]).new == 1


def test_parts_of_a_store_that_needs_a_password(postgresql, place, over_tcp, monkeypatch):
    monkeypatch.setattr(log_parts, "PART_ROWS", 4)
    with LogStore(place, create=True) as log:
        log.append([interaction(i) for i in range(10)])
    monkeypatch.setenv("PGPASSWORD", postgresql.password)
    parts = log_parts.log_parts(over_tcp)
    assert len(parts) == 3
    ids = [id for part in parts for _, batch in part.batches(["id"]) for id in batch["id"].to_pylist()]
    assert sorted(ids) == [f"r{i:05d}" for i in range(10)]
    assert postgresql.password not in str(parts)
