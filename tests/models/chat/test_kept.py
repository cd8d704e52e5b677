"""A run's calls.parquet from another machine fills the cache of this one."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

import pandas as pd
import pytest
from faultserver import fault_server
from pydantic import BaseModel

from evalbench.errors import BadInput
from evalbench.models.accounting import CALL_COLUMNS, calls_table
from evalbench.models.chat.collect import collect
from evalbench.models.chat.kept import for_cache, merge_calls
from evalbench.models.exchange import Request
from evalbench.models.store.cache import ReplyCache


class Mark(BaseModel):
    mark: int
    why: str


ASKED = [
    Request("plain", item_id="1", purpose="answer"),
    Request("mark it", schema=Mark, logprobs=3, seed=2, item_id="2"),
    Request("do:other-schema never", schema=Mark),
    Request("do:500*1 then fine"),
    Request("do:refusal"),
    Request("plain", item_id="again"),
    Request("do:400 not kept"),
]


def test_calls_without_replies_of_ours_are_left_alone(tmp_path):
    cache = tmp_path / "cache.sqlite"
    assert merge_calls(tmp_path / "calls.parquet", cache) == 0
    pd.DataFrame({"key": ["0" * 64], "reply": ["of somebody's own notebook"]}).to_parquet(tmp_path / "c.parquet")
    assert merge_calls(tmp_path / "c.parquet", cache) == 0
    calls_table([]).to_parquet(tmp_path / "none.parquet")
    assert merge_calls(tmp_path / "none.parquet", cache) == 0
    assert not cache.exists()


def test_a_cache_that_cannot_take_them_says_so(server, tmp_path):
    file = tmp_path / "calls.parquet"
    calls_table(collect(ASKED[:1], server.url + "#tiny", cache=tmp_path / "there")).to_parquet(file)
    (tmp_path / "here").write_bytes(b"not a database, " * 100)
    with pytest.raises(BadInput, match="is damaged"):
        merge_calls(file, tmp_path / "here")


def test_what_was_paid_for_elsewhere_is_not_asked_again(tmp_path):
    there, here = tmp_path / "there.sqlite", tmp_path / "here.sqlite"
    with fault_server() as server:
        name = server.url + "#tiny"
        first = collect(ASKED, name, cache=there, max_reasks=1)
        calls_table(first).to_parquet(tmp_path / "calls.parquet")
        assert merge_calls(tmp_path / "calls.parquet", here) == 5
        before = server.stats()["requests"]
        second = collect(ASKED, name, cache=here, max_reasks=1)
        assert server.stats()["requests"] == before + 1  # the one that was rejected
        assert second[:-1] == [replace(r, cached=True) for r in first[:-1]]
        assert second[1].logprobs
        assert (second[2].unscored, second[3].errors, second[4].unscored) == (
            "unparsed", ("server-error",), "refused",
        )  # fmt: skip
        assert [bool(r.key) for r in first] == [True] * 6 + [False]
        # What comes out of a cache can be handed on as well.
        calls_table(second).to_parquet(tmp_path / "again.parquet")
        assert merge_calls(tmp_path / "again.parquet", tmp_path / "third.sqlite") == 5
    keys = [r.key for r in first[:-1]]
    with ReplyCache(there) as one, ReplyCache(here) as two, ReplyCache(tmp_path / "third.sqlite") as three:
        assert dict(one.get_many(keys)) == dict(two.get_many(keys)) == dict(three.get_many(keys))
        assert [(e.model, e.host, e.replies) for e in one.entries()] == [
            (e.model, e.host, e.replies) for e in two.entries()
        ]


def test_reasoning_is_kept_apart_from_the_answer(scripted, tmp_path):
    scripted.says("<think>It is a trap.</think> fine")
    (first,) = collect([Request("a")], scripted.name, cache=tmp_path / "there")
    assert (first.text, first.raw) == ("fine", "<think>It is a trap.</think> fine")
    calls_table([first]).to_parquet(tmp_path / "calls.parquet")
    merge_calls(tmp_path / "calls.parquet", tmp_path / "here")
    assert collect([Request("a")], scripted.name, cache=tmp_path / "here") == [replace(first, cached=True)]


def test_what_the_cache_has_stays(server, tmp_path):
    here = tmp_path / "here"
    (mine,) = collect([Request("whose")], server.url + "#tiny", cache=here)
    calls_table([replace(mine, raw="another", text="another")]).to_parquet(tmp_path / "calls.parquet")
    merge_calls(tmp_path / "calls.parquet", here)
    with ReplyCache(here) as cache:
        assert dict(cache.get_many([mine.key])) == {mine.key: for_cache(mine)}


def test_no_cache_no_key(server):
    (reply,) = collect([Request("uncached")], server.url + "#tiny", cache=False)
    assert reply.key == ""
    assert list(calls_table([reply])["key"]) == [""]


def test_this_machines_keys_and_broken_ones_stay_out(server, tmp_path, monkeypatch):
    (reply,) = collect([Request("secret")], server.url + "#tiny", cache=tmp_path / "there")
    secret = "sk-of-the-client-0123456789"
    said = replace(reply, raw=f"<think>hm</think> it is {secret}", detail=f"saw {secret}")
    wrong = [replace(said, key=key) for key in ("x", "../" * 22, said.key.upper(), said.key + "\n")]
    table = calls_table([said, *wrong])
    table.to_parquet(tmp_path / "calls.parquet")
    assert list(table.columns) == list(CALL_COLUMNS)
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    assert merge_calls(tmp_path / "calls.parquet", tmp_path / "here") == 1
    with ReplyCache(tmp_path / "here") as cache:
        (kept,) = dict(cache.get_many([said.key])).values()
    assert (kept["text"], kept["detail"]) == ("it is [key removed]", "saw [key removed]")
    assert secret.encode() not in (tmp_path / "here").read_bytes()


WHOLE = {
    "served_by": "tiny", "text": "fine", "unscored": "", "detail": "", "finish": "stop", "tokens_in": 1, "tokens_out": 1,
    "seconds": 0.1, "requests": 1, "retries": 0, "reasks": 0, "errors": [], "not_taken": [],
}  # fmt: skip
DAMAGED = [
    "", "no JSON", '"a text"', "[1]", "{}", b"\xff\xfe{}", "[" * 100_000, "9" * 5000, json.dumps(WHOLE)[:-1],
    *(json.dumps({k: v for k, v in WHOLE.items() if k != name}) for name in WHOLE),
    *(json.dumps({**WHOLE, name: value}) for name in WHOLE for value in ({"a": 1},)),
    json.dumps({**WHOLE, "errors": 5}), json.dumps({**WHOLE, "logprobs": [["a", "b", []]]}),
    json.dumps({**WHOLE, "unscored": "no-such-reason"}),
]  # fmt: skip


def test_a_damaged_row_counts_as_not_there_and_is_put_right(server, tmp_path):
    name, file = server.url + "#tiny", tmp_path / "cache.sqlite"
    asked = [Request(f"damaged {i}") for i in range(len(DAMAGED))]
    keys = [reply.key for reply in collect(asked, name, cache=file)]
    for whole in (json.dumps(WHOLE), json.dumps({**WHOLE, "raw": "<think>hm</think>fine"})):
        _write(file, [(whole, key) for key in keys])
        assert all(reply.cached for reply in collect(asked, name, cache=file))
    _write(file, [*zip(DAMAGED, keys, strict=True)])
    again = collect(asked, name, cache=file)
    assert [reply.request.prompt_text for reply in again if reply.cached] == []
    assert [(reply.text, reply.unscored) for reply in again] == [("fine", "")] * len(asked)
    assert all(reply.cached for reply in collect(asked, name, cache=file))


@pytest.mark.parametrize(
    "without",
    [
        {"text": "", "finish": "stop"},  # null, as earlier versions kept it
        {"text": "", "finish": "length"},
        {"text": "", "finish": "tool_calls"},
        {"text": "", "raw": "<think>It is a tr", "finish": "length"},
        {"text": "", "raw": "<think>It is a tr", "finish": "stop"},
        {"text": " \n", "finish": ""},
    ],
)
def test_what_earlier_versions_took_for_an_empty_answer_is_asked_again(server, tmp_path, without):
    name, file = server.url + "#tiny", tmp_path / "cache.sqlite"
    request = Request(f"old row {without}")
    (first,) = collect([request], name, cache=file)
    _write(file, [(json.dumps({**WHOLE, **without}), first.key)])
    (again,) = collect([request], name, cache=file)
    assert (again.text, again.cached) == ("fine", False)
    assert collect([request], name, cache=file)[0].cached


def _write(file, rows):
    connection = sqlite3.connect(file)
    with connection:
        connection.executemany("UPDATE replies SET reply=? WHERE key=?", rows)
    connection.close()
