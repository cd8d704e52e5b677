"""Many runs on Dask: each ends in one folder, whatever happens to its worker."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.core.progress import State
from evalbench.errors import BadInput
from evalbench.models.chat.kept import merge_calls
from evalbench.readers.runs import CALLS, NOTEBOOK, RUN_JSON, read_json, read_results, read_run, write_json
from evalbench.report.index import write_index
from evalbench.report.narrative import carried_digests
from evalbench.runs import folder as folders
from evalbench.runs.closing import close, end_orphans
from evalbench.runs.cluster import local_client, remote_client
from evalbench.runs.fork import preloading
from evalbench.runs.kernel import Ended
from evalbench.runs.parcel import Parcel, pack, write_folder
from evalbench.runs.run import provenance_of
from evalbench.runs.suite import Job
from evalbench.runs.worker import (
    PROGRESS,
    TOPIC,
    Returned,
    Task,
    blobs_plugin,
    own_folder,
    own_versions,
    run_away,
    run_here,
)

_INNOCENT_TRIES = 5  # how often a run may lose its worker before it has started


class Outcome(NamedTuple):
    """How a job ended.

    - ``run``: Its ``run.json``.
    - ``results``: Its ``results.json``, where it has one.
    - ``resumed``: It had been finished before.
    """

    job: Job
    folder: Path
    run: Mapping[str, Any]
    results: Mapping[str, Any] | None
    resumed: bool = False

    @property
    def ok(self) -> bool:
        return str(self.run["status"]) == "ok"


class Watcher(NamedTuple):
    """What a batch reports to: a job has started (on a worker), is at something, has ended; else worth a line."""

    started: Callable[[Job, str], None] = lambda job, worker: None
    ended: Callable[[Outcome], None] = lambda outcome: None
    say: Callable[[str], None] = lambda text: None
    at: Callable[[Job, State], None] = lambda job, state: None


def run_batch(
    jobs: Sequence[Job],
    *,
    reports: Path,
    workers: int | None = None,
    scheduler: str | None = None,
    fork: bool = True,
    timeout: float | None = None,
    memory: int | None = None,
    resume: bool = False,
    watcher: Watcher = Watcher(),  # noqa: B008 - immutable
) -> list[Outcome]:
    """Run all jobs and write the index.

    - ``workers``: Processes of this machine; by default as many as it has cores.
    - ``scheduler``: Address of a running Dask scheduler, whose workers need not share a disk with this process.
    - ``fork``: Fork kernels from a preloaded process, one per machine, where the platform can.
    - ``timeout``: Seconds for each run that has none of its own.
    - ``memory``: MB that the kernel of each run may take that states none of its own.
    - ``resume``: Leave out what an equal run has finished before.

    Returns: In the order of the jobs; after an interrupt only those that ended.

    Raises ``BadInput`` if the cluster cannot be used; nothing has been started then.
    """
    reports = reports.resolve()
    end_orphans(reports)
    done, earlier = _history(jobs, reports)
    outcomes = {
        job.number: _outcome(job, done[job.number], resumed=True) for job in jobs if resume and job.number in done
    }
    todo = [job for job in jobs if job.number not in outcomes]
    for outcome in outcomes.values():
        watcher.ended(outcome)
    try:
        if todo:
            with (
                preloading(fork and scheduler is None) as preloaded,
                _client(workers, scheduler, len(todo), watcher) as client,
            ):
                batch = _Batch(
                    reports, todo, earlier, fork, preloaded, timeout, memory, watcher, len(client.nthreads())
                )
                for outcome in batch.outcomes(client, away=scheduler is not None):
                    outcomes[outcome.job.number] = outcome
                    watcher.ended(outcome)
    finally:
        end_orphans(reports)
        write_index(reports)
    return [outcomes[number] for number in sorted(outcomes)]


@contextmanager
def _client(workers: int | None, scheduler: str | None, n_jobs: int, watcher: Watcher) -> Iterator[Any]:
    if scheduler is not None:
        with remote_client(scheduler, watcher.say) as client:
            yield client
    else:
        with local_client(min(workers or _cores(), n_jobs)) as client:
            yield client


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _history(jobs: Sequence[Job], reports: Path) -> tuple[dict[int, Path], dict[int, int]]:
    """The newest finished equal of each job, and how many of its earlier attempts did not end well."""
    by_identity: dict[str, list[tuple[Path, Mapping[str, Any]]]] = {}
    for study in {job.plan.study for job in jobs}:
        for folder, content in folders.runs(reports, study):
            identity = (content.get("sha256") or {}).get("identity")
            by_identity.setdefault(str(identity), []).append((folder, content))
    done, failed = {}, {}
    for job in jobs:
        equals = by_identity.get(job.plan.identity, [])
        finished = [f for f, run in equals if run.get("status") == "ok" and _is_whole(f)]
        failed[job.number] = sum(run.get("status") != "ok" for _, run in equals)
        if finished:
            done[job.number] = finished[-1]
    return done, failed


class _Batch:
    """The jobs of one batch on their way through a cluster."""

    def __init__(
        self,
        reports: Path,
        jobs: Sequence[Job],
        earlier: Mapping[int, int],
        fork: bool,
        preloaded: str,
        timeout: float | None,
        memory: int | None,
        watcher: Watcher,
        workers: int,
    ) -> None:
        self.reports = reports
        self.name = secrets.token_hex(6)
        self.jobs = {job.number: job for job in jobs}
        self.watcher = watcher
        self.started: set[int] = set()
        self.tasks = {
            job.number: Task(
                job.number,
                self.name,
                job.plan.study,
                job.plan.identity,
                job.timeout or timeout,
                earlier[job.number] + 1,
                fork,
                preloaded,
                workers,
                job.memory or memory,
            )
            for job in jobs
        }

    def outcomes(self, client: Any, away: bool) -> Iterator[Outcome]:
        """Submit all jobs; their outcomes as they come."""
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        client.subscribe_topic(TOPIC, self._note_start)
        client.subscribe_topic(PROGRESS, self._note_progress)
        submit = self._submitter(client, away)
        tries = dict.fromkeys(self.jobs, 1)
        futures = {submit(number, 1): number for number in self.jobs}
        waiting = as_completed(list(futures), loop=client.loop, raise_errors=False)
        for future in waiting:
            number = futures.pop(future)
            error = future.exception() if future.status == "error" else None
            if future.status == "finished":
                yield self._arrived(future.result())
            elif isinstance(error, KilledWorker) and number not in self.started and tries[number] < _INNOCENT_TRIES:
                tries[number] += 1
                again = submit(number, tries[number])
                futures[again] = number
                waiting.add(again)
            elif isinstance(error, KilledWorker):
                yield self._ended(number, "died", "its worker died while it ran")
            else:
                said = f"{type(error).__name__}: {error}" if error else f"the scheduler lost it ({future.status})"
                yield self._ended(number, "failed", said)
            future.release()

    def _submitter(self, client: Any, away: bool) -> Callable[[int, int], Any]:
        if not away:

            def submit_here(number: int, attempt: int) -> Any:
                task, job = self.tasks[number], self.jobs[number]
                return client.submit(
                    run_here, task, job.plan, str(self.reports), key=self._key(number, attempt), pure=False
                )

            return submit_here

        parcels: dict[int, Parcel] = {}
        blobs: dict[str, Path] = {}
        for number, job in self.jobs.items():
            parcels[number], sources = pack(job.plan)
            blobs |= sources
        client.register_plugin(blobs_plugin()(self.name, {sha256: path.read_bytes() for sha256, path in blobs.items()}))
        versions = own_versions()

        def submit_away(number: int, attempt: int) -> Any:
            return client.submit(
                run_away, self.tasks[number], parcels[number], versions, key=self._key(number, attempt), pure=False
            )

        return submit_away

    def _key(self, number: int, attempt: int) -> str:
        return f"run-{number}-{attempt}-{self.name}"

    def _note_start(self, event: tuple[float, Mapping[str, Any]]) -> None:
        message = event[1]
        if message["batch"] == self.name:
            self.started.add(message["number"])
            self.watcher.started(self.jobs[message["number"]], str(message["worker"]))

    def _note_progress(self, event: tuple[float, Mapping[str, Any]]) -> None:
        message = event[1]
        if message["batch"] == self.name:
            self.watcher.at(self.jobs[message["number"]], message["state"])

    def _arrived(self, returned: Returned) -> Outcome:
        job = self.jobs[returned.number]
        if returned.refused:
            return self._ended(job.number, "failed", returned.refused)
        if returned.files is None:
            return _outcome(job, Path(returned.folder))
        folder = folders.claim(self.reports, job.plan.study, Path(returned.folder).name)
        ours = {**job.plan.files, **job.plan.modules}
        renamed = {theirs: str(ours[name]) for name, theirs in (returned.paths or {}).items()}
        write_folder(folder, returned.files, {returned.folder: str(folder), **renamed})
        drawn = _drawn_here(returned.files, folder)
        said = folders.update_run(folder, drawn=drawn, run_id=folder.name, parameters=dict(job.plan.in_force))
        try:
            merge_calls(folder / CALLS)
        except BadInput as error:
            self.watcher.say(f"{folder.name}: its paid replies could not be cached here: {error}")
        close(folder, said, Ended(said["status"], said["error"], "", said["peak_memory_mb"]), said["seconds"])
        return _outcome(job, folder)

    def _ended(self, number: int, status: str, error: str) -> Outcome:
        """The folder of a run that nobody could finish: the one that it left running, or a new one."""
        job, task = self.jobs[number], self.tasks[number]
        folder = own_folder(self.reports, task) or self._left_running(task)
        if folder is None:
            folder = folders.create(self.reports, job.plan.study, job.plan.hash8)
            said = provenance_of(job.plan, folder, folders.now(), task.attempt)
            write_json(folder / RUN_JSON, {**said, "batch": self.name})
        begun = read_run(folder)
        if begun["status"] == "running":
            close(folder, begun, Ended(status, error))
        return _outcome(job, folder)

    def _left_running(self, task: Task) -> Path | None:
        for folder, content in folders.runs(self.reports, task.study, task.identity[:8]):
            if content.get("batch") == self.name and content["status"] == "running":
                return folder
        return None


def _drawn_here(files: Mapping[str, bytes], folder: Path) -> list[str]:
    """What a run drew elsewhere, by the digests that it has here, where its paths are others."""
    try:
        known = frozenset(json.loads(files[RUN_JSON]).get("drawn") or ())
        return carried_digests(json.loads(files[NOTEBOOK]), read_json(folder / NOTEBOOK), known)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        BadInput,
    ):  # no notebook, or half of one: nothing of it is shown
        return []


def _is_whole(folder: Path) -> bool:
    """Whether a run's results can be read; where not, it is run again."""
    try:
        read_results(folder)
    except BadInput:
        return False
    return True


def _outcome(job: Job, folder: Path, resumed: bool = False) -> Outcome:
    run = read_run(folder)
    results = read_results(folder) if run["status"] == "ok" else None
    return Outcome(job, folder, run, results, resumed)
