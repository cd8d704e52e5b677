"""What a model's name refers to, as a value: where it answers, what it costs and allows."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from evalbench.errors import BadInput


class EndpointFault(BadInput):
    """An endpoint that refuses every call: no key, a wrong key, no such model. It never carries a request's headers."""


@dataclass(frozen=True)
class Price:
    """Cost per million tokens, in one currency that the reader of the report knows."""

    input: float
    output: float


@dataclass(frozen=True)
class Limits:
    """What an endpoint allows; None where nothing is known."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    concurrency: int | None = None


@dataclass(frozen=True, kw_only=True)
class Model:
    """A language model behind an OpenAI-compatible endpoint. It knows the name of its key, never the key.

    - ``name``: As it was asked for; an alias stays an alias.
    - ``provider`` ({"openai", "azure", "gemini", "ollama", "http", "local"})
    - ``id``: The model's name at the endpoint.
    - ``base_url``: Empty for ``local`` models: their server's port is known only when it runs.
    - ``key_env``: The environment variable that holds the key; empty where none is used.
    - ``key_needed``: Whether the endpoint is useless without one.
    - ``api_version``: Azure's dated interface; empty otherwise.
    - ``price``: None: not known. Models of this machine cost nothing.
    - ``context``: Longest prompt and reply together, in tokens.
    """

    name: str
    provider: str
    id: str
    base_url: str = ""
    key_env: str = ""
    key_needed: bool = False
    api_version: str = ""
    price: Price | None = None
    limits: Limits = Limits()
    context: int | None = None

    @property
    def host(self) -> str:
        """Host and port of the endpoint, for accounting; a local model's is this machine's loopback."""
        return urlsplit(self.base_url).netloc if self.base_url else "127.0.0.1"

    @property
    def key(self) -> str:
        """The key, read from the environment at the moment of use.

        Raises ``EndpointFault`` if the endpoint needs one and the environment has none, or what it has cannot be a
        key.
        """
        found = os.environ.get(self.key_env, "") if self.key_env else ""
        if self.key_needed and not found:
            raise EndpointFault(f"{self.name} needs a key: set {self.key_env} in the environment")
        if not (found.isascii() and found.isprintable()):
            raise EndpointFault(
                f"{self.name}: the key in {self.key_env} holds characters that no key has (a line end, letters beyond "
                "ASCII): set it anew"
            )
        return found


# gpt-4-0613, gpt-4-1106-preview, gpt-4o-2024-08-06, gemini-1.5-flash-002, llama3:latest, GigaChat:1.0.26.20
_BUILD = re.compile(r"([-@:](latest|preview|\d{3,8}([-.]\d\d){0,2})|[@:]v?\d+(\.\d+){2,})+$")


def is_another_model(target: Model, served_by: str) -> bool:
    """Whether an endpoint names another model than was asked for; a build of the one that was asked for is not another.

    An Azure deployment may have any name, so nothing is said of it, nor where the endpoint names none.

    Examples
    --------
    >>> asked = Model(name="openai/gpt-4o", provider="openai", id="gpt-4o")
    >>> is_another_model(asked, "gpt-4o-2024-08-06"), is_another_model(asked, "gpt-4o-mini")
    (False, True)
    >>> is_another_model(Model(name="…#GigaChat", provider="http", id="GigaChat"), "GigaChat:2.0.28.2")
    False
    """
    if not served_by or target.provider == "azure":
        return False
    asked, served = _bare(target.id), _bare(served_by)
    if asked == served:
        return False
    family, build = _BUILD.sub("", asked), _BUILD.search(asked)
    names_a_build = build is not None and any(c.isdigit() for c in build[0])
    return _BUILD.sub("", served) != family or (names_a_build and served != family)


def _bare(name: str) -> str:
    """Without folders, the ending of a file, and case."""
    return name.rpartition("/")[2].casefold().removesuffix(".gguf")
