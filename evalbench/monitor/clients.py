"""Clients by keyed hashes: the same client is found again, and nobody without the key can say who it is."""

from __future__ import annotations

import hashlib
import hmac
import os
import re

from evalbench.errors import BadInput

KEY = "EVALBENCH_LOG_KEY"
LEAST = 16
_HASH = re.compile(r"[0-9a-f]{64}")


def client_hash(client: str, key: bytes) -> str:
    """HMAC-SHA256 of a client's id, in hexadecimal.

    - ``client``: As the application knows the client: never normalised, so that no two become one.

    Examples
    --------
    >>> client_hash("anna@example.org", b"a key for an example")[:16]
    'a4472cefa0fd9786'
    """
    return hmac.digest(key, client.encode("utf-8", "surrogatepass"), "sha256").hex()


def is_client_hash(text: object) -> bool:
    """Whether a value has the form of :func:`client_hash`."""
    return isinstance(text, str) and bool(_HASH.fullmatch(text))


def key_of_environment() -> bytes | None:
    """The key in ``EVALBENCH_LOG_KEY``; None where the variable is empty or not set.

    Raises ``BadInput`` for a key of fewer than 16 bytes: whoever has the hashes could try all of them.
    """
    key = os.environ.get(KEY, "").encode("utf-8", "surrogateescape")
    if key and len(key) < LEAST:
        raise BadInput(
            f"{KEY} has {len(key)} bytes, expected at least {LEAST}: python -c 'import secrets; print(secrets.token_hex(32))'"
        )
    return key or None


def needed_key(why: str) -> bytes:
    """The key of the environment, or a refusal.

    Raises ``BadInput`` if there is none.
    """
    key = key_of_environment()
    if key is None:
        raise BadInput(
            f"{why}: client ids are kept as keyed hashes only; set {KEY} to a secret of at least {LEAST} characters"
        )
    return key


def fingerprint(key: bytes) -> str:
    """What shows later that a key is the same, and nothing else about it."""
    return hashlib.sha256(b"evalbench log store\0" + hmac.digest(key, b"fingerprint", "sha256")).hexdigest()[:16]
