"""What a set of replies cost: totals for ``run.json``, a row per call for ``calls.parquet``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from evalbench.core.budget import REASON
from evalbench.models.endpoint import Model, is_another_model
from evalbench.models.redact import redactor

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.models.exchange import Reply

_MILLION = 1_000_000
CALL_COLUMNS = {
    "item_id": "string",
    "purpose": "string",
    "sample": "int64",
    "prompt_hash": "string",
    "prompt": "string",
    "reply": "string",
    "parsed": "string",
    "unscored": "string",
    "detail": "string",
    "model": "string",
    "served_by": "string",
    "host": "string",
    "tokens_in": "Int64",
    "tokens_out": "Int64",
    "seconds": "float64",
    "cost": "Float64",
    "cached": "bool",
    "requests": "int64",
    "retries": "int64",
    "reasks": "int64",
    "not_taken": "string",
    "finish": "string",
    "errors": "string",
    "logprobs": "string",
    "key": "string",
}


def cost(target: Model, tokens_in: int | None, tokens_out: int | None) -> float | None:
    """Price × tokens; None where the price or a count is not known."""
    if target.price is None:
        return None
    if target.price.input == 0 and target.price.output == 0:
        return 0.0
    if tokens_in is None or tokens_out is None:
        return None
    return (target.price.input * tokens_in + target.price.output * tokens_out) / _MILLION


def calls_table(replies: Iterable[Reply]) -> pd.DataFrame:
    """One row per reply that was asked for, the columns of ``calls.parquet``; keys of the environment are taken out of the prompts too.

    Returns: Columns as in :data:`CALL_COLUMNS`. ``reply`` is the raw reply, ``parsed`` the value as JSON or empty,
    ``seconds``, ``tokens_…`` and ``cost`` are of the original call where ``cached``. ``key`` is that of the cache,
    whose entry can be rebuilt from the row (:func:`evalbench.models.chat.kept.merge_calls`).
    """
    import pandas as pd

    redact = redactor()
    rows = [
        (
            reply.request.item_id,
            reply.request.purpose,
            reply.request.sample,
            reply.request.prompt_hash,
            redact(reply.request.prompt_text),
            reply.raw,
            reply.value.model_dump_json() if reply.value is not None else "",
            reply.unscored,
            reply.detail,
            reply.model,
            reply.served_by,
            reply.host,
            reply.tokens_in,
            reply.tokens_out,
            reply.seconds,
            reply.cost,
            reply.cached,
            reply.requests,
            reply.retries,
            reply.reasks,
            " ".join(reply.not_taken),
            reply.finish,
            " ".join(reply.errors),
            json.dumps(reply.logprobs, ensure_ascii=False) if reply.logprobs is not None else "",
            reply.key,
        )
        for reply in replies
        if reply.unscored != REASON
    ]
    return pd.DataFrame(rows, columns=list(CALL_COLUMNS)).astype(CALL_COLUMNS)


def accounting(replies: Sequence[Reply]) -> dict[str, Any]:
    """Totals over replies, for ``Result.accounting``: JSON values, sorted names.

    Returns: ``calls`` = ``cache_hits`` + those that were sent for; ``requests`` (HTTP requests sent), ``retries``,
    ``reasks``, ``errors`` by kind, ``tokens_in``, ``tokens_out``, ``call_seconds`` and ``cost`` are of this run only;
    ``cached_tokens`` and ``cached_cost`` are what the cache hits cost once. A cost is None where a price is not known.
    ``unscored`` counts replies by reason, cached ones too; ``other_models`` those that another model gave than was
    asked for, ``not_kept`` those that the cache could not take. What a budget left no room for is counted in
    ``unscored`` alone.
    """
    reasons = _counted(reply.unscored for reply in replies if reply.unscored)
    replies = [reply for reply in replies if reply.unscored != REASON]
    sent = [reply for reply in replies if not reply.cached]
    hits = [reply for reply in replies if reply.cached]
    return {
        "models": sorted({reply.model for reply in replies}),
        "served_by": sorted({reply.served_by for reply in replies if reply.served_by}),
        "endpoints": sorted({reply.host for reply in replies}),
        "asked_at": sorted({f"{reply.model} at {reply.host}" for reply in replies}),
        "prompt_hashes": sorted({reply.request.prompt_hash for reply in replies}),
        "calls": len(replies),
        "cache_hits": len(hits),
        "requests": sum(reply.requests for reply in sent),
        "retries": sum(reply.retries for reply in sent),
        "reasks": sum(reply.reasks for reply in sent),
        "errors": _counted(error for reply in sent for error in reply.errors),
        "unscored": reasons,
        "other_models": _counted(_another(reply.model, reply.served_by) for reply in replies if reply.another),
        "not_kept": _counted(reply.not_kept for reply in replies if reply.not_kept),
        "not_taken": sorted({name for reply in replies for name in reply.not_taken}),
        "tokens_in": sum(reply.tokens_in or 0 for reply in sent),
        "tokens_out": sum(reply.tokens_out or 0 for reply in sent),
        # Not "seconds": in run.json that is how long the run took.
        "call_seconds": round(sum(reply.seconds for reply in sent), 3),
        "cost": _total_cost(sent),
        "cached_tokens": sum((reply.tokens_in or 0) + (reply.tokens_out or 0) for reply in hits),
        "cached_cost": _total_cost(hits),
    }


_embeddings: ContextVar[list[Mapping[str, Any]] | None] = ContextVar("embeddings", default=None)


@contextmanager
def embeddings_counted() -> Iterator[list[Mapping[str, Any]]]:
    """Collects an account of everything that endpoints are asked to embed within the block, for :func:`merged`."""
    accounts: list[Mapping[str, Any]] = []
    outer = _embeddings.set(accounts)
    try:
        yield accounts
    finally:
        _embeddings.reset(outer)


def count_embeddings(
    target: Model,
    *,
    texts: int = 0,
    cached: int = 0,
    served_by: Iterable[str] = (),
    requests: int = 0,
    retries: int = 0,
    errors: Sequence[str] = (),
    tokens: int | None = None,
    seconds: float = 0.0,
) -> None:
    """Count what an endpoint embedded as calls are counted: one per distinct text, many of them in one request.

    ``cached`` texts were found on disk. What each of them cost is not kept, since their requests held others too.
    """
    accounts = _embeddings.get()
    if accounts is None:
        return
    served_by = sorted(set(served_by))
    free = cost(target, 0, 0) == cost(target, 1, 1) == 0
    accounts.append(
        {
            **accounting([]),
            "models": [target.name],
            "served_by": served_by,
            "other_models": {
                _another(target.name, name): texts for name in served_by if is_another_model(target, name)
            },
            "endpoints": [target.host],
            "asked_at": [f"{target.name} at {target.host}"],
            "calls": texts + cached,
            "cache_hits": cached,
            "requests": requests,
            "retries": retries,
            "errors": _counted(errors),
            "tokens_in": tokens or 0,
            "call_seconds": round(seconds, 3),
            "cost": cost(target, tokens, 0) if requests > len(errors) else 0.0,
            "cached_cost": None if cached and not free else 0.0,
        }
    )


def count_not_kept(reason: str, vectors: int) -> None:
    """Count vectors that the cache could not take, as ``not_kept`` counts replies."""
    accounts = _embeddings.get()
    if accounts is not None:
        accounts.append({**accounting([]), "not_kept": {reason: vectors}})


def merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Totals over several accounts: numbers add up, lists unite, counts by name add up; unknown plus known is unknown."""
    out: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            out[name] = _joined(out[name], value) if name in out else value
    return out


def _joined(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if isinstance(left, Mapping):
        return {
            k: _joined(left[k], right[k]) if k in left and k in right else left.get(k, right.get(k))
            for k in sorted({*left, *right})
        }
    if isinstance(left, list):
        return sorted({*left, *right})
    if isinstance(left, str):
        return left if left == right else f"{left}, {right}"
    return left + right


def _another(asked: str, served_by: str) -> str:
    return f"{asked} → {served_by}"


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _total_cost(replies: Sequence[Reply]) -> float | None:
    """The sum; None where the price of one is not known. A failed call that counted no tokens adds nothing."""
    billed = [reply.cost for reply in replies if reply.cost is not None or not reply.unscored]
    return None if None in billed else round(sum(filter(None, billed), 0.0), 10)
