"""The body of a chat request, and which of its parameters an endpoint does not take."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

from evalbench.models.chat.structured import instruction, response_format
from evalbench.models.endpoint import Model
from evalbench.models.exchange import Request
from evalbench.models.wire import tool_calls
from evalbench.models.wire.transport import Outcome

# What an endpoint may refuse, in the order in which it is left out when the endpoint does not say what it minds.
_OPTIONAL = ("tools", "json_schema", "json_object", "logprobs", "seed", "max_tokens", "temperature")
_UNNAMED = ("tools", "json_schema", "json_object", "logprobs")
_NAMED_BY = {
    "tools": re.compile(r"\btools?\b|tool_choice|function.?call", re.IGNORECASE),
    "json_schema": re.compile(r"response_format|json_schema|grammar|schema", re.IGNORECASE),
    "json_object": re.compile(r"response_format|json_object|json mode", re.IGNORECASE),
    "logprobs": re.compile(r"logprobs|log.?prob", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "max_tokens": re.compile(r"\bmax_tokens\b", re.IGNORECASE),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
}
_TOO_LONG = re.compile(r"context.{0,20}(length|size|window)|maximum context|too long|too many tokens", re.IGNORECASE)

_refused: dict[str, frozenset[str]] = {}
_refused_lock = threading.Lock()


def refused(endpoint: str) -> frozenset[str]:
    """What this endpoint has refused so far in this process."""
    return _refused.get(endpoint, frozenset())


def remember(endpoint: str, left_out: frozenset[str]) -> None:
    """The endpoint answered once these were left out."""
    if left_out:
        with _refused_lock:
            _refused[endpoint] = refused(endpoint) | left_out


def forget(endpoint: str) -> None:
    """Try everything again."""
    with _refused_lock:
        _refused.pop(endpoint, None)


def used(request: Request, left_out: frozenset[str]) -> frozenset[str]:
    """The optional parameters that this request would send, were none of them left out."""
    by_schema = request.schema is not None and not (request.tools and "tools" not in left_out)
    wanted = {
        "tools": bool(request.tools),
        "json_schema": by_schema,
        "json_object": by_schema and "json_schema" in left_out,
        "logprobs": request.logprobs > 0,
        "seed": request.seed is not None,
        "max_tokens": request.max_tokens is not None,
        "temperature": request.temperature is not None,
    }
    return frozenset(name for name in _OPTIONAL if wanted[name])


def suspect(outcome: Outcome, request: Request, left_out: frozenset[str]) -> str | None:
    """The next parameter to leave out after a rejection: one that it names, else one that many endpoints lack."""
    if _TOO_LONG.search(outcome.detail):
        return None
    sent = [name for name in _OPTIONAL if name in used(request, left_out) - left_out]
    complaint = outcome.parameter or outcome.detail
    named = [name for name in sent if _NAMED_BY[name].search(complaint)]
    unnamed = [name for name in sent if name in _UNNAMED]
    return next(iter((*named, *unnamed)), None)


def payload(
    request: Request, follow_up: Sequence[dict[str, str]], target: Model, left_out: frozenset[str]
) -> dict[str, Any]:
    """The arguments of ``chat.completions.create``."""
    messages = [dict(message) for message in request.messages]
    body: dict[str, Any] = {"model": target.id}
    if request.tools and "tools" not in left_out:
        messages = tool_calls.in_own_form(messages)
        body["tools"] = tool_calls.declared(request.tools)
        if follow_up and request.schema is not None:  # the model gave no call: a text in the schema will do
            messages.append(instruction(request.schema))
    elif request.schema is not None:
        messages = tool_calls.in_texts(messages)
        if "json_schema" not in left_out:
            body["response_format"] = response_format(request.schema)
        else:
            messages.append(instruction(request.schema))
            if "json_object" not in left_out:
                body["response_format"] = {"type": "json_object"}
    body["messages"] = [*messages, *follow_up]
    if request.temperature is not None and "temperature" not in left_out:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body["max_completion_tokens" if "max_tokens" in left_out else "max_tokens"] = request.max_tokens
    if request.seed is not None and "seed" not in left_out:
        body["seed"] = request.seed + request.sample
    if request.logprobs and "logprobs" not in left_out:
        body["logprobs"] = True
        body["top_logprobs"] = request.logprobs
    return body
