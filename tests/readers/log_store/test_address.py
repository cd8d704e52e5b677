"""Where a log store is; keys are refused in an address and appear in no message."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from evalbench.errors import BadInput
from evalbench.readers.log_store.address import address_of, is_log_store
from evalbench.readers.log_store.faults import StoreUnavailable
from evalbench.readers.log_store.log import Log
from evalbench.readers.log_store.times import instant, window_of

SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{SECRET}@host/logs",
        f"postgresql://{SECRET}@host/logs",
        f"postgres://host/logs?password={SECRET}",
        f"postgresql://host/logs?user=me&PASSWORD={SECRET}",
        f"postgresql://host/logs?sslpassword={SECRET}",
        f"postgresql://host/logs?passfile=/{SECRET}",
        f"postgresql://host/logs?colour={SECRET}",
        f"postgresql://host:{SECRET}/logs",
        f"postgresql://[{SECRET}/logs",
        f"postgresql://host/logs#{SECRET}",
        f"postgresql://host/logs?{SECRET}",
        f"mysql://me:{SECRET}@host/logs",
        f"sqlite://me:{SECRET}@host/logs",
        f"sqlite:///logs.sqlite?key={SECRET}",
        "sqlite:///",
        "sqlite:///:memory:",
        "",
        "a\0b",
    ],
)
def test_addresses_that_are_refused_without_what_they_hold(url):
    with pytest.raises(BadInput) as error:
        address_of(url)
    assert SECRET not in str(error.value)


def test_places(tmp_path):
    assert address_of("sqlite:////a/b%20c.sqlite").path == Path("/a/b c.sqlite")
    assert address_of("logs/%41.sqlite").path == Path("logs/%41.sqlite")
    assert address_of(address_of("a b%.sqlite").named).path == Path("a b%.sqlite").absolute()
    assert address_of("postgres://a,b:1/logs?target_session_attrs=any").url.startswith("postgresql://a,b:1/")
    assert address_of("postgresql+psycopg:///logs").url == "postgresql:///logs"
    with pytest.raises(BadInput, match="is a folder"):
        address_of(str(tmp_path))


def test_what_is_a_log_store(tmp_path):
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    assert is_log_store(path)
    assert is_log_store(str(path))
    assert not is_log_store("item@1.0.0")
    assert not is_log_store("a\0b")
    with pytest.raises(BadInput, match="a database without a log store"):
        Log(path).count()
    path.write_bytes(b"id,text\n")
    with pytest.raises(BadInput, match="not a file of SQLite"):
        Log(path).count()
    path.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(BadInput, match="not a log store, or damaged"):
        Log(path).count()


def test_a_server_that_is_not_there():
    with pytest.raises(StoreUnavailable, match=r"postgresql://127.0.0.1:1/logs: cannot be reached"):
        Log("postgresql://127.0.0.1:1/logs").count()


@pytest.mark.slow
def test_what_the_server_refuses(postgresql, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    by_network = f"postgresql://127.0.0.1:{postgresql.port}/postgres?user=tester"
    refusals = {
        postgresql.url("nowhere"): "does not exist",
        by_network: "password authentication failed",
        postgresql.url("postgres"): "a database without a log store",
    }
    settings = {"listen_addresses": "127.0.0.1"}
    postgresql.kill()
    postgresql.start(**settings)
    try:
        for url, what in refusals.items():
            with pytest.raises(BadInput, match=what) as error:
                Log(url).count()
            assert SECRET not in str(error.value)
        monkeypatch.setenv("PGPASSWORD", postgresql.password)
        with pytest.raises(BadInput, match="without a log store"):
            Log(by_network).count()
    finally:
        postgresql.kill()
        postgresql.start()


@pytest.mark.slow
def test_a_user_without_rights(postgresql):
    from evalbench.monitor.store import LogStore

    place = postgresql.database()
    stranger = place.replace("user=tester", "user=stranger")
    with pytest.raises(BadInput, match="lacks a right there"):
        LogStore(stranger, create=True).count()
    with LogStore(place, create=True) as store:
        store.count()
    with pytest.raises(BadInput, match="lacks a right there"):
        Log(stranger).count()


@pytest.mark.parametrize("text", ["", "May", "2026-13-01", "1777593600", "2026-05-01T10:00", "0001-01-01T00:00"])
def test_times_that_are_refused(text):
    with pytest.raises(ValueError, match="ISO 8601|without a time zone"):
        instant(text)


def test_windows_that_are_refused():
    with pytest.raises(BadInput) as error:
        window_of("May", "2026-05-99", names=("oos_from", "oos_to"))
    assert re.findall("oos_from|oos_to", str(error.value)) == ["oos_from", "oos_to"]
    with pytest.raises(BadInput, match="from 2026-05-01T00:00:00Z is not before to 2026-05-01T00:00:00Z"):
        window_of("2026-05-01", "2026-05-01T02:00:00+02:00")
    assert window_of() == (None, None)
    with pytest.raises(BadInput, match="before the year 1"):
        window_of("0001-01-01T00:00:00+14:00")
    assert str(window_of("0001-01-01")) == "0001-01-01T00:00:00Z to …"
