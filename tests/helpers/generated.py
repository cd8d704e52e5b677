"""Cases that a generator makes: one in twenty by a fixed seed in `make test`, every one in `make check`."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import TypeVar

Case = TypeVar("Case")
VARIABLE = "EVALBENCH_TEST_GENERATED"  # "all": every case
ONE_IN = 20


def one_in_twenty(cases: Iterable[Case], seed: int = 0) -> list[Case]:
    """Some of the cases in their order, at least one; all of them where ``make check`` asks for all.

    Mark the test with ``generated``, or ``make check`` does not run it. The seed draws which cases run; what a case is must
    not depend on it: give every case a number and make it from that number alone.
    """
    every = list(cases)
    asked = os.environ.get(VARIABLE, "")
    if asked not in ("", "all"):
        raise ValueError(f"{VARIABLE} is {asked!r}; it may be 'all' or unset")
    if asked == "all" or not every:
        return every
    picked = random.Random(f"{seed} {len(every)}").sample(range(len(every)), -(-len(every) // ONE_IN))
    return [every[i] for i in sorted(picked)]
