"""Replies that no decent endpoint gives: none ends a batch, none becomes a value that nobody meant."""

from __future__ import annotations

import gzip
import json
import time

import pytest
from pydantic import BaseModel

from evalbench.models.accounting import calls_table
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
from evalbench.models.llm import EndpointFault
from evalbench.models.store.cache import ReplyCache
from evalbench.models.wire import bodies


class Mark(BaseModel):
    mark: int


def one(endpoint, schema=None, logprobs=0, **options):
    options = {"max_retries": 0, "max_reasks": 0, "cache": False, **options}
    return collect([Request("Is it so?", schema=schema, logprobs=logprobs)], endpoint.name, **options)[0]


def test_half_a_character_is_kept_and_written_as_a_question_mark(scripted, fresh_cache, tmp_path):
    scripted.says("half \ud83d of a pair")
    for cached in (False, True):
        reply = one(scripted, cache=True)
        assert (reply.text, reply.cached) == ("half ? of a pair", cached)
    calls_table([reply]).to_parquet(tmp_path / "calls.parquet")


def test_counts_beyond_all_measure_are_no_counts(scripted):
    scripted.says("fine", usage={"prompt_tokens": 10**30, "completion_tokens": 3})
    reply = one(scripted)
    assert (reply.tokens_in, reply.tokens_out) == (None, 3)
    calls_table([reply])


@pytest.mark.parametrize("status", [429, 503])
def test_an_endpoint_that_wants_a_day_is_given_up_at_once(scripted, status):
    scripted.gives({"error": {"message": "come back tomorrow"}}, status, Retry_After="86400")
    started = time.perf_counter()
    reply = one(scripted, max_retries=4)
    assert time.perf_counter() - started < 60
    assert (reply.requests, reply.detail) == (1, f"{status}: come back tomorrow")


def test_an_error_within_a_200_is_told(scripted):
    scripted.gives({"error": {"message": "upstream is busy", "code": 429}})
    assert one(scripted).detail == "the reply holds no choices: upstream is busy"


def test_a_wrong_key_raises_though_its_status_is_400(scripted):
    scripted.gives([{"error": {"code": 400, "message": "API key not valid. Please pass a valid one."}}], 400)
    with pytest.raises(EndpointFault, match="API key not valid.*check EVALBENCH_API_KEY"):
        one(scripted)


@pytest.mark.parametrize("status", [301, 307, 308])
def test_a_redirect_is_reported_and_not_followed(scripted, status):
    scripted.gives({}, status, Location="http://127.0.0.1:9/v1/chat/completions")
    with pytest.raises(EndpointFault, match=rf"redirects \({status}\) to http://127.0.0.1:9/v1/chat/com"):
        one(scripted)
    assert len(scripted.asked) == 1


def test_a_reply_cut_within_its_reasoning_holds_no_value(scripted):
    scripted.says('<think>It could be {"mark": 1}, or')
    reply = one(scripted, schema=Mark)
    assert (reply.value, reply.unscored, reply.text) == (None, "unparsed", "")
    assert reply.raw.startswith("<think>")


def test_what_steers_a_terminal_is_no_part_of_a_message(scripted):
    scripted.gives({"error": {"message": "\x1b[2J\u202egone"}}, 400)
    assert one(scripted).detail == "400:  [2J gone"


def test_a_key_in_any_field_of_a_reply_is_not_kept(scripted, fresh_cache, monkeypatch):
    key = "sk-invented/9f3a-9f3a"
    monkeypatch.setenv("EVALBENCH_API_KEY", key)
    place = {"token": key, "logprob": -0.1, "top_logprobs": [{"token": key, "logprob": -0.1}]}
    choice = {"message": {"content": key}, "finish_reason": key, "logprobs": {"content": [place]}}
    scripted.gives({"choices": [choice], "model": key})
    reply = one(scripted, cache=True, logprobs=1)
    assert key not in repr(reply)
    with ReplyCache() as cache:
        kept = [value for _, value in cache.get_many([reply.request.key(f"{scripted.url}#tiny#")])]
    assert kept
    assert key not in json.dumps(kept)
    scripted.gives(json.dumps({"error": {"message": f"bad {key}"}}).replace("/", r"\/").encode(), 400)
    assert one(scripted).detail == "400: bad [key removed]"


@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_without_an_end_is_not_read_to_it(scripted, status):
    scripted.gives(b" " * (bodies.LONGEST + 2**20), status)
    reply = one(scripted, max_retries=3)
    assert (reply.unscored, reply.requests) == ("bad-response", 1)
    assert reply.detail == "the reply is longer than 67,108,864 bytes"


def test_a_packed_reply_is_read_within_a_bound_of_its_own(scripted, monkeypatch):
    whole = json.dumps({"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}).encode()
    scripted.gives(gzip.compress(whole), Content_Encoding="gzip")
    assert one(scripted).text == "fine"
    assert scripted.asked[-1][1]["accept-encoding"] == "identity"
    monkeypatch.setattr(bodies, "LONGEST_PACKED", 1000)
    scripted.gives(gzip.compress(whole + b" " * 10**7), Content_Encoding="gzip")
    reply = one(scripted)
    assert (reply.unscored, reply.detail) == ("bad-response", "the reply is longer than 1,000 bytes")


@pytest.mark.parametrize("packing", ["br", "zstd", "gzip, gzip"])
def test_a_packing_that_was_not_asked_for_is_refused(scripted, packing):
    scripted.gives(b"anything", Content_Encoding=packing)
    reply = one(scripted)
    assert (reply.unscored, reply.detail) == (
        "bad-response",
        f"the reply is packed as {packing!r}, which was not asked for",
    )
