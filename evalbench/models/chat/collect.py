"""Many replies at once: bounded, within the endpoint's limits, each kept as soon as it is there."""

from __future__ import annotations

import asyncio
import threading
from collections import ChainMap
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from evalbench.core import budget, dry
from evalbench.errors import BadInput
from evalbench.models import names
from evalbench.models.chat import rationing, replay
from evalbench.models.chat.calls import Line, Plan, answer
from evalbench.models.chat.hearing import Hears, hearer
from evalbench.models.chat.keeping import Keeping
from evalbench.models.chat.kept import from_cache
from evalbench.models.chat.progress import Progress, progress_bar
from evalbench.models.endpoint import Model
from evalbench.models.exchange import Reply, Request
from evalbench.models.local import weights as local
from evalbench.models.redact import redactor
from evalbench.models.store.cache import ReplyCache
from evalbench.models.store.claims import LIFETIME_S
from evalbench.models.store.places import place_for
from evalbench.models.wire.client import client
from evalbench.models.wire.limits import limiter
from evalbench.models.wire.transport import PASSING

T = TypeVar("T")
CONCURRENCY = 8
GIVE_UP_AFTER = 10
# For every request a client's pool looks at all its connections: with hundreds of them that is most of the work.
_CONNECTIONS = 32
_CLAIMED_AT_ONCE = 32
_WAIT_FOR_OTHERS_S = 0.2


def collect(
    requests: Sequence[Request],
    model: str | Model,
    *,
    concurrency: int | None = None,
    cache: bool | str | Path | ReplyCache = True,
    max_retries: int = 4,
    max_reasks: int = 2,
    timeout: float = 60.0,
    progress: bool | None = None,
    on_reply: Hears | None = None,
) -> list[Reply]:
    """One reply per request, in their order, whatever the endpoint does.

    Every reply is in the cache before anything else happens to it: after Ctrl-C, a crash or ``kill -9`` a second run
    asks only for what is missing. What another process of this machine is asking at the same time is waited for, not
    asked twice. Replies that failed, or hold no text (``no-text``, ``tool-call``, ``cut``), are not kept and are asked for
    again. Once ten calls, and two more per request under way, have failed in a row for good, the rest is not sent and gets
    the last reason.

    A budget (:mod:`evalbench.core.budget`) is counted here and nowhere else: what it leaves no room for is unscored,
    ``budget``. On a dry run nothing is sent (:mod:`evalbench.core.dry`), nor to a system whose old run is judged again
    (:mod:`evalbench.models.chat.replay`).

    Parameters
    ----------
    requests : sequence of Request
        Equal ones share one call; samples of one question are different requests.
    concurrency : int, optional
        Requests under way at once: from ``models.toml``, else 8 (1 for a local model).
    cache : bool or str or pathlib.Path or ReplyCache
        True for the usual one (``EVALBENCH_REPLIES``, else a file in ``EVALBENCH_CACHE``), False for none, a path, the URL of a
        database, or an open cache.
    max_retries : int
        Repeats after 408, 409, 429, 5xx, time-outs, broken connections and replies that are no chat completion; the
        wait is the endpoint's Retry-After (up to 120 s; beyond that it is given up), else 0.5 s doubling up to 8 s,
        shortened by up to a quarter at random.
    max_reasks : int
        Repeats with the parser's complaint, where a reply holds no value of the schema.
    timeout : float
        Seconds that one request may take from start to end.
    progress : bool, optional
        A bar, or nothing. By default a bar in a terminal and in a notebook that a person runs, the terminal's line
        under ``evalbench run``, else a line on standard error every 30 s.
    on_reply : function, optional
        Gets each reply for which something was sent; by default that of :mod:`evalbench.models.chat.hearing`.

    Raises
    ------
    EndpointFault
        If there is no key, or the endpoint refuses the key or the model. What was answered is kept.
    BadInput
        If an option is out of range, or the cache cannot be read or written before anything is asked. One that fails later
        (a full disk) ends nothing: replies that it could not take are marked ``not_kept``.
    """
    target = names.model(model) if isinstance(model, str) else model
    _check_options(concurrency, max_retries, max_reasks, timeout)
    plan = Plan(
        target=target,
        concurrency=concurrency or target.limits.concurrency or CONCURRENCY,
        max_retries=max_retries,
        max_reasks=max_reasks,
        timeout=timeout,
    )
    if not requests:
        return []
    if (recorded := replay.instead()) is not None:
        return recorded.replies(requests, target)
    return run_sync(_collect(list(requests), plan, cache, progress, on_reply or hearer()))


def run_sync(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from ordinary code, in a notebook too.

    It gets a thread and an event loop of its own, since a notebook's loop is already running; Ctrl-C cancels it and
    waits until it has tidied up.
    """
    started = threading.Event()
    handle: dict[str, Any] = {}

    async def cancellable() -> T:
        handle.update(loop=asyncio.get_running_loop(), task=asyncio.current_task())
        started.set()
        return await main

    with ThreadPoolExecutor(1, thread_name_prefix="evalbench-models") as pool:
        future = pool.submit(asyncio.run, cancellable())
        try:
            return future.result()
        except KeyboardInterrupt:
            started.wait()
            if not future.done():
                handle["loop"].call_soon_threadsafe(handle["task"].cancel)
            raise


async def _collect(
    requests: list[Request],
    plan: Plan,
    cache: bool | str | Path | ReplyCache,
    progress: bool | None,
    on_reply: Hears | None,
) -> list[Reply]:
    endpoint = endpoint_identity(plan.target)
    keys = [request.key(endpoint) for request in requests]
    first_of: dict[str, Request] = {}
    for key, request in zip(keys, requests, strict=True):
        first_of.setdefault(key, request)
    with ExitStack() as stack:
        keeping = _opened(cache, stack)
        known: dict[str, Reply] = {}

        def look_up(keys: Sequence[str]) -> None:
            if keeping is not None:
                for key, kept in keeping.known(keys):
                    reply = from_cache(key, first_of[key], plan.target, kept)
                    if reply is not None:
                        known[key] = reply

        look_up(list(first_of))
        spent, noted = budget.active(), dry.noted()
        if noted is not None:
            return list(
                _in_order(
                    requests,
                    keys,
                    known,
                    rationing.dry_replies(noted, spent, first_of, plan.target, known, plan.max_reasks),
                )
            )
        rationing.refuse_unpriced(spent, plan.target)
        within = rationing.in_order(spent, first_of)
        needed = sum(key not in known for key in within)
        bar = stack.enter_context(progress_bar(len(within), progress if needed else False, _what(requests, plan)))
        bar.skip([known[key] for key in within if key in known])
        fresh: dict[str, Reply] = {}
        for wave in rationing.waves(spent, within, first_of, plan.target, ChainMap(fresh, known), plan.max_reasks):
            missing = [key for key in wave if key not in known]
            if missing:
                queue = _unanswered(missing, known, look_up, keeping, bar)
                fresh |= await _ask_all(queue, len(missing), first_of, plan, endpoint, keeping, bar, on_reply)
        if spent is not None:
            beyond = first_of.keys() - spent.asked
            known = {key: reply for key, reply in known.items() if key not in beyond}
            fresh |= {key: rationing.left_out(first_of[key], plan.target, spent) for key in beyond}
    return list(_in_order(requests, keys, known, fresh))


def _what(requests: Sequence[Request], plan: Plan) -> str:
    """What is asked, in the words of the progress."""
    purposes = sorted({request.purpose for request in requests} - {""})
    return f"asking {plan.target.name}" + (f" ({', '.join(purposes)})" if purposes else "")


def _in_order(
    requests: list[Request], keys: list[str], known: dict[str, Reply], fresh: dict[str, Reply]
) -> Iterator[Reply]:
    """Each request's reply; of equal requests the first one was asked, the others share its reply."""
    used: set[str] = set()
    for request, key in zip(requests, keys, strict=True):
        reply = known.get(key) or fresh[key]
        if reply.request is not request:
            reply = replace(reply, request=request)
        if key in fresh and key in used:
            reply = replace(reply, cached=True)
        used.add(key)
        yield reply


async def _unanswered(
    keys: Sequence[str],
    known: Mapping[str, Reply],
    look_up: Callable[[Sequence[str]], None],
    keeping: Keeping | None,
    bar: Progress,
) -> AsyncIterator[str]:
    """The keys to ask for. What another process is asking is waited for, and asked once that one gives it up."""
    while keys:
        elsewhere: list[str] = []
        for start in range(0, len(keys), _CLAIMED_AT_ONCE):
            part = keys[start : start + _CLAIMED_AT_ONCE]
            mine = set(part)
            if keeping is not None:
                mine = keeping.claim(part)
                look_up(part)  # after the claim: whoever gave it up may have kept a reply just before
                bar.skip([known[key] for key in part if key in known])
            for key in part:
                if key in known:
                    continue
                if key in mine:
                    yield key
                else:
                    elsewhere.append(key)
        keys = elsewhere
        bar.wait(len(keys))
        if keys:
            await asyncio.sleep(_WAIT_FOR_OTHERS_S)


@asynccontextmanager
async def _renewing(keeping: Keeping | None) -> AsyncIterator[None]:
    """Renew the claims until the block ends."""

    async def renew(keeping: Keeping) -> None:
        while True:
            await asyncio.sleep(LIFETIME_S / 3)
            keeping.renew()

    task = asyncio.create_task(renew(keeping)) if keeping is not None else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()


async def _ask_all(
    queue: AsyncIterator[str],
    count: int,
    requests: dict[str, Request],
    plan: Plan,
    endpoint: str,
    keeping: Keeping | None,
    bar: Progress,
    on_reply: Hears | None,
) -> dict[str, Reply]:
    """Ask for every key of the queue, at most ``count``; a worker takes the next one as soon as its last reply is kept."""
    target = plan.target
    fresh: dict[str, Reply] = {}
    turn = asyncio.Lock()
    failed_in_a_row = 0
    latest: Any = None
    with local.address_of(target) as (base_url, key):
        shared = (plan, limiter(target), redactor(key or target.key), endpoint)

        async def following() -> str | None:
            async with turn:
                return await anext(queue, None)

        async def work(line: Line) -> None:
            nonlocal failed_in_a_row, latest
            while (wanted := await following()) is not None:
                if failed_in_a_row >= GIVE_UP_AFTER + 2 * plan.concurrency:
                    fresh[wanted] = _not_sent(requests[wanted], latest, failed_in_a_row)
                    continue
                reply = await answer(requests[wanted], line)
                failed_in_a_row = failed_in_a_row + 1 if reply.unscored in PASSING else 0
                if keeping is not None:
                    reply = keeping.keep(wanted, reply)
                fresh[wanted] = latest = reply
                bar.add(reply)
                if on_reply is not None:
                    on_reply(reply)

        try:
            async with AsyncExitStack() as clients, _renewing(keeping), asyncio.TaskGroup() as group:
                for worker in range(min(plan.concurrency, count)):
                    if worker % _CONNECTIONS == 0:
                        opened = client(target, base_url=base_url, key=key, timeout=plan.timeout)
                        await clients.enter_async_context(opened)
                    group.create_task(work(Line(opened, *shared)))
        except BaseExceptionGroup as group_error:
            first = group_error.exceptions[0]
        else:
            return fresh
    raise first


def _not_sent(request: Request, failed: Reply, in_a_row: int) -> Reply:
    """The reply of a request that was not sent because the endpoint fails every call."""
    detail = f"not sent: the last {in_a_row} calls failed, the latest with: {failed.detail}"
    return Reply(request=request, model=failed.model, host=failed.host, unscored=failed.unscored, detail=detail)


def endpoint_identity(target: Model) -> str:
    """What tells two endpoints apart in the cache: address and model; a local model's is the hash of its weights."""
    if target.provider == "local":
        return f"local#{local.weights_hash(target)}"
    return f"{target.base_url}#{target.id}#{target.api_version}"


def _opened(cache: bool | str | Path | ReplyCache, stack: ExitStack) -> Keeping | None:
    place = place_for(cache)
    return stack.enter_context(Keeping(place)) if place else None


def _check_options(concurrency: int | None, max_retries: int, max_reasks: int, timeout: float) -> None:
    faults = []
    if concurrency is not None and concurrency < 1:
        faults.append(f"concurrency is {concurrency}; expected a whole number from 1")
    faults += [
        f"{name} is {value}; expected a whole number from 0"
        for name, value in (("max_retries", max_retries), ("max_reasks", max_reasks))
        if value < 0
    ]
    if not 0 < timeout < float("inf"):
        faults.append(f"timeout is {timeout}; expected seconds above 0")
    if faults:
        raise BadInput.listing("invalid collection options:", faults)
