"""The process of a local model's server: reads its settings from standard input, ends when its users are gone.

It listens on 127.0.0.1, on a port that the system picks, and wants a random key; both are written to ``server.json``
(mode 0600) for this user's other processes.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

IDLE_SECONDS = 5.0
_LOOK_EVERY_S = 0.5


def main() -> None:
    """Serve until nobody holds the users' lock for :data:`IDLE_SECONDS`."""
    config = json.load(sys.stdin)
    folder = Path(config["folder"])
    key = secrets.token_urlsafe(32)
    server = _listen(config, key)
    port = urlsplit(server.listening_address).port
    _write_private(folder / "server.json", json.dumps({"port": port, "key": key, "pid": os.getpid()}))
    wait_until_unused(folder)
    os._exit(0)


def wait_until_unused(folder: Path) -> None:
    """Return once the exclusive lock was free for a while; the address is withdrawn before the lock is given back."""
    with (folder / "users.lock").open("ab") as users:
        free_since: float | None = None
        while True:
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                free_since = None
            else:
                free_since = free_since or time.monotonic()
                if time.monotonic() - free_since >= IDLE_SECONDS:
                    (folder / "server.json").unlink(missing_ok=True)
                    return
                fcntl.flock(users, fcntl.LOCK_UN)
            time.sleep(_LOOK_EVERY_S)


def _listen(config: dict[str, Any], key: str) -> Any:
    """llama.cpp's own server. One slot and no reuse of prompts: batches of different sizes round differently, and an
    instrument has to repeat itself."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = config["file"]
    params.model_alias = {config["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.n_parallel = 1
    params.cache_prompt = False
    params.cpuparams.n_threads = config["threads"]
    params.cpuparams_batch.n_threads = config["threads"]
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 1
    return xllamacpp.Server(params)


def _write_private(file: Path, text: str) -> None:
    """Write a file of mode 0600 that readers see whole or not at all."""
    draft = file.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as opened:
        opened.write(text)
    draft.replace(file)


if __name__ == "__main__":
    main()
