"""The hook: an application logs what its users asked and what its models answered, and notices nothing of it.

A call costs microseconds, whatever the store does: it puts a row into a bounded queue, and a thread writes.  Nothing that
fails here reaches the application; what fails there passes unchanged, and is logged by its kind.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from evalbench.errors import BadInput
from evalbench.monitor import writing
from evalbench.monitor.calls import OVERHEAD, kind, said, snapshot
from evalbench.monitor.counts import Counts
from evalbench.monitor.intake import ABOUT, Intake, new_id
from evalbench.monitor.openai_clients import hooked
from evalbench.monitor.places import Places
from evalbench.monitor.sinks import Function
from evalbench.monitor.wrapping import UNDER_WAY, Call, wrapped

if TYPE_CHECKING:
    from evalbench.models.exchange import Reply

_NUMBERS = (int, float)
F = TypeVar("F", bound=Callable[..., Any])


def logged(
    store: str | os.PathLike[str] | Function,
    *,
    key: bytes | None = None,
    max_rows: int = writing.MAX_ROWS,
    max_bytes: int = writing.MAX_BYTES,
    linger: float = writing.LINGER_S,
    exit_timeout: float = writing.EXIT_S,
) -> CallLog:
    """A log that an application fills: a context manager, a decorator, and what :meth:`CallLog.openai` takes.

    The store is opened by a thread, when there is something to write; where that fails it is tried again, up to every 5 s.
    Meanwhile rows wait, as many as fit; what finds no room is lost. What was lost, when and why is counted, said in one
    line of the log (``logging``, ``evalbench.monitor``) when the process ends, and written into the store as soon as it
    takes rows again (``evalbench monitor status`` shows it).

    - ``store``: A log store's file or address, as for ``evalbench monitor``; or ``function(table, rows)``, called in
      the thread with ``interactions``, ``feedback`` or ``losses`` and dicts. One that raises is called again with the
      same rows.
    - ``key``: Hashes the ids of clients (HMAC-SHA256), before anything is queued; by default that of
      ``EVALBENCH_LOG_KEY``. Without one no id is kept.
    - ``max_rows``, ``max_bytes``: Of all that waits; texts count with one to four bytes per character.
    - ``linger``: Seconds for which rows are gathered before they are written together.
    - ``exit_timeout``: Seconds that the end of the process may wait for the store: at exit, at the end of a ``with``
      block, and at SIGTERM where the application has no handler of its own.

    Raises ``BadInput`` if a bound is out of range. Of a store that cannot be used nothing is raised here: it may come.

    Examples
    --------
    >>> rows = []
    >>> with logged(lambda table, new: rows.extend(new)) as log:
    ...     _ = log.record(request="How long is the trial?", response="14 days.", model="tiny", latency=0.8)
    >>> rows[0]["request"], rows[0]["response"], rows[0]["latency"]
    ('How long is the trial?', '14 days.', 0.8)
    >>> @log
    ... def answer(question: str) -> str:
    ...     return "14 days."
    """
    bounds = {
        "max_rows": (max_rows, 1),
        "max_bytes": (max_bytes, 1),
        "linger": (linger, 0),
        "exit_timeout": (exit_timeout, 0),
    }
    faults = [
        f"{name} is {given}; expected at least {least}" for name, (given, least) in bounds.items() if not given >= least
    ]
    if faults:
        raise BadInput.listing("the log cannot be opened:", faults)
    return CallLog(store, key=key, max_rows=max_rows, max_bytes=max_bytes, linger=linger, exit_timeout=exit_timeout)


class CallLog:
    """What :func:`logged` returns."""

    def __init__(self, store: str | os.PathLike[str] | Function, *, key: bytes | None, **bounds: Any) -> None:
        self._intake = Intake(store, key, bounds)

    def record(
        self,
        *,
        request: Any = None,
        response: Any = None,
        client: str | None = None,
        ts: float | None = None,
        model: str | None = None,
        prompt_version: str | None = None,
        latency: float | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cost: float | None = None,
        stages: Mapping[str, Any] | None = None,
        error: str | BaseException | None = None,
    ) -> str:
        """Log one interaction; what is not given is taken from :meth:`about` and from the reply, as far as they have it.

        Parameters
        ----------
        request : str or list or dict
            A text, or messages, or the body of a chat request. The request is then the user's last message; all of them
            are in ``stages``.
        response : str or object, optional
            A text, or a chat completion, or anything that JSON can write.
        client : str, optional
            Who asked; only its keyed hash is kept.
        ts : float, optional
            When it was asked, in seconds since 1970 (UTC); by default ``latency`` ago.
        model, prompt_version : str, optional
        latency : float, optional
            Seconds.
        input_tokens, output_tokens : int, optional
        cost : float, optional
        stages : mapping, optional
            What came in between, such as passages that were found; JSON.
        error : str or exception, optional
            Why there is no response; of an exception its kind is kept.

        Returns
        -------
        str
            Its id, for :meth:`feedback`; empty where it is lost.

        Examples
        --------
        >>> rows = []
        >>> with logged(lambda table, new: rows.extend(new)) as log:
        ...     messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
        ...     id = log.record(request=messages, response={"choices": [{"message": {"content": "So."}}]})
        >>> rows[0]["id"] == id, rows[0]["request"], rows[0]["response"], list(rows[0]["stages"])
        (True, 'Why?', 'So.', ['messages'])
        """
        try:
            if isinstance(request, Mapping) and "messages" in request:
                model, request = model or request.get("model"), request["messages"]
            asked, size = snapshot(request)
            reply = said(response)
            more, more_size = snapshot({**(stages or {}), **reply.stages})
            row = {
                "client": self._intake.hashed(client),
                "ts": time.time() - (latency if isinstance(latency, _NUMBERS) else 0.0) if ts is None else ts,
                "request": asked,
                "response": reply.text,
                "stages": more,
                "model": reply.model or model,
                "prompt_version": prompt_version,
                "latency": latency,
                "input_tokens": reply.input_tokens if input_tokens is None else input_tokens,
                "output_tokens": reply.output_tokens if output_tokens is None else output_tokens,
                "cost": cost,
                "error": kind(error) if isinstance(error, BaseException) else error,
            }
            return self._intake.queue(row, size + more_size + reply.size, ABOUT.get())
        except Exception as fault:  # noqa: BLE001 - see the module
            self._intake.faulted(fault)
            return ""

    def reply(self, reply: Reply) -> str:
        """Log a reply of evalbench's own model client; what :func:`evalbench.models.chat.hearing.heard` takes.

        Returns: Its id; empty where it is lost.

        Examples
        --------
        >>> from evalbench.models.exchange import Reply, Request
        >>> rows = []
        >>> with logged(lambda table, new: rows.extend(new)) as log:
        ...     _ = log.reply(Reply(request=Request("Why?", purpose="judge"), model="tiny", host="", text="So."))
        >>> rows[0]["request"], rows[0]["response"], rows[0]["stages"]["purpose"]
        ('Why?', 'So.', 'judge')
        """
        asked = reply.request
        about = {"purpose": asked.purpose, "item": asked.item_id, "sample": asked.sample, "finish": reply.finish}
        about |= {"retries": reply.retries, "reasks": reply.reasks, "raw": reply.raw if reply.raw != reply.text else ""}
        return self.record(
            request=asked.messages,
            response=None if reply.unscored else reply.text,
            model=reply.served_by or reply.model,
            prompt_version=asked.prompt_hash,
            latency=reply.seconds,
            input_tokens=reply.tokens_in,
            output_tokens=reply.tokens_out,
            cost=reply.cost,
            stages={name: value for name, value in about.items() if value},
            error=reply.unscored or None,
        )

    def feedback(
        self,
        interaction: str,
        value: float,
        *,
        source: Literal["user", "annotator", "judge"] = "user",
        judge: str | None = None,
        comment: str | None = None,
    ) -> str:
        """Log what somebody thinks of an interaction.

        - ``interaction``: Its id, as :meth:`record` returned it.
        - ``source`` ({"user", "annotator", "judge"})
        - ``judge``: Who, or which model; a user's id is hashed.

        Returns: The feedback's id; empty where it is lost.
        """
        try:
            id = new_id()
            row = {
                "id": id,
                "interaction": interaction,
                "ts": time.time(),
                "source": source,
                "judge": self._intake.hashed(judge) if source == "user" else judge,
                "value": value,
                "comment": comment,
            }
            return id if self._intake.writer.put("feedback", row, OVERHEAD + 4 * len(comment or "")) else ""
        except Exception as fault:  # noqa: BLE001 - see the module
            self._intake.faulted(fault)
            return ""

    def __call__(self, function: F) -> F:
        """Log every call of a function: a decorator. See :meth:`calls`."""
        return self.calls(function)

    @overload
    def calls(self, function: F, /) -> F: ...

    @overload
    def calls(self, /, *, request: str = "", client: str = "") -> Callable[[F], F]: ...

    def calls(self, function: Any = None, /, *, request: str = "", client: str = "") -> Any:
        """A decorator, with names of parameters or without, that logs every call of a function: what it was asked, what it returned or raised, how long it took.

        The function may be ``async``, and it may return a stream (a generator, or what ``openai`` returns): its pieces are
        logged when it ends. One that is left half-way is logged as far as it came, with the error ``abandoned``. Calls
        within a call, of functions or clients of the same log, become its stages (``calls``); where they name one model, that
        and the sums of their tokens are those of the interaction.

        - ``request``, ``client``: Names of the parameters that hold what is asked, and who asks. By default what is
          asked is in ``messages``, or else in the first parameter, and who asks in ``user`` where there are
          ``messages``.

        Raises ``TypeError`` if the function has no such parameter, or something else than a function is decorated.

        Examples
        --------
        >>> rows = []
        >>> log = logged(lambda table, new: rows.extend(new))
        >>> @log.calls(request="question")
        ... def answer(settings, question):
        ...     return question.upper()
        >>> answer({}, "why?")
        'WHY?'
        >>> log.close()
        >>> rows[0]["request"], rows[0]["response"], rows[0]["error"]
        ('why?', 'WHY?', None)
        """
        if function is not None and not callable(function):
            raise TypeError(f'a name of a parameter is given by its purpose: log.calls(request="{function}")')

        def logging(function: F) -> F:
            return wrapped(function, Places.of(function, request, client), self._intake)

        return logging if function is None else logging(function)

    def openai(self, client: Any) -> Any:
        """Log what an ``openai`` client (sync or async) is asked: ``create``, ``parse`` and ``stream`` of chats and responses.

        So is what is asked of the clients that its ``with_options`` makes. Its other methods are as they were.

        Returns: The same client.
        """
        return hooked(client, self._intake)

    @contextmanager
    def about(
        self, *, client: str | None = None, prompt_version: str | None = None, stages: Mapping[str, Any] | None = None
    ) -> Iterator[None]:
        """What holds for all that is logged within the block, and for the call under way: who asks, by which prompt; stages.

        Examples
        --------
        >>> rows = []
        >>> with logged(lambda table, new: rows.extend(new)) as log, log.about(prompt_version="v3"):
        ...     _ = log.record(request="Why?")
        >>> rows[0]["prompt_version"]
        'v3'
        """
        token = None
        try:
            known = dict(ABOUT.get() or {})
            known["stages"] = {**known.get("stages", {}), **snapshot(stages or {})[0]}
            if client is not None:
                known["client"] = self._intake.hashed(client)
            if prompt_version is not None:
                known["prompt_version"] = prompt_version
            if (call := self._under_way()) is not None:
                call.about = {**(call.about or {}), **known}
            token = ABOUT.set(known)
        except Exception as fault:  # noqa: BLE001 - see the module
            self._intake.writer.fault(fault)
        try:
            yield
        finally:
            if token is not None:
                with suppress(ValueError):  # a generator that is closed elsewhere
                    ABOUT.reset(token)

    def stage(self, name: str, value: Any) -> None:
        """Keep what a stage of the call under way gave, such as the passages that were found."""
        try:
            if (call := self._under_way()) is not None:
                call.stages[name], size = snapshot(value)
                call.size += size
        except Exception as fault:  # noqa: BLE001 - see the module
            self._intake.writer.fault(fault)

    @property
    def counts(self) -> Counts:
        """What became of all that this process has logged so far."""
        return self._intake.writer.counts

    def flush(self, timeout: float = writing.EXIT_S) -> bool:
        """Wait, at most so many seconds, until all that was logged so far is written or lost; whether it is."""
        return self._intake.writer.flush(timeout)

    def close(self, timeout: float | None = None) -> None:
        """Write what waits, for at most so many seconds; what is logged afterwards is lost."""
        self._intake.writer.close(timeout)

    def _under_way(self) -> Call | None:
        call = UNDER_WAY.get()
        return call if call is not None and call.intake is self._intake else None

    def __enter__(self) -> CallLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
