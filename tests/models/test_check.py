"""What the check says of endpoints that can little or much."""

from __future__ import annotations

import pytest
from faultserver import fault_server

from evalbench.models.check import check
from evalbench.models.llm import EndpointFault


def found(url, **options):
    return {finding.ability: finding for finding in check(url + "#tiny", **options)}


def test_an_endpoint_that_is_not_there():
    (only,) = check("http://127.0.0.1:9/v1#m", timeout=30.0)
    assert (only.ability, only.found) == ("chat", "no")
    assert only.detail.startswith("connection:")


def test_an_endpoint_that_only_embeds(scripted):
    scripted.gives({"data": [{"index": 0, "embedding": [3, 4]}, {"index": 1, "embedding": [1, 0]}]})
    scripted.lacks = "/chat/completions"
    chat, embeddings = check(scripted.name, timeout=30.0)
    assert (chat.ability, chat.found) == ("chat", "no")
    assert "refuses every call (404)" in chat.detail
    assert embeddings == ("embeddings", "yes", "2 dimensions")
    scripted.lacks = ""
    with pytest.raises(EndpointFault, match=r"refuses every call \(404\)"):
        check(scripted.name, timeout=30.0)


@pytest.mark.parametrize("stream", [b"data: {broken\n\n", b"no events at all", b"data: []\n\n"])
def test_an_endpoint_whose_stream_is_broken(scripted, monkeypatch, stream):
    monkeypatch.setattr("evalbench.models.similarity.endpoint_embed._RETRIES", 0)
    scripted.says("Paris")
    scripted.streams = stream
    table = {finding.ability: finding for finding in check(scripted.name, longest=0, timeout=30.0)}
    assert table["chat"].found == "yes"
    assert table["time to first token"].found == "no"
    assert table["tokens per second"].detail
    assert table["n = 2"].detail == "1 choices; we send n requests"
    assert table["embeddings"].found == "no"


def test_an_endpoint_that_can_little():
    with fault_server(refuses=("json_schema", "json_object", "seed", "temperature", "logprobs")) as server:
        table = found(server.url, longest=256)
    assert table["chat"].found == "yes"
    assert table["schema"] == ("schema", "no", table["schema"].detail)
    assert table["schema"].detail.startswith("in words only: unparsed: city: Field required")
    assert table["logprobs"].found == "no"
    assert table["seed repeats"] == ("seed repeats", "no", "the parameter is refused")
    assert table["temperature 0 repeats"].found == "no"


@pytest.fixture(scope="module")
def able():
    with fault_server() as server:
        return found(server.url, longest=1024)


@pytest.mark.parametrize("ability", ["chat", "logprobs", "seed repeats", "temperature 0 repeats", "embeddings"])
def test_an_endpoint_that_can_much(able, ability):
    assert able[ability].found == "yes"


def test_what_is_asked_for_and_not_given_is_a_no(able):
    assert able["n = 2"] == ("n = 2", "no", "1 choices; we send n requests")
    assert able["seed repeats"].detail == "temperature 1, one seed: 1 different of 3; another seed gives the same text"
    assert able["tokens per second"].found == "no"


def test_longest_prompt_and_dimensions(able):
    assert able["longest prompt tried"] == ("longest prompt tried", "11 tokens", "every length tried was accepted")
    assert able["embeddings"].detail == "2 dimensions"
