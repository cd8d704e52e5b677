"""The cache of replies: many processes at once, private, prunable, nothing in it is code."""

from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
import sys
import time

import pytest

from evalbench.errors import BadInput
from evalbench.models.store.cache import ReplyCache, bytes_on_disk, cache_folder

WRITER = """
import sys
from evalbench.models.store.cache import ReplyCache
who, path = int(sys.argv[1]), sys.argv[2]
with ReplyCache(path) as cache:
    for i in range(200):
        cache.put(f"{who}-{i}", "m", "h", {"text": str(i)})
        cache.put(f"shared-{i}", "m", "h", {"text": f"by {who}"})
    assert len(dict(cache.get_many([f"{who}-{i}" for i in range(200)]))) == 200
"""


@pytest.fixture
def cache(tmp_path):
    with ReplyCache(tmp_path / "c" / "replies.sqlite") as opened:
        yield opened


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written .*EVALBENCH_CACHE"):
        ReplyCache(tmp_path / "file" / "replies.sqlite")


def test_a_damaged_file(tmp_path):
    (tmp_path / "replies.sqlite").write_bytes(b"no database " * 1000)
    with pytest.raises(BadInput, match="is damaged"):
        ReplyCache(tmp_path / "replies.sqlite")


def test_a_file_damaged_behind_its_head(cache):
    cache.put_many((f"{i}", "m", "h", {"text": "x" * 500}) for i in range(500))
    cache.close()
    with cache.path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 100_000)
    with ReplyCache(cache.path) as again, pytest.raises(BadInput, match="is damaged .*delete the file"):
        dict(again.get_many([str(i) for i in range(500)]))


def test_a_folder_in_its_place(tmp_path):
    (tmp_path / "replies.sqlite").mkdir(mode=0o755)
    with pytest.raises(BadInput, match="cannot be written"):
        ReplyCache(tmp_path / "replies.sqlite")
    assert stat.S_IMODE((tmp_path / "replies.sqlite").stat().st_mode) == 0o755


# SQLite's shared lock: 510 bytes behind 2**30, of which the first two are its pending and reserved bytes.
LOCK = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 2**30 + 2)
    except OSError:
        sys.exit("locked")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_a_second_connection_leaves_the_locks_of_the_first(cache):
    def locked():
        return subprocess.run([sys.executable, "-c", LOCK, cache.path], check=False, stderr=subprocess.PIPE).stderr

    cache.put("k", "m", "h", {})
    assert locked() == b"locked\n"
    with ReplyCache(cache.path):
        assert locked() == b"locked\n"
    assert locked() == b"locked\n"
    cache.close()
    assert locked() == b""


def test_another_layout(cache):
    sqlite3.connect(cache.path).execute("PRAGMA user_version=99").connection.commit()
    with pytest.raises(BadInput, match="has layout 99"):
        ReplyCache(cache.path)


def test_what_json_cannot_hold_is_refused_and_leaves_nothing(cache):
    with pytest.raises(TypeError):
        cache.put_many([("a", "m", "h", {"x": 1}), ("b", "m", "h", {"x": object()})])
    assert cache.entries() == []
    cache.put("a", "m", "h", {"x": 1})
    assert dict(cache.get_many(["a", "b"])) == {"a": {"x": 1}}


def test_values_are_json_and_any_text_comes_back(cache):
    value = {"text": "Привет 你好 \x00 \u202e <script>", "logprobs": [["a", -0.5, []]]}
    cache.put("k", "m", "h", value)
    assert dict(cache.get_many(["k"])) == {"k": value}
    (stored,) = sqlite3.connect(cache.path).execute("SELECT reply FROM replies").fetchone()
    assert json.loads(stored) == value


def test_what_comes_from_elsewhere_leaves_what_is_there(cache):
    cache.put("k", "m", "h", {"text": "first"})
    cache.put_many([("k", "m", "h", {"text": "second"})])
    assert dict(cache.get_many(["k"])) == {"k": {"text": "first"}}


def test_more_keys_than_one_query_takes(cache):
    keys = [str(i) for i in range(2345)]
    cache.put_many((key, "m", "h", {"text": key}) for key in keys)
    assert {key: value["text"] for key, value in cache.get_many(keys)} == {key: key for key in keys}


def test_only_the_owner_may_read(cache):
    cache.put("k", "m", "h", {"text": "x"})
    files = list(cache.path.parent.iterdir())
    assert {file.name for file in files} >= {"replies.sqlite", "replies.sqlite-wal"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(cache.path.parent.stat().st_mode) == 0o700


def test_entries_size_and_pruning(cache):
    cache.put_many((f"a{i}", "a", "host", {"text": "x" * 1000}) for i in range(50))
    cache.put_many((f"b{i}", "b", "host", {"text": "y"}) for i in range(3))
    first, second = cache.entries()
    assert (first.model, first.replies, second.model, second.replies) == ("a", 50, "b", 3)
    assert first.bytes > 50_000
    assert first.oldest <= first.newest <= time.time()
    before = bytes_on_disk(cache.path)
    assert cache.prune(model="a", before=time.time() - 60) == 0
    assert cache.prune(model="a") == 50
    assert bytes_on_disk(cache.path) < before
    assert [row.model for row in cache.entries()] == ["b"]
    assert cache.prune(before=time.time() + 1) == 3
    assert cache.entries() == []


def test_eight_processes_write_at_once(tmp_path):
    path = tmp_path / "replies.sqlite"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(i), str(path)]) for i in range(8)]
    assert [writer.wait(60) for writer in writers] == [0] * 8
    with ReplyCache(path) as cache:
        (row,) = cache.entries()
        assert row.replies == 8 * 200 + 200


def test_the_folder_is_named_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "x"))
    assert cache_folder() == tmp_path / "x"
    monkeypatch.delenv("EVALBENCH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "evalbench"
