"""Names of language models and what they refer to.

======================================  ============================================================
name                                    endpoint and key, from the environment
======================================  ============================================================
``openai/gpt-4o``                       ``OPENAI_API_KEY``; ``OPENAI_BASE_URL`` where it is not OpenAI's own
``azure/<deployment>``                  ``AZURE_OPENAI_ENDPOINT``, ``AZURE_OPENAI_API_KEY``; a dated interface
                                        where ``AZURE_OPENAI_API_VERSION`` is set
``gemini/<model>``                      ``GEMINI_API_KEY``; Google's OpenAI-compatible interface
``ollama/llama3.1:8b``                  ``OLLAMA_HOST``, or this machine's port 11434
``http(s)://host/v1#model``             ``EVALBENCH_API_KEY`` where one is needed: vLLM, llama.cpp, LM Studio
``local/smollm2-135m``                  weights that ``evalbench models fetch`` brings; a server on this machine
``local:/path/to/file.gguf``            any GGUF file
======================================  ============================================================

A file ``models.toml`` in the workbench's root (or named by ``EVALBENCH_MODELS``) adds aliases, prices, limits and
context sizes; it holds no keys::

    [judge]
    name = "openai/gpt-4o"
    price = {input = 2.50, output = 10.00}     # per million tokens
    requests_per_minute = 500
    tokens_per_minute = 30000
    concurrency = 16
    context = 128000
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evalbench.errors import BadInput
from evalbench.models.endpoint import Limits, Model, Price

FORMS = (
    "openai/MODEL, azure/DEPLOYMENT, gemini/MODEL, ollama/MODEL, http(s)://HOST/v1#MODEL, local/NAME, local:FILE.gguf"
)
_GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
_OPENAI = "https://api.openai.com/v1"
_OLLAMA_PORT = 11434
_PREFIXES = ("openai/", "azure/", "gemini/", "ollama/", "http://", "https://", "local/", "local:")
_SETTINGS = {"name", "price", "requests_per_minute", "tokens_per_minute", "concurrency", "context"}


def model(name: str) -> Model:
    """The model of this name, an alias of ``models.toml`` or one of the forms above.

    Raises ``BadInput`` if the name has none of the forms, its address holds a user, a password or a query, an
    environment variable that it needs is missing, or ``models.toml`` is faulty.

    Examples
    --------
    >>> model("http://127.0.0.1:8000/v1#tiny").id
    'tiny'
    """
    settings = aliases().get(name)
    if settings is None:
        return _named(name)
    target = _named(settings["name"])
    if "EVALBENCH_RUN" not in os.environ:  # of a run, the command line has said so
        for line in folder_aliases([name]):
            _say_once(line)
    price = settings.get("price")
    return replace(
        target,
        name=name,
        price=Price(float(price["input"]), float(price["output"])) if price else target.price,
        limits=Limits(
            settings.get("requests_per_minute"),
            settings.get("tokens_per_minute"),
            settings.get("concurrency", target.limits.concurrency),
        ),
        context=settings.get("context", target.context),
    )


def is_model_name(name: str) -> bool:
    """Whether this is an alias or has one of the forms above, be there such a model or not.

    Examples
    --------
    >>> is_model_name("openai/gpt-4o"), is_model_name("sentence-transformers/LaBSE")
    (True, False)
    """
    return name.startswith(_PREFIXES) or name in aliases()


def models_file() -> Path | None:
    """``models.toml``: named by ``EVALBENCH_MODELS``, in the workbench or current folder; else the package's; or None."""
    from evalbench import workbench

    named = os.environ.get("EVALBENCH_MODELS")
    if named:
        file = Path(named).expanduser()
        if not file.is_file():
            raise BadInput(f"EVALBENCH_MODELS names {file}, which is not a file")
        return file
    folders = [workbench.here()]
    with suppress(BadInput):
        folders.append(workbench.root())
    return next((file for folder in folders if (file := folder / "models.toml").is_file()), None)


def aliases() -> dict[str, dict[str, Any]]:
    """The tables of ``models.toml``, checked: alias to its settings.

    Raises ``BadInput``: With all faults of the file at once.
    """
    file = models_file()
    if file is None:
        return {}
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: not readable as TOML: {error}") from error
    faults = [fault for alias, settings in tables.items() for fault in _alias_faults(alias, settings)]
    if faults:
        raise BadInput.listing(f"{file} has faults:", faults)
    return tables


def folder_aliases(wanted: Collection[str]) -> list[str]:
    """Where those of the names lead that a ``models.toml`` of the current folder defines, a line each.

    The workbench's own file, and one that ``EVALBENCH_MODELS`` names, are the user's and need no line.
    """
    from evalbench import workbench

    file = models_file()
    if file is None or os.environ.get("EVALBENCH_MODELS") or workbench.is_root(file.parent):
        return []
    found = [(alias, _named(settings["name"])) for alias, settings in aliases().items() if alias in wanted]
    return [f"{file} defines the model {alias}: {target.id} at {target.host}" for alias, target in found]


@cache
def _say_once(line: str) -> None:
    print(line, file=sys.stderr)


def _alias_faults(alias: str, settings: Any) -> list[str]:
    if alias.startswith(_PREFIXES):
        prefix = next(p for p in _PREFIXES if alias.startswith(p))
        return [f"{alias}: an alias must not begin with {prefix}, which names a provider; give it a name of its own"]
    if not isinstance(settings, dict):
        return [f"{alias}: expected a table [{alias}] with a name"]
    faults = [
        f"{alias}: unknown setting {key!r}; known: {', '.join(sorted(_SETTINGS))}"
        for key in settings.keys() - _SETTINGS
    ]
    if not isinstance(settings.get("name"), str):
        faults.append(f"{alias}: name is missing; it is one of {FORMS}")
    price = settings.get("price")
    if price is not None and not (
        isinstance(price, dict) and price.keys() == {"input", "output"} and all(_is_amount(v) for v in price.values())
    ):
        faults.append(f"{alias}: price is {{input = …, output = …}} per million tokens, none below 0")
    for key in ("requests_per_minute", "tokens_per_minute"):
        if key in settings and not (_is_amount(settings[key]) and settings[key] > 0):
            faults.append(f"{alias}: {key} is a number above 0")
    for key in ("concurrency", "context"):
        if key in settings and not (type(settings[key]) is int and settings[key] >= 1):
            faults.append(f"{alias}: {key} is a whole number from 1")
    return sorted(faults)


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _named(name: str) -> Model:
    """A model by one of the forms, no alias."""
    if not isinstance(name, str) or not name.strip():
        raise BadInput(f"a model's name is one of {FORMS}; got {name!r}")
    if name.startswith(("http://", "https://")):
        address, _, wanted = name.partition("#")
        base = _checked_url(address, "the model's address")
        if not wanted:
            raise BadInput(f"{base}: write the model after a #, as in {base}#MODEL")
        return Model(name=name, provider="http", id=wanted, base_url=base, key_env="EVALBENCH_API_KEY")
    if name.startswith(("local/", "local:")):
        from evalbench.models.local.weights import local_model

        return local_model(name)
    provider, _, wanted = name.partition("/")
    if provider not in _BY_PROVIDER or not wanted:
        known = ", ".join(sorted(aliases())) or "none"
        raise BadInput(f"{name!r} is not a model name; use {FORMS}, or an alias of models.toml ({known})")
    return _BY_PROVIDER[provider](name, wanted)


def _openai(name: str, wanted: str) -> Model:
    base = _checked_url(os.environ.get("OPENAI_BASE_URL") or _OPENAI, "OPENAI_BASE_URL")
    return Model(name=name, provider="openai", id=wanted, base_url=base, key_env="OPENAI_API_KEY", key_needed=True)


def _azure(name: str, wanted: str) -> Model:
    endpoint = os.environ.get("AZURE_OPENAI_ENDPOINT")
    if not endpoint:
        raise BadInput(f"{name} needs AZURE_OPENAI_ENDPOINT in the environment, as in https://NAME.openai.azure.com")
    version = os.environ.get("AZURE_OPENAI_API_VERSION") or os.environ.get("OPENAI_API_VERSION") or ""
    base = _checked_url(endpoint, "AZURE_OPENAI_ENDPOINT")
    if not version and not base.endswith("/v1"):
        base += "/openai/v1"
    return Model(
        name=name,
        provider="azure",
        id=wanted,
        base_url=base,
        key_env="AZURE_OPENAI_API_KEY",
        key_needed=True,
        api_version=version,
    )


def _gemini(name: str, wanted: str) -> Model:
    return Model(name=name, provider="gemini", id=wanted, base_url=_GEMINI, key_env="GEMINI_API_KEY", key_needed=True)


def _ollama(name: str, wanted: str) -> Model:
    host = os.environ.get("OLLAMA_HOST") or "127.0.0.1"
    if "://" not in host:
        host = f"http://{host}"
    parts = urlsplit(_checked_url(host, "OLLAMA_HOST"))
    hostname = "127.0.0.1" if parts.hostname == "0.0.0.0" else parts.hostname or "127.0.0.1"  # noqa: S104
    port = parts.port or (443 if parts.scheme == "https" else _OLLAMA_PORT)
    base = f"{parts.scheme}://{f'[{hostname}]' if ':' in hostname else hostname}:{port}/v1"
    return Model(name=name, provider="ollama", id=wanted, base_url=base, price=Price(0.0, 0.0))


_BY_PROVIDER = {"openai": _openai, "azure": _azure, "gemini": _gemini, "ollama": _ollama}


def _checked_url(url: str, what: str) -> str:
    """The address without a trailing slash; its text is not repeated in an error, it may hold a password."""
    faults = []
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            faults.append("it is not of the form http(s)://host[:port]/path")
        if parts.username is not None or parts.password is not None:
            faults.append("it holds a user or a password: keys come from the environment only")
        if parts.query:
            faults.append("it holds a query (…?…): keys come from the environment only")
        if any(character.isspace() or not character.isprintable() for character in url):
            faults.append("it holds blanks or control characters")
        _ = parts.port
    except ValueError as error:
        faults.append(f"it is not an address: {error}" if "Port" in str(error) else "it is not an address")
    if faults:
        raise BadInput(f"{what} is refused: {'; '.join(faults)}")
    return url.rstrip("/")
