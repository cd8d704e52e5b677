"""The ``openai`` client of an endpoint, guarded: bodies to a bound, no redirects, no proxy on the loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from evalbench.models.endpoint import Model
from evalbench.models.wire.bodies import UNPACKED, bounded, sent

if TYPE_CHECKING:
    import openai

# A proxy of the environment cannot reach what listens on this machine only.
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def client(target: Model, *, base_url: str = "", key: str = "", timeout: float = 60.0) -> openai.AsyncOpenAI:
    """The ``openai`` client of an endpoint; retries are ours, so its own are off.

    - ``base_url``, ``key``: Those of a running local server; otherwise the model's own.
    - ``timeout``: Seconds for connecting, and between two bytes.
    """
    import openai

    address = base_url or target.base_url
    common: dict[str, Any] = {"api_key": key or target.key or "none", "timeout": timeout, "max_retries": 0}
    common["http_client"] = openai.DefaultAsyncHttpxClient(
        trust_env=urlsplit(address).hostname not in _LOOPBACK,
        headers=UNPACKED,
        event_hooks={"request": [sent], "response": [bounded]},
        follow_redirects=False,  # what is asked must not go to an address that nobody named
    )
    made: openai.AsyncOpenAI
    if target.api_version:
        made = openai.AsyncAzureOpenAI(azure_endpoint=address, api_version=target.api_version, **common)
    else:
        made = openai.AsyncOpenAI(base_url=address, **common)
    if target.provider != "openai":
        # The client takes these from OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS; nobody else may see them.
        made.organization = made.project = None
        made._custom_headers = {}
    return made
