"""Execute one notebook in a kernel of its own, over sockets of its own."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.core.imports import import_without
from evalbench.models.redact import redactor
from evalbench.report.narrative import without_ansi
from evalbench.runs.sockets import short_folder
from evalbench.runs.threads import one_thread

# A manager interrupts its kernel before it shuts it down, and a kernel that is idle by then logs that as an error.
_QUIET = "--IPKernelApp.log_level=CRITICAL"


_LAST_WORDS = 500
_SAVE_EVERY = 5.0
# What Python, Arrow, PyTorch and the system say when memory is refused.
_NO_MEMORY = re.compile(r"MemoryError|bad_alloc|[Cc]annot allocate memory|not enough memory|can't start new thread")
_LONGEST_TIMEOUT = 365 * 86_400


def timeout_fault(seconds: Any) -> str:
    """What is wrong with a time limit, or nothing.

    Examples
    --------
    >>> timeout_fault(900), timeout_fault(float("nan"))
    ('', 'expected seconds above 0 and up to a year, found nan')
    """
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if is_number and 0 < seconds <= _LONGEST_TIMEOUT:
        return ""
    return f"expected seconds above 0 and up to a year, found {seconds!r}"


_LEAST_MEMORY = 600


def memory_fault(megabytes: Any) -> str:
    """What is wrong with a memory limit, or nothing.

    Examples
    --------
    >>> memory_fault(None), memory_fault("4000"), memory_fault(64)
    ('', "expected a whole number of MB from 600 up, found '4000'", 'expected a whole number of MB from 600 up, found 64')
    """
    if megabytes is None:
        return ""
    if isinstance(megabytes, bool) or not isinstance(megabytes, int) or megabytes < _LEAST_MEMORY:
        return f"expected a whole number of MB from {_LEAST_MEMORY} up, found {megabytes!r}"
    if sys.platform != "linux":
        return f"memory limits work on Linux only, and this is {sys.platform}; remove the option"
    return ""


def _limited(memory: int) -> str:
    """An option by which a kernel, forked or not, limits its own memory before its first cell."""
    both = f"({memory * 10**6}, {memory * 10**6})"
    return f"--IPKernelApp.exec_lines=(lambda r: r.setrlimit(r.RLIMIT_DATA, {both}))(__import__('resource'))"


def _over(ended: Ended, memory: int | None) -> Ended:
    """The limit is named where it may be what ended the run."""
    if memory is None or not (ended.status == "died" or _NO_MEMORY.search(ended.error)):
        return ended
    how = "its memory was" if ended.status == "died" else "not enough memory: it was"
    return ended._replace(error=f"{ended.error}; {how} limited to {memory} MB (--memory, or memory in a suite)")


class Ended(NamedTuple):
    """How an execution ended.

    - ``status``: ``ok``, ``failed``, ``died`` or ``timeout``; ``ok`` only says that no exception was seen.
    - ``error``: Exception and message; empty when ok.
    - ``kind``: The exception's class name as the kernel said it.
    - ``peak_memory_mb``: The most memory that the kernel held (resident, 10⁶ bytes); None where it ended unseen.
    """

    status: str
    error: str = ""
    kind: str = ""
    peak_memory_mb: float | None = None


def execute(
    notebook: Path,
    out: Path,
    parameters: Mapping[str, Any],
    env: Mapping[str, str],
    timeout: float | None = None,
    fork: bool = False,
    memory: int | None = None,
) -> Ended:
    """Run a notebook's cells and write the executed notebook.

    - ``notebook``, ``out``: What is executed and where it is written, cell by cell.
    - ``parameters``: Injected after the cell tagged ``parameters``.
    - ``env``: Further environment variables of the kernel.
    - ``timeout``: Seconds for the whole notebook.
    - ``fork``: Fork the kernel from a process that has its imports behind it (:mod:`evalbench.runs.fork`).
    - ``memory``: MB (10⁶ bytes) that the kernel may take, see :func:`memory_fault`.

    Returns: papermill writes a notebook whose every cell says completed even when its kernel died or ran out of time;
    only the exception tells.
    """
    peaks: list[float] = []
    ended = _over(_execute(notebook, out, parameters, env, timeout, fork, memory, peaks), memory)
    return ended._replace(peak_memory_mb=max(peaks, default=None))


def _execute(
    notebook: Path,
    out: Path,
    parameters: Mapping[str, Any],
    env: Mapping[str, str],
    timeout: float | None,
    fork: bool,
    memory: int | None,
    peaks: list[float],
) -> Ended:
    import_without("jsonschema", "rfc3987_syntax")  # a second for a grammar of addresses, which notebooks have none of
    import nbformat
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError
    from papermill.execute import execute_notebook

    node = nbformat.read(notebook, as_version=4)
    # A kernel shows in the notebook what is written to its streams, and repeats it there: not on the user's terminal.
    with _sockets() as options, tempfile.NamedTemporaryFile("ab") as said:
        try:
            execute_notebook(
                node,
                str(out).replace("{", "{{").replace("}", "}}"),  # papermill formats its paths
                parameters=dict(parameters),
                engine_name=_engine(),
                kernel_name="python3",
                language="python",
                progress_bar=False,
                kernel_env={**os.environ, **one_thread(), **env},
                deadline=time.monotonic() + timeout if timeout else None,
                fork=fork,
                memory=memory,
                peaks=peaks,
                said=said,
                **options,
            )
        except PapermillExecutionError as error:
            return Ended("failed", f"{error.ename}: {error.evalue}", str(error.ename))
        except DeadKernelError as error:
            return Ended("died", f"the kernel died ({error}){_last_words(said.name)}", "DeadKernelError")
        except CellTimeoutError:
            return Ended("timeout", f"not done within {timeout:g} s", "CellTimeoutError")
        except RuntimeError as error:
            if "Kernel" not in str(error) and "kernel" not in str(error):
                raise
            why = f"the kernel did not start ({error}){_last_words(said.name)}"
            return Ended("died", why, "DeadKernelError")
    return Ended("ok")


def _last_words(file: str) -> str:
    """The end of what a kernel wrote to its standard streams; what is cut has been redacted before."""
    text = without_ansi(redactor()(Path(file).read_text(encoding="utf-8", errors="replace"))).strip()
    return f": {text[-_LAST_WORDS:]}" if text else ""


@contextmanager
def _sockets() -> Iterator[dict[str, Any]]:
    """Kernel options for IPC sockets in a fresh short folder; parallel TCP kernels race for ports."""
    from traitlets.config import Config

    if sys.platform == "win32":
        yield {}
        return
    folder = short_folder()
    config = Config()
    config.KernelManager.transport = "ipc"
    config.KernelManager.ip = f"{folder}/k"
    try:
        yield {"config": config}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _watched(pid: Callable[[], int | None], peaks: list[float]) -> Iterator[None]:
    """Note a process's peak memory while the block runs; a kernel that dies leaves nobody to ask."""
    done = threading.Event()

    def watch() -> None:
        while True:
            last = done.is_set()
            process = pid()
            peak = peak_memory_mb(process) if process else None
            if peak is not None:
                peaks.append(peak)
            if last:
                return
            done.wait(0.2)

    watcher = threading.Thread(target=watch, name="memory", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def peak_memory_mb(pid: int) -> float | None:
    """The most memory that a running process has held so far (10⁶ bytes); where only the present can be had, that.

    None for a process that is gone.
    """
    import psutil

    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        peak = next((line for line in status.splitlines() if line.startswith("VmHWM:")), None)
        return int(peak.split()[1]) * 1024 / 1e6 if peak else None
    except OSError:
        pass
    try:
        return float(psutil.Process(pid).memory_info().rss) / 1e6
    except psutil.Error:
        return None


def _save_seldom(manager: Any) -> None:
    """papermill writes the whole notebook twice a cell; once in a while will do until it ends, however it ends."""
    save = manager.save
    written = time.monotonic()

    def seldom(**options: Any) -> None:
        nonlocal written
        if time.monotonic() - written > _SAVE_EVERY or manager.end_time is not None:
            save(**options)
            written = time.monotonic()

    manager.save = seldom


def _engine() -> str:
    """papermill's engine with a kernel environment and one deadline for all cells, registered once."""
    from papermill.clientwrap import PapermillNotebookClient
    from papermill.engines import NBClientEngine, papermill_engines
    from papermill.log import logger

    from evalbench.runs.fork import forking_manager

    name = "evalbench"
    if name in papermill_engines._engines:
        return name

    class Engine(NBClientEngine):  # type: ignore[misc]
        @classmethod
        def execute_managed_notebook(
            cls,
            nb_man: Any,
            kernel_name: str,
            *,
            kernel_env: dict[str, str],
            deadline: float | None,
            fork: bool,
            memory: int | None,
            peaks: list[float],
            said: Any,
            start_timeout: int = 60,
            config: Any = None,
            **_: Any,
        ) -> Any:
            def left(_: Any) -> int | None:
                return None if deadline is None else max(1, int(deadline - time.monotonic()))

            client = PapermillNotebookClient(
                nb_man,
                kernel_name=kernel_name,
                startup_timeout=start_timeout,
                timeout_func=left,
                extra_arguments=[_QUIET, *([_limited(memory)] if memory else [])],
                **({"config": config} if config is not None else {}),
                **({"kernel_manager_class": forking_manager()} if fork else {}),
            )

            def kernel() -> int | None:
                return getattr(getattr(client.km, "provisioner", None), "pid", None)

            _save_seldom(nb_man)
            with _watched(kernel, peaks):
                return client.execute(env=kernel_env, stdout=said, stderr=said)

    papermill_engines.register(name, Engine)
    # It overlooks parameters annotated ``float | None``; ours are checked before the start.
    logger.addFilter(lambda record: not record.getMessage().startswith("Passed unknown parameter"))
    return name
