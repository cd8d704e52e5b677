"""A log lives through the ends of a process: exit, SIGTERM, forks of every kind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from evalbench.monitor.store import LogStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="not on this platform")
HEAD = """
import json, os, signal, sys, time
from evalbench.monitor import logged

def sink(table, rows):
    with open(os.environ["FILE"], "a") as file:
        file.writelines(json.dumps([table, os.getpid(), row], default=str) + "\\n" for row in rows)

log = logged(sink, linger=LINGER)
"""


def start(tmp_path: Path, body: str, linger: float = 30) -> subprocess.Popen[str]:
    code = HEAD.replace("LINGER", str(linger)) + textwrap.dedent(body)
    env = {**os.environ, "FILE": str(tmp_path / "rows.jsonl")}
    return subprocess.Popen(
        [sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(tmp_path: Path, body: str, code: int = 0, linger: float = 30) -> tuple[list[Any], str]:
    """The rows that a script logged, and what it said."""
    process = start(tmp_path, body, linger)
    said = "".join(process.communicate(timeout=60))
    assert process.returncode == code, said
    return rows(tmp_path), said


def rows(tmp_path: Path) -> list[Any]:
    file = tmp_path / "rows.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def requests(found: list[Any]) -> list[str]:
    return [row["request"] for table, _, row in found if table == "interactions"]


def test_the_end_of_a_process_writes_what_waits(tmp_path):
    found, said = run(tmp_path, "log.record(request='a')")
    assert requests(found) == ["a"]
    assert said == ""


def test_an_uncaught_exception_writes_what_waits(tmp_path):
    found, said = run(tmp_path, "log.record(request='a'); raise SystemError('own')", code=1)
    assert requests(found) == ["a"]
    assert said.strip().endswith("SystemError: own")


def test_a_store_that_hangs_holds_the_end_up_for_a_bounded_time(tmp_path):
    begun = time.monotonic()
    body = """
        log = logged(lambda table, rows: time.sleep(60), exit_timeout=0.3)
        log.record(request='a')
    """
    found, said = run(tmp_path, body)
    assert found == []
    assert "log of interactions: 0 of 1 written, 1 lost (not written at exit)" in said
    assert time.monotonic() - begun < 20


def test_sigterm_writes_what_waits_and_ends_the_process_as_before(tmp_path):
    process = start(tmp_path, "log.record(request='a'); print('ready', flush=True); time.sleep(60)")
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    assert process.wait(30) == -signal.SIGTERM
    assert requests(rows(tmp_path)) == ["a"]


def test_a_handler_of_the_application_stays(tmp_path):
    body = """
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
        log = logged(sink, linger=30)
        log.record(request='a')
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    """
    found, _ = run(tmp_path, body, code=7)
    assert requests(found) == ["a"]


def test_a_server_that_hands_the_signal_back_at_its_end(tmp_path):
    """As uvicorn does: its own handler while it serves, then the one before, to which it raises the signal again."""
    body = """
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        log.record(request='a')
        os.kill(os.getpid(), signal.SIGTERM)
        log.record(request='while it shuts down')
        signal.signal(signal.SIGTERM, before)
        signal.raise_signal(signal.SIGTERM)
        time.sleep(60)
    """
    found, _ = run(tmp_path, body, code=-signal.SIGTERM)
    assert requests(found) == ["a", "while it shuts down"]


@pytest.mark.parametrize(
    "after", [0.1, pytest.param(0.02, marks=pytest.mark.slow), pytest.param(0.2, marks=pytest.mark.slow)]
)
def test_a_fork_while_the_store_is_opened_for_the_first_time(tmp_path, after):
    """As gunicorn --preload forks its workers: a half imported module in a child would never write."""
    store = tmp_path / "log.sqlite"
    body = f"""
        log = logged({str(store)!r}, linger=0)
        log.record(request='parent')
        time.sleep({after})
        for i in range(2):
            if os.fork() == 0:
                log.record(request=f'child {{i}}')
                sys.exit(0)
        for _ in range(2):
            assert os.wait()[1] == 0
    """
    _, said = run(tmp_path, body)
    assert said == ""
    with LogStore(store) as log:
        assert sorted(row["request"] for row in log.rows()) == ["child 0", "child 1", "parent"]


def test_a_store_that_hangs_holds_a_fork_up_for_a_bounded_time(tmp_path):
    body = """
        waits = iter([0, 60])
        log = logged(lambda table, rows: time.sleep(next(waits)), linger=0, exit_timeout=0)
        for _ in range(2):
            log.record(request='a')
            time.sleep(0.1)
        begun = time.monotonic()
        if os.fork() == 0:
            os._exit(0)
        os.wait()
        print(time.monotonic() - begun)
        os._exit(0)
    """
    _, said = run(tmp_path, body)
    assert 0.2 < float(said) < 3


def test_a_fork_writes_its_own_rows_once(tmp_path):
    body = """
        log.record(request='parent')
        child = os.fork()
        log.record(request='child' if child == 0 else 'parent again')
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
    """
    found, said = run(tmp_path, body)
    assert sorted(requests(found)) == ["child", "parent", "parent again"]
    assert len({pid for _, pid, _ in found}) == 2
    assert len({row["id"] for *_, row in found}) == 3
    assert said == ""


@pytest.mark.parametrize("way", ["fork", "forkserver", "spawn"])
def test_workers_of_multiprocessing_write_their_rows(tmp_path, way):
    script = tmp_path / "app.py"
    body = """
        def work(n):
            log.record(request=f'worker {n}')

        if __name__ == '__main__':
            import multiprocessing
            log.record(request='parent')
            context = multiprocessing.get_context(sys.argv[1])
            workers = [context.Process(target=work, args=(n,)) for n in range(3)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
    """
    script.write_text(HEAD.replace("LINGER", "30") + textwrap.dedent(body))
    env = {**os.environ, "FILE": str(tmp_path / "rows.jsonl")}
    done = subprocess.run(
        [sys.executable, str(script), way], env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert sorted(requests(rows(tmp_path))) == ["parent", "worker 0", "worker 1", "worker 2"]


def test_a_fork_while_the_log_is_busy_does_not_wait_for_a_lock(tmp_path):
    body = """
        import threading
        stop = threading.Event()
        def busy():
            while not stop.is_set():
                log.record(request='x' * 50)
        threads = [threading.Thread(target=busy) for _ in range(2)]
        for thread in threads: thread.start()
        for _ in range(8):
            child = os.fork()
            if child == 0:
                log.record(request='child')
                log.close()
                os._exit(0 if log.counts.written == 1 else 9)
            assert os.waitpid(child, 0)[1] == 0
        stop.set()
        for thread in threads: thread.join()
    """
    found, _ = run(tmp_path, body, linger=0.01)
    assert requests(found).count("child") == 8
