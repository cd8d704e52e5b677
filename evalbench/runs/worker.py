"""What a Dask worker does: one run at a time, in a process of its own.

With a shared disk a worker writes into the client's reports; without one it gets a :class:`~evalbench.runs.parcel.Parcel`,
works in a folder of its own and returns the run's folder as bytes.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.core.progress import State
from evalbench.errors import BadInput
from evalbench.models.redact import redactor
from evalbench.models.wire.limits import LIMIT_SHARE
from evalbench.runs import folder as folders
from evalbench.runs import provenance
from evalbench.runs.fork import can_fork, share
from evalbench.runs.parcel import Parcel, folder_bytes, unpack
from evalbench.runs.run import Plan, run

TOPIC, PROGRESS = "evalbench-started", "evalbench-progress"
_TOLD_EVERY_S = 1.0
# The part of the rate limits that this process was given before any task shared it among workers.
_OWN_SHARE = float(os.environ.get(LIMIT_SHARE) or 1)


class Task(NamedTuple):
    """One run as a worker is told of it.

    - ``number``: Of the job in its suite.
    - ``batch``: Of all its runs; a task finds its own finished folder by it.
    - ``preloaded``: Address of a preloaded process of this machine; without one a worker starts its own.
    - ``workers``: How many of them share an endpoint's rate limits.
    - ``memory``: MB that the kernel may take.
    """

    number: int
    batch: str
    study: str
    identity: str
    timeout: float | None
    attempt: int
    fork: bool
    preloaded: str
    workers: int = 1
    memory: int | None = None


class Returned(NamedTuple):
    """What comes back: the folder, and its files where the disk is not shared; or why the run was refused."""

    number: int
    folder: str
    refused: str = ""
    files: Mapping[str, bytes] | None = None
    paths: Mapping[str, str] | None = None


def run_here(task: Task, planned: Plan, reports: str) -> Returned:
    """Run on a disk that the client shares."""
    found = own_folder(Path(reports), task)
    if found is not None:
        return Returned(task.number, str(found))
    _announce(task)
    share(task.preloaded)
    os.environ[LIMIT_SHARE] = str(_OWN_SHARE / task.workers)
    try:
        done = run(
            planned,
            out=Path(reports),
            timeout=task.timeout,
            attempt=task.attempt,
            fork=task.fork and can_fork(),
            memory=task.memory,
            progress=lambda read: _told(task, read),
            about={"batch": task.batch},
        )
    except BadInput as error:
        return Returned(task.number, "", redactor()(str(error)))
    except Exception as error:  # noqa: BLE001 - it would be sent as it is, with what only this process can redact
        return Returned(task.number, "", redactor()(f"{type(error).__name__}: {error}"))
    return Returned(task.number, str(done.folder))


def run_away(task: Task, parcel: Parcel, versions: Mapping[str, str]) -> Returned:
    """Run on a disk that nobody shares."""
    differences = version_faults(versions)
    if differences:
        return Returned(task.number, "", f"this worker differs: {'; '.join(differences)}")
    home = _worker_folder() / task.batch
    where = home / "runs" / f"{task.number}-{task.attempt}"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    try:
        planned = unpack(parcel, lambda sha256: (home / "blobs" / sha256).read_bytes(), where)
        returned = run_here(task, planned, str(home / "reports"))
    except BadInput as error:
        returned = Returned(task.number, "", redactor()(str(error)))
    finally:
        shutil.rmtree(where, ignore_errors=True)
    if returned.refused:
        return returned
    paths = {name: str(where.resolve() / path) for name, path in {**parcel.paths, **parcel.modules}.items()}
    return returned._replace(files=folder_bytes(Path(returned.folder)), paths=paths)


def own_folder(reports: Path, task: Task) -> Path | None:
    """The folder in which this very task has ended before: Dask may compute a lost result again."""
    for folder, content in folders.runs(reports, task.study, task.identity[:8]):
        mine = content.get("batch") == task.batch and content.get("attempt") == task.attempt
        if mine and (content.get("sha256") or {}).get("identity") == task.identity and content["status"] != "running":
            return folder
    return None


def own_versions() -> dict[str, str]:
    """What must be the same on every machine: packages that shape figures, and the bytes of this one."""
    return {**provenance.versions(), "bytes of evalbench": provenance.package_hash()[:12]}


def version_faults(expected: Mapping[str, str]) -> list[str]:
    """How this machine differs from the client's versions."""
    own = own_versions()
    return [
        f"{name} {own.get(name, 'missing')}, the client has {expected.get(name, 'none')}"
        for name in sorted({*own, *expected})
        if own.get(name) != expected.get(name)
    ]


def _announce(task: Task) -> None:
    from distributed import get_worker

    worker = get_worker()
    worker.log_event(TOPIC, {"number": task.number, "batch": task.batch, "worker": worker.address})


@contextmanager
def _told(task: Task, read: Callable[[], State]) -> Iterator[None]:
    """While the block runs, the client hears what the run is at, at most once a second."""
    from distributed import get_worker

    worker, ended = get_worker(), threading.Event()

    def follow() -> None:
        before: State = {}
        while not ended.wait(_TOLD_EVERY_S):
            state = read()
            if state != before:
                before = state
                worker.log_event(PROGRESS, {"number": task.number, "batch": task.batch, "state": state})

    thread = threading.Thread(target=follow, name="evalbench-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _worker_folder() -> Path:
    from distributed import get_worker

    return Path(get_worker().local_directory) / "evalbench"


@functools.cache
def blobs_plugin() -> type[Any]:
    """A plugin that lays files on every worker's disk by their SHA-256, also on workers that join later."""
    from distributed import WorkerPlugin

    class Blobs(WorkerPlugin):
        def __init__(self, batch: str, blobs: Mapping[str, bytes]) -> None:
            self.name = f"evalbench-{batch}"
            self.batch = batch
            self.blobs = blobs

        def setup(self, worker: Any) -> None:
            folder = Path(worker.local_directory) / "evalbench" / self.batch / "blobs"
            folder.mkdir(parents=True, exist_ok=True)
            for sha256, content in self.blobs.items():
                if hashlib.sha256(content).hexdigest() != sha256:
                    raise ValueError(f"{sha256}: arrived with other bytes than were sent")
                (folder / sha256).write_bytes(content)

        def teardown(self, worker: Any) -> None:
            shutil.rmtree(Path(worker.local_directory) / "evalbench" / self.batch, ignore_errors=True)

    return Blobs
