"""A PostgreSQL server of the tests' own: of Debian's or any other binaries, as a user that is not root, in a folder of its own."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

WHERE = "/usr/lib/postgresql/*/bin, /usr/local/pgsql/bin or PATH"
_PATIENCE_S = 300.0
# No fsync: what a test server loses with the machine's power nobody misses.
_SETTINGS = {"fsync": "off", "max_connections": "60", "shared_buffers": "64MB", "log_min_messages": "fatal"}


class Server(NamedTuple):
    """A server that runs; ``kill`` ends it as a loss of power would, ``start`` brings it back."""

    folder: Path
    port: int
    bin: Path
    user: str
    password: str

    def url(self, database: str, **options: str) -> str:
        """The address of a database, by the server's socket."""
        more = "".join(f"&{name}={value}" for name, value in options.items())
        return f"postgresql:///{database}?host={self.folder}&port={self.port}&user=tester{more}"

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"log_{secrets.token_hex(6)}"
        self.ask(f"CREATE DATABASE \"{name}\" ENCODING 'UTF8' TEMPLATE template0")
        return self.url(name)

    def ask(self, query: str) -> None:
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(query)

    def start(self, **more: str) -> None:
        settings = _SETTINGS | more | {"port": str(self.port), "unix_socket_directories": str(self.folder)}
        flags = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        command = [str(self.bin / "postgres"), "-D", str(self.folder / "data"), *flags]
        log = (self.folder / "log").open("ab")
        process = subprocess.Popen(
            _as_user(self.user, command), stdout=log, stderr=log, cwd=self.folder, start_new_session=True
        )
        give_up = time.monotonic() + _PATIENCE_S
        while time.monotonic() < give_up:
            if process.poll() is not None:
                break
            if _answers(self):
                return
            time.sleep(0.05)
        raise RuntimeError(f"PostgreSQL does not start: {(self.folder / 'log').read_text(errors='replace')[-2000:]}")

    def kill(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """SIGQUIT: at once, without writing anything back."""
        lock = self.folder / "data" / "postmaster.pid"
        if not lock.exists():
            return
        process = int(lock.read_text().split()[0])
        os.kill(process, how)
        give_up = time.monotonic() + _PATIENCE_S
        while lock.exists() and time.monotonic() < give_up:
            time.sleep(0.02)


def binaries() -> Path | None:
    """The folder with initdb and postgres, or None."""
    on_path = shutil.which("initdb")
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/local/pgsql/bin")]
    folders += [Path(on_path).resolve().parent] if on_path else []
    return next((f for f in folders if all(os.access(f / name, os.X_OK) for name in ("initdb", "postgres"))), None)


@contextmanager
def server(bin: Path) -> Iterator[Server]:
    """A server in a new folder, ended and removed afterwards."""
    # Not in pytest's own folder: nobody but its owner may go through that one.
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    user = _user()
    made = Server(folder, _free_port(), bin, user, secrets.token_hex(12))
    try:
        _init(made)
        made.start()
        made.ask("CREATE ROLE stranger LOGIN")
        yield made
    finally:
        made.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _init(made: Server) -> None:
    word = made.folder / "password"
    word.write_text(made.password)
    if made.user:
        account = pwd.getpwnam(made.user)
        for path in (made.folder, word):
            os.chown(path, account.pw_uid, account.pw_gid)
    command = [str(made.bin / "initdb"), "-D", str(made.folder / "data"), "-U", "tester", "-E", "UTF8", "--locale=C"]
    command += ["--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={word}", "--no-sync"]
    done = subprocess.run(_as_user(made.user, command), cwd=made.folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"initdb failed: {done.stderr[-2000:]}")


def _user() -> str:
    """Whom the server runs as: root may not; else nobody in particular."""
    if os.geteuid():
        return ""
    known = {account.pw_name for account in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)


def _as_user(user: str, command: list[str]) -> list[str]:
    if not user:
        return command
    if shutil.which("setpriv"):
        account = pwd.getpwnam(user)
        return ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups", "--", *command]
    return ["runuser", "-u", user, "--", *command]


def _answers(made: Server) -> bool:
    import psycopg

    try:
        psycopg.connect(made.url("postgres"), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
