"""Limits of calls and cost: the same requests are asked whatever the concurrency, and a higher limit goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from chat import Chat, chat_endpoint
from pydantic import BaseModel

from evalbench.core import dry
from evalbench.core.budget import Budget, active, budget, environment, in_words
from evalbench.errors import BadInput, ModelUnavailable
from evalbench.models import tokens
from evalbench.models.accounting import accounting, calls_table
from evalbench.models.chat import collect as collecting
from evalbench.models.chat import rationing
from evalbench.models.chat.collect import collect
from evalbench.models.endpoint import Model, Price
from evalbench.models.exchange import Reply, Request
from evalbench.models.similarity.embed import embed
from evalbench.web.fetch import Fetcher


def requests(n: int, samples: int = 1, purpose: str = "answer") -> list[Request]:
    return [
        Request(
            ({"role": "user", "content": f"question {i}"},), sample=s, item_id=f"q{i}", purpose=purpose, max_tokens=50
        )
        for i in range(n)
        for s in range(samples)
    ]


@pytest.fixture
def chat() -> Iterator[Chat]:
    with chat_endpoint(lambda prompt: "yes") as server:
        yield server


def priced(chat: Chat, price: float = 1_000_000) -> Model:
    """Each reply of the scripted endpoint has 7 tokens in and 3 out: with this price it costs 10."""
    address, _, name = chat.name.partition("#")
    return Model(name="mine", provider="http", id=name, base_url=address, price=Price(price, price))


def asked(replies: list[Reply]) -> set[tuple[str, int]]:
    return {(r.request.item_id, r.request.sample) for r in replies if r.unscored != "budget"}


@pytest.mark.parametrize("limit", [{"max_calls": 20}, {"max_cost": 200.0}], ids=["calls", "cost"])
def test_the_same_items_are_asked_whatever_the_concurrency_and_the_order(limit, chat, tmp_path):
    found = []
    for concurrency, turned in ((1, 1), (16, 1), (3, -1)):
        with budget(**limit, seed=5) as spent:
            replies = collect(
                requests(60)[::turned], priced(chat), concurrency=concurrency, cache=tmp_path / f"{concurrency}"
            )
        assert spent.account()["calls"] == 20
        found.append(asked(replies))
    assert found[0] == found[1] == found[2]
    assert len(chat.answered) == 60
    with budget(**limit, seed=6):
        assert asked(collect(requests(60), priced(chat), cache=tmp_path / "other")) != found[0]


def test_a_higher_limit_goes_on_from_the_cache(chat, tmp_path):
    file = tmp_path / "cache"
    with budget(max_calls=50) as first:
        before = collect(requests(120), chat.name, cache=file)
    assert len(chat.answered) == 50
    with budget(max_calls=50):
        assert asked(collect(requests(120), chat.name, cache=file)) == asked(before)
    assert len(chat.answered) == 50
    with budget(max_calls=100) as second:
        after = collect(requests(120), chat.name, cache=file)
    assert len(chat.answered) == 100
    assert asked(before) < asked(after)
    assert [b.account()["not_asked"] for b in (first, second)] == [70, 20]
    assert {r.unscored for r in after} == {"", "budget"}
    assert all("--max-calls 100" in r.detail for r in after if r.unscored)


def test_the_samples_of_an_item_and_the_questions_of_a_unit_are_asked_together(chat, tmp_path):
    with budget(max_calls=9):
        replies = collect(requests(20, samples=3), chat.name, cache=tmp_path / "a")
    assert len({item for item, _ in asked(replies)}) == 3
    questions = [
        Request(({"role": "user", "content": f"{i} {k}"},), item_id=f"{k}{i}", unit=f"u{i}")
        for k in range(2)
        for i in range(9)
    ]
    with budget(max_calls=6):
        units = [r.request.unit for r in collect(questions, chat.name, cache=tmp_path / "b") if not r.unscored]
    assert sorted(units) == sorted([*set(units)] * 2)
    assert len(units) == 6


def test_a_request_counts_once_over_all_steps_of_a_run(chat, tmp_path):
    with budget(max_calls=4) as spent:
        collect(requests(3), chat.name, cache=tmp_path / "c")
        again = collect(requests(3, purpose="again"), chat.name, cache=tmp_path / "c")
        last = collect(requests(6, purpose="last"), chat.name, cache=tmp_path / "c")
    assert [len(asked(r)) for r in (again, last)] == [3, 4]
    account = spent.account()
    assert account["purposes"] == {"answer": {"asked": 3, "not_asked": 0}, "last": {"asked": 1, "not_asked": 2}}
    assert "4 of at least 6 calls: answer 3 of 3, last 1 of 3" in in_words(account)


def test_what_was_not_asked_is_no_call(chat, tmp_path):
    with budget(max_calls=2):
        replies = collect(requests(5), priced(chat), cache=tmp_path / "c")
    account = accounting(replies)
    assert (account["calls"], account["unscored"], account["cost"]) == (2, {"budget": 3}, 20.0)
    assert len(calls_table(replies)) == 2


def test_the_cost_counts_what_was_billed_in_this_run_or_an_earlier_one(chat, tmp_path):
    with budget(max_cost=45.0) as spent:
        replies = collect(requests(30), priced(chat), cache=tmp_path / "c")
    assert (spent.account()["billed"], len(asked(replies)), len(chat.answered)) == (50.0, 5, 5)
    with budget(max_cost=45.0) as again:
        collect(requests(30), priced(chat), cache=tmp_path / "c")
    assert again.account() == spent.account()
    assert len(chat.answered) == 5
    with budget(max_cost=75.0):
        collect(requests(30), priced(chat), cache=tmp_path / "c")
    assert len(chat.answered) == 8
    with budget(max_cost=1e-9) as free:
        assert len(asked(collect(requests(30), priced(chat, 0.0), cache=tmp_path / "free"))) == 30
    assert free.account()["billed"] == 0


def test_repeated_questions_are_billed_and_do_not_count(tmp_path):
    from pydantic import create_model

    schema = create_model("Mark", mark=(int, ...))
    prompts = [Request(r.messages, item_id=r.item_id, schema=schema, max_tokens=50) for r in requests(20)]
    with chat_endpoint(lambda prompt: "no mark") as server:
        with budget(max_calls=4) as spent:
            collect(prompts, server.name, cache=tmp_path / "c")
        assert (spent.account()["calls"], len(server.answered)) == (4, 12)
        with budget(max_cost=100.0) as spent:
            replies = collect(prompts, priced(server), cache=tmp_path / "d")
    assert spent.account()["billed"] == 120.0
    assert len(asked(replies)) == 4


def test_without_a_price_a_limit_of_the_cost_is_refused_and_nothing_sent(chat, tmp_path):
    with budget(max_cost=1.0), pytest.raises(BadInput, match=r"--max-cost needs the price of http.*models\.toml"):
        collect(requests(3), chat.name, cache=tmp_path / "c")
    assert not chat.answered


def test_an_endpoint_that_counts_no_tokens_is_billed_by_an_estimate(chat, tmp_path, monkeypatch):
    monkeypatch.setattr("evalbench.models.wire.transport.usage_count", lambda *_: None)
    with budget(max_cost=60.0) as spent:
        replies = collect(requests(30), priced(chat), cache=tmp_path / "c")
    assert all(reply.cost is None for reply in replies)
    assert 60 <= spent.account()["billed"] < 90


def test_limits_out_of_range_are_refused_at_once():
    with pytest.raises(BadInput) as error:
        Budget(max_calls=0, max_cost=float("inf"))
    assert len(error.value.faults) == 2


def test_limits_of_the_environment_hold_in_a_process_of_their_own(monkeypatch):
    assert environment(None, None, 3) == {}
    for name, value in environment(7, 0.5, 3).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("evalbench.core.budget._of_environment", None)
    found = active()
    assert (found.max_calls, found.max_cost, found.seed) == (7, 0.5, 3)
    assert active() is found
    monkeypatch.setenv("EVALBENCH_MAX_CALLS", "many")
    monkeypatch.setattr("evalbench.core.budget._of_environment", None)
    with pytest.raises(BadInput, match="EVALBENCH_MAX_CALLS"):
        active()


def test_a_dry_run_fetches_no_page():
    with dry.noting("none") as noted:
        assert Fetcher().fetch_all(["https://example.com"]) == {}
    assert "Pages of the web are not fetched" in noted.notes[0]


def test_texts_beyond_the_cost_are_not_embedded(tmp_path, monkeypatch):
    (tmp_path / "models.toml").write_text(
        '[vectors]\nname = "http://127.0.0.1:9/v1#v"\nprice = {input = 1000000, output = 0}\n', encoding="utf-8"
    )
    monkeypatch.setenv("EVALBENCH_MODELS", str(tmp_path / "models.toml"))
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    with budget(max_cost=2.0), pytest.raises(ModelUnavailable, match="3 texts not embedded") as error:
        embed(["one text", "another text", "a third"], "vectors")
    assert error.value.unscored == "budget"
    with dry.noting("none") as noted:
        assert embed(["one text", "another text"], "vectors").shape[0] == 2
    (found,) = noted.rounds
    assert (found.purpose, found.calls, found.tokens_in[0]) == ("embedding", 2, found.cost[0])


def test_a_dry_run_sends_nothing_and_says_what_is_cached(chat, tmp_path):
    file = tmp_path / "cache"
    collect(requests(5), priced(chat), cache=file)
    plan = dry.dry_run(lambda: collect(requests(12), priced(chat), cache=file))
    assert len(chat.answered) == 5
    (row,) = plan.rows
    assert (row["calls"], row["cached"], row["to_send"], row["tokens_out"]) == ([12, 12], [5, 5], [7, 7], [7, 350])
    assert row["tokens_in"][0] == sum(tokens.of_request(r, priced(chat)) for r in requests(12)[5:])
    assert row["cost"] == [row["tokens_in"][0] + 7, row["tokens_in"][0] + 350]
    json.dumps(plan.to_json())
    with budget(max_calls=8):
        plan = dry.dry_run(lambda: collect(requests(12), priced(chat), cache=file))
    assert plan.rows[0]["calls"] == [8, 8]
    assert "Beyond the budget, and not asked: 4 calls." in plan.lines


def test_calls_that_hang_on_replies_are_a_range(chat, tmp_path):
    def study() -> None:
        answers = collect(requests(4), chat.name, cache=tmp_path / "c")
        said = [(r.request.item_id, s) for r in answers if not r.unscored for s in r.text.split(". ")]
        collect(
            [Request(({"role": "user", "content": s},), item_id=i, purpose="judged") for i, s in said],
            chat.name,
            cache=tmp_path / "c",
        )

    plan = dry.dry_run(study)
    first, second = plan.rows
    assert first["calls"] == [4, 4]
    assert second["calls"][0] == 0 < second["calls"][1]
    assert any("judged" in note and "range" in note for note in plan.notes)
    assert not chat.answered


def test_collecting_without_a_budget_orders_nothing(monkeypatch, chat, tmp_path):
    """Cached runs pay nothing for limits that they do not have."""
    collect(requests(5), chat.name, cache=tmp_path / "c")
    monkeypatch.setattr(Budget, "ordered", None)
    monkeypatch.setattr(tokens, "estimated", None)
    assert len(collecting.collect(requests(5), chat.name, cache=tmp_path / "c")) == 5


class Shaped(BaseModel):
    """A reply of one field."""

    verdict: str


def test_the_most_that_a_request_can_cost_counts_its_schema_and_every_question_anew():
    """A question put again repeats the first and the reply that was not understood."""
    target = Model(name="m", provider="http", id="m", base_url="http://127.0.0.1:1/v1", price=Price(1.0, 0.0))
    plain = Request("four", max_tokens=10)
    shaped = Request("four", max_tokens=10, schema=Shaped)
    once, of_schema = rationing._bound(plain, target, 2), rationing._bound(shaped, target, 0)
    assert rationing._bound(plain, target, 0) == once > 0
    assert of_schema > once
    repeated = tokens.longest_reply(shaped, target, 0) * 2 * Price(1.0, 0.0).input / 1e6
    assert rationing._bound(shaped, target, 2) == pytest.approx(3 * (of_schema + repeated))
