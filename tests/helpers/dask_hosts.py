"""A Dask scheduler and its workers: processes of this machine, or of network namespaces that see each other alone."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from waiting import wait_until


def environment(home: Path, **more: str) -> dict[str, str]:
    """Of a machine of its own: folders, cache, temporary files; nothing of the workbench."""
    for name in ("tmp", "cache", "dask"):
        (home / name).mkdir(parents=True)
    own = {k: v for k, v in os.environ.items() if not k.startswith(("EVALBENCH", "DASK"))}
    return {**own, "HOME": str(home), "EVALBENCH_CACHE": str(home / "cache"), "TMPDIR": str(home / "tmp"),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0", "DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0",
            **more}  # fmt: skip


@contextmanager
def cluster(
    home: Path, *options: str, prefix: Sequence[tuple[str, ...]] = ((), (), ()), address: str = "tcp://127.0.0.1:0",
    env: dict[str, str] | None = None, n_threads: int = 1,
) -> Iterator[str]:  # fmt: skip
    """A scheduler and workers, one for each prefix but the first, each a process with a folder of its own; the address."""
    processes = []

    def start(n: int, *words: str, **more: str) -> subprocess.Popen:
        place = home / f"host{n}"
        place.mkdir(parents=True)
        process = subprocess.Popen(
            [*prefix[n], sys.executable, "-m", "distributed.cli." + words[0], *words[1:], *options],
            cwd=place, env=environment(place / "home", **(env or {})),
            stdout=(place / "log").open("w"), stderr=subprocess.STDOUT,
        )  # fmt: skip
        processes.append(process)
        return process

    def wait(ready, n: int):
        assert wait_until(ready, seconds=180), (home / f"host{n}" / "log").read_text()

    contact = home / "scheduler.json"
    try:
        start(0, "dask_scheduler", "--host", address, "--no-dashboard", "--scheduler-file", str(contact))
        wait(lambda: contact.exists() and contact.read_text().endswith("}"), 0)
        found = json.loads(contact.read_text())["address"]
        for n in range(1, len(prefix)):
            local = str(home / f"host{n}" / "home" / "dask")
            start(n, "dask_worker", found, "--nthreads", str(n_threads), "--no-dashboard", "--local-directory", local)
        for n in range(1, len(prefix)):
            wait(lambda n=n: "Registered to" in (home / f"host{n}" / "log").read_text(), n)
        yield found
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def can_make_hosts() -> bool:
    """Whether this process may make network namespaces."""
    if not shutil.which("ip") or not shutil.which("openssl") or os.geteuid() != 0:
        return False
    made = subprocess.run(["ip", "netns", "add", "eb-probe"], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "delete", "eb-probe"], capture_output=True, check=False)
    return made.returncode == 0


class Keys:
    def __init__(self, folder: Path) -> None:
        ca, cert, key = (str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem"))
        self.options = ("--tls-ca-file", ca, "--tls-cert", cert, "--tls-key", key)
        self.client = {
            "distributed.comm.tls.ca-file": ca,
            "distributed.comm.tls.client.cert": cert,
            "distributed.comm.tls.client.key": key,
        }


def certificates(folder: Path) -> Keys:
    """A self-signed certificate that all machines share."""
    folder.mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=evalbench test",
         "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    shutil.copy(folder / "cert.pem", folder / "ca.pem")
    return Keys(folder)


@contextmanager
def hosts(several: int = 2) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Network namespaces on one bridge, one set of them at a time on this machine; command prefixes that run in them."""
    with (Path(tempfile.gettempdir()) / "eb-hosts.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        names = tuple(f"eb-host{n}" for n in range(several))
        ip = lambda *words: subprocess.run(["ip", *words], check=True, capture_output=True)  # noqa: E731
        try:
            ip("link", "add", "eb-br", "type", "bridge")
            ip("addr", "add", "10.97.0.1/24", "dev", "eb-br")
            ip("link", "set", "eb-br", "up")
            for n, name in enumerate(names, 2):
                ip("netns", "add", name)
                ip("link", "add", f"eb-v{n}", "type", "veth", "peer", "name", "eth0", "netns", name)
                ip("link", "set", f"eb-v{n}", "master", "eb-br", "up")
                ip("netns", "exec", name, "ip", "addr", "add", f"10.97.0.{n}/24", "dev", "eth0")
                ip("netns", "exec", name, "ip", "link", "set", "eth0", "up")
                ip("netns", "exec", name, "ip", "link", "set", "lo", "up")
            yield tuple(("ip", "netns", "exec", name) for name in names)
        finally:
            links = [
                ("link", "delete", f"eb-v{n}") for n in range(2, several + 2)
            ]  # before their ends go, in their own time
            for words in (*links, *(("netns", "delete", name) for name in names), ("link", "delete", "eb-br")):
                subprocess.run(["ip", *words], check=False, capture_output=True)
