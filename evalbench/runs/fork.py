"""Kernels forked from a process that has imported what every notebook needs.

``python -m evalbench.runs.fork LISTENER LIFELINE`` imports :data:`PRELOADED` once for a machine.  Whoever connects to the
listening socket gets a fork of it, which forks one kernel at a time: a JSON line ``{"argv": […], "env": {…}, "cwd": "…"}``
is answered by ``{"pid": …}``, and by ``{"exited": …}`` when the kernel has ended.  When a connection closes, its fork and
kernel end; when the lifeline closes, the process ends.

The process stays single-threaded and touches neither ZeroMQ contexts nor event loops nor pyplot: none of them
survives a fork.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from evalbench.runs.sockets import short_folder
from evalbench.runs.threads import one_thread

PRELOADED = (
    "ipykernel.kernelapp", "ipykernel.zmqshell", "ipykernel.ipkernel", "ipykernel.debugger", "IPython.core.completerlib",
    "IPython.core.debugger", "IPython.core.oinspect", "IPython.extensions.storemagic", "numpy", "pandas", "pyarrow.parquet",
    "scipy.optimize", "yaml", "pandera.pandas", "matplotlib.figure", "matplotlib.backends.backend_svg",
    "matplotlib.backends.backend_agg", "evalbench.draw.show", "evalbench.draw.pictures",
    "evalbench.draw.tables", "evalbench.runs.record",
)  # fmt: skip
_BACKEND = "module://matplotlib_inline.backend_inline"  # what a kernel sets before anything imports matplotlib


def can_fork() -> bool:
    """Whether this platform forks safely: macOS's own libraries do not survive it, Windows has no fork."""
    return hasattr(os, "fork") and sys.platform not in ("darwin", "win32")


class ForkedKernel:
    """A kernel that another process forked, as jupyter_client sees processes (the methods of ``Popen``).

    - ``returncode``: Negative for a signal; ``-SIGKILL`` where the preloaded process itself is gone.
    """

    stdin = stdout = stderr = None

    def __init__(self, pid: int, channel: _Channel) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._channel = channel

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        if self.returncode is None and self._channel.readable():
            said = self._channel.receive()
            self.returncode = int(said["exited"]) if said else -signal.SIGKILL
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end.

        Raises
        ------
        subprocess.TimeoutExpired
        """
        give_up = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if give_up is not None and time.monotonic() > give_up:
                raise subprocess.TimeoutExpired("forked kernel", timeout or 0)
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _Channel:
    """JSON lines over a socket."""

    def __init__(self, ends: socket.socket) -> None:
        self._socket = ends
        self._lines = ends.makefile("r", encoding="utf-8")

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, **content: Any) -> None:
        self._socket.sendall(json.dumps(content).encode() + b"\n")

    def receive(self) -> dict[str, Any]:
        """The next line; empty where the other end is gone."""
        try:
            line = self._lines.readline()
        except ConnectionError:
            return {}
        return dict(json.loads(line)) if line else {}

    def readable(self) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            return bool(selector.select(0))

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


class Preloader:
    """A process with the imports behind it, and the socket at which it takes connections.

    - ``address``: Of the socket, in a folder that only this user may enter.
    """

    def __init__(self) -> None:
        self._folder = short_folder()
        self.address = f"{self._folder}/s"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.address)
        listener.listen(128)
        self._lifeline, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "evalbench.runs.fork", str(listener.fileno()), str(theirs.fileno())],
            pass_fds=(listener.fileno(), theirs.fileno()),
            stdin=subprocess.DEVNULL,
            process_group=0,  # an interrupt from the keyboard is for whoever started it
            env={**os.environ, **one_thread(), "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
        )
        listener.close()
        theirs.close()

    def close(self) -> None:
        """End it; forks that are connected go on until they are left."""
        self._lifeline.close()
        self._process.kill()  # it may still import
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Preloader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Preloaded:
    """A connection to a preloaded process; one kernel at a time.

    Raises ``OSError`` if nobody listens at the address.
    """

    def __init__(self, address: str) -> None:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address)
        self._channel = _Channel(connection)
        self._last: ForkedKernel | None = None
        self.alive = True

    def fork(self, argv: Sequence[str], env: Mapping[str, str], cwd: str, said: str = os.devnull) -> ForkedKernel:
        """A new kernel.

        - ``argv``: Arguments of ``ipykernel_launcher``.
        - ``env``: The whole environment.
        - ``said``: A file that its standard output and standard error go to.

        Raises ``RuntimeError`` if the preloaded process is gone.
        """
        if self._last is not None:
            self._last.kill()
            self._last.wait()
        try:
            self._channel.send(argv=list(argv), env=dict(env), cwd=cwd, said=said)
            answer = self._channel.receive()
        except BrokenPipeError:
            answer = {}
        if not answer:
            self.alive = False
            raise RuntimeError("the preloaded process that forks kernels is gone")
        self._last = ForkedKernel(int(answer["pid"]), self._channel)
        return self._last

    def close(self) -> None:
        """End the fork, and its kernel."""
        self._channel.close()


@contextlib.contextmanager
def preloading(wanted: bool = True) -> Iterator[str]:
    """Address of a process that imports while the block goes on; empty where none is wanted or nothing forks safely."""
    if not wanted or not can_fork():
        yield ""
        return
    with Preloader() as preloader:
        yield preloader.address


_shared = ""
_own: list[Preloader] = []
_connected: list[Preloaded] = []
_lock = threading.Lock()


def share(address: str) -> None:
    """Fork this process's kernels from the preloaded process at an address rather than from one of its own."""
    global _shared
    _shared = address


@contextlib.contextmanager
def forking() -> Iterator[bool]:
    """This process forks its kernels from one that begins to import at once; False where nothing forks safely."""
    with preloading() as address:
        share(address)
        try:
            yield bool(address)
        finally:
            share("")
            while _connected:
                _connected.pop().close()


def preloaded() -> Preloaded:
    """The connection of this process; a preloaded process is started where none is shared, or it is gone."""
    with _lock:
        if not _connected or not _connected[-1].alive:
            _connected[:] = [_connect()]
        return _connected[-1]


def _connect() -> Preloaded:
    if _shared:
        with contextlib.suppress(OSError):
            return Preloaded(_shared)
    _own[:] = [Preloader()]
    return Preloaded(_own[-1].address)


@functools.cache
def forking_manager() -> type[Any]:
    """A kernel manager whose kernels are forked instead of started afresh."""
    from jupyter_client.manager import AsyncKernelManager

    class ForkingKernelManager(AsyncKernelManager):
        async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
            provisioner: Any = self.provisioner
            arguments = kernel_cmd[kernel_cmd.index("-m") + 2 :]
            process = preloaded().fork(
                arguments, options.get("env") or os.environ, options.get("cwd") or os.getcwd(), options["stdout"].name
            )
            provisioner.process, provisioner.pid = process, process.pid
            provisioner.pgid = process.pid  # the kernel leads a session of its own
            self._reconcile_connection_info(provisioner.connection_info)

    return ForkingKernelManager


def _preload(listener: socket.socket, lifeline: socket.socket) -> None:
    from evalbench.draw.plots import seaborn

    os.environ.setdefault("MPLBACKEND", _BACKEND)
    for name in PRELOADED:
        importlib.import_module(name)
    seaborn()
    if threading.active_count() > 1:
        raise RuntimeError(f"a preloaded module started threads: {threading.enumerate()}")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(lifeline, selectors.EVENT_READ)
        while lifeline not in {key.fileobj for key, _ in selector.select()}:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                lifeline.close()
                _serve(_Channel(connection))
                os._exit(0)
            connection.close()


def _serve(channel: _Channel) -> None:
    wake, woken = socket.socketpair()
    for end in (wake, woken):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    while request := channel.receive():
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for end in (wake, woken):
                end.close()
            channel.close()
            _become_kernel(request)
        channel.send(pid=pid)
        channel.send(exited=_awaited(pid, channel, wake))


def _awaited(pid: int, channel: _Channel, wake: socket.socket) -> int:
    """Exit code of a child; it is killed where the other end of the channel is gone."""
    with selectors.DefaultSelector() as selector:
        selector.register(channel.fileno(), selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            for key, _ in selector.select():
                if key.fileobj is wake:
                    wake.recv(4096)
                else:
                    _end(pid)
                    os._exit(0)


def _end(pid: int) -> None:
    """Kill a forked kernel and all that it started; one that has not become the head of its group yet stands alone."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _become_kernel(request: Mapping[str, Any]) -> NoReturn:
    """Turn this forked process into the kernel that ``ipykernel_launcher`` would be."""
    code = 1
    try:
        os.setsid()
        said = os.open(request["said"], os.O_WRONLY | os.O_APPEND)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.close(said)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        sys.argv = ["ipykernel_launcher", *request["argv"]]
        _reseed()
        from ipykernel.kernelapp import IPKernelApp

        IPKernelApp.launch_instance(argv=[*request["argv"], f"--IPKernelApp.parent_handle={os.getppid()}"])
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1 if leaving.code else 0
    except BaseException:  # noqa: BLE001 - nothing above this frame belongs to the kernel
        sys.excepthook(*sys.exc_info())
    finally:
        import atexit

        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _reseed() -> None:
    """A fresh kernel has fresh random states; ``random`` sees to itself."""
    import numpy as np

    np.random.seed()  # noqa: NPY002 - the global state is what forks share


if __name__ == "__main__":
    _preload(*(socket.socket(fileno=int(number)) for number in sys.argv[1:]))
