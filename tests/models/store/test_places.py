"""Replies and claims in a file and in PostgreSQL: the same of both, also for several processes at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from faultserver import fault_server
from generated import in_soak

from evalbench.cli import group
from evalbench.errors import BadInput
from evalbench.models.chat import keeping
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
from evalbench.models.store import server as module
from evalbench.models.store.places import VARIABLE, claims_at, place_for, place_of, replies_at

ASK = """
import sys
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
replies = collect([Request(f"question {i}") for i in range(int(sys.argv[2]))], sys.argv[1] + "#tiny", concurrency=8)
print(sum(not r.unscored for r in replies), sum(r.cached for r in replies), sum(bool(r.not_kept) for r in replies))
"""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def named(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where replies are kept, set for this process and those that it starts."""
    file = str(tmp_path / "replies.sqlite")
    name = file if request.param == "sqlite" else request.getfixturevalue("postgresql").database()
    monkeypatch.setenv(VARIABLE, name)
    return str(name)


def asking(url: str, n: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", ASK, url, str(n)], stdout=subprocess.PIPE, text=True)


def test_replies_are_kept_replaced_and_counted(named: str) -> None:
    with replies_at(place_of()) as one, replies_at(place_of()) as two:
        one.put("a", "m", "h", {"text": "first", "odd": 'é"\\\0'})
        two.put_many([("a", "m", "h", {"text": "other"}), ("b", "n", "h", {"text": "b"})])
        assert dict(one.get_many(["a", "b", "c"])) == {"a": {"text": "first", "odd": 'é"\\\0'}, "b": {"text": "b"}}
        two.put("a", "m", "h", {"text": "other"})
        assert dict(one.get_many(["a"])) == {"a": {"text": "other"}}
        assert dict(one.get_many([])) == {}
        assert [(e.model, e.host, e.replies) for e in one.entries()] == [("m", "h", 1), ("n", "h", 1)]
        assert abs(one.entries()[0].oldest - time.time()) < 60
        assert one.size() > 0
        assert one.prune(before=time.time() - 3600) == 0
        assert one.prune(model="m") == 1
        assert dict(two.get_many(["a", "b"])) == {"b": {"text": "b"}}
        assert one.prune() == 1


def test_a_thousand_keys_at_once(named: str) -> None:
    with replies_at(place_of()) as store:
        store.put_many((str(i), "m", "h", {"text": str(i)}) for i in range(1200))
        assert len(dict(store.get_many([str(i) for i in range(1500)]))) == 1200


def test_a_claim_has_one_owner(named: str) -> None:
    with claims_at(place_of()) as one, claims_at(place_of()) as two:
        assert one.take(["b", "a"]) == {"a", "b"}
        assert two.take(["a", "b", "c"]) == {"c"}
        assert one.take(["c"]) == set()
        two.release("a")  # not its own
        assert two.take(["a"]) == set()
        one.release("a")
        one.renew()
        assert two.take(["a", "b"]) == {"a"}
    with claims_at(place_of()) as three:
        assert three.take(["a", "b", "c"]) == {"a", "b", "c"}


@pytest.mark.slow
def test_a_claim_at_a_server_that_is_not_renewed_ends(postgresql, monkeypatch) -> None:
    monkeypatch.setattr(module, "LIFETIME_S", 0.5)
    place = place_of(postgresql.database())
    with claims_at(place) as one, claims_at(place) as two:
        one.take(["a"])
        for _ in range(4):
            time.sleep(0.2)
            one.renew()
            assert two.take(["a"]) == set()
        time.sleep(0.7)
        assert two.take(["a"]) == {"a"}
        assert one.take(["a"]) == set()


@pytest.mark.slow
@pytest.mark.soak
def test_four_processes_with_the_same_questions_pay_for_each_once(named: str) -> None:
    n = in_soak(5000, otherwise=150)
    with fault_server(delay=0.002) as server:
        processes = [asking(server.url, n) for _ in range(4)]
        said = [process.communicate(timeout=500)[0].split() for process in processes]
        assert server.stats()["requests"] == n
    assert [(answered, lost) for answered, _, lost in said] == [(str(n), "0")] * 4
    assert sum(int(cached) for _, cached, _ in said) == 3 * n
    with replies_at(place_of()) as store:
        assert sum(e.replies for e in store.entries()) == n


@pytest.mark.slow
def test_a_killed_process_loses_no_reply(postgresql, monkeypatch) -> None:
    """Its claims hold the others for up to half a minute."""
    monkeypatch.setenv(VARIABLE, postgresql.database())
    with fault_server(delay=0.05) as server:
        first = asking(server.url, 100)
        while server.stats()["requests"] < 40:
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        second = asking(server.url, 100)
        assert second.communicate(timeout=120)[0].split()[0] == "100"
        assert server.stats()["requests"] <= 100 + 8


@pytest.mark.slow
def test_a_server_that_goes_away_ends_nothing_and_is_used_again(postgresql, monkeypatch) -> None:
    name = postgresql.database()
    monkeypatch.setenv(VARIABLE, name)
    monkeypatch.setattr(keeping, "_failed", set())
    with fault_server() as server:
        asked = [Request(f"q{i}") for i in range(5)]
        assert not any(r.not_kept for r in collect(asked, server.url + "#tiny"))
        with replies_at(place_of()) as store:
            postgresql.ask(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{place_of().url.partition('?')[0].rpartition('/')[2]}'"
            )
            with pytest.raises(BadInput, match="the replies at postgresql:"):
                dict(store.get_many(["a"]))
            assert dict(store.get_many(["a"])) == {}
        assert all(r.cached for r in collect(asked, server.url + "#tiny"))


def test_a_place_that_cannot_be_used_is_one_message(tmp_path, monkeypatch) -> None:
    with pytest.raises(BadInput, match=r"where replies are kept: postgresql://…: a user or password"):
        place_of("postgresql://me:secret@db.example/x")
    monkeypatch.setenv(VARIABLE, "mysql://db.example/x")
    with pytest.raises(BadInput, match=rf"where replies are kept \({VARIABLE}\): mysql://…"):
        place_of()
    monkeypatch.setenv(VARIABLE, "postgresql://127.0.0.1:1/x?connect_timeout=2")
    with pytest.raises(BadInput, match="the replies at postgresql://127.0.0.1:1/x.*cannot be reached"):
        collect([Request("a")], "http://127.0.0.1:9/v1#tiny")
    said = CliRunner().invoke(group, ["models", "cache"])
    assert isinstance(said.exception, BadInput)
    assert "cannot be reached" in str(said.exception)


def test_what_the_option_cache_means(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    assert place_for(cache=False) is None
    assert place_for(cache=True).path == tmp_path / "replies.sqlite"
    assert place_for(tmp_path / "own.sqlite").path == tmp_path / "own.sqlite"
    assert place_for("postgresql://db.example/x").url == "postgresql://db.example/x"
    monkeypatch.setenv(VARIABLE, str(tmp_path / "shared.sqlite"))
    assert place_of().path == tmp_path / "shared.sqlite"
