"""One reply never ends the others: every fault ends as a scored or an unscored item, and what was answered is kept."""

from __future__ import annotations

import json
import socketserver
import threading
from contextlib import contextmanager, suppress

import numpy as np
import openai
import pandas as pd
import pytest
from faultserver import MODES
from generated import one_in_twenty
from odd_replies import VECTORS, odd_reply
from pydantic import BaseModel, field_validator

from evalbench.core.unscored import REASONS
from evalbench.errors import BadInput
from evalbench.models.accounting import accounting, calls_table
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
from evalbench.models.llm import EndpointFault, ask
from evalbench.models.similarity import endpoint_embed
from evalbench.models.similarity.endpoint_embed import endpoint_encoder
from evalbench.models.store.cache import ReplyCache
from evalbench.models.wire import transport
from evalbench.readers.dataset import load
from evalbench.studies import cot_levels, text_metrics

ONCE = {"max_retries": 0, "max_reasks": 0, "progress": False}


class Mark(BaseModel):
    mark: int


def test_every_fault_mode_ends_as_a_scored_or_an_unscored_item(server, fresh_cache, tmp_path):
    asked = [Request(f"do:{mode}", logprobs=1, item_id=mode) for mode in MODES]
    replies = collect(asked, server.url + "#tiny", concurrency=4, timeout=2.0, **ONCE)
    assert {reply.request.item_id: reply.unscored for reply in replies} == MODES
    assert all(reply.detail for reply in replies if reply.unscored)
    assert all(reply.text for reply in replies if not reply.unscored and "empty" not in reply.request.item_id
               and reply.request.item_id != "think-only")  # fmt: skip
    calls_table(replies).to_parquet(tmp_path / "calls.parquet")
    json.dumps(accounting(replies), allow_nan=False)


@pytest.mark.slow
def test_every_fault_mode_ends_so_with_a_schema_too(server, fresh_cache):
    asked = [Request(f"do:{mode}", schema=Mark, item_id=mode) for mode in MODES]
    replies = collect(asked, server.url + "#tiny", concurrency=4, timeout=2.0, **ONCE)
    assert all(bool(reply.unscored) == (reply.value is None) for reply in replies)
    held = {"ok", "fenced", "long"}
    assert {reply.request.item_id for reply in replies if reply.value} == held
    without = {"no-text", "tool-call", "cut", ""}
    assert all(
        reply.unscored == ("unparsed" if MODES[mode] in without else MODES[mode])
        for mode, reply in zip(MODES, replies, strict=True)
        if mode not in held
    )


@pytest.mark.parametrize("mode", [mode for mode, why in MODES.items() if why in ("no-text", "tool-call", "cut")])
def test_a_reply_without_a_text_is_no_answer_and_not_kept(server, fresh_cache, mode):
    first, second = (ask(f"do:{mode} twice", server.url + "#tiny") for _ in range(2))
    for reply in (first, second):
        assert (reply.unscored, reply.text, reply.cached, reply.key) == (MODES[mode], "", False, "")
        assert (reply.requests, reply.retries, reply.tokens_in) == (1, 0, 11)
    with ReplyCache() as cache:
        assert cache.entries() == []


@pytest.mark.parametrize("mode", ["empty", "think-only"])
def test_an_empty_text_that_ended_normally_is_an_answer(server, fresh_cache, mode):
    first, second = (ask(f"do:{mode} and kept", server.url + "#tiny") for _ in range(2))
    assert [(r.unscored, r.text, r.cached) for r in (first, second)] == [("", "", False), ("", "", True)]


def test_replies_without_a_text_are_counted_by_reason(server):
    modes = ("ok", "null", "tool-call", "think-cut", "empty-length", "500", "empty")
    replies = collect([Request(f"do:{m} noted") for m in modes], server.url + "#tiny", cache=False, **ONCE)
    assert accounting(replies)["unscored"] == {"cut": 2, "no-text": 1, "server-error": 1, "tool-call": 1}


def test_a_study_of_such_replies_scores_the_others_and_notes_them(server, fresh_cache):
    modes = ["ok", "null", "tool-call", "think-cut", "empty"]
    frame = pd.DataFrame({"id": modes, "reference": ["fine"] * 5, "question": [f"do:{m} study" for m in modes]})
    result = text_metrics.evaluate(
        {"items": frame}, metrics=["f1_score"], prompt="{{ question }}", model=server.url + "#tiny", n_resamples=100
    )
    items = result.items.set_index("id")
    assert items["f1_score"].fillna(-1).to_dict() == {
        "ok": 1.0, "null": -1.0, "tool-call": -1.0, "think-cut": -1.0, "empty": 0.0,
    }  # fmt: skip
    assert items["unscored"].to_dict() == {mode: MODES[mode] for mode in modes}
    assert any("3 of 5" in note and "tool call" in note and "no text" in note for note in result.notes)


def test_chains_of_thought_without_a_text_are_unscored_too(server, fresh_cache):
    modes = ["ok", "absent", "tool-stop", "empty-length", "empty"]
    frame = pd.DataFrame(
        {"id": modes, "question": [f"do:{m} What is 1 + 1?" for m in modes], "reference": "1 + 1 = <<1+1=2>>2\n#### 2"}
    )
    result = cot_levels.evaluate(load({"items": frame}, cot_levels.SCHEMA), model=server.url + "#tiny", n_resamples=100)
    items = result.items.set_index("id")
    assert items["unscored"].to_dict() == {mode: MODES[mode] for mode in modes}
    assert (items["correct"].isna() == (items["unscored"] != "")).all()
    assert any("3 of 5" in note and "tool call" in note and "no text" in note for note in result.notes)


@contextmanager
def wire(replies):
    """A loopback endpoint for tests that writes the bytes of the reply whose number the prompt names."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            head = b"".join(iter(self.rfile.readline, b"\r\n"))
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            asked = json.loads(self.rfile.read(length))
            prompt = asked["messages"][0]["content"] if "messages" in asked else asked["input"][0]
            with suppress(ConnectionError):  # a client need not read to the end
                self.wfile.write(raw(replies[int(prompt.split()[0])]))

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1#tiny"
        server.shutdown()


def raw(reply) -> bytes:
    headers = {"Connection": "close", "Content-Length": str(len(reply.body)), **reply.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {reply.status} X\r\n{head}\r\n".encode("latin-1") + reply.body


@pytest.mark.generated
def test_random_replies_end_as_scored_or_unscored_items(tmp_path, fresh_cache):
    numbers = one_in_twenty(range(200))
    with wire({number: odd_reply(number) for number in numbers}) as name:
        for schema in (None, Mark):
            asked = [Request(f"{n} random", logprobs=2, schema=schema, item_id=str(n)) for n in numbers]
            replies = collect(asked, name, timeout=10, **ONCE)
            again = collect(asked, name, timeout=10, **ONCE)
            assert [(r.unscored, r.text) for r in again] == [(r.unscored, r.text) for r in replies]
            assert {reply.unscored for reply in replies} <= {"", *REASONS}
            calls_table(replies).to_parquet(tmp_path / "calls.parquet")
            json.dumps(accounting(replies), allow_nan=False)


@pytest.mark.generated
def test_random_replies_to_embeddings_are_vectors_or_one_message(monkeypatch):
    monkeypatch.setattr(endpoint_embed, "_RETRIES", 0)
    numbers = one_in_twenty(range(200))
    with wire({number: odd_reply(number, VECTORS) for number in numbers}) as name:
        ended = [embedded(name, [f"{number} a", f"{number} b"]) for number in numbers]
    assert all(
        "gave no embeddings" in end if isinstance(end, str) else len(end) == 2 and np.isfinite(end).all()
        for end in ended
    )


def embedded(name, texts):
    """The vectors, or why there are none."""
    try:
        return endpoint_encoder(name)(texts)
    except BadInput as refused:
        return str(refused)


def test_what_nobody_thought_of_is_one_bad_response_without_the_key(server, fresh_cache, monkeypatch):
    """A fake: reading fails at one reply in a way that no code of ours expects."""
    monkeypatch.setenv("EVALBENCH_API_KEY", "sk-invented-net-9f3a")
    read = transport._completion

    def fails_once(body, started, redact, **more):
        if b"fine" not in body:
            raise ZeroDivisionError("with sk-invented-net-9f3a in it")
        return read(body, started, redact, **more)

    monkeypatch.setattr(transport, "_completion", fails_once)
    asked = [Request("do:other-schema"), *(Request(f"net {i}") for i in range(20))]
    replies = collect(asked, server.url + "#tiny", **ONCE)
    assert replies[0].unscored == "bad-response"
    assert replies[0].detail == "it cannot be read: ZeroDivisionError: with [key removed] in it"
    assert all(reply.text == "fine" and reply.key for reply in replies[1:])


def test_an_exception_of_the_client_while_it_reads_is_a_bad_response_too(server, monkeypatch):
    """A fake: the client's own pass over an error fails."""

    def fails(*_):
        raise LookupError("no such codec")

    monkeypatch.setattr(openai.AsyncOpenAI, "_make_status_error_from_response", fails)
    replies = collect([Request("do:500"), Request("net")], server.url + "#tiny", cache=False, **ONCE)
    assert [(r.unscored, r.detail) for r in replies] == [
        ("bad-response", "it cannot be read: LookupError: no such codec"), ("", ""),
    ]  # fmt: skip


def test_what_is_faulty_before_it_is_sent_still_raises(server, monkeypatch):
    """A fake: a body that JSON cannot hold is a fault of ours, not of a reply."""
    from evalbench.models.chat import calls

    monkeypatch.setattr(calls.shapes, "payload", lambda *_: {"messages": [{"content": ""}], "model": object()})
    with pytest.raises(TypeError):
        collect([Request("a")], server.url + "#tiny", cache=False, **ONCE)


def test_a_validator_that_fails_ends_one_item_only(server, fresh_cache):
    class Divided(BaseModel):
        mark: int

        @field_validator("mark")
        @classmethod
        def part(cls, mark: int) -> float:
            return mark / 0

    replies = collect([Request("a", schema=Divided), Request("b")], server.url + "#tiny", **ONCE)
    assert [(r.unscored, bool(r.key)) for r in replies] == [("bad-response", False), ("", True)]
    assert replies[0].detail.startswith("it cannot be read: ZeroDivisionError")


@pytest.mark.parametrize("key", ["sk-invented\n", "sk-инвентед-0001"])
def test_a_key_that_is_none_is_told_without_its_value(monkeypatch, key):
    monkeypatch.setenv("EVALBENCH_API_KEY", key)
    with pytest.raises(EndpointFault, match="the key in EVALBENCH_API_KEY holds characters") as refused:
        ask("a", "http://127.0.0.1:9/v1#tiny", cache=False)
    assert key.strip() not in str(refused.value)


def test_headers_for_openai_go_to_openai_only(scripted, monkeypatch):
    secret = {
        "OPENAI_ORG_ID": "org-invented", "OPENAI_PROJECT_ID": "proj-invented",
        "OPENAI_CUSTOM_HEADERS": "X-Gateway: gate-invented\nAuthorization: Bearer other-invented",
        "OPENAI_API_KEY": "sk-invented-0001", "AZURE_OPENAI_API_KEY": "sk-invented-0002", "GEMINI_API_KEY": "sk-invented-0003",
        "OPENAI_BASE_URL": scripted.url, "AZURE_OPENAI_ENDPOINT": scripted.url.removesuffix("/v1"),
        "OLLAMA_HOST": scripted.url.removesuffix("/v1"), "EVALBENCH_API_KEY": "sk-invented-0004",
    }  # fmt: skip
    for name, value in secret.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("evalbench.models.names._GEMINI", scripted.url)
    scripted.says("fine")

    def sent(name: str) -> str:
        assert ask("a", name, cache=False, max_retries=0).text == "fine"
        return str(scripted.asked[-1][1])

    assert all(word in sent("openai/a") for word in ("org-invented", "proj-invented", "gate-invented"))
    others = [scripted.name, "azure/a", "gemini/a", "ollama/a"]
    for version in ("", "2025-01-01"):
        monkeypatch.setenv("AZURE_OPENAI_API_VERSION", version)
        for other in others:
            headers = sent(other)
            assert not [w for w in ("org-inv", "proj-inv", "gate-inv", "other-inv") if w in headers], other
