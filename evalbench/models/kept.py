"""What the cache keeps of a reply: made from one, read back into one, or rebuilt from a run's ``calls.parquet``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.models import accounting, structured
from evalbench.models.cache import ReplyCache
from evalbench.models.endpoint import Model
from evalbench.models.exchange import Reply, Request, TokenLogprob
from evalbench.models.redact import redactor
from evalbench.models.transport import without_reasoning

if TYPE_CHECKING:
    import pandas as pd

_KEPT = (
    "served_by",
    "text",
    "unscored",
    "detail",
    "raw",
    "finish",
    "tokens_in",
    "tokens_out",
    "seconds",
    "requests",
    "retries",
    "reasks",
)
_KEY = "[0-9a-f]{64}"


def is_an_answer(reply: Reply) -> bool:
    """Whether the endpoint answered, be it with nonsense: that was paid for and is kept."""
    return reply.unscored in ("", "unparsed", "refused") or (
        reply.unscored == "content-filter" and bool(reply.served_by)
    )


def for_cache(reply: Reply) -> dict[str, Any]:
    """The part of a reply that the cache keeps, as JSON values."""
    kept: dict[str, Any] = {name: getattr(reply, name) for name in _KEPT}
    kept["errors"] = list(reply.errors)
    kept["not_taken"] = list(reply.not_taken)
    if reply.raw == reply.text:
        del kept["raw"]
    if reply.logprobs is not None:
        kept["logprobs"] = reply.logprobs
    return kept


def from_cache(key: str, request: Request, target: Model, kept: dict[str, Any]) -> Reply:
    """The kept reply; its value is read anew, since the code of a schema's validators is not part of the key."""
    value, unscored, detail = None, kept["unscored"], kept["detail"]
    if request.schema is not None and unscored in ("", "unparsed"):
        try:
            value, unscored, detail = structured.parsed(kept["text"], request.schema), "", ""
        except structured.NoValue as fault:
            unscored, detail = "unparsed", detail or str(fault)
    logprobs = kept.get("logprobs")
    return Reply(
        request=request,
        model=target.name,
        host=target.host,
        value=value,
        unscored=unscored,
        detail=detail,
        cached=True,
        key=key,
        raw=kept.get("raw", kept["text"]),
        cost=accounting.cost(target, kept["tokens_in"], kept["tokens_out"]),
        errors=tuple(kept["errors"]),
        not_taken=tuple(kept["not_taken"]),
        logprobs=tuple(TokenLogprob(t, p, tuple((a, b) for a, b in top)) for t, p, top in logprobs)
        if logprobs
        else None,
        **{name: kept[name] for name in _KEPT if name not in ("raw", "unscored", "detail")},
    )


def merge_calls(file: Path, cache: Path | str | None = None) -> int:
    """Keep the replies of a ``calls.parquet`` that came from another machine, so that they are not paid for again.

    Parameters
    ----------
    file : pathlib.Path
        A missing file, or one without the columns of :data:`~evalbench.models.accounting.CALL_COLUMNS`, has no replies.
    cache : path, optional
        The usual one by default.

    Returns
    -------
    int
        How many entries it holds; those that the cache has already stay as they are. Values of this machine's keys are
        taken out of them.

    Raises
    ------
    BadInput
        If the cache cannot be written or is damaged.
    """
    import pandas as pd
    from pyarrow import parquet

    columns = list(accounting.CALL_COLUMNS)
    if not file.is_file() or not set(columns) <= set(parquet.read_schema(file).names):
        return 0
    calls = pd.read_parquet(file, columns=columns).astype(accounting.CALL_COLUMNS)
    entries = list(_entries(calls.drop_duplicates("key")))
    if entries:
        with ReplyCache(cache) as store:
            store.put_many(entries)
    return len(entries)


def _entries(calls: pd.DataFrame) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Key, model, host and what is kept, of each call that has a key."""
    redact = redactor()
    for row in calls[calls["key"].str.fullmatch(_KEY).fillna(False)].to_dict("records"):
        raw = redact(row["reply"])
        kept = {
            "served_by": row["served_by"],
            "text": without_reasoning(raw),
            "unscored": row["unscored"],
            "detail": redact(row["detail"]),
            "raw": raw,
            "finish": row["finish"],
            "tokens_in": _count(row["tokens_in"]),
            "tokens_out": _count(row["tokens_out"]),
            "seconds": row["seconds"],
            "requests": row["requests"],
            "retries": row["retries"],
            "reasks": row["reasks"],
            "errors": row["errors"].split(),
            "not_taken": row["not_taken"].split(),
        }
        if kept["text"] == raw:
            del kept["raw"]
        if row["logprobs"]:
            kept["logprobs"] = json.loads(redact(row["logprobs"]))
        yield row["key"], row["model"], row["host"], kept


def _count(value: Any) -> int | None:
    import pandas as pd

    return None if pd.isna(value) else int(value)
