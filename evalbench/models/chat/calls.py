"""One call: asked in the strictest form that the endpoint takes, repeated where that may help, counted throughout."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalbench.models import accounting
from evalbench.models.chat import shapes, structured
from evalbench.models.endpoint import Model, is_another_model
from evalbench.models.exchange import Reply, Request
from evalbench.models.wire.limits import Limiter, estimated_tokens
from evalbench.models.wire.transport import Outcome, send, unreadable

if TYPE_CHECKING:
    import openai

_FIRST_WAIT_S = 0.5
_LONGEST_BACKOFF_S = 8.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How one batch is collected."""

    target: Model
    concurrency: int
    max_retries: int
    max_reasks: int
    timeout: float


@dataclass(frozen=True)
class Line:
    """What every call of a batch goes through."""

    client: openai.AsyncOpenAI
    plan: Plan
    limiter: Limiter
    redact: Callable[[str], str]
    endpoint: str


async def answer(request: Request, line: Line) -> Reply:
    """Ask, and ask again with the parser's complaint until the schema is met or the re-asks are used up."""
    tally = Tally()
    follow_up: list[dict[str, str]] = []
    while True:
        outcome, left_out = await _answered(request, follow_up, line, tally)
        value, fault = None, None
        if request.schema is not None and not outcome.reason:
            try:
                value = structured.parsed(outcome.text, request.schema)
            except structured.NoValue as error:
                fault = error
            except Exception as error:  # noqa: BLE001 - a validator that did not think of this value
                outcome = replace(outcome, reason="bad-response", detail=unreadable(error, line.redact))
        if fault is None or tally.reasks >= line.plan.max_reasks:
            break
        tally.reasks += 1
        follow_up += structured.reask(outcome.raw, fault)
    target = line.plan.target
    reason = outcome.reason or (outcome.without if request.schema is None else "")
    return Reply(
        request=request,
        model=target.name,
        host=target.host,
        served_by=outcome.served_by,
        another=is_another_model(target, outcome.served_by),
        text=outcome.text,
        value=value,
        unscored="unparsed" if fault else reason,
        detail=line.redact(_unparsed_detail(fault, outcome)) if fault else outcome.detail,
        raw=outcome.raw,
        logprobs=outcome.logprobs,
        finish=outcome.finish,
        tokens_in=tally.tokens_in,
        tokens_out=tally.tokens_out,
        seconds=round(tally.seconds, 6),
        cost=accounting.cost(target, tally.tokens_in, tally.tokens_out),
        requests=tally.requests,
        retries=tally.retries,
        reasks=tally.reasks,
        errors=tuple(tally.errors),
        not_taken=left_out,
    )


def _unparsed_detail(fault: structured.NoValue, outcome: Outcome) -> str:
    why = outcome.detail or ("the reply was cut at its longest" if outcome.finish == "length" else "")
    return f"{fault}; {why}" if why else str(fault)


class Tally:
    """Running totals over attempts."""

    def __init__(self) -> None:
        self.requests = self.retries = self.reasks = 0
        self.seconds = 0.0
        self.errors: list[str] = []
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None

    def add(self, outcome: Outcome) -> None:
        self.requests += 1
        self.seconds += outcome.seconds
        if outcome.reason:
            self.errors.append(outcome.reason)
        if outcome.tokens_in is not None:
            self.tokens_in = (self.tokens_in or 0) + outcome.tokens_in
        if outcome.tokens_out is not None:
            self.tokens_out = (self.tokens_out or 0) + outcome.tokens_out


async def _answered(
    request: Request, follow_up: list[dict[str, str]], line: Line, tally: Tally
) -> tuple[Outcome, tuple[str, ...]]:
    """One answer in the strictest form that the endpoint takes, and the parameters that it did not take."""
    known = shapes.refused(line.endpoint)
    left_out = known & shapes.used(request, known)
    while True:
        outcome = await _with_retries(shapes.payload(request, follow_up, line.plan.target, left_out), line, tally)
        suspect = shapes.suspect(outcome, request, left_out) if outcome.reason == "rejected" else None
        if suspect is None:
            break
        left_out |= {suspect}
    if not outcome.reason:
        shapes.remember(line.endpoint, left_out)
    return outcome, tuple(sorted(left_out))


async def _with_retries(payload: dict[str, Any], line: Line, tally: Tally) -> Outcome:
    """Send until it is answered, refused for good, or the retries of this call are used up."""
    plan = line.plan
    tokens = estimated_tokens("".join(m["content"] for m in payload["messages"]), payload.get("max_tokens"))
    while True:
        sent = await line.limiter.acquire(tokens)
        outcome = await send(line.client, plan.target, payload, plan.timeout, line.redact)
        if outcome.tokens_in is not None:
            line.limiter.settle(sent, outcome.tokens_in + (outcome.tokens_out or 0))
        tally.add(outcome)
        if not outcome.again or tally.retries >= plan.max_retries:
            return outcome
        await asyncio.sleep(wait(outcome, tally.retries))
        tally.retries += 1


def wait(outcome: Outcome, retries: int) -> float:
    """Seconds before the next try: the endpoint's own word, else doubling, a little at random."""
    if outcome.retry_after is not None:
        return outcome.retry_after
    return min(_FIRST_WAIT_S * 2.0**retries, _LONGEST_BACKOFF_S) * (1 - 0.25 * random.random())
