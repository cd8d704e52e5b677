"""Who works on the parts of a table: this process, others of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from evalbench.core import progress
from evalbench.core.schedulers import PROCESSES, SCHEDULER, checked_address
from evalbench.errors import BadInput

Mapped = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""A map whose results come in any order."""
_PATIENCE = "20s"
_SHAPING = ("evalbench", "numpy", "pandas", "pyarrow", "regex", "stopwords")
_TRIES = 3


def workers(processes: int = 1) -> Any:
    """A context with a map over the workers of the scheduler that the environment names, else over processes of this machine.

    Raises
    ------
    BadInput
        For a scheduler that does not answer, has no workers, or whose workers have other versions.
    """
    return _of_scheduler(os.environ.get(SCHEDULER, "")) if os.environ.get(SCHEDULER) else _of_machine(processes)


def processes() -> int:
    """How many processes of this machine work at once.

    Raises
    ------
    BadInput
        For an environment variable that is not a whole number from 1.
    """
    given = os.environ.get(PROCESSES, "")
    if given and not (given.isascii() and given.isdigit() and int(given)):
        raise BadInput(f"{PROCESSES}: expected a whole number from 1, found {given!r}")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(given) if given else cores


@contextmanager
def _of_machine(n: int) -> Iterator[Mapped]:
    yield map if n == 1 else _on_processes(n)


def _on_processes(n: int) -> Mapped:
    """A map over processes; where one ends unasked, what was not done is begun again, up to :data:`_TRIES` times."""

    def mapped(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterable[Any]:
        from concurrent.futures import ProcessPoolExecutor, as_completed
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        left = dict(enumerate(tasks))
        for attempt in range(_TRIES):
            with ProcessPoolExecutor(n, get_context("spawn"), initializer=_silent) as pool:
                with _nothing_to_import():
                    futures = {pool.submit(work, task): place for place, task in left.items()}
                try:
                    for done in as_completed(futures):
                        found = done.result()
                        del left[futures[done]]
                        yield found
                    return
                except BrokenProcessPool as error:
                    if attempt + 1 == _TRIES:
                        raise BadInput(
                            f"a process that made a part ended {_TRIES} times without a word: is there not enough memory for {n} at once? "
                            f"({PROCESSES}=1 works in this one)"
                        ) from error
                finally:
                    pool.shutdown(cancel_futures=True)

    return mapped


def _silent() -> None:
    """What a part is at is not said: the process that waits says how many are done."""
    os.environ.pop(progress.FILE, None)


@contextmanager
def _nothing_to_import() -> Iterator[None]:
    """New processes do not run the user's script again, which would begin everything anew."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _of_scheduler(address: str) -> Iterator[Mapped]:
    """A map over the workers of a scheduler, whose versions must be ours."""
    from distributed import Client

    address = checked_address(address, SCHEDULER)
    try:
        client = Client(address, set_as_default=False, timeout=_PATIENCE)
    except (OSError, TypeError, ValueError) as error:
        raise BadInput(f"{SCHEDULER} {address}: no connection ({error})") from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise BadInput(f"{SCHEDULER} {address}: has no workers")
        ours = _versions()
        apart = [
            f"{worker}: {name} {theirs.get(name, 'missing') if isinstance(theirs, dict) else theirs}, here {version}"
            for worker, theirs in client.run(_versions, on_error="return").items()
            for name, version in ours.items()
            if not isinstance(theirs, dict) or theirs.get(name) != version
        ]
        if apart:
            raise BadInput.listing(f"{SCHEDULER} {address}: workers differ from this process:", apart)
        yield on_cluster(client)


def _versions() -> dict[str, str]:
    """What shapes the counts."""
    import platform
    from importlib.metadata import version

    return {"python": platform.python_version(), **{name: version(name) for name in _SHAPING}}


def on_cluster(client: Any) -> Mapped:
    """A map over the workers of a Dask cluster, a part each; what they find is joined as it comes.

    Parameters
    ----------
    client : distributed.Client
        Its workers need this version of evalbench and the files under the same paths.

    Raises
    ------
    BadInput
        What a part raises, such as a file that a worker does not find.
    """

    def mapped(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterable[Any]:
        from distributed import as_completed

        futures = client.map(work, list(tasks), pure=False)
        try:
            for done in as_completed(futures, loop=client.loop):
                yield done.result()
                done.release()
        except BadInput as error:
            raise BadInput(f"on a worker of the cluster: {error}") from error
        finally:
            client.cancel(futures)

    return mapped
