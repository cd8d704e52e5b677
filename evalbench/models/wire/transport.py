"""One HTTP request to an endpoint, and what became of it as a value: nothing of ``openai`` leaves this module."""

from __future__ import annotations

import asyncio
import email.utils
import json
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalbench.core.unscored import Unscored
from evalbench.models.endpoint import EndpointFault, Model
from evalbench.models.exchange import TokenLogprob
from evalbench.models.redact import printable
from evalbench.models.wire.tool_calls import called, content_text

if TYPE_CHECKING:
    import openai

LONGEST_DETAIL = 500
LONGEST_RAW = 100_000
LONGEST_WAIT = 120.0
CHAT = "/chat/completions"
_MOST_TOKENS = 2**53
# Google answers 400, not 401.
_WRONG_KEY = re.compile(r"API key (not valid|not found|expired)", re.IGNORECASE)
# As `client.chat.completions.create` does: otherwise an administrator's key of the environment would be sent too.
_AUTHORISED: Any = {"security": {"bearer_auth": True}}
PASSING: frozenset[Unscored] = frozenset({"rate-limited", "server-error", "timeout", "connection", "bad-response"})


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one request: a chat completion, or a reason.

    ``without`` is why a chat completion holds no text, for those who want one; ``retry_after`` is the endpoint's own word in seconds, None where it gave none; ``again`` whether asking again may
    help; ``parameter`` the parameter that the endpoint says it does not take.
    """

    reason: Unscored = ""
    without: Unscored = ""
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
    client: openai.AsyncOpenAI, target: Model, payload: dict[str, Any], timeout: float, redact: Callable[[str], str]
) -> Outcome:
    """Send one chat request. Whatever the endpoint does becomes an :class:`Outcome`, also what nobody thought of.

    Raises ``EndpointFault``: As :func:`post`.
    """
    started = time.perf_counter()
    got = await post(client, target, CHAT, payload, timeout, redact)
    if isinstance(got, Outcome):
        return got
    try:
        return _completion(got, started, redact, may_call="tools" in payload)
    except Exception as error:  # noqa: BLE001 - the net: whatever one reply holds, the others go on
        return failed("bad-response", unreadable(error, redact), started)


async def post(
    client: openai.AsyncOpenAI,
    target: Model,
    path: str,
    payload: dict[str, Any],
    timeout: float,
    redact: Callable[[str], str],
) -> bytes | Outcome:
    """The body of a 200, unread, or what went wrong.

    It uses the client's ``post``, not ``chat.completions.create``: the body is checked by us, whatever it is, and the
    client's own pass over it is spared.

    Raises ``EndpointFault`` where every further call would fail as well: the key is refused (401), there is no such
    model (404), or the endpoint redirects.
    """
    from evalbench.models.wire.bodies import watched

    started = time.perf_counter()
    with watched() as under_way:
        try:
            return await _posted(client, target, path, payload, timeout, redact, started)
        except EndpointFault:
            raise
        except Exception as error:
            if not under_way:  # what was to be asked is faulty: no reply is to blame
                raise
            return failed("bad-response", unreadable(error, redact), started)


async def _posted(
    client: openai.AsyncOpenAI,
    target: Model,
    path: str,
    payload: dict[str, Any],
    timeout: float,
    redact: Callable[[str], str],
    started: float,
) -> bytes | Outcome:
    import httpx2
    import openai

    from evalbench.models.wire.bodies import TooLong

    try:
        async with asyncio.timeout(timeout):
            response = await client.post(path, cast_to=httpx2.Response, body=payload, options=_AUTHORISED)
        return response.content
    except (TimeoutError, openai.APITimeoutError):
        return failed("timeout", f"no complete reply within {timeout:g} s", started)
    except TooLong as error:
        return failed("bad-response", redact(str(error)), started, final=True)
    except openai.APIStatusError as error:
        status, body, headers = error.status_code, redact(error.response.text), error.response.headers
    except openai.APIConnectionError as error:
        cause = error.__cause__
        return failed("connection", redact(f"{type(cause).__name__}: {cause}" if cause else str(error)), started)
    return refused_call(target, status, body, headers, redact, started)


def refused_call(
    target: Model, status: int, body: str, headers: Any, redact: Callable[[str], str], started: float
) -> Outcome:
    """What a reply other than a 200 means; its body is redacted already.

    Called outside the block that caught the client's error: what is raised there would carry that error, and its key.

    Raises ``EndpointFault``: As :func:`post`.
    """
    if 300 <= status < 400:
        to = printable(redact(headers.get("location") or "nowhere")[:LONGEST_DETAIL])
        raise EndpointFault(
            f"{target.name} at {target.host} redirects ({status}) to {to}. Redirects are not followed; use the final address."
        )
    outcome = _refusal(status, body, headers, started, redact)
    if status == 400 and _WRONG_KEY.match(outcome.detail.removeprefix("400: ")):
        status = 401
    if status in (401, 404):
        raise EndpointFault(
            f"{target.name} at {target.host} refuses every call ({status}): {outcome.detail}{_hint(status, target)}"
        )
    return outcome


def _hint(status: int, target: Model) -> str:
    if status == 401 and target.key_env:
        return f"; check {target.key_env} in the environment"
    return f"; does it serve {target.id!r} at {target.base_url}?" if status == 404 else ""


def unreadable(error: Exception, redact: Callable[[str], str]) -> str:
    """What is said of a reply at which the reading itself failed: one reply must not end the others."""
    return printable(redact(f"it cannot be read: {type(error).__name__}: {error}")[:LONGEST_DETAIL])


def failed(
    reason: Unscored, detail: str, started: float, *, final: bool = False, wait: float | None = None, **more: Any
) -> Outcome:
    """An outcome without an answer; asking again is of no use where it is ``final`` or the endpoint's wait is too long."""
    return Outcome(
        reason=reason,
        detail=printable(detail[:LONGEST_DETAIL]),
        seconds=time.perf_counter() - started,
        again=reason in PASSING and not final and (wait is None or wait <= LONGEST_WAIT),
        retry_after=wait,
        **more,
    )


def _refusal(status: int, body: str, headers: Any, started: float, redact: Callable[[str], str]) -> Outcome:
    """The outcome of a 4xx or 5xx reply."""
    error = _error_object(body)
    # Again: JSON can spell a key in another way.
    detail = redact(f"{status}: {error.get('message') or body}")
    code = str(error.get("code") or error.get("type") or "")
    wait = retry_after(headers)
    if status == 429:
        return failed("rate-limited", detail, started, wait=wait, final="insufficient_quota" in code)
    if (status >= 500 and status != 501) or status in (408, 409):
        return failed("server-error", detail, started, wait=wait)
    if "content_filter" in code or "content_policy" in code:
        return failed("content-filter", detail, started)
    return failed("rejected", detail, started, parameter=str(error.get("param") or ""))


def _error_object(body: str) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(parsed, list) and parsed:
        parsed = parsed[0]
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
    try:
        date = email.utils.parsedate_tz(headers.get("retry-after") or "")
        return max(email.utils.mktime_tz(date) - time.time(), 0.0) if date else None
    except (ValueError, OverflowError):  # the year 10000, the 13th month
        return None


def _completion(body: bytes, started: float, redact: Callable[[str], str], *, may_call: bool = False) -> Outcome:
    """The first choice of a chat completion, checked by hand: a 200 may hold anything.

    Where the model may call tools, its calls are the text.
    """

    def bad(detail: str) -> Outcome:
        return failed("bad-response", detail, started, raw=shown()[:LONGEST_RAW])

    def shown() -> str:
        return redact(body.decode("utf-8", "replace"))

    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return bad("the body is not JSON")
    choices = parsed.get("choices") if isinstance(parsed, dict) else None
    if not isinstance(choices, list) or not choices:
        said = _error_object(shown()).get("message")
        return bad(f"the reply holds no choices{f': {said}' if said else ''}")
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    if not isinstance(message, dict) or not isinstance(
        message.get("content"), str | list | None if may_call else str | None
    ):
        return bad("the first choice has no message with a text")

    def told(value: Any) -> str:
        return redact(_without_surrogates(str(value or "")))

    text = told((may_call and called(message)) or content_text(message.get("content")))
    known: dict[str, Any] = {
        "raw": text,
        "text": without_reasoning(text),
        "finish": told(choices[0].get("finish_reason"))[:LONGEST_DETAIL],
        "served_by": told(parsed.get("model"))[:LONGEST_DETAIL],
        "tokens_in": usage_count(parsed, "prompt_tokens"),
        "tokens_out": usage_count(parsed, "completion_tokens"),
    }
    if message.get("refusal"):
        return failed("refused", told(message["refusal"]), started, **known)
    if known["finish"] == "content_filter":
        return failed("content-filter", "the endpoint's filter stopped the reply", started, **known)
    calls_tool = any(message.get(name) for name in ("tool_calls", "function_call"))
    without, why = missing_text(text, known["finish"], absent=message.get("content") is None, calls_tool=calls_tool)
    return Outcome(
        seconds=time.perf_counter() - started,
        logprobs=_logprobs(choices[0].get("logprobs"), told),
        without=without,
        detail=why,
        **known,
    )


def without_reasoning(text: str) -> str:
    """The text after a leading ``<think>…</think>`` block; a reply that was cut within it holds no answer."""
    start = text.lstrip()
    return start.partition("</think>")[2].lstrip() if start.startswith("<think>") else text


def missing_text(raw: str, finish: str, *, absent: bool = False, calls_tool: bool = False) -> tuple[Unscored, str]:
    """Why a reply holds no text to judge, and that in words; empty where it holds one.

    An empty text with which the model ended normally (``stop``) is an answer. It is none where the endpoint gave no text
    at all (``absent``), stopped for another reason, called a tool, or the reply ends within its reasoning.

    Examples
    --------
    >>> missing_text("", "stop"), missing_text("fine", "length")
    (('', ''), ('', ''))
    >>> missing_text("<think>Let me", "stop")
    ('cut', 'the reply ends within its reasoning')
    """
    if without_reasoning(raw).strip():
        return "", ""
    if calls_tool or finish in ("tool_calls", "function_call"):
        return "tool-call", "the model called a tool and gave no text"
    if raw.lstrip().startswith("<think>") and "</think>" not in raw:
        return "cut", "the reply ends within its reasoning"
    if finish == "length":
        return "cut", "the reply was cut before it held a text"
    if absent or finish != "stop":
        ended = f"finish_reason {printable(finish)[:40]!r}" if finish else "no finish_reason"
        return "no-text", f"the reply holds no text ({ended})"
    return "", ""


def _without_surrogates(text: str) -> str:
    """JSON can spell half a character, which neither UTF-8 nor a file can hold: it becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def usage_count(parsed: dict[str, Any], name: str) -> int | None:
    """Tokens as the endpoint counted them; None where it did not."""
    usage = parsed.get("usage")
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and 0 <= value < _MOST_TOKENS else None


def _logprobs(given: Any, told: Callable[[Any], str]) -> tuple[TokenLogprob, ...] | None:
    content = given.get("content") if isinstance(given, dict) else None
    if not isinstance(content, list) or not content:
        return None

    def number(value: Any) -> float:
        if math.isnan(found := float(value)):
            raise ValueError("not a number")
        return found

    try:
        return tuple(
            TokenLogprob(
                told(place["token"]),
                number(place["logprob"]),
                tuple((told(other["token"]), number(other["logprob"])) for other in place.get("top_logprobs") or ()),
            )
            for place in content
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):  # 400 digits are no float
        return None
