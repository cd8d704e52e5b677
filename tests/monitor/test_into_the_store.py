"""From an application into a real log store: what is logged is there, what is lost is counted there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from chat import chat_endpoint

from evalbench.monitor import logged
from evalbench.monitor.clients import client_hash
from evalbench.monitor.store import LogStore
from evalbench.readers.log_store.log import Log

KEY = b"a key of the tests only"
HOSTILE = ["\x00", "\ud800", "<script>", "'; DROP TABLE interactions; --", "￼\u202e", "=1+1", "кот" * 1000]


def test_interactions_and_feedback_arrive(log_place):
    with logged(log_place, key=KEY, linger=0.01) as log:
        ids = [log.record(request=text, response=text, client="anna", stages={"found": text}) for text in HOSTILE]
        log.feedback(ids[0], 1, comment="good")
        log.feedback("not yet there", 0)
    assert log.counts.written == len(HOSTILE) + 2
    with Log(log_place) as kept:
        found, status = {row["id"]: row for row in kept.rows()}, kept.status()
    assert [found[id]["request"] for id in ids] == [found[id]["response"] for id in ids] == HOSTILE
    assert {row["client"] for row in found.values()} == {client_hash("anna", KEY)}
    assert (status.interactions, dict(status.feedback), status.orphans) == (len(HOSTILE), {"user": 2}, 1)


def test_a_store_that_comes_late_gets_what_waited_and_what_was_lost(tmp_path, caplog):
    folder = tmp_path / "later"
    folder.write_text("a file where the folder will be")
    with logged(folder / "log.sqlite", max_rows=5) as log:
        for i in range(8):
            log.record(request=str(i))
        assert not log.flush(0.3)
        folder.unlink()
        assert log.flush(10)
    status = Log(folder / "log.sqlite").status()
    assert status.interactions == 5
    assert [(loss.reason, loss.rows) for loss in status.losses] == [("queue full", 3)]
    assert "the log store cannot be written (StoreUnavailable: " in caplog.text
    assert "log of interactions: 5 of 8 written, 3 lost (queue full)" in caplog.text


def test_a_loss_is_reported_although_nothing_is_written(tmp_path):
    with logged(tmp_path / "log.sqlite") as log:
        log.record(request=["x"] * 30_000)
    assert [(loss.reason, loss.rows) for loss in Log(tmp_path / "log.sqlite").status().losses] == [("too large", 1)]


def test_numbers_that_are_none_are_left_out(tmp_path):
    with logged(tmp_path / "log.sqlite") as log:
        log.record(
            request="why?", cost=float("nan"), latency="fast", input_tokens=float("inf"), output_tokens=True, model=7
        )
    (row,) = Log(tmp_path / "log.sqlite").rows()
    assert [row[name] for name in ("cost", "latency", "input_tokens", "output_tokens")] == [None] * 4
    assert row["model"] == "7"


def test_an_address_with_a_password_is_named_without_it(caplog):
    with logged("postgresql://me:hunter2-hunter2@127.0.0.1:9/none", exit_timeout=0.3) as log:
        log.record(request="why?")
    assert log.counts.lost == {"not written at exit": 1}
    assert "the log store cannot be written" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_store_of_another_key_gets_rows_without_clients(tmp_path, caplog):
    place = tmp_path / "log.sqlite"
    with LogStore(place, create=True) as store:
        store.use_key(b"the key that it began with")
    with logged(place, key=KEY) as log:
        log.record(request="why?", client="anna")
    (row,) = Log(place).rows()
    assert row["client"] is None
    assert "ids of clients are not kept: " in caplog.text


WORKER = """
import sys, openai
from evalbench.monitor import logged
store, url, name = sys.argv[1:]
with logged(store) as log:
    client = log.openai(openai.OpenAI(base_url=url, api_key="none"))
    for i in range(50):
        client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": f"{name} {i}"}], user=name)
"""


@pytest.mark.slow
def test_processes_of_an_application_share_a_store(log_place):
    env = {**os.environ, "EVALBENCH_LOG_KEY": KEY.decode()}
    with chat_endpoint(str.upper) as endpoint:
        url = endpoint.name.partition("#")[0]
        arguments = [[sys.executable, "-c", WORKER, str(log_place), url, f"w{n}"] for n in range(3)]
        workers = [subprocess.Popen(command, env=env) for command in arguments]
        assert [worker.wait(120) for worker in workers] == [0, 0, 0]
    with Log(log_place) as kept:
        rows = list(kept.rows())
    assert {(row["request"], row["response"]) for row in rows} == {
        (f"w{n} {i}", f"W{n} {i}") for n in range(3) for i in range(50)
    }
    assert {row["client"] for row in rows} == {client_hash(f"w{n}", KEY) for n in range(3)}


FORKS = """
import os, sys
from evalbench.monitor import logged
log = logged(sys.argv[1], linger=0.01)
log.record(request="parent")
assert log.flush(60)
for n in range(3):
    child = os.fork()
    if child == 0:
        log.record(request=f"child {n}")
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    log.record(request=f"parent after {n}")
    assert log.flush(60)
assert log.counts.failures == 0, str(log.counts)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="not on this platform")
def test_forks_leave_the_connections_of_their_parent_alone(log_place):
    subprocess.run([sys.executable, "-c", FORKS, str(log_place)], check=True, timeout=120)
    with Log(log_place) as kept:
        asked = sorted(row["request"] for row in kept.rows())
    assert asked == ["child 0", "child 1", "child 2", "parent", "parent after 0", "parent after 1", "parent after 2"]
