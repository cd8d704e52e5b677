"""One streamed chat request: when the first text came, when the last, and how much of it there was."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalbench.core.unscored import Unscored
from evalbench.models.endpoint import Model
from evalbench.models.wire.transport import Outcome, failed, refused_call, unreadable

if TYPE_CHECKING:
    import openai


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """What became of one streamed request.

    - ``first``, ``seconds``: From the request to the first text and to the end; ``first`` is NaN where no text came.
    - ``pieces``: Pieces of text.
    - ``tokens_in``, ``tokens_out``: As the endpoint counted them at the end of the stream; None where it did not.
    - ``reason``: Why there is no reply; empty where there is one.
    - ``parameter``: The parameter that the endpoint does not take.
    """

    first: float = math.nan
    seconds: float = 0.0
    pieces: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    reason: Unscored = ""
    detail: str = ""
    parameter: str = ""


async def streamed(
    client: openai.AsyncOpenAI, target: Model, payload: dict[str, Any], timeout: float, redact: Callable[[str], str]
) -> Streamed:
    """Send one chat request and time its pieces.

    - ``payload``: The request's body without ``stream``.
    - ``timeout``: Seconds for the whole reply.

    Raises ``EndpointFault``: As :func:`evalbench.models.wire.transport.post`.
    """
    import openai

    started = time.perf_counter()
    first, pieces = math.nan, 0
    usage: Any = None
    refused: tuple[int, str, Any] | None = None
    try:
        async with asyncio.timeout(timeout):
            chunks: Any = await client.chat.completions.create(**payload, stream=True)
            async for chunk in chunks:
                if holds_text(chunk):
                    first = first if pieces else time.perf_counter() - started
                    pieces += 1
                usage = getattr(chunk, "usage", None) or usage
    except (TimeoutError, openai.APITimeoutError):
        return _without(failed("timeout", f"no complete reply within {timeout:g} s", started), started)
    except openai.APIStatusError as error:
        refused = error.status_code, redact(error.response.text), error.response.headers
    except openai.APIConnectionError as error:
        detail = redact(f"{type(error.__cause__).__name__}: {error.__cause__}" if error.__cause__ else str(error))
        return _without(failed("connection", detail, started), started)
    except Exception as error:  # noqa: BLE001 - the net: whatever one stream holds, the others go on
        return _without(failed("bad-response", unreadable(error, redact), started), started)
    if refused:
        return _without(refused_call(target, *refused, redact, started), started)
    seconds = time.perf_counter() - started
    if not pieces:
        return Streamed(seconds=seconds, reason="no-text", detail="the stream held no text")
    tokens_in, tokens_out = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
    return Streamed(first=first, seconds=seconds, pieces=pieces, tokens_in=tokens_in, tokens_out=tokens_out)


def holds_text(chunk: Any) -> bool:
    """Whether an event of a stream has text, whatever the client made of it: it does not check what it reads."""
    choices = getattr(chunk, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    return bool(getattr(getattr(first, "delta", None), "content", None))


def _without(outcome: Outcome, started: float) -> Streamed:
    seconds = time.perf_counter() - started
    return Streamed(seconds=seconds, reason=outcome.reason, detail=outcome.detail, parameter=outcome.parameter)


def _count(usage: Any, name: str) -> int | None:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and 0 <= value < 2**53 else None
