"""Collecting against an endpoint that fails on purpose: every failure has its reason, nothing is asked twice."""

from __future__ import annotations

import asyncio
import json
import math
import re
import signal
import subprocess
import sys
import time

import pytest
from faultserver import fault_server
from pydantic import BaseModel, field_validator

from evalbench.errors import BadInput
from evalbench.models.accounting import CALL_COLUMNS, accounting, calls_table, merged
from evalbench.models.chat import shapes
from evalbench.models.chat.collect import collect
from evalbench.models.chat.structured import option_probabilities
from evalbench.models.exchange import Request
from evalbench.models.llm import EndpointFault, Limits, Price, model
from evalbench.models.wire import limits


class Mark(BaseModel):
    mark: int
    why: str


def one(server, prompt, *, schema=None, logprobs=0, seed=None, max_tokens=None, **options):
    request = Request(prompt, schema=schema, logprobs=logprobs, seed=seed, max_tokens=max_tokens)
    return collect([request], server.url + "#tiny", **{"cache": False, "timeout": 30.0, **options})[0]


def test_options_out_of_range_all_at_once():
    with pytest.raises(BadInput) as refused:
        collect([], "http://127.0.0.1:1/v1#m", concurrency=0, max_retries=-1, max_reasks=-1, timeout=math.inf)
    for part in ("concurrency is 0", "max_retries is -1", "max_reasks is -1", "timeout is inf"):
        assert part in str(refused.value)


def test_nothing_asked_nothing_sent():
    assert collect([], "http://127.0.0.1:1/v1#m") == []


@pytest.mark.parametrize(
    ("do", "error"),
    [
        ("429", "rate-limited"),
        ("500", "server-error"),
        ("503", "server-error"),
        ("408", "server-error"),
        pytest.param("hang", "timeout", marks=pytest.mark.slow),
        pytest.param("drip", "timeout", marks=pytest.mark.slow),
        ("cut", "connection"),
        ("wrong-type", "bad-response"),
        ("broken-json", "bad-response"),
        ("no-choices", "bad-response"),
    ],
)
def test_what_may_pass_is_retried_and_counted(server, do, error):
    patience = 2.0 if error == "timeout" else 30.0
    reply = one(server, f"do:{do}*1 recovered", timeout=patience)
    assert (reply.text, reply.unscored, reply.errors) == ("fine", "", (error,))
    assert (reply.requests, reply.retries) == (2, 1)
    failed = one(server, f"do:{do} for good", max_retries=0, timeout=patience / 10)
    assert (failed.unscored, failed.value, failed.requests, failed.retries) == (error, None, 1, 0)
    assert failed.detail or failed.raw


@pytest.mark.parametrize(
    ("do", "reason"),
    [
        ("400", "rejected"),
        ("403", "rejected"),
        ("quota", "rate-limited"),
        ("patience", "rate-limited"),
        ("refusal", "refused"),
        ("filter", "content-filter"),
    ],
)
def test_what_will_not_pass_is_not_retried(server, do, reason):
    reply = one(server, f"do:{do} once")
    assert (reply.unscored, reply.requests, reply.retries) == (reason, 1, 0)


def test_retry_after_is_waited_for(server):
    started = time.perf_counter()
    one(server, "do:429*2 patient")
    assert time.perf_counter() - started >= 2 * 0.2


def test_a_very_long_reply_is_read_whole(server):
    reply = one(server, "do:long", schema=Mark)
    assert len(reply.raw) > 200_000
    assert reply.value == Mark(mark=1, why="so")


@pytest.mark.parametrize("status", [401, 404])
def test_what_would_fail_for_all_raises_and_keeps_what_was_answered(server, fresh_cache, status):
    name = server.url + "#tiny"
    asked = [Request(f"good {status} {i}") for i in range(5)]
    with pytest.raises(EndpointFault, match=rf"refuses every call \({status}\)") as refused:
        collect([*asked, Request(f"do:{status}")], name, concurrency=1)
    assert refused.value.__context__ is None
    assert refused.value.__cause__ is None
    assert all(reply.cached for reply in collect(asked, name))


def test_an_endpoint_that_is_not_there_is_given_up():
    started = time.perf_counter()
    replies = collect(
        [Request(str(i)) for i in range(1000)], "http://127.0.0.1:9/v1#m", cache=False, max_retries=0, concurrency=4
    )
    assert time.perf_counter() - started < 120
    assert {reply.unscored for reply in replies} == {"connection"}
    sent = [reply for reply in replies if reply.requests]
    assert 18 <= len(sent) <= 22
    assert replies[-1].detail.startswith("not sent: the last ")


def test_a_schema_that_is_not_met_is_asked_for_again_with_the_complaint(server):
    reply = one(server, "do:other-schema*1 then right", schema=Mark)
    assert (reply.value, reply.reasks, reply.requests, reply.retries) == (Mark(mark=1, why="so"), 1, 2, 0)
    assert (reply.tokens_in, reply.tokens_out) == (22, 14)
    last = server.stats()["last"]["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "user"]
    assert last[1]["content"] == '{"colour": "blue"}'
    assert "mark: Field required" in last[2]["content"]


def test_a_schema_that_is_never_met_is_unscored_with_the_raw_reply(server):
    reply = one(server, "do:other-schema never", schema=Mark, max_reasks=1)
    assert (reply.unscored, reply.value, reply.raw) == ("unparsed", None, '{"colour": "blue"}')
    assert (reply.requests, reply.reasks) == (2, 1)
    assert "mark: Field required" in reply.detail


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("refuses", "left_out"),
    [(("json_schema",), ("json_schema",)), (("json_schema", "json_object"), ("json_object", "json_schema"))],
)
def test_the_strictest_form_that_is_taken(refuses, left_out, named):
    with fault_server(refuses=refuses, names_what_it_refuses=named) as server:
        first = one(server, "a", schema=Mark)
        assert first.value == Mark(mark=1, why="so")
        assert (first.not_taken, first.requests, first.retries) == (left_out, 1 + len(left_out), 0)
        second = one(server, "b", schema=Mark)
        assert (second.not_taken, second.requests) == (left_out, 1)
        asked = server.stats()["last"]
        assert ("response_format" in asked) == ("json_object" not in left_out)
        assert "JSON schema" in asked["messages"][-1]["content"]


def test_other_parameters_that_are_refused_by_name_are_left_out_and_told():
    with fault_server(refuses=("temperature", "seed", "logprobs", "max_tokens")) as server:
        reply = one(server, "a", seed=1, logprobs=2, max_tokens=9)
        assert reply.text == "fine"
        assert reply.not_taken == ("logprobs", "max_tokens", "seed", "temperature")
        assert server.stats()["last"] == {
            "model": "tiny",
            "messages": [{"role": "user", "content": "a"}],
            "max_completion_tokens": 9,
        }
        assert accounting([reply])["not_taken"] == ["logprobs", "max_tokens", "seed", "temperature"]
        shapes.forget(f"{server.url}#tiny#")
        assert one(server, "b", seed=1).requests == 3


def test_logprobs_of_options(server, fresh_cache):
    for _ in range(2):
        (reply,) = collect([Request("mark it", schema=Mark, logprobs=3)], server.url + "#tiny")
        found = option_probabilities(reply, ("0", "1"), after='"mark"')
        assert found.options == pytest.approx({"0": 0.15, "1": 0.8})
        assert found.off_options == pytest.approx(0.05)
    assert reply.cached
    with fault_server(logprobs=False) as silent:
        found = option_probabilities(one(silent, "mark it", logprobs=3), ("0", "1"))
        assert "gave no log-probabilities" in found.statement


def test_a_second_run_asks_only_for_what_is_missing(fresh_cache):
    asked = [Request(f"{'do:400' if i % 5 == 0 else ''} {i}", sample=i % 2, item_id=str(i)) for i in range(40)]
    with fault_server() as server:
        first = collect(asked, server.url + "#tiny")
        assert server.stats()["requests"] == 40
        second = collect(asked, server.url + "#tiny")
        assert server.stats()["requests"] == 40 + 8
    assert [reply.request.item_id for reply in second] == [str(i) for i in range(40)]
    assert [reply.text for reply in first] == [reply.text for reply in second]
    assert [reply.cached for reply in second] == [i % 5 != 0 for i in range(40)]
    assert [r.seconds for r in second if r.cached] == [
        r.seconds for r, again in zip(first, second, strict=True) if again.cached
    ]
    total = accounting(second)
    assert (total["calls"], total["cache_hits"], total["requests"]) == (40, 32, 8)
    assert (total["tokens_in"], total["cached_tokens"]) == (0, 32 * 18)
    assert total["unscored"] == {"rejected": 8}


def test_samples_are_asked_apart_and_equal_questions_once(fresh_cache):
    with fault_server() as server:
        replies = collect(
            [Request("same", sample=i % 3, item_id=str(i), seed=5) for i in range(9)], server.url + "#tiny"
        )
        assert server.stats()["requests"] == 3
        assert server.stats()["last"]["seed"] in (5, 6, 7)
    assert [reply.cached for reply in replies] == [False] * 3 + [True] * 6
    assert [reply.request.item_id for reply in replies] == [str(i) for i in range(9)]
    assert accounting(replies)["requests"] == 3


def test_a_reply_that_never_fits_is_kept_too_and_not_paid_for_twice(fresh_cache):
    with fault_server() as server:
        for cached in (False, True):
            (reply,) = collect([Request("do:other-schema", schema=Mark)], server.url + "#tiny")
            assert (reply.unscored, reply.raw, reply.cached) == ("unparsed", '{"colour": "blue"}', cached)
        assert server.stats()["requests"] == 3


def test_a_kept_reply_is_read_anew_when_the_validators_changed(server, fresh_cache):
    strict = [0]

    class Picky(BaseModel):
        mark: int
        why: str

        @field_validator("mark")
        @classmethod
        def low(cls, mark):
            if mark > 0 and strict[0]:
                raise ValueError("a mark above 0")
            return mark

    def asked():
        return collect([Request("picky", schema=Picky)], server.url + "#tiny")[0]

    assert asked().value.mark == 1
    strict[0] = 1
    assert (asked().unscored, asked().value, asked().cached) == ("unparsed", None, True)
    assert "a mark above 0" in asked().detail
    strict[0] = 0
    assert (asked().unscored, asked().value.mark, asked().cached) == ("", 1, True)


def test_without_a_cache_everything_is_asked(fresh_cache):
    with fault_server() as server:
        for _ in range(2):
            collect([Request("a")], server.url + "#tiny", cache=False)
        assert server.stats()["requests"] == 2
    assert not fresh_cache.exists()


def test_never_more_under_way_than_allowed():
    with fault_server(delay=0.3) as server:
        collect([Request(str(i)) for i in range(21)], server.url + "#tiny", cache=False, concurrency=7)
        assert server.stats()["most_under_way"] == 7


@pytest.mark.slow
def test_requests_per_minute_are_kept(monkeypatch):
    monkeypatch.setattr(limits, "_LIMITERS", {})
    with fault_server() as server:
        target = model(server.url + "#tiny")
        limited = type(target)(**{**vars(target), "limits": Limits(requests_per_minute=10)})
        limits._LIMITERS[(limited.base_url, limited.id, limited.limits)] = limits.Limiter(limited.limits, window=0.5)
        started = time.perf_counter()
        collect([Request(str(i)) for i in range(35)], limited, cache=False, concurrency=20)
        assert time.perf_counter() - started >= 3 * 0.5


def test_cost_of_this_run_and_of_the_original_calls(server, fresh_cache):
    target = model(server.url + "#tiny")
    priced = type(target)(**{**vars(target), "price": Price(input=2.0, output=10.0)})
    asked = [Request(f"cost {i}") for i in range(10)]
    first, second = (accounting(collect(asked, priced)) for _ in range(2))
    whole = 10 * (11 * 2.0 + 7 * 10.0) / 1e6
    assert (first["cost"], first["cached_cost"]) == pytest.approx((whole, 0.0))
    assert (second["cost"], second["cached_cost"]) == pytest.approx((0.0, whole))
    unknown = accounting(collect([Request("cost unknown")], target))
    assert unknown["cost"] is None
    json.dumps(unknown, allow_nan=False)


def test_the_calls_table(server, fresh_cache, tmp_path):
    import pandas as pd

    asked = [
        Request("good", item_id="007", purpose="judge", schema=Mark),
        Request([{"role": "system", "content": "s"}, {"role": "user", "content": "do:400"}], item_id="NA"),
    ]
    table = calls_table(collect(asked, server.url + "#tiny"))
    assert list(table.columns) == list(CALL_COLUMNS)
    assert list(table["item_id"]) == ["007", "NA"]
    assert json.loads(table["parsed"][0]) == {"mark": 1, "why": "so"}
    assert table["unscored"][1] == "rejected"
    assert json.loads(table["prompt"][1])[0]["role"] == "system"
    assert pd.isna(table["tokens_in"][1])
    table.to_parquet(tmp_path / "calls.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "calls.parquet"), table)
    assert list(calls_table([]).columns) == list(CALL_COLUMNS)


def test_below_a_running_event_loop_as_in_a_notebook(server):
    async def cell():
        return collect([Request("in a notebook")], server.url + "#tiny", cache=False)

    assert asyncio.run(cell())[0].text == "fine"


def test_progress_shows_rate_tokens_and_cost(server, capsys):
    target = model(server.url + "#tiny")
    priced = type(target)(**{**vars(target), "price": Price(1.0, 1.0)})
    collect([Request(f"progress {i}") for i in range(5)], priced, cache=False, progress=True)
    shown = capsys.readouterr().err
    assert re.search(r"5/5 .*reply/s|5/5 .*s/reply", shown)
    assert "90 tokens, cost 0.0001" in shown
    collect([Request("silent")], priced, cache=False, progress=False)
    assert capsys.readouterr().err == ""


def test_a_call_that_failed_does_not_hide_the_cost_of_the_others(server, capsys):
    target = model(server.url + "#tiny")
    priced = type(target)(**{**vars(target), "price": Price(1.0, 1.0)})
    asked = [Request("do:500 costs nothing"), *(Request(f"costs {i}") for i in range(4))]
    collect(asked, priced, cache=False, progress=True, max_retries=0, concurrency=1)
    assert "72 tokens, cost 0.0001, 1 failed" in capsys.readouterr().err


def test_accounts_are_added_up(server, fresh_cache):
    name = server.url + "#tiny"
    parts = [accounting(collect([Request(p)], name, max_retries=0)) for p in ("m 1", "m 2", "do:500 m", "m 1")]
    whole = merged(parts)
    assert (whole["calls"], whole["cache_hits"], whole["requests"]) == (4, 1, 3)
    assert (whole["errors"], whole["unscored"]) == ({"server-error": 1}, {"server-error": 1})
    assert (whole["models"], len(whole["prompt_hashes"])) == ([name], 3)
    assert whole["call_seconds"] == pytest.approx(sum(part["call_seconds"] for part in parts))
    assert whole["cost"] is None  # an unknown price plus a known one is unknown
    assert merged([]) == {}


INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
collect([Request(f"question {i}") for i in range(200)], sys.argv[1] + "#tiny", concurrency=4)
"""


def test_ctrl_c_keeps_everything_that_was_answered(fresh_cache):
    with fault_server(delay=0.05) as server:
        # As a shell starts what runs in the background: such a process inherits that Ctrl-C is ignored.
        ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
        process = subprocess.Popen([*ignoring, sys.executable, "-c", INTERRUPTED, server.url], stderr=subprocess.PIPE)
        while server.stats()["requests"] < 40:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in process.communicate(timeout=120)[1]
        asked_before = server.stats()["requests"]
        replies = collect([Request(f"question {i}") for i in range(200)], server.url + "#tiny", concurrency=32)
        assert sum(reply.cached for reply in replies) >= asked_before - 4
        assert server.stats()["requests"] <= 200 + 4


def test_another_model_than_asked_for_is_counted_from_the_cache_too(scripted, fresh_cache):
    asked = [Request("which"), Request("which one")]
    scripted.says("fine", model="huge")
    for cached in (False, True):
        replies = collect(asked, scripted.name)
        assert [(reply.another, reply.cached) for reply in replies] == [(True, cached)] * 2
        assert accounting(replies)["other_models"] == {f"{scripted.name} → huge": 2}
    scripted.says("fine")
    assert accounting(collect(asked, scripted.name, cache=False))["other_models"] == {}
