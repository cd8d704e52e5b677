"""What the tests of judges share: a fake judge on the loopback, and a cache of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chat import Chat, chat_endpoint


@pytest.fixture
def scripted_judge() -> Iterator[Chat]:
    """Set ``.answer`` before use; ``.name`` is the model's name."""
    with chat_endpoint(lambda prompt: "{}") as judge:
        yield judge


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that nobody else uses: a fake judge's replies must not be found by another test."""
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
