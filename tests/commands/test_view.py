"""``evalbench view``: a server of this machine's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

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


def viewing(*asked: str, **more: Any) -> subprocess.Popen[str]:
    whole = [sys.executable, "-m", "evalbench.cli", "view", *asked, "--no-open"]
    return subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def address_of(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    return server.stdout.readline().strip()


def test_it_answers_until_it_is_interrupted(run: Path) -> None:
    server = viewing(str(run), "--items", "model=heron-2b")
    try:
        address = address_of(server)
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


def test_a_folder_of_reports_is_that_of_all_its_runs(run: Path) -> None:
    server = viewing(str(run.parent.parent))
    try:
        base, _, fragment = address_of(server).partition("#")
        assert not fragment
        with urllib.request.urlopen(f"{base}runs", timeout=30) as answer:
            assert b"confidence/run" in answer.read()
    finally:
        server.kill()


@pytest.mark.slow
def test_two_at_once_answer_apart_and_each_by_its_own_token(run: Path) -> None:
    servers = [viewing(str(run)), viewing(str(run))]
    try:
        bases = [address_of(server).partition("#")[0] for server in servers]
        (first, _), (second, other) = [base.removesuffix("/").rsplit("/", 1) for base in bases]
        assert first != second
        for base in bases:
            with urllib.request.urlopen(f"{base}runs", timeout=30) as answer:
                assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{first}/{other}/runs", timeout=30)
    finally:
        for server in servers:
            server.kill()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="terminals are those of POSIX")
def test_it_ends_when_its_terminal_goes(run: Path) -> None:
    import pty

    child, terminal = pty.fork()
    if not child:
        os.execv(sys.executable, [sys.executable, "-m", "evalbench.cli", "view", str(run), "--no-open"])
    said = b""
    while b"Ctrl-C" not in said:
        said += os.read(terminal, 1000)
    base = said.decode().split("#")[0].strip()
    with urllib.request.urlopen(f"{base}runs", timeout=30) as answer:
        assert answer.status == 200
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WIFEXITED(status)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{base}runs", timeout=30)


def test_a_token_of_a_file_is_asked_for_and_not_shown(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("kingfisher-over-water-7\n", encoding="utf-8")
    file.chmod(0o600)
    server = viewing(str(run), "--token-file", str(file), "--host", "localhost")
    try:
        address = address_of(server)
        assert "/TOKEN/#run=" in address
        base = address.partition("TOKEN/")[0]
        with urllib.request.urlopen(f"{base}kingfisher-over-water-7/runs", timeout=30) as answer:
            assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{base}TOKEN/runs", timeout=30)
        server.send_signal(signal.SIGTERM)
        assert "kingfisher" not in "".join(server.communicate(timeout=30))
    finally:
        server.kill()


@pytest.mark.parametrize("host", ["10.0.0.5", "example.org", "192.168.1.7", "fe80::1"])
def test_an_address_that_others_reach_needs_a_token_of_a_file(run: Path, host: str) -> None:
    found = CliRunner().invoke(view, [str(run), "--host", host, "--no-open"])
    assert f"--host {host} is open to other machines: --token-file names a file" in str(found.exception)


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        ("short", 0o600, "the token is 16 to 200 letters"),
        ("a token with blanks in it", 0o600, "the token is 16 to 200 letters"),
        ("kingfisher-over-water-7", 0o644, "others may read it: chmod 600"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="who may read a file is asked of POSIX")
def test_a_token_that_can_be_guessed_or_read_is_refused(
    run: Path, tmp_path: Path, text: str, mode: int, message: str
) -> None:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    found = CliRunner().invoke(view, [str(run), "--token-file", str(file), "--no-open"])
    assert message in str(found.exception)
    assert text not in str(found.exception)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["no-such-run"], "neither a folder nor the id of a run"),
        (["--items", "a=1"], "--items is a filter of one run"),
        (["--host", "0.0.0.0"], "--host is one address of this machine"),
        (["--token-file", "no-such-file"], "--token-file no-such-file: cannot be read (No such file or directory)"),
    ],
)
def test_what_cannot_be_shown_is_refused(asked: list[str], message: str) -> None:
    found = CliRunner().invoke(view, [*asked, "--no-open"])
    assert message in str(found.exception)


def test_a_filter_that_cannot_be_read_is_refused_before_the_server_starts(run: Path) -> None:
    found = CliRunner().invoke(view, [str(run), "--items", "nowhere=1", "--no-open"])
    assert "there is no column 'nowhere'" in str(found.exception)
