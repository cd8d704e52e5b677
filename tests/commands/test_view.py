"""``evalbench view``: a server of this machine's own."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from studied import whole

from evalbench.commands.view import view
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
pytest.importorskip("uvicorn", reason="peer not importable: uvicorn")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "confidence" / "run"
    record(whole("confidence"), folder)
    return folder


def test_it_answers_until_it_is_interrupted(run: Path) -> None:
    asked = [sys.executable, "-m", "evalbench.cli", "view", str(run), "--items", "model=heron-2b", "--no-open"]
    server = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        base, _, fragment = address.partition("#")
        assert base.startswith("http://127.0.0.1:")
        assert fragment == "run=confidence%2Frun&where=model%3Dheron-2b"
        with urllib.request.urlopen(f"{base}runs", timeout=30) as answer:
            assert b"confidence/run" in answer.read()
        server.send_signal(signal.SIGINT)
        _, said = server.communicate(timeout=30)
        assert server.returncode in (130, 0)  # 0: begun in the background of a shell, where Ctrl-C is ignored at first
        assert "Traceback" not in said
    finally:
        server.kill()


@pytest.mark.parametrize(
    ("asked", "message"),
    [(["no-such-run"], "neither a folder nor the id of a run"), (["--items", "a=1"], "--items is a filter of one run")],
)
def test_what_cannot_be_shown_is_refused(asked: list[str], message: str) -> None:
    found = CliRunner().invoke(view, [*asked, "--no-open"])
    assert message in str(found.exception)


def test_a_filter_that_cannot_be_read_is_refused_before_the_server_starts(run: Path) -> None:
    found = CliRunner().invoke(view, [str(run), "--items", "nowhere=1", "--no-open"])
    assert "there is no column 'nowhere'" in str(found.exception)
