"""One HTTP request to a chat endpoint, and what became of it as a value: nothing of ``openai`` leaves this module."""

from __future__ import annotations

import asyncio
import email.utils
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalbench.models.exchange import TokenLogprob, Unscored
from evalbench.models.llm import EndpointFault, Model

if TYPE_CHECKING:
    import openai

LONGEST_DETAIL = 500
LONGEST_RAW = 100_000
LONGEST_WAIT = 120.0
_PATH = "/chat/completions"
# As `client.chat.completions.create` does: otherwise an administrator's key of the environment would be sent too.
_AUTHORISED: Any = {"security": {"bearer_auth": True}}
PASSING: frozenset[Unscored] = frozenset(
    {"rate-limited", "server-error", "timeout", "connection", "bad-response"}
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one request: a chat completion, or a reason.

    ``retry_after`` is the endpoint's own word in seconds, None where it gave none; ``again`` whether asking again may
    help; ``parameter`` the parameter that the endpoint says it does not take.
    """

    reason: Unscored = ""
    detail: str = ""
    text: str = ""
    raw: str = ""
    logprobs: tuple[TokenLogprob, ...] | None = None
    finish: str = ""
    served_by: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float = 0.0
    again: bool = False
    retry_after: float | None = None
    parameter: str = ""


async def send(
    client: openai.AsyncOpenAI,
    target: Model,
    payload: dict[str, Any],
    timeout: float,
    redact: Callable[[str], str],
) -> Outcome:
    """Send one request. Whatever the endpoint does becomes an :class:`Outcome`.

    It uses the client's ``post``, not ``chat.completions.create``: the body is checked here, whatever it is, and the
    client's own pass over it is spared.

    Raises
    ------
    EndpointFault
        Where every further call would fail as well: the key is refused (401) or there is no such model (404).
    """
    import httpx2
    import openai

    started = time.perf_counter()
    status = 0
    try:
        async with asyncio.timeout(timeout):
            response = await client.post(_PATH, cast_to=httpx2.Response, body=payload, options=_AUTHORISED)
        body: Any = response.content
    except (TimeoutError, openai.APITimeoutError):
        return _failed("timeout", f"no whole reply within {timeout:g} s", started)
    except openai.APIStatusError as error:
        status, body, headers = error.status_code, redact(error.response.text), error.response.headers
    except openai.APIConnectionError as error:
        cause = error.__cause__
        return _failed(
            "connection", redact(f"{type(cause).__name__}: {cause}" if cause else str(error)), started
        )
    if status:
        outcome = _refusal(status, body, headers, started)
        if status in (401, 404):
            raise EndpointFault(
                f"{target.name} at {target.host} refuses every call ({status}): {outcome.detail}{_hint(status, target)}"
            )
        return outcome
    return _completion(body, started, redact)


def _hint(status: int, target: Model) -> str:
    if status == 401 and target.key_env:
        return f"; check {target.key_env} in the environment"
    return f"; does it serve {target.id!r} at {target.base_url}?" if status == 404 else ""


def _failed(reason: Unscored, detail: str, started: float, **more: Any) -> Outcome:
    seconds = time.perf_counter() - started
    again = more.pop("again", reason in PASSING)
    return Outcome(reason=reason, detail=detail[:LONGEST_DETAIL], seconds=seconds, again=again, **more)


def _refusal(status: int, body: str, headers: Any, started: float) -> Outcome:
    """The outcome of a 4xx or 5xx reply."""
    error = _error_object(body)
    detail = f"{status}: {error.get('message') or body}"
    code = str(error.get("code") or error.get("type") or "")
    if status == 429:
        wait = retry_after(headers)
        spent = "insufficient_quota" in code
        return _failed(
            "rate-limited",
            detail,
            started,
            retry_after=wait,
            again=not spent and (wait is None or wait <= LONGEST_WAIT),
        )
    if (status >= 500 and status != 501) or status in (408, 409):
        return _failed("server-error", detail, started, retry_after=retry_after(headers))
    if "content_filter" in code or "content_policy" in code:
        return _failed("content-filter", detail, started)
    return _failed("rejected", detail, started, parameter=str(error.get("param") or ""))


def _error_object(body: str) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else {}
    return error if isinstance(error, dict) else {"message": str(error)}


def retry_after(headers: Any) -> float | None:
    """Seconds from ``retry-after-ms`` or ``Retry-After`` (a number or a date; RFC 9110, section 10.2.3); None without."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            wait = float(headers.get(name)) / unit
        except (TypeError, ValueError):
            continue
        if 0 <= wait < float("inf"):
            return wait
    date = email.utils.parsedate_tz(headers.get("retry-after") or "")
    return max(email.utils.mktime_tz(date) - time.time(), 0.0) if date else None


def _completion(body: bytes, started: float, redact: Callable[[str], str]) -> Outcome:
    """The first choice of a chat completion, checked by hand: a 200 may hold anything."""
    shown = redact(body[:LONGEST_RAW].decode("utf-8", "replace"))
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return _failed("bad-response", "the body is not JSON", started, raw=shown)
    choices = parsed.get("choices") if isinstance(parsed, dict) else None
    if not isinstance(choices, list) or not choices:
        return _failed("bad-response", "the reply holds no choices", started, raw=shown)
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    if not isinstance(message, dict) or not isinstance(message.get("content"), str | None):
        return _failed("bad-response", "the first choice holds no message with a text", started, raw=shown)
    text = redact(message["content"] or "") if message.get("content") else ""
    usage = parsed.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    known: dict[str, Any] = {
        "raw": text,
        "text": without_reasoning(text),
        "finish": str(choices[0].get("finish_reason") or ""),
        "served_by": redact(str(parsed.get("model") or "")),
        "tokens_in": _count(usage.get("prompt_tokens")),
        "tokens_out": _count(usage.get("completion_tokens")),
    }
    if message.get("refusal"):
        return _failed("refused", redact(str(message["refusal"])), started, **known)
    if known["finish"] == "content_filter":
        return _failed("content-filter", "the endpoint's filter stopped the reply", started, **known)
    return Outcome(
        seconds=time.perf_counter() - started, logprobs=_logprobs(choices[0].get("logprobs")), **known
    )


def without_reasoning(text: str) -> str:
    """The text after a leading ``<think>…</think>`` block, which is no part of the answer."""
    start = text.lstrip()
    if not start.startswith("<think>") or "</think>" not in start:
        return text
    return start.split("</think>", 1)[1].lstrip()


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _logprobs(given: Any) -> tuple[TokenLogprob, ...] | None:
    content = given.get("content") if isinstance(given, dict) else None
    if not isinstance(content, list) or not content:
        return None
    try:
        return tuple(
            TokenLogprob(
                str(place["token"]),
                float(place["logprob"]),
                tuple(
                    (str(other["token"]), float(other["logprob"]))
                    for other in place.get("top_logprobs") or ()
                ),
            )
            for place in content
        )
    except (KeyError, TypeError, ValueError):
        return None
