"""Thousands of calls at every fault; a process killed in the middle; a key that must appear nowhere."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
import traceback

import pytest
from faultserver import fault_server
from generated import in_soak
from pydantic import BaseModel

from evalbench.models.accounting import accounting, calls_table
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
from evalbench.models.llm import EndpointFault
from evalbench.models.store.cache import ReplyCache

CALLS = in_soak(10_000, 600)
FAULTS = ("429", "500", "hang", "cut", "wrong-type", "broken-json", "other-schema", "no-choices", "long")


class Mark(BaseModel):
    mark: int
    why: str


@pytest.mark.slow
@pytest.mark.soak
def test_thousands_of_calls_at_five_percent_of_each_fault(fresh_cache):
    asked = [Request(f"item-{i}: is it so?", schema=Mark, item_id=f"item-{i}") for i in range(CALLS)]
    options = {"concurrency": 256, "timeout": 20.0, "max_retries": 2, "max_reasks": 1, "progress": False}
    with fault_server(rates=dict.fromkeys(FAULTS, 0.05), seed=11) as server:
        started = time.perf_counter()
        replies = collect(asked, server.url + "#tiny", **options)
        took = time.perf_counter() - started
        stats, total = server.stats(), accounting(replies)
        again = collect(asked, server.url + "#tiny", **{**options, "max_retries": 0})
        more = server.stats()["requests"] - stats["requests"]
    done = stats["done"]

    assert [reply.request.item_id for reply in replies] == [f"item-{i}" for i in range(CALLS)]
    scored = [reply for reply in replies if not reply.unscored]
    assert all(reply.value == Mark(mark=1, why=reply.request.item_id) for reply in scored)
    assert all(reply.value is None for reply in replies if reply.unscored)
    assert len(scored) + sum(total["unscored"].values()) == total["calls"] == CALLS
    assert set(total["unscored"]) == {
        "rate-limited", "server-error", "timeout", "connection", "bad-response", "unparsed"
    }  # fmt: skip
    assert 0.03 * CALLS < CALLS - len(scored) < 0.06 * CALLS

    assert stats["prompts"] == CALLS
    assert total["requests"] == stats["requests"] == sum(done.values())
    assert total["errors"] == {
        "rate-limited": done["429"],
        "server-error": done["500"],
        "timeout": done["hang"],
        "connection": done["cut"],
        "bad-response": done["wrong-type"] + done["broken-json"] + done["no-choices"],
    }
    assert done["other-schema"] == total["reasks"] + total["unscored"]["unparsed"]
    assert total["requests"] == CALLS + total["retries"] + total["reasks"]
    answered = done["ok"] + done["long"] + done["other-schema"]
    assert (total["tokens_in"], total["tokens_out"]) == (11 * answered, 7 * answered)

    kept = len(scored) + total["unscored"]["unparsed"]
    with ReplyCache() as cache:
        assert sum(row.replies for row in cache.entries()) >= kept
    repeated = accounting(again)
    assert repeated["cache_hits"] == kept
    assert repeated["requests"] == more
    print(f"{total['requests']} requests for {CALLS} calls in {took:.1f} s; unscored: {total['unscored']}")


THOUSAND = """
import sys
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
replies = collect([Request(f"question {i}") for i in range(1000)], sys.argv[1] + "#tiny", concurrency=16)
assert [reply.text for reply in replies] == ["fine"] * 1000
"""


@pytest.mark.slow
def test_killed_in_the_middle_of_a_thousand_calls(fresh_cache):
    with fault_server(delay=0.05) as server:
        process = subprocess.Popen([sys.executable, "-c", THOUSAND, server.url])
        while server.stats()["requests"] < 300:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        while server.stats()["under_way"]:
            time.sleep(0.05)
        seen = server.stats()["requests"]
        with ReplyCache() as cache:
            kept = sum(row.replies for row in cache.entries())
        in_flight = seen - kept
        assert 0 <= in_flight <= 16
        assert seen < 1000
        subprocess.run([sys.executable, "-c", THOUSAND, server.url], check=True, timeout=240)
        assert server.stats()["requests"] == 1000 + in_flight


def test_a_key_of_the_environment_appears_nowhere(fresh_cache, tmp_path, monkeypatch, caplog, capfd):
    keys = {
        name: f"sk-invented-{name.lower()}-9f3a" for name in ("EVALBENCH_API_KEY", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY")
    }
    for name, key in keys.items():
        monkeypatch.setenv(name, key)
    caplog.set_level(logging.DEBUG)
    run = tmp_path / "run"
    run.mkdir()
    said = []
    with fault_server() as server:
        name = server.url + "#tiny"
        prompts = [
            "echo it do:echo-key",
            "do:403",
            "do:500",
            "do:429",
            "do:wrong-type",
            "do:cut",
            keys["OPENAI_API_KEY"],
        ]
        replies = collect([Request(p) for p in prompts], name, max_retries=0, progress=True)
        for reason in ("do:401", "do:404"):
            with pytest.raises(EndpointFault) as refused:
                collect([Request(reason)], name)
            frames = traceback.StackSummary.extract(traceback.walk_tb(refused.tb), capture_locals=True)
            assert len(frames) > 3
            ours = [frame for frame in frames if frame.filename != __file__]
            said += [str(refused.value), repr(refused.value), *(repr(frame.locals) for frame in ours)]
        assert server.stats()["authorizations"] == {f"Bearer {keys['EVALBENCH_API_KEY']}": len(prompts) + 2}
    assert replies[0].text == "you sent Bearer [key removed]"
    assert "you sent Bearer [key removed]" in replies[1].detail
    table = calls_table(replies)
    table.to_parquet(run / "calls.parquet", compression=None)
    (run / "run.json").write_text(json.dumps(accounting(replies)))
    said += [table.to_csv(), caplog.text, *capfd.readouterr()]
    said += [repr(reply) for reply in replies[:-1]]
    assert "HTTP Request: POST" in caplog.text
    for key in keys.values():
        assert not [text for text in said if key in text]
        for folder, _, files in os.walk(tmp_path):
            for file in files:
                with open(os.path.join(folder, file), "rb") as opened:
                    assert key.encode() not in opened.read(), file
