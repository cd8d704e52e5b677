"""How long something takes, measured so that other work on the machine disturbs it least.

Noise only adds: the least of several times is nearest to the true one, and more rounds bring it nearer still. So a goal
that is missed is measured over more rounds before it counts as missed; what really became slower is so in every round.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

Clock = Callable[[], float]


def seconds(work: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Time of one call; processor time unless another clock is given."""
    start = clock()
    work()
    return clock() - start


def least(
    work: Callable[[], object], goal: float, clock: Clock = time.process_time, rounds: int = 3, most: int = 12
) -> float:
    """The least time of some calls, of more while it is above the goal."""
    times: list[float] = []
    while len(times) < rounds or (min(times) > goal and len(times) < most):
        times.append(seconds(work, clock))
    return min(times)


class Race(NamedTuple):
    """The least times of two that did the same, in seconds."""

    ours: float
    peer: float
    rounds: int

    @property
    def ratio(self) -> float:
        """How many times as fast as the peer we are."""
        return self.peer / self.ours

    def __str__(self) -> str:
        return f"{self.ours * 1e3:.1f} ms, peer {self.peer * 1e3:.1f} ms, {self.ratio:.2f}× ({self.rounds} rounds)"


def race(
    ours: Callable[[int], object],
    peer: Callable[[int], object],
    goal: float,
    clock: Clock = time.process_time,
    rounds: int = 4,
    most: int = 16,
) -> Race:
    """Both in turn, each first in every other round; more rounds while the ratio is below the goal.

    Parameters
    ----------
    ours, peer : function
        Gets the round's number: fresh input for those that would find the old one in a cache.
    goal : float
        Of ``Race.ratio``.
    """
    so_far = Race(float("inf"), float("inf"), 0)
    while so_far.rounds < rounds or (so_far.ratio < goal and so_far.rounds < most):
        n = so_far.rounds
        took = {work: seconds(partial(work, n), clock) for work in ((ours, peer) if n % 2 else (peer, ours))}
        so_far = Race(min(so_far.ours, took[ours]), min(so_far.peer, took[peer]), n + 1)
    return so_far


def alone(measure: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of a test's module in a fresh interpreter; what it returns, by JSON.

    A test session's heap, collector and threads weigh on what is measured within it, and its peak memory is not ours.
    """
    file = Path(measure.__code__.co_filename)
    paths = [str(file.parent), str(Path(__file__).parent)]
    asked = json.dumps([paths, file.stem, measure.__name__, arguments])
    done = subprocess.run(
        [sys.executable, __file__, asked], stdout=subprocess.PIPE, text=True, check=True
    )  # its standard error is the test's own
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    paths, module, name, arguments = json.loads(sys.argv[1])
    sys.path[:0] = paths
    print(json.dumps(getattr(importlib.import_module(module), name)(*arguments)))
