"""Functions whose every call is logged, whatever they return: a value, a coroutine, a stream."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

from evalbench.monitor.calls import OVERHEAD, Said, kind, said, snapshot
from evalbench.monitor.cleaning import NO_SECRETS, Secrets
from evalbench.monitor.counts import LARGE
from evalbench.monitor.intake import ABOUT, Intake
from evalbench.monitor.places import Places
from evalbench.monitor.streams import streamed

F = TypeVar("F", bound=Callable[..., Any])
NOTHING = Said()
UNDER_WAY: ContextVar[Call | None] = ContextVar("evalbench_call", default=None)


class Call:
    """An interaction under way.

    - ``about``: What is known of it besides: client, prompt_version, stages.
    - ``within``: The one in which it happens: it becomes one of its stages.
    """

    __slots__ = (
        "about",
        "asked",
        "client",
        "ended",
        "first",
        "intake",
        "model",
        "secrets",
        "size",
        "stages",
        "started",
        "ts",
        "within",
    )

    def __init__(self, intake: Intake, asked: Any, size: int, within: Call | None) -> None:
        self.intake, self.asked, self.size, self.within = intake, asked, size, within
        self.ts, self.started = time.time(), time.perf_counter()
        self.about = ABOUT.get()
        self.model: str | None = None
        self.client: str | None = None
        self.first: float | None = None
        self.stages: dict[str, Any] = {}
        self.secrets = NO_SECRETS
        self.ended = False

    def end(self, reply: Said = NOTHING, error: str | None = None) -> None:
        """Log it, once."""
        if not self.ended:
            self.ended = True
            self._queue(reply, error)

    def fail(self, error: BaseException) -> None:
        """Log what the application itself raised, by its kind."""
        try:
            self.end(error=kind(error))
        except Exception as fault:  # noqa: BLE001 - see the module
            self.fault(fault, loses=True)

    def lose(self) -> None:
        """Its reply is too long to be kept."""
        if not self.ended:
            self.ended = True
            self.intake.writer.lose(LARGE)

    def fault(self, error: Exception, *, loses: bool) -> None:
        """Count an exception of ours."""
        self.intake.writer.fault(error, loses=loses)

    def _queue(self, reply: Said, error: str | None) -> None:
        stages = self.stages
        stages.update(reply.stages)
        if self.first is not None:
            stages["first_text"] = round(self.first - self.started, 6)
        if reply.model and self.model and reply.model != self.model:
            stages["model_asked"] = self.model
        row: dict[str, Any] = {
            "request": self.asked,
            "response": reply.text,
            "model": reply.model or self.model,
            "latency": time.perf_counter() - self.started,
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "error": error,
            "stages": stages,
        }
        if not row["model"] and "calls" in stages:
            row.update(_of_calls(stages["calls"]))
        within = self.within
        if within is not None and not within.ended:
            row = {name: value for name, value in row.items() if value or value == 0}
            within.stages.setdefault("calls", []).append(row)
            within.size += self.size + reply.size + OVERHEAD
            within.secrets = within.secrets.and_(self.secrets)
            return
        row["ts"], row["client"], row["secrets"] = self.ts, self.client, self.secrets
        self.intake.queue(row, self.size + reply.size, self.about)


def _of_calls(calls: Any) -> dict[str, Any]:
    """The model of the calls within a call, and their tokens; nothing where they name several models."""
    asked = [call for call in calls if isinstance(call, dict) and call.get("model")] if isinstance(calls, list) else []
    if len({str(call["model"]) for call in asked}) != 1:
        return {}
    found: dict[str, Any] = {"model": asked[0]["model"]}
    for name in ("input_tokens", "output_tokens"):
        counts = [call.get(name) for call in asked]
        if None not in counts:
            found[name] = sum(counts)
    return found


def wrapped(function: F, places: Places, intake: Intake, client: Any = None) -> F:
    """A function that does what the given one does, and is logged.

    - ``function``: Sync or async.
    - ``places``: Of what is asked.
    - ``client``: The ``openai`` client whose method it is: its key must not be logged.
    """
    wrapper: Any
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await _awaited(_begun(places, args, kwargs, intake, client), lambda: function(*args, **kwargs))

    else:

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            call = _begun(places, args, kwargs, intake, client)
            if call is None:
                return function(*args, **kwargs)
            token = UNDER_WAY.set(call)
            try:
                reply = function(*args, **kwargs)
            except BaseException as error:
                call.fail(error)
                raise
            finally:
                UNDER_WAY.reset(token)
            return _awaited(call, lambda: reply) if inspect.iscoroutine(reply) else _came(call, reply)

    wrapper.__evalbench__ = intake
    return wrapper  # type: ignore[no-any-return]


async def _awaited(call: Call | None, promised: Callable[[], Awaitable[Any]]) -> Any:
    if call is None:
        return await promised()
    token = UNDER_WAY.set(call)
    try:
        reply = await promised()
    except BaseException as error:
        call.fail(error)
        raise
    finally:
        UNDER_WAY.reset(token)
    return _came(call, reply)


def _begun(places: Places, args: Sequence[Any], kwargs: Mapping[str, Any], intake: Intake, client: Any) -> Call | None:
    """The call that begins; None where that fails."""
    try:
        asked, size = snapshot(places.request(args, kwargs))
        within = UNDER_WAY.get()
        call = Call(intake, asked, size, within if within is not None and within.intake is intake else None)
        call.client = intake.hashed(places.client(args, kwargs))
        call.secrets = Secrets.of(client, kwargs.get("extra_headers"))
        model = kwargs.get("model")
        call.model = model if isinstance(model, str) else None
        return call
    except Exception as fault:  # noqa: BLE001 - the application asks on
        intake.faulted(fault)
        return None


def _came(call: Call, reply: Any) -> Any:
    """What the application gets: the reply, or where it is a stream one that looks like it."""
    try:
        stream = streamed(reply, call, call.intake.most, UNDER_WAY)
        if stream is not None:
            return stream
        call.end(said(reply))
    except Exception as fault:  # noqa: BLE001 - the application gets its reply
        call.intake.faulted(fault)
    return reply
