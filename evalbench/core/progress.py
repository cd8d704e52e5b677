"""What long work is at, for whoever waits: said by the work, shown by whoever started it.

A run works in a kernel whose streams belong to its notebook.  What it is at goes through a small file that the environment
names (:data:`FILE`); :class:`Shown` reads it, or asks a function, and writes to a terminal, or a line now and then elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

FILE = "EVALBENCH_PROGRESS"
NAME = "progress.json"
"""The file in the folder of a run that has not ended."""
EVERY_S = 30.0  # between two lines where there is no terminal
_TERMINAL_EVERY_S = 0.5
_WRITTEN_EVERY_S = 0.2
_MOST_BYTES = 100_000
MOST_VERDICTS = 20
"""Different ones that are counted."""
State = Mapping[str, Any]


def at(what: str, done: int | None = None, total: int | None = None) -> None:
    """Say what the work is at: a step, and which of how many.

    Examples
    --------
    >>> at("scoring by rouge1", 3, 11) is None  # nothing happens where nobody reads it
    True
    """
    if os.environ.get(FILE):
        tell({"what": what, "done": done, "total": total})


_so_far: dict[str, Any] = {}


def so_far(what: str, value: float, low: float, high: float, n: int, unscored: int, of: int) -> None:
    """Say what a figure is so far, beside whatever the work is at; the interval must hold whenever one looks.

    - ``n``: Items that it is of; ``unscored``: those that have no value; ``of``: all that there are.
    """
    if os.environ.get(FILE):
        _so_far.update(what=what, value=value, low=low, high=high, n=n, unscored=unscored, of=of)


def tell(state: State) -> None:
    """Write a state down for who reads the file of the environment; a file that cannot be written ends nothing."""
    file = Path(os.environ[FILE])
    state = {**state, **({"so_far": _so_far} if _so_far else {})}
    beside = file.with_name(f"{file.name}.{os.getpid()}-{threading.get_ident()}")
    with contextlib.suppress(OSError):
        beside.write_text(json.dumps(state), encoding="utf-8")
        os.replace(beside, file)


def told(file: Path) -> dict[str, Any]:
    """The last state that was written to a file; empty where there is none, or something else is in its place."""
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return {}
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def forget(folder: Path) -> str:
    """Remove what a run in this folder was at, and give it in words; empty where it said nothing."""
    said = place(told(folder / NAME))
    for file in folder.glob(f"{NAME}*"):
        with contextlib.suppress(OSError):
            file.unlink()
    return said


def place(state: State) -> str:
    """Where work that goes on no longer was: the step alone, without rates and time left."""
    return line({name: state[name] for name in ("what", "done", "total", "unit") if name in state})


class Replies:
    """The counts of a batch of model calls, as a state.

    - ``total``: Replies that are needed.
    """

    # Over all batches of the process: what a run costs is asked for as a whole.
    _tokens = 0
    _cost: float | None = 0.0

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total = what, total
        self.done = self.fresh = self.failed = self.elsewhere = 0
        self.reasons: dict[str, int] = {}
        self.verdicts: dict[str, int] = {}
        self.since = time.time()
        self._written = 0.0

    def keep(self, verdicts: Iterable[str]) -> None:
        """Count replies that were there already, by their verdicts."""
        for verdict in verdicts:
            self.done += 1
            self._judged(verdict)

    def _judged(self, verdict: str) -> None:
        if verdict and (verdict in self.verdicts or len(self.verdicts) < MOST_VERDICTS):
            self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1

    def add(self, tokens: int, cost: float | None, unscored: str, verdict: str = "") -> None:
        """Count a reply; one that failed may have no cost, any other without makes the sum unknown.

        - ``unscored``: Why it failed; empty where it did not.
        - ``verdict``: Of a judge; empty where it is none.
        """
        self._judged(verdict)
        failed = bool(unscored)
        if failed:
            self.reasons[unscored] = self.reasons.get(unscored, 0) + 1
        self.done += 1
        self.fresh += 1
        self.failed += failed
        Replies._tokens += tokens
        if Replies._cost is not None and (cost is not None or not failed):
            Replies._cost = None if cost is None else Replies._cost + cost

    def state(self) -> dict[str, Any]:
        """For :func:`line`."""
        own = {
            name: getattr(self, name)
            for name in ("what", "done", "total", "fresh", "failed", "reasons", "verdicts", "elsewhere", "since")
        }
        return {**own, "unit": "replies", "tokens": Replies._tokens, "cost": Replies._cost}

    def tell(self, now: bool = False) -> None:
        """Write the state down, a few times a second at most."""
        if now or time.monotonic() - self._written > _WRITTEN_EVERY_S:
            self._written = time.monotonic()
            tell(self.state())


def line(state: State, now: float | None = None) -> str:
    """A state in words.

    Examples
    --------
    >>> line({"what": "scoring by rouge1", "done": 3, "total": 11})
    'scoring by rouge1, 3 of 11'
    >>> asked = {"what": "asking openai/m", "done": 30, "total": 90, "unit": "replies", "fresh": 20, "failed": 1, "since": 0}
    >>> line({**asked, "tokens": 4500, "cost": 0.0123}, now=10)
    'asking openai/m, 30 of 90 replies, 1 failed, 4500 tokens, cost 0.0123 so far, 2.0 replies/s, 0:30 min left'
    """
    try:
        return _line(state, time.time() if now is None else now)
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError):  # a notebook may write into the file
        return ""


def _line(state: State, now: float) -> str:
    said = [str(state["what"])]
    done, total = state.get("done"), state.get("total")
    if total:
        said.append(" ".join(filter(None, [f"{done or 0} of {total}", state.get("unit", "")])))
    if "since" not in state:
        return ", ".join(said)
    seconds, fresh = max(now - float(state["since"]), 1e-9), int(state["fresh"])
    if state["failed"]:
        reasons = ", ".join(f"{name} {n}" for name, n in sorted((state.get("reasons") or {}).items()))
        said.append(f"{state['failed']} failed" + (f" ({reasons})" if reasons else ""))
    said.append(f"{state['tokens']} tokens")
    if state["cost"] is not None:
        said.append(f"cost {float(state['cost']):.4f} so far")
    if state.get("elsewhere"):
        said.append(f"{state['elsewhere']} asked for by another process")
    if fresh and done is not None and total is not None and done < total:
        rate = fresh / seconds
        said.append(f"{rate:.1f} replies/s" if rate >= 1 else f"{1 / rate:.1f} s per reply")
        said.append(f"{clock((total - done) / rate)} left")
    return ", ".join(said)


def clock(seconds: float) -> str:
    """Minutes and seconds.

    Examples
    --------
    >>> clock(67.4), clock(7265)
    ('1:07 min', '2:01 h')
    """
    whole = int(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d} h"
    return f"{whole // 60}:{whole % 60:02d} min"


class Shown:
    """While the block runs, what it is at is written to a stream: rewritten on a terminal, a line every 30 s elsewhere.

    - ``read``: Gives the present state, see :func:`line`; empty for none.
    - ``name``: Of the whole work.
    """

    def __init__(self, read: Callable[[], State], stream: TextIO, name: str = "") -> None:
        self._read, self._stream, self._name = read, stream, name
        self._terminal = not stream.closed and stream.isatty()
        self._began = time.monotonic()
        self._length = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="evalbench-progress", daemon=True)

    def __enter__(self) -> Shown:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        if self._length:
            self._write(f"\r{' ' * self._length}\r")

    def _follow(self) -> None:
        while not self._ended.wait(_TERMINAL_EVERY_S if self._terminal else EVERY_S):
            state = self._read()
            said = line(state) if state else ""
            head = f"{self._name} {clock(time.monotonic() - self._began)}".strip()
            text = ": ".join(filter(None, [head, said]))
            if self._terminal:
                text = text[: max(shutil.get_terminal_size().columns - 1, 20)]
                self._write(f"\r{text:<{self._length}}")
                self._length = len(text)
            else:
                self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a closed terminal is nobody's loss
            self._stream.write(text)
            self._stream.flush()
