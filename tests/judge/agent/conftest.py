"""What the tests of judges that look things up share: a scripted endpoint on the loopback, a fake."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tool_endpoint import FakeEndpoint, fake_tool_endpoint

from evalbench.models.chat import shapes


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEndpoint]:
    """One that has refused nothing yet."""
    monkeypatch.setattr(shapes, "_refused", {})
    with fake_tool_endpoint() as endpoint:
        yield endpoint
