"""The optional embedding models and endpoints."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalbench.errors import BadInput
from evalbench.models import encoders
from evalbench.models.embed import ModelUnavailable, embed, embedder, pair_similarities, similarity_matrix
from evalbench.models.encoders import identity


@pytest.mark.model
def test_e5_tells_meanings_apart_across_languages(fresh_cache: Path) -> None:
    english, russian = ["no sugar inside", "the train is late"], ["внутри нет сахара", "поезд опаздывает"]
    assert similarity_matrix("e5-small", english, russian).argmax(axis=1).tolist() == [0, 1]


@pytest.mark.model
def test_minilm_in_two_precisions_is_cached_apart(fresh_cache: Path) -> None:
    texts = ["a dog barks", "a cat sleeps"]
    full, half = embed(texts, "minilm"), embed(texts, embedder("minilm", dtype="bfloat16"))
    assert full.shape == (2, 384)
    assert not np.array_equal(full, half)
    assert np.allclose((full * half).sum(axis=1), 1, atol=1e-2)
    assert embed(texts, "minilm").tobytes() == full.tobytes()


@pytest.mark.model
def test_a_folder_is_a_model_and_its_content_is_its_identity(tmp_path: Path, fresh_cache: Path) -> None:
    source = encoders._packaged("minilm") / "model"
    folder = tmp_path / "mine"
    shutil.copytree(source, folder)
    assert np.allclose(embed(["a dog"], str(folder)), embed(["a dog"], "minilm"), atol=1e-6)
    before = identity(str(folder))
    (folder / "config_sentence_transformers.json").write_text("{}")
    identity.cache_clear()
    assert identity(str(folder)) != before


@pytest.mark.model
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
    monkeypatch.setattr("evalbench.models.endpoint_embed._RETRIES", 0)
    with pytest.raises(ModelUnavailable, match="gave no embeddings") as raised:
        embed(["a"], "http://127.0.0.1:9/v1#m")
    assert "secret" not in str(raised.value)
