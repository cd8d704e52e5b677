"""What the tests of models share: a chat endpoint that fails on purpose, and a cache of their own."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


def _module() -> Any:
    if "faultserver" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "faultserver", Path(__file__).with_name("faultserver.py")
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules["faultserver"] = module
        spec.loader.exec_module(module)
    return sys.modules["faultserver"]


@pytest.fixture(scope="session")
def fault_server() -> Callable[..., Any]:
    """``with fault_server(delay=…, rates=…) as server``; ``server.url`` ends in /v1."""
    return _module().fault_server


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A server that does what the prompt says."""
    with _module().fault_server() as running:
        yield running


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that nobody else uses."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("EVALBENCH_CACHE", str(folder))
    return folder
