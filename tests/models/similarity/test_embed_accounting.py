"""What an endpoint embeds is counted as its replies are."""

from __future__ import annotations

import pytest
from faultserver import fault_server

from evalbench.models.accounting import accounting, embeddings_counted, merged
from evalbench.models.similarity.embed import ModelUnavailable, embed, embedder

REPLY = {"data": [{"index": 0, "embedding": [3, 4]}, {"index": 1, "embedding": [4, 3]}], "model": "tiny-embed-2",
         "usage": {"prompt_tokens": 9, "total_tokens": 9}}  # fmt: skip


@pytest.fixture
def priced(scripted, tmp_path, monkeypatch, fresh_cache):
    """A scripted endpoint that costs 2 per million tokens, by the name ``mine``."""
    toml = tmp_path / "models.toml"
    toml.write_text(f'[mine]\nname = "{scripted.url}#e"\nprice = {{input = 2.0, output = 0.0}}\n')
    monkeypatch.setenv("EVALBENCH_MODELS", str(toml))
    scripted.gives(REPLY)
    return scripted


def test_calls_tokens_and_cost(priced):
    with embeddings_counted() as spent:
        embed(["a", "b", "a", " "], "mine")
    (account,) = spent
    assert account.keys() == accounting([]).keys()
    assert account.pop("call_seconds") > 0
    assert account == {
        **{name: value for name, value in accounting([]).items() if name != "call_seconds"},
        "models": ["mine"], "served_by": ["tiny-embed-2"], "other_models": {"mine → tiny-embed-2": 2}, "endpoints": [priced.url.split("/")[2]], "calls": 2,
        "asked_at": [f"mine at {priced.url.split(chr(47))[2]}"],
        "requests": 1, "tokens_in": 9, "cost": pytest.approx(18e-6), "cached_cost": 0.0,
    }  # fmt: skip


def test_vectors_from_disk_are_hits_and_cost_nothing_again(priced):
    embed(["a", "b"], "mine")
    priced.gives({**REPLY, "data": REPLY["data"][:1]})
    with embeddings_counted() as spent:
        embed(["a", "b", "c"], "mine")
    total = merged(spent)
    assert (total["calls"], total["cache_hits"], total["requests"], total["tokens_in"]) == (3, 2, 1, 9)
    assert total["cost"] == pytest.approx(18e-6)
    assert total["cached_cost"] is None  # which part of a request's cost a text had is not known
    with embeddings_counted() as spent:
        embed(["a", "b"], "mine")
    assert (merged(spent)["calls"], merged(spent)["cache_hits"], merged(spent)["cost"]) == (2, 2, 0.0)
    assert len(priced.asked) == 2


def test_without_a_price_or_a_count_the_cost_is_not_known(scripted, priced):
    with embeddings_counted() as spent:
        embed(["a", "b"], embedder(scripted.name, cache=False))
    assert (spent[0]["tokens_in"], spent[0]["cost"]) == (9, None)
    scripted.gives({name: value for name, value in REPLY.items() if name != "usage"})
    with embeddings_counted() as spent:
        embed(["a", "b"], embedder("mine", cache=False))
    assert (spent[0]["tokens_in"], spent[0]["cost"]) == (0, None)


def test_what_failed_is_counted_too(priced, monkeypatch):
    monkeypatch.setattr("evalbench.models.similarity.endpoint_embed._RETRIES", 1)
    priced.gives({"error": {"message": "later"}}, status=503, retry_after="0")
    with embeddings_counted() as spent, pytest.raises(ModelUnavailable):
        embed(["a", "b"], "mine")
    (account,) = spent
    assert (account["calls"], account["requests"], account["retries"]) == (2, 2, 1)
    assert (account["errors"], account["cost"]) == ({"server-error": 2}, 0.0)


def test_many_texts_are_few_requests(fresh_cache):
    with fault_server() as server, embeddings_counted() as spent:
        embed([f"text {i}" for i in range(300)], f"{server.url}#e")
    assert (spent[0]["calls"], spent[0]["requests"], spent[0]["tokens_in"]) == (300, 3, 3)


def test_models_of_this_machine_are_not_counted(fresh_cache):
    with embeddings_counted() as spent:
        embed(["a"], "use-multilingual")
        embed(["a"], "use-multilingual")
    assert spent == []


def test_blocks_count_apart(priced):
    with embeddings_counted() as outer:
        with embeddings_counted() as inner:
            embed(["a", "b"], "mine")
        embed(["a", "b"], "mine")
    assert [account["cache_hits"] for account in inner] == [0]
    assert [account["cache_hits"] for account in outer] == [2]


def test_another_embedding_model_than_asked_for_is_counted(scripted, fresh_cache):
    row = {"object": "embedding", "index": 0, "embedding": [1.0, 2.0]}
    scripted.gives({"object": "list", "data": [row], "model": "huge"})
    with embeddings_counted() as spent:
        embed(["one text"], scripted.name)
    assert merged(spent)["other_models"] == {f"{scripted.name} → huge": 1}
