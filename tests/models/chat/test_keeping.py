"""A cache that fails: refused with one message before anything is asked, and the end of nothing afterwards."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from faultserver import fault_server

from evalbench.errors import BadInput
from evalbench.models.accounting import accounting, embeddings_counted, merged
from evalbench.models.chat import collect as collecting
from evalbench.models.chat import keeping
from evalbench.models.chat.collect import collect, endpoint_identity
from evalbench.models.exchange import Request
from evalbench.models.llm import model
from evalbench.models.similarity.embed import Embedder, embed
from evalbench.models.store import cache as module
from evalbench.models.store import claims
from evalbench.models.store.cache import ReplyCache
from evalbench.models.store.claims import Claims
from evalbench.models.store.vectors import read_vectors, write_vectors

CONNECT = sqlite3.connect


@pytest.fixture(autouse=True)
def _nothing_failed_before(monkeypatch):
    monkeypatch.setattr(keeping, "_failed", set())


@pytest.fixture
def disk(monkeypatch):
    """A fake disk: connections from now on hold so many pages, and SQLite itself says that it is full."""

    def of(pages: int) -> None:
        def connect(*given, **options):
            connection = CONNECT(*given, **options)
            connection.execute(f"PRAGMA max_page_count={pages}")
            return connection

        monkeypatch.setattr(module.sqlite3, "connect", connect)

    return of


def pages(file) -> int:
    connection = CONNECT(file)
    try:
        return connection.execute("PRAGMA page_count").fetchone()[0]
    finally:
        connection.close()


def test_a_full_disk_is_told_at_once_and_nothing_is_asked(disk, tmp_path):
    disk(1)
    with fault_server() as server:
        started = time.monotonic()
        with pytest.raises(BadInput, match=r"cache .*c cannot be written \(database or disk is full\): make room"):
            collect([Request("a")], server.url + "#tiny", cache=tmp_path / "c")
        assert time.monotonic() - started < 10
        assert server.stats()["requests"] == 0


def test_a_cache_that_may_only_be_read_is_told_at_once_and_nothing_is_asked(server, tmp_path, monkeypatch):
    """A fake: connections are read-only, as in a folder of somebody else's."""
    file, name = tmp_path / "c", server.url + "#tiny"
    collect([Request("kept")], name, cache=file)

    def connect(path, **options):
        return CONNECT(f"file:{path}?mode=ro", uri=True, **options)

    monkeypatch.setattr(module.sqlite3, "connect", connect)
    before, started = server.stats()["requests"], time.monotonic()
    with pytest.raises(BadInput, match=r"cannot be written \(attempt to write a readonly database\).*EVALBENCH_CACHE"):
        collect([Request("new")], name, cache=file)
    assert time.monotonic() - started < 10
    assert server.stats()["requests"] == before


def test_a_disk_that_fills_up_ends_nothing(server, disk, tmp_path):
    file, name = tmp_path / "c", server.url + "#tiny"
    collect([Request("first")], name, cache=file)
    with Claims(file):
        disk(pages(file) + 160)
    asked = [Request(f"do:long, fills {i}") for i in range(12)]
    replies = collect(asked, name, cache=file, concurrency=4)
    assert [bool(reply.text) and reply.unscored for reply in replies] == [""] * 12
    lost = [reply for reply in replies if reply.not_kept]
    assert 0 < len(lost) < 12
    assert {reply.not_kept for reply in lost} == {"database or disk is full"}
    assert accounting(replies)["not_kept"] == {"database or disk is full": len(lost)}
    assert all(reply.key for reply in replies)
    # The same process goes on without a cache, as the second judge of a study would.
    again = collect(asked, name, cache=file)
    assert [reply.cached for reply in again] == [not reply.not_kept for reply in replies]
    disk(10**6)
    assert not [reply for reply in collect(asked, name, cache=file) if reply.not_kept]
    assert all(reply.cached for reply in collect(asked, name, cache=file))


LIMITED = """
import resource, sys
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
name, file = sys.argv[1:]
collect([Request("first")], name, cache=file)
resource.setrlimit(resource.RLIMIT_FSIZE, (2**21, 2**21))
replies = collect([Request(f"do:long, limited {i}") for i in range(20)], name, cache=file, concurrency=4)
assert all(reply.text.startswith("word") for reply in replies)
print(sum(bool(reply.not_kept) for reply in replies))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="not on this platform: no limits of files")
def test_files_that_may_not_grow_end_nothing(server, tmp_path):
    """The system itself refuses: no file of that process may grow beyond 2 MiB, its replies have 4."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, server.url + "#tiny", tmp_path / "c"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert 0 < int(done.stdout) < 20


@pytest.mark.slow
def test_a_cache_that_another_process_holds_costs_one_wait(server, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LOCK_WAIT_S", 0.5)
    monkeypatch.setattr(keeping, "_PATIENCE_S", 0.2)
    file, name = tmp_path / "c", server.url + "#tiny"
    ReplyCache(file).close()
    other = CONNECT(file, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BadInput, match="held by another process for more than 0.5 s"):
        collect([Request("a")], name, cache=file)
    other.execute("ROLLBACK")
    claim = keeping.Keeping.claim

    def then_held(self, keys):
        mine = claim(self, keys)
        other.execute("BEGIN IMMEDIATE")
        return mine

    monkeypatch.setattr(keeping.Keeping, "claim", then_held)
    started = time.monotonic()
    replies = collect([Request(f"held {i}") for i in range(20)], name, cache=file)
    other.close()
    assert time.monotonic() - started < 8
    assert {(reply.text, reply.not_kept) for reply in replies} == {("fine", "database is locked")}


@pytest.mark.slow
def test_claims_that_cannot_be_renewed_or_given_up_end_nothing(tmp_path, monkeypatch):
    """A fake: every write of claims after the first fails."""

    def full(*_):
        raise BadInput("the cache cannot be written") from sqlite3.OperationalError("disk full")

    monkeypatch.setattr(collecting, "LIFETIME_S", 0.3)
    monkeypatch.setattr(Claims, "renew", full)
    monkeypatch.setattr(Claims, "release", full)
    with fault_server(delay=0.3) as server:
        asked = [Request("do:400"), *(Request(f"renewed {i}") for i in range(12))]
        replies = collect(asked, server.url + "#tiny", cache=tmp_path / "c", concurrency=2)
    assert [reply.unscored for reply in replies] == ["rejected"] + [""] * 12


@pytest.mark.parametrize("ahead", [3600.0, 10.0**9, float("inf")])
def test_a_claim_from_the_future_by_a_living_process_holds_nobody(server, tmp_path, ahead):
    file, name = tmp_path / "c", server.url + "#tiny"
    request = Request(f"future {ahead}")
    key = request.key(endpoint_identity(model(name)))
    with Claims(file):
        connection = CONNECT(file)
        with connection:
            connection.execute(
                "INSERT INTO claims VALUES (?, 'another', ?, ?)", (key, os.getppid(), time.time() + ahead)
            )
        connection.close()
    started = time.monotonic()
    (reply,) = collect([request], name, cache=file)
    assert reply.text == "fine"
    assert time.monotonic() - started < claims.LIFETIME_S / 3


@pytest.mark.slow
def test_waiting_for_another_process_is_said(tmp_path, capsys):
    with fault_server() as server:
        file, name = tmp_path / "c", server.url + "#tiny"
        request = Request("waited for")
        key = request.key(endpoint_identity(model(name)))
        with Claims(file) as other:
            other.take([key])
            connection = CONNECT(file)
            with connection:
                connection.execute("UPDATE claims SET expires=?", (time.time() + 1.5,))
            connection.close()
            collect([request], name, cache=file, progress=True)
    assert "1 asked for by another process" in capsys.readouterr().err


def test_vectors_that_cannot_be_kept_are_not_lost(disk, tmp_path):
    file = tmp_path / "v"
    write_vectors(file, "m", "float32", {"a": np.ones(3, np.float32)})
    disk(pages(file) + 1)
    with embeddings_counted() as spent:
        vectors = embed([f"text {i}" for i in range(40)], Embedder("use-multilingual", cache=file))
    assert vectors.shape == (40, 512)
    assert merged(spent)["not_kept"] == {"database or disk is full": 40}


def test_a_damaged_vector_counts_as_not_there_and_is_put_right(tmp_path):
    file, whole = tmp_path / "v", np.arange(3, dtype=np.float32)
    write_vectors(file, "m", "float32", dict.fromkeys(("a", "b", "c", "d"), whole))
    connection = CONNECT(file)
    keys = [key for (key,) in connection.execute("SELECT text FROM vectors")]
    with connection:
        for key, damaged in zip(keys, (b"12345", b"", "text"), strict=False):
            connection.execute("UPDATE vectors SET vector=? WHERE text=?", (damaged, key))
    connection.close()
    assert len(read_vectors(file, "m", "float32", ["a", "b", "c", "d"])) == 1
    write_vectors(file, "m", "float32", dict.fromkeys(("a", "b", "c", "d"), whole + 1))
    found = read_vectors(file, "m", "float32", ["a", "b", "c", "d"])
    assert sorted(vector[0] for vector in found.values()) == [0, 1, 1, 1]


def test_accounts_of_one_cache_that_failed_add_up():
    parts = [{"not_kept": {"full": 2}}, {"not_kept": {}}, {"not_kept": {"full": 1, "held": 1}}]
    assert json.loads(json.dumps(merged(parts))) == {"not_kept": {"full": 3, "held": 1}}
