"""Embeddings from OpenAI-compatible endpoints; names, keys, limits and retries as for chat."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core import budget, dry
from evalbench.core.wording import counted
from evalbench.errors import ModelUnavailable
from evalbench.models import names
from evalbench.models.accounting import cost, count_embeddings
from evalbench.models.chat.calls import Tally, wait
from evalbench.models.chat.collect import CONCURRENCY, run_sync
from evalbench.models.chat.rationing import refuse_unpriced
from evalbench.models.endpoint import Model
from evalbench.models.local import weights as local
from evalbench.models.redact import redactor
from evalbench.models.tokens import HOW, estimated
from evalbench.models.wire.client import client
from evalbench.models.wire.limits import estimated_tokens, limiter
from evalbench.models.wire.transport import LONGEST_DETAIL, Outcome, failed, post, usage_count

if TYPE_CHECKING:
    import numpy.typing as npt
    import openai

_TEXTS_PER_REQUEST = 128
_TIMEOUT_SECONDS = 60.0
_RETRIES = 4


class _Embedded(NamedTuple):
    """What a reply holds."""

    vectors: npt.NDArray[Any]
    served_by: str
    tokens: int | None


def endpoint_encoder(name: str) -> Callable[[Sequence[str]], npt.NDArray[Any]]:
    """Encoding function for a model's name as in :mod:`evalbench.models.names`; what it asks is counted.

    A limit of the cost counts it too: texts whose estimated tokens would go beyond it are not sent, all of them.
    """

    def encode(texts: Sequence[str]) -> npt.NDArray[Any]:
        target, tally, served_by = names.model(name), Tally(), set[str]()
        spent = budget.active()
        refuse_unpriced(spent, target)
        estimate = cost(target, sum(map(estimated, texts)), 0) or 0.0
        if spent is not None and not spent.allows(estimate):
            said = f"{target.name}: {counted(len(texts), 'text')} not embedded: the budget was used up ({spent.why})"
            raise ModelUnavailable(said, budget.REASON)
        try:
            return run_sync(_embeddings(target, list(texts), tally, served_by))
        finally:
            if spent is not None:
                billed = cost(target, tally.tokens_in, 0)
                spent.spend(estimate if billed is None else billed)
            count_embeddings(
                target,
                texts=len(texts),
                served_by=served_by,
                requests=tally.requests,
                retries=tally.retries,
                errors=tally.errors,
                tokens=tally.tokens_in,
                seconds=tally.seconds,
            )

    return encode


def note_texts(name: str, texts: Sequence[str], known: int) -> None:
    """On a dry run: note the texts that would be sent, beside those whose vectors are ``known``."""
    here, target = dry.noted(), names.model(name)
    if here is None:
        return
    new = [text for text in texts if f"{name}\0{text}" not in here.seen]
    here.seen |= {f"{name}\0{text}" for text in new}
    tokens = sum(map(estimated, new))
    price = cost(target, tokens, 0)
    prices = None if price is None else (price, price)
    dry.note(
        dry.Round("embedding", name, len(new) + known, known, len(new), 0, (tokens, tokens), (0, 0), prices), remark=HOW
    )


async def _embeddings(target: Model, texts: list[str], tally: Tally, served_by: set[str]) -> npt.NDArray[Any]:
    parts = [texts[i : i + _TEXTS_PER_REQUEST] for i in range(0, len(texts), _TEXTS_PER_REQUEST)]
    under_way = asyncio.Semaphore(target.limits.concurrency or CONCURRENCY)
    with local.address_of(target) as (base_url, key):
        async with client(target, base_url=base_url, key=key, timeout=_TIMEOUT_SECONDS) as opened:

            async def one(part: list[str]) -> npt.NDArray[Any]:
                async with under_way:
                    found = await _answered(opened, target, key, part, tally)
                served_by.add(found.served_by)
                return found.vectors

            found = await asyncio.gather(*map(one, parts))
    if len({part.shape[1] for part in found}) > 1:
        raise ModelUnavailable(f"{target.name} gave embeddings of different lengths", "bad-response")
    return np.concatenate(found)


async def _answered(client: openai.AsyncOpenAI, target: Model, key: str, part: list[str], tally: Tally) -> _Embedded:
    """The vectors of one request, sent again where that may help."""
    payload = {"model": target.id, "input": part, "encoding_format": "float"}
    redact = redactor(key or target.key)
    for retries in range(_RETRIES + 1):
        await limiter(target).acquire(estimated_tokens("".join(part), 1))
        started = time.perf_counter()
        got = await post(client, target, "/embeddings", payload, _TIMEOUT_SECONDS, redact)
        found = None if isinstance(got, Outcome) else _embedded(got, len(part), redact)
        if found is not None:
            tally.add(Outcome(tokens_in=found.tokens, seconds=time.perf_counter() - started))
            tally.retries += retries
            return found
        outcome = got if isinstance(got, Outcome) else _no_vectors(redact, got, len(part), started)
        tally.add(outcome)
        if not outcome.again or retries == _RETRIES:
            break
        await asyncio.sleep(wait(outcome, retries))
    tally.retries += retries
    said = f"{target.name} at {target.host} gave no embeddings: {outcome.reason}: {outcome.detail}"
    raise ModelUnavailable(said, outcome.reason)


def _no_vectors(redact: Callable[[str], str], body: bytes, n: int, started: float) -> Outcome:
    shown = redact(body.decode("utf-8", "replace"))[:100]
    return failed("bad-response", f"no {n} vectors for {n} texts in {shown!r}", started)


def _embedded(body: bytes, n: int, redact: Callable[[str], str]) -> _Embedded | None:
    """The rows of a reply in the order of the texts; None where it is anything else, whatever that is."""
    try:
        parsed = json.loads(body)
        rows = sorted(parsed["data"], key=lambda row: row["index"])
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float64)
        whole = [row["index"] for row in rows] == list(range(n)) and vectors.ndim == 2 and vectors.size > 0
        if not (whole and np.isfinite(vectors).all()):
            return None
        served_by = redact(str(parsed.get("model") or ""))[:LONGEST_DETAIL]
        return _Embedded(vectors, served_by, usage_count(parsed, "prompt_tokens"))
    except Exception:  # noqa: BLE001 - the net: what cannot be read is asked for again, and said
        return None
