"""``evalbench models``: what it prints, and what it refuses."""

from __future__ import annotations

import time

import numpy as np
import pytest
from click.testing import CliRunner

from evalbench.commands.models import models
from evalbench.errors import BadInput
from evalbench.models.store.cache import ReplyCache
from evalbench.models.store.vectors import vector_cache_file, write_vectors


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "AZURE_OPENAI_ENDPOINT", "EVALBENCH_MODELS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> str:
    return CliRunner().invoke(models, arguments, catch_exceptions=False, standalone_mode=False).output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fetch", "gpt"), "known are local/smollm2-135m"),
        (("serve", "http://127.0.0.1:9/v1#m"), "is served elsewhere"),
        (("check", "gpt"), "is not a model name"),
        (("cache", "prune"), "choose what to remove"),
        (("cache", "prune", "--all", "--model", "m"), "--all removes everything"),
    ],
)
def test_refusals(arguments, said):
    with pytest.raises(BadInput, match=said):
        run(*arguments)


def test_list_tells_what_is_configured_and_never_a_key(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-invented-0001")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    (tmp_path / "models.toml").write_text('[judge]\nname = "http://127.0.0.1:9/v1#m"\n')
    shown = run("list")
    lines = {line.split()[0]: line for line in shown.splitlines() if line}
    assert "evalbench models fetch local/smollm2-135m" in lines["local/smollm2-135m"]
    assert "OPENAI_API_KEY is set" in lines["openai/MODEL"]
    assert "not reachable" in lines["openai/MODEL"]
    assert "GEMINI_API_KEY is not set" in lines["gemini/MODEL"]
    assert "not configured" in lines["gemini/MODEL"]
    assert "needs AZURE_OPENAI_ENDPOINT" in lines["azure/DEPLOYMENT"]
    assert "http://127.0.0.1:9/v1#m" in lines["judge"]
    assert "sk-invented" not in shown


def test_the_cache_is_shown_and_pruned():
    assert "replies.sqlite: 0 replies, " in run("cache")
    with ReplyCache() as cache:
        cache.put_many((f"a{i}", "model-a", "host", {"text": "x" * 100}) for i in range(20))
        cache.put("b", "model-b", "host", {"text": "y"})
    shown = run("cache").splitlines()
    assert shown[0].split() == ["model", "host", "replies", "size", "oldest", "newest"]
    assert shown[1].split()[:5] == ["model-a", "host", "20", "2", "kB"]
    assert time.strftime("%Y-%m-%d", time.gmtime()) in shown[1]
    assert "replies.sqlite: 21 replies, " in shown[3]
    assert len(shown) == 4
    write_vectors(vector_cache_file(), "m", "float32", {"a": np.ones(3, np.float32)})
    assert "vectors.sqlite: embeddings, " in run("cache").splitlines()[4]
    assert run("cache", "prune", "--older-than", "1").startswith("0 replies removed")
    assert run("cache", "prune", "--model", "model-a").startswith("20 replies removed")
    assert run("cache", "prune", "--all").startswith("1 replies removed")
