"""A JupyterLab of the tests' own, on the loopback interface."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def jupyter_lab(folder: Path, home: Path) -> Iterator[str]:
    """The address of a JupyterLab over a folder; its settings are below ``home``. Its token is ``t``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [
        "-m",
        "jupyter",
        "lab",
        "--allow-root",
        "--no-browser",
        f"--port={port}",
        "--IdentityProvider.token=t",
        f"--notebook-dir={folder}",
    ]
    own = {"HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config"), "IPYTHONDIR": str(home / "ipython")}
    with (
        (home / "log").open("w") as log,
        subprocess.Popen([sys.executable, *words], stdout=log, stderr=log, env=os.environ | own) as server,
    ):
        try:
            address = f"http://127.0.0.1:{port}/"
            give_up = time.monotonic() + 60
            while time.monotonic() < give_up:
                try:
                    urllib.request.urlopen(f"{address}api?token=t", timeout=2)
                    break
                except OSError:
                    time.sleep(0.3)
            yield address
        finally:
            server.terminate()
