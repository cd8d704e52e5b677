"""What evalbench's own model client asks, logged by the hook that it is handed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from chat import chat_endpoint, solve
from faultserver import TOKENS_IN, TOKENS_OUT, fault_server

from evalbench.errors import BadInput
from evalbench.models.chat.collect import collect
from evalbench.models.chat.hearing import HEARER, heard
from evalbench.models.exchange import Request
from evalbench.readers.log_store.log import Log

SECRET = "sk-hunter2-hunter2-x9"


def test_replies_that_were_sent_for_are_logged(kept, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_API_KEY", SECRET)
    asked = [Request(text, item_id=text, purpose="answer") for text in ("one", "do:refusal", "do:echo-key", "do:503*1")]
    with fault_server() as server:
        for _ in range(2):  # the second time all come from the cache
            with heard(kept.log.reply):
                replies = collect(asked, f"{server.url}#tiny", cache=tmp_path / "c.sqlite")
    assert [reply.unscored for reply in replies] == ["", "refused", "", ""]
    rows = {row["request"]: row for row in kept.rows}
    assert len(kept.rows) == 4
    one = rows["one"]
    assert (one["response"], one["model"], one["error"]) == ("fine", "tiny-2026", None)
    assert (one["input_tokens"], one["output_tokens"]) == (TOKENS_IN, TOKENS_OUT)
    assert one["stages"] == {"purpose": "answer", "item": "one", "finish": "stop"}
    assert one["prompt_version"] == asked[0].prompt_hash
    assert (rows["do:refusal"]["response"], rows["do:refusal"]["error"]) == (None, "refused")
    assert rows["do:503*1"]["stages"]["retries"] == 1
    assert "hunter2" not in str(kept.tables)


def test_a_function_that_is_handed_in(server_says_fine):
    heard_of = []
    collect([Request("one"), Request("one"), Request("two")], server_says_fine, cache=False, on_reply=heard_of.append)
    assert sorted(reply.request.prompt_text for reply in heard_of) == ["one", "two"]


@pytest.fixture
def server_says_fine():
    with fault_server() as server:
        yield f"{server.url}#tiny"


@pytest.mark.parametrize("named", ["nothing", "no.such.module:f", "json:nothing", "json:__doc__"])
def test_a_name_in_the_environment_that_is_no_function(monkeypatch, named):
    monkeypatch.setenv(HEARER, named)
    with pytest.raises(BadInput, match=f"{HEARER}={named}: "):
        collect([Request("one")], "http://127.0.0.1:9/v1#tiny", cache=False)


@pytest.mark.slow
def test_a_run_logs_into_a_store(tmp_path):
    command = [sys.executable, "-m", "evalbench.cli", "run", "cot_levels", "--max-calls", "3", "--json"]
    env = {**os.environ, "EVALBENCH_CACHE": str(tmp_path / "cache")}
    with chat_endpoint(solve) as endpoint:
        command += ["--model", endpoint.name, "--out", str(tmp_path), "--log", "log.sqlite"]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "ok"
    rows = list(Log(tmp_path / "log.sqlite").rows())
    assert sorted(row["request"] for row in rows) == sorted(endpoint.answered)
    assert len(rows) == 3
    refused = subprocess.run(
        [*command[:-1], "redis://host/1"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "a log store is a file of SQLite" in refused.stderr
