"""Cases that a generator makes: one in twenty by a fixed seed in `make test`, all or many in `make check`."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import TypeVar

Case = TypeVar("Case")
VARIABLE = "EVALBENCH_TEST_GENERATED"  # "all": as in `make check`; "soak": every case, as in `make soak`
ONE_IN = 20


def one_in_twenty(cases: Iterable[Case], seed: int = 0, in_check: int | None = None) -> list[Case]:
    """Some of the cases in their order, at least one; all of them where ``make check`` asks for all.

    Where all would take minutes, ``in_check`` is how many ``make check`` runs, and ``make soak`` runs all.

    Mark the test with ``generated``, or ``make check`` does not run it. The seed draws which cases run; what a case is must
    not depend on it: give every case a number and make it from that number alone.
    """
    every = list(cases)
    asked = os.environ.get(VARIABLE, "")
    if asked not in ("", "all", "soak"):
        raise ValueError(f"{VARIABLE} is {asked!r}; it may be 'all', 'soak' or unset")
    wanted = -(-len(every) // ONE_IN)
    if asked:
        wanted = len(every) if in_check is None or asked == "soak" else min(in_check, len(every))
    if wanted == len(every):
        return every
    picked = random.Random(f"{seed} {len(every)}").sample(range(len(every)), wanted)
    return [every[i] for i in sorted(picked)]


def in_soak(many: int, otherwise: int) -> int:
    """How many of a thing ``make soak`` tries, and how many ``make check``. Mark the test with ``soak``."""
    return many if os.environ.get(VARIABLE) == "soak" else otherwise
