"""The command line in a fork of the tests' process: a process of its own, without a second to import the package."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from evalbench.runs.fork import can_fork

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "evalbench.cli")


def evalbench(*words: str, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """What a command that starts no kernel says, and its exit code; ``env`` in place of this process's environment."""
    if not can_fork():
        return subprocess.run([*COMMAND, *words], capture_output=True, text=True, cwd=cwd, env=env, check=False)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, open(os.devnull, "rb") as nothing:
        ended = exit_code(started(words, cwd, (nothing.fileno(), out.fileno(), err.fileno()), env))
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read().decode("utf-8").replace("\r\n", "\n"))
    return subprocess.CompletedProcess([*COMMAND, *words], ended, *said)


def started(
    words: tuple[str, ...], cwd: Path, streams: tuple[int, int, int], env: Mapping[str, str] | None = None
) -> int:
    """The process of a command with these as standard input, output and error."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        _command(words, cwd, streams, env)
    return child


def exit_code(process: int) -> int:
    """How a process that was started here ends."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _command(words: tuple[str, ...], cwd: Path, streams: tuple[int, int, int], env: Any) -> NoReturn:
    code = 1
    try:
        for own, theirs in enumerate(streams):
            os.dup2(theirs, own)
        sys.stdin, sys.stdout, sys.stderr = (open(fd, mode, encoding="utf-8") for fd, mode in enumerate("rww"))  # noqa: SIM115
        os.chdir(cwd)
        if env is not None:
            os.environ.clear()
            os.environ.update(env)
        sys.argv = ["evalbench", *words]
        from evalbench.cli import main

        main()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
