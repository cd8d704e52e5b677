"""The optional embedding models and endpoints."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalbench.errors import BadInput
from evalbench.models.similarity import encoders
from evalbench.models.similarity.embed import ModelUnavailable, embed, embedder, pair_similarities, similarity_matrix
from evalbench.models.similarity.encoders import identity


@pytest.mark.model
def test_e5_tells_meanings_apart_across_languages(fresh_cache: Path) -> None:
    english, russian = ["no sugar inside", "the train is late"], ["внутри нет сахара", "поезд опаздывает"]
    assert similarity_matrix("e5-small", english, russian).argmax(axis=1).tolist() == [0, 1]


@pytest.mark.slow  # imports torch
@pytest.mark.model
def test_minilm_in_two_precisions_is_cached_apart(fresh_cache: Path) -> None:
    texts = ["a dog barks", "a cat sleeps"]
    full, half = embed(texts, "minilm"), embed(texts, embedder("minilm", dtype="bfloat16"))
    assert full.shape == (2, 384)
    assert not np.array_equal(full, half)
    assert np.allclose((full * half).sum(axis=1), 1, atol=1e-2)
    assert embed(texts, "minilm").tobytes() == full.tobytes()


@pytest.mark.slow
@pytest.mark.model
def test_a_folder_is_a_model_and_its_content_is_its_identity(tmp_path: Path, fresh_cache: Path) -> None:
    source = encoders._packaged("minilm") / "model"
    folder = tmp_path / "mine"
    shutil.copytree(source, folder)
    assert np.allclose(embed(["a dog"], str(folder)), embed(["a dog"], "minilm"), atol=1e-6)
    before = identity(str(folder))
    (folder / "config_sentence_transformers.json").write_text("{}")
    encoders._identity_of_weights.cache_clear()
    assert identity(str(folder)) != before


@pytest.mark.model
@pytest.mark.slow
def test_a_folder_without_safetensors_is_refused(tmp_path: Path, fresh_cache: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "pytorch_model.bin").write_bytes(b"a pickle would be here")
    with pytest.raises(ModelUnavailable, match="must hold a sentence-transformers model in safetensors"):
        embed(["a"], str(tmp_path))


def test_an_endpoint_embeds_in_the_order_of_the_texts(server: Any, fresh_cache: Path) -> None:
    name = f"{server.url}#embedding-model"
    texts = [f"text {i}" for i in range(300)]
    vectors = embed(texts, name)
    assert vectors.shape[0] == 300
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert embed(texts[::-1], name)[::-1].tobytes() == vectors.tobytes()
    assert pair_similarities(name, ["text 1"], ["text 1"]).tolist() == [1.0]


def test_an_endpoint_computes_in_its_own_precision(fresh_cache: Path) -> None:
    with pytest.raises(BadInput, match="computes in float32 only"):
        embed(["a"], embedder("http://127.0.0.1:9/v1#m", dtype="float16"))


def test_an_endpoint_without_a_model_is_refused(fresh_cache: Path) -> None:
    with pytest.raises(BadInput, match="write the model after a #"):
        embed(["a"], "http://127.0.0.1:9/v1")


def test_a_missing_key_is_named_and_not_sent_for(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(BadInput, match="OPENAI_API_KEY"):
        embed(["a"], "openai/text-embedding-3-small")


def test_an_unreachable_endpoint_says_so_and_keeps_its_key_secret(
    monkeypatch: pytest.MonkeyPatch, fresh_cache: Path
) -> None:
    monkeypatch.setenv("EVALBENCH_API_KEY", "sk-very-secret-key-0123456789")
    monkeypatch.setattr("evalbench.models.similarity.endpoint_embed._RETRIES", 0)
    with pytest.raises(ModelUnavailable, match="gave no embeddings") as raised:
        embed(["a"], "http://127.0.0.1:9/v1#m")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>It works!</html>",
        b'{"data": [',
        "hello",
        {"data": None},
        {"data": [{"index": 0, "embedding": [1, 2]}]},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]},
        {"data": [{"embedding": [1, 2]}, {"embedding": [1, 2]}]},
        {"data": [{"index": 1, "embedding": [1, 2]}, {"index": 1, "embedding": [2, 1]}]},
        {"data": [{"index": 0, "embedding": [1, float("nan")]}, {"index": 1, "embedding": [1, 2]}]},
    ],
)
def test_what_is_no_embeddings_is_refused(
    scripted: Any, body: object, monkeypatch: pytest.MonkeyPatch, fresh_cache: Path
) -> None:
    monkeypatch.setattr("evalbench.models.similarity.endpoint_embed._RETRIES", 0)
    scripted.gives(body)
    with pytest.raises(ModelUnavailable, match="bad-response: no 2 vectors for 2 texts"):
        embed(["a", "b"], scripted.name)


@pytest.mark.parametrize(
    ("name", "path", "environment"),
    [
        ("openai/e", "/v1/embeddings", {"OPENAI_BASE_URL": "{url}", "OPENAI_API_KEY": "sk-invented-1"}),
        ("azure/e", "/openai/v1/embeddings", {"AZURE_OPENAI_ENDPOINT": "{host}"}),
        (
            "azure/e",
            "/openai/deployments/e/embeddings?api-version=2024-10-21",
            {"AZURE_OPENAI_ENDPOINT": "{host}", "AZURE_OPENAI_API_VERSION": "2024-10-21"},
        ),
        ("gemini/e", "/v1/embeddings", {"GEMINI_API_KEY": "sk-invented-2"}),
        ("ollama/e", "/v1/embeddings", {"OLLAMA_HOST": "{host}"}),
        ("mine", "/v1/embeddings", {"EVALBENCH_MODELS": "{toml}"}),
    ],
)
def test_every_endpoint_of_chat_embeds_too(
    scripted: Any,
    name: str,
    path: str,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    fresh_cache: Path,
    tmp_path: Path,
) -> None:
    toml = tmp_path / "models.toml"
    toml.write_text(f'[mine]\nname = "{scripted.url}#e"\n')
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "sk-invented-3")
    monkeypatch.delenv("AZURE_OPENAI_API_VERSION", raising=False)
    monkeypatch.setattr("evalbench.models.names._GEMINI", scripted.url)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value.format(url=scripted.url, host=scripted.url.removesuffix("/v1"), toml=toml))
    scripted.gives({"data": [{"index": 0, "embedding": [3, 4]}]})
    assert embed(["a"], name).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]
    asked, headers, body = scripted.asked[-1]
    assert (asked, body["input"]) == (path, ["a"])
    sent = headers.get("api-key") or headers["authorization"].removeprefix("Bearer ")
    variable = {"openai/e": "OPENAI_API_KEY", "azure/e": "AZURE_OPENAI_API_KEY", "gemini/e": "GEMINI_API_KEY"}
    assert sent == (os.environ[variable[name]] if name in variable else "none")


def test_one_name_at_two_endpoints_is_two_models(
    scripted: Any, monkeypatch: pytest.MonkeyPatch, fresh_cache: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-invented-1")
    monkeypatch.setenv("OPENAI_BASE_URL", scripted.url)
    scripted.gives({"data": [{"index": 0, "embedding": [1, 0]}]})
    assert embed(["a"], "openai/e").tolist() == [[1, 0]]
    scripted.gives({"data": [{"index": 0, "embedding": [0, 1]}]})
    assert embed(["a"], "openai/e").tolist() == [[1, 0]]
    monkeypatch.setenv("OPENAI_BASE_URL", f"{scripted.url}/other")
    assert embed(["a"], "openai/e").tolist() == [[0, 1]]
    assert [path for path, _, _ in scripted.asked] == ["/v1/embeddings", "/v1/other/embeddings"]
