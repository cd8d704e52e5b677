"""Processes with the same question at the same time pay for it once, and none waits on the dead."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from faultserver import fault_server

from evalbench.errors import BadInput
from evalbench.models.chat.collect import collect, endpoint_identity
from evalbench.models.exchange import Request
from evalbench.models.llm import model
from evalbench.models.store import claims as module
from evalbench.models.store.claims import Claims

ASK = """
import sys
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
replies = collect([Request(f"question {i}") for i in range(int(sys.argv[2]))], sys.argv[1] + "#tiny", concurrency=4)
print(sum(not r.unscored for r in replies), sum(r.cached for r in replies))
"""


@pytest.fixture
def file(fresh_cache):
    return fresh_cache / "replies.sqlite"


def asking(server, n):
    return subprocess.Popen([sys.executable, "-c", ASK, server.url, str(n)], stdout=subprocess.PIPE, text=True)


def kept_claims(file):
    connection = sqlite3.connect(file)
    try:
        return connection.execute("SELECT COUNT(*) FROM claims").fetchone()[0]
    finally:
        connection.close()


def test_a_damaged_file_is_told(file):
    file.parent.mkdir()
    file.write_bytes(b"not a database, " * 100)
    with pytest.raises(BadInput, match="is damaged"):
        Claims(file)


@pytest.mark.parametrize(
    ("column", "value"),
    [("expires", "soon"), ("expires", b"\xff"), ("expires", 1e308), ("process", "mine"), ("process", -1), ("process", 2**62),
     ("process", b"\xff"), ("process", 1.5e300)],
)  # fmt: skip
def test_a_damaged_claim_holds_nobody(file, column, value):
    with Claims(file) as other:
        assert other.take(["a"]) == {"a"}
        connection = sqlite3.connect(file)
        with connection:
            connection.execute(f"UPDATE claims SET {column}=?", (value,))
        connection.close()
        with Claims(file) as mine:
            assert mine.take(["a"]) == {"a"}


def test_a_claim_has_one_owner(file):
    with Claims(file) as one, Claims(file) as two:
        assert one.take(["a", "b"]) == {"a", "b"}
        assert two.take(["a", "b", "c"]) == {"c"}
        assert one.take(["c"]) == set()
        two.release("a")  # not its own
        assert two.take(["a"]) == set()
        one.release("a")
        assert two.take(["a", "b"]) == {"a"}
    with Claims(file) as three:
        assert three.take(["a", "b", "c"]) == {"a", "b", "c"}


@pytest.mark.slow
def test_a_claim_that_is_not_renewed_ends(file, monkeypatch):
    monkeypatch.setattr(module, "LIFETIME_S", 0.5)
    with Claims(file) as one, Claims(file) as two:
        one.take(["a", "b"])
        for _ in range(4):
            time.sleep(0.2)
            one.renew()
            assert two.take(["a"]) == set()
        time.sleep(0.6)
        assert two.take(["a"]) == {"a"}
        one.release("a")  # it is no longer its own
        assert one.take(["a"]) == set()


@pytest.mark.parametrize("waited_for", [True, False])
def test_a_claim_of_a_killed_process_is_free(file, waited_for):
    code = f"import time; from pathlib import Path; from evalbench.models.store.claims import Claims; c = Claims(Path({str(file)!r})); c.take(['a']); print(1, flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    process.stdout.readline()
    with Claims(file) as mine:
        assert mine.take(["a"]) == set()
        process.kill()
        if waited_for:
            process.wait()
        else:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie
        assert mine.take(["a"]) == {"a"}
    process.wait()
    process.stdout.close()


@pytest.mark.slow
def test_processes_that_ask_the_same_pay_once(file):
    with fault_server(delay=0.05) as server:
        processes = [asking(server, 150) for _ in range(3)]
        said = [process.communicate(timeout=120)[0].split() for process in processes]
        assert server.stats()["requests"] == 150
    assert [answered for answered, _ in said] == ["150"] * 3
    assert sum(int(cached) for _, cached in said) == 300
    assert kept_claims(file) == 0


@pytest.mark.slow
def test_a_killed_process_keeps_nobody_waiting(file):
    with fault_server(delay=0.05) as server:
        first = asking(server, 200)
        while server.stats()["requests"] < 40:
            time.sleep(0.02)
        second = asking(server, 200)
        while server.stats()["requests"] < 80:
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        started = time.monotonic()
        assert second.communicate(timeout=120)[0].split()[0] == "200"
        assert time.monotonic() - started < module.LIFETIME_S
        assert server.stats()["requests"] <= 200 + 4
        first.communicate()
    assert kept_claims(file) == 0


def test_what_another_gives_up_is_asked(file):
    with fault_server() as server:
        request, name = Request("given up"), server.url + "#tiny"
        with Claims(file) as other:
            other.take([request.key(endpoint_identity(model(name)))])
            free = threading.Event()

            def ask():
                replies.extend(collect([Request("mine"), request], name))
                free.set()

            replies: list = []
            thread = threading.Thread(target=ask)
            thread.start()
            while server.stats()["requests"] < 1:
                time.sleep(0.02)
            assert not free.wait(1)
            assert server.stats()["requests"] == 1
            other.release(request.key(endpoint_identity(model(name))))
            thread.join(20)
        assert [(r.text, r.cached) for r in replies] == [("fine", False)] * 2


@pytest.mark.slow
def test_a_call_that_fails_is_given_up_at_once(file):
    with fault_server(delay=0.2) as server:
        name = server.url + "#tiny"
        asked = [Request("do:400"), *(Request(f"slow {i}") for i in range(20))]
        thread = threading.Thread(target=collect, args=(asked, name), kwargs={"concurrency": 1})
        thread.start()
        while server.stats()["requests"] < 2:
            time.sleep(0.02)
        (reply,) = collect(asked[:1], name)
        assert (reply.unscored, reply.requests) == ("rejected", 1)
        assert thread.is_alive()
        thread.join(60)


def test_without_a_cache_nothing_is_claimed(file):
    with fault_server() as server:
        collect([Request("a")], server.url + "#tiny", cache=False)
    assert not file.exists()
