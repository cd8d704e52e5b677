"""The Dask cluster of a batch: one of this machine's processes, or any that a scheduler's address names."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from evalbench.core.schedulers import checked_address
from evalbench.errors import BadInput
from evalbench.runs.worker import own_versions, version_faults

# A run that kills its worker fails alone, and no run waits on a worker that might die under it.
SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.nanny.pre-spawn-environ": {},  # kernels compute with the same threads as in a single run
    "distributed.admin.large-graph-warning-threshold": "1 GiB",
    "distributed.worker.memory.terminate": False,
    # By default a worker that needs more than 15 s to come back is closed, with the run that it has just begun.
    "distributed.deploy.lost-worker-timeout": "1 hour",
    "distributed.logging.distributed": "critical",
    "distributed.comm.timeouts.connect": "20s",
}


@contextmanager
def local_client(n_workers: int) -> Iterator[Any]:
    """A client of fresh processes of this machine, one run at a time each."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # None is port 8787 of every address, which a second batch finds taken
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def remote_client(address: str, say: Callable[[str], None]) -> Iterator[Any]:
    """A client of a running scheduler whose workers fit.

    Raises ``BadInput`` if nobody answers, there are no workers, they run several tasks at once, or their versions
    differ.
    """
    import dask
    from distributed import Client

    address = checked_address(address)
    with dask.config.set(SETTINGS):
        try:
            client = Client(address, set_as_default=False, timeout="20s")
        except (OSError, TypeError, ValueError) as error:
            raise BadInput(f"--scheduler {address}: no connection ({error})") from error
        with client:
            _check_workers(client, address, say)
            yield client


def _check_workers(client: Any, address: str, say: Callable[[str], None]) -> None:
    try:
        client.wait_for_workers(1, timeout=60)
    except TimeoutError:
        raise BadInput(f"--scheduler {address}: has no workers") from None
    faults = [
        f"{worker}: runs {threads} tasks at once; start it with --nthreads 1: each run needs a process of its own"
        for worker, threads in client.nthreads().items()
        if threads != 1
    ]
    for worker, found in client.run(version_faults, own_versions(), on_error="return").items():
        if isinstance(found, Exception):
            faults.append(f"{worker}: did not report its versions; is evalbench installed there? ({found})")
        else:
            faults += [f"{worker}: {fault}" for fault in found]
    if faults:
        raise BadInput.listing(
            f"--scheduler {address}: the workers do not match this environment; nothing was started:", faults
        )
    allowed = client.run_on_scheduler(_allowed_failures)
    if allowed:
        say(
            f"the scheduler starts a run that kills its worker up to {allowed + 1} times; "
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0 in its environment stops that"
        )


def _allowed_failures(dask_scheduler: Any) -> int:
    return int(dask_scheduler.allowed_failures)
