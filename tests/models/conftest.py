"""What the tests of models share: a chat endpoint that fails on purpose, and a cache of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from faultserver import Running, fault_server
from scripted_endpoint import ScriptedEndpoint, scripted_endpoint


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """A server that does what the prompt says."""
    with fault_server() as running:
        yield running


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that nobody else uses."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("EVALBENCH_CACHE", str(folder))
    return folder


@pytest.fixture
def scripted() -> Iterator[ScriptedEndpoint]:
    with scripted_endpoint() as endpoint:
        yield endpoint
