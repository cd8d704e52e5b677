"""What the cache keeps of a reply: made from one, read back into one, or rebuilt from a run's ``calls.parquet``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from evalbench.models import accounting
from evalbench.models.chat import structured
from evalbench.models.endpoint import Model, is_another_model
from evalbench.models.exchange import Reply, Request, TokenLogprob
from evalbench.models.redact import redactor
from evalbench.models.store.places import place_of, replies_at
from evalbench.models.wire.transport import missing_text, without_reasoning

if TYPE_CHECKING:
    import pandas as pd

_KEPT: Mapping[str, tuple[type, ...]] = {
    "served_by": (str,),
    "text": (str,),
    "unscored": (str,),
    "detail": (str,),
    "raw": (str,),
    "finish": (str,),
    "tokens_in": (int, NoneType),
    "tokens_out": (int, NoneType),
    "seconds": (float, int),
    "requests": (int,),
    "retries": (int,),
    "reasks": (int,),
    "errors": (list,),
    "not_taken": (list,),
}
_ANSWERS = ("", "unparsed", "refused", "content-filter")
_READ_ANEW = ("raw", "unscored", "detail", "errors", "not_taken")
_KEY = "[0-9a-f]{64}"


def is_an_answer(reply: Reply) -> bool:
    """Whether the endpoint answered, be it with nonsense: that was paid for and is kept."""
    return reply.unscored in _ANSWERS and (reply.unscored != "content-filter" or bool(reply.served_by))


def for_cache(reply: Reply) -> dict[str, Any]:
    """The part of a reply that the cache keeps, as JSON values."""
    kept: dict[str, Any] = {name: getattr(reply, name) for name in _KEPT}
    kept["errors"] = list(reply.errors)
    kept["not_taken"] = list(reply.not_taken)
    if reply.raw == reply.text:
        del kept["raw"]
    if not reply.text.strip():
        kept["ended"] = True  # an empty answer; without this mark the row is of a version that took null for one
    if reply.logprobs is not None:
        kept["logprobs"] = reply.logprobs
    return kept


def from_cache(key: str, request: Request, target: Model, kept: dict[str, Any]) -> Reply | None:
    """The kept reply; its value is read anew, since the code of a schema's validators is not part of the key.

    None where the row is damaged or holds no answer: then it counts as not there.
    """
    kept = {"raw": kept.get("text"), **kept}
    try:
        whole = all(isinstance(kept[name], kinds) for name, kinds in _KEPT.items())
        return _from_cache(key, request, target, kept) if whole and _is_answered(request, kept) else None
    except Exception:  # noqa: BLE001 - whatever one row holds, it is asked for again
        return None


def _is_answered(request: Request, kept: dict[str, Any]) -> bool:
    """Whether a row is one that :func:`is_an_answer` keeps: earlier versions kept replies without a text as empty ones."""
    if request.schema is not None or kept["unscored"] or kept["text"].strip():
        return kept["unscored"] in _ANSWERS
    return "ended" in kept and not missing_text(kept["raw"], kept["finish"])[0]


def _from_cache(key: str, request: Request, target: Model, kept: dict[str, Any]) -> Reply:
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
        another=is_another_model(target, kept["served_by"]),
        value=value,
        unscored=unscored,
        detail=detail,
        cached=True,
        key=key,
        raw=kept["raw"],
        cost=accounting.cost(target, kept["tokens_in"], kept["tokens_out"]),
        errors=tuple(map(str, kept["errors"])),
        not_taken=tuple(map(str, kept["not_taken"])),
        logprobs=tuple(TokenLogprob(t, float(p), tuple((a, float(b)) for a, b in top)) for t, p, top in logprobs)
        if logprobs
        else None,
        **{name: kept[name] for name in _KEPT if name not in _READ_ANEW},
    )


def merge_calls(file: Path, cache: Path | str | None = None) -> int:
    """Keep the replies of a ``calls.parquet`` that came from another machine, so that they are not paid for again.

    - ``file``: A missing file, or one without the columns of :data:`~evalbench.models.accounting.CALL_COLUMNS`, has no
      replies.
    - ``cache``: The usual one by default.

    Returns: How many entries it holds; those that the cache has already stay as they are. Values of this machine's keys
    are taken out of them.

    Raises ``BadInput`` if the cache cannot be written or is damaged.
    """
    import pandas as pd
    from pyarrow import parquet

    columns = list(accounting.CALL_COLUMNS)
    if not file.is_file() or not set(columns) <= set(parquet.read_schema(file).names):
        return 0
    calls = pd.read_parquet(file, columns=columns).astype(accounting.CALL_COLUMNS)
    entries = list(_entries(calls.drop_duplicates("key")))
    if entries:
        with replies_at(place_of(cache)) as store:
            store.put_many(entries)
    return len(entries)


def _entries(calls: pd.DataFrame) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Key, model, host and what is kept, of each call that has a key."""
    redact = redactor()
    for row in calls[calls["key"].str.fullmatch(_KEY).fillna(False)].to_dict("records"):
        yield row["key"], row["model"], row["host"], kept_of(row, redact)


def kept_of(row: Mapping[Any, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    """What the cache keeps of a call, out of its row in ``calls.parquet``; ``redact`` takes this machine's keys out."""
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
    if not kept["text"].strip():
        kept["ended"] = True
    if row["logprobs"]:
        kept["logprobs"] = json.loads(redact(row["logprobs"]))
    return kept


def is_kept(unscored: str) -> bool:
    """Whether a call ended with an answer, by the reason that its row gives."""
    return unscored in _ANSWERS


def _count(value: Any) -> int | None:
    import pandas as pd

    return None if pd.isna(value) else int(value)
