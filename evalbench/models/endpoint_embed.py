"""Embeddings from OpenAI-compatible endpoints; names, keys, limits and retries as for chat."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import ModelUnavailable
from evalbench.models import local, names
from evalbench.models.calls import wait
from evalbench.models.collect import CONCURRENCY, run_sync
from evalbench.models.endpoint import Model, client
from evalbench.models.limits import estimated_tokens, limiter
from evalbench.models.redact import redactor
from evalbench.models.transport import Outcome, failed, post

if TYPE_CHECKING:
    import numpy.typing as npt
    import openai

_TEXTS_PER_REQUEST = 128
_TIMEOUT_SECONDS = 60.0
_RETRIES = 4


def endpoint_encoder(name: str) -> Callable[[Sequence[str]], npt.NDArray[Any]]:
    """Encoding function for a model's name as in :mod:`evalbench.models.names`."""

    def encode(texts: Sequence[str]) -> npt.NDArray[Any]:
        return run_sync(_embeddings(names.model(name), list(texts)))

    return encode


async def _embeddings(target: Model, texts: list[str]) -> npt.NDArray[Any]:
    parts = [texts[i : i + _TEXTS_PER_REQUEST] for i in range(0, len(texts), _TEXTS_PER_REQUEST)]
    under_way = asyncio.Semaphore(target.limits.concurrency or CONCURRENCY)
    with local.address_of(target) as (base_url, key):
        async with client(target, base_url=base_url, key=key, timeout=_TIMEOUT_SECONDS) as opened:

            async def one(part: list[str]) -> npt.NDArray[Any]:
                async with under_way:
                    return await _answered(opened, target, key, part)

            found = await asyncio.gather(*map(one, parts))
    if len({part.shape[1] for part in found}) > 1:
        raise ModelUnavailable(f"{target.name} gave embeddings of different lengths")
    return np.concatenate(found)


async def _answered(client: openai.AsyncOpenAI, target: Model, key: str, part: list[str]) -> npt.NDArray[Any]:
    """The vectors of one request, sent again where that may help."""
    payload = {"model": target.id, "input": part, "encoding_format": "float"}
    redact = redactor(key or target.key)
    for retries in range(_RETRIES + 1):
        started = time.perf_counter()
        await limiter(target).acquire(estimated_tokens("".join(part), 1))
        got = await post(client, target, "/embeddings", payload, _TIMEOUT_SECONDS, redact)
        vectors = None if isinstance(got, Outcome) else _vectors(got, len(part))
        if vectors is not None:
            return vectors
        outcome = got if isinstance(got, Outcome) else _no_vectors(redact, got, len(part), started)
        if not outcome.again or retries == _RETRIES:
            break
        await asyncio.sleep(wait(outcome, retries))
    raise ModelUnavailable(
        f"{target.name} at {target.host} gave no embeddings: {outcome.reason}: {outcome.detail}"
    )


def _no_vectors(redact: Callable[[str], str], body: bytes, n: int, started: float) -> Outcome:
    shown = redact(body.decode("utf-8", "replace"))[:100]
    return failed("bad-response", f"no {n} vectors for {n} texts in {shown!r}", started)


def _vectors(body: bytes, n: int) -> npt.NDArray[Any] | None:
    """The rows of a reply in the order of the texts; None where it is anything else."""
    try:
        rows = sorted(json.loads(body)["data"], key=lambda row: row["index"])
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float64)
        in_order = [row["index"] for row in rows] == list(range(n))
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    return vectors if in_order and vectors.ndim == 2 and np.isfinite(vectors).all() else None
