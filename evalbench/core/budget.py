"""What a run may ask of models: limits that are counted in one place, and a dry run that asks nothing.

Counted are the distinct requests of a run, in an order that its seed fixes: those that the cache answers too, repeats of a
failed one not.  So the same items are asked whatever the concurrency, and a run with a higher limit goes on where the last
one stopped.  What lies beyond the limit has no reply: it is unscored, ``budget``.
"""

from __future__ import annotations

import math
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any, Final

from evalbench.core import dry
from evalbench.errors import BadInput

MAX_CALLS, MAX_COST, SEED = "EVALBENCH_MAX_CALLS", "EVALBENCH_MAX_COST", "EVALBENCH_BUDGET_SEED"
REASON: Final = "budget"


class Budget:
    """The limits of one run, and what it has asked so far.

    - ``max_calls``: Requests, from 1.
    - ``max_cost``: In the currency of the prices, above 0. The request that reaches it is the last one.
    - ``seed``: Fixes the order in which items are asked.

    Raises ``BadInput`` if a limit is out of range.
    """

    def __init__(self, max_calls: int | None = None, max_cost: float | None = None, seed: int = 0) -> None:
        if faults := [*limit_faults(max_calls, max_cost)]:
            raise BadInput.listing("invalid budget:", faults)
        self.max_calls, self.max_cost, self.seed = max_calls, max_cost, seed
        self._asked: dict[str, str] = {}
        self._left: dict[str, str] = {}
        self._steps: dict[str, None] = {}  # purposes in the order of the run
        self._billed = 0.0
        self._lock = threading.RLock()

    def ordered(self, units: Mapping[str, str]) -> list[str]:
        """Keys of requests in the order in which they count: units in an order of the seed, each unit's keys together.

        Examples
        --------
        >>> kept = Budget(max_calls=1).ordered({"k1": "a", "k2": "b", "k3": "a"})
        >>> sorted(kept), abs(kept.index("k1") - kept.index("k3"))
        (['k1', 'k2', 'k3'], 1)
        """
        from evalbench.core.seeds import keys

        distinct = list(dict.fromkeys(units.values()))
        place = dict(zip(distinct, keys(self.seed, REASON, distinct).tolist(), strict=True))
        return sorted(units, key=lambda key: place[units[key]])

    def admitted(self, keys: Sequence[str], purposes: Mapping[str, str]) -> list[str]:
        """Those of the keys that the number of calls leaves room for; the others are left out."""
        with self._lock:
            self._steps |= dict.fromkeys(purposes[key] for key in keys)
            if self.max_calls is None:
                return list(keys)
            room = self.max_calls - len(self._asked)
            within, beyond = [], []
            for key in keys:
                if key not in self._asked:
                    room -= 1
                    if room < 0:
                        beyond.append(key)
                        continue
                within.append(key)
            self.leave(beyond, purposes)
            return within

    def affordable(self, keys: Sequence[str], bound: Callable[[str], float]) -> list[str]:
        """The first keys that may be asked at once, whatever each of them costs up to its bound; none once all is spent.

        Examples
        --------
        >>> Budget(max_cost=1.0).affordable(["a", "b", "c"], lambda key: 0.6)
        ['a', 'b']
        """
        if self.max_cost is None:
            return list(keys)
        reserved = self._billed
        for place, key in enumerate(keys):
            if reserved >= self.max_cost:
                return list(keys[:place])
            if key not in self._asked:
                reserved += bound(key)
        return list(keys)

    def bill(self, key: str, purpose: str, cost: float) -> None:
        """Count a request that was asked, and what it cost when it was sent, now or once."""
        with self._lock:
            if key not in self._asked:
                self._asked[key] = purpose
                self._left.pop(key, None)
                self._billed += cost

    def leave(self, keys: Sequence[str], purposes: Mapping[str, str]) -> None:
        """Count requests that were not asked."""
        with self._lock:
            self._left |= {key: purposes[key] for key in keys if key not in self._asked}

    def spend(self, cost: float) -> None:
        """Count a cost without a call: texts that were embedded."""
        with self._lock:
            self._billed += cost

    def allows(self, cost: float) -> bool:
        """Whether so much more stays within the cost."""
        return self.max_cost is None or self._billed + cost <= self.max_cost

    @property
    def asked(self) -> Set[str]:
        """The keys of the requests that were counted."""
        return self._asked.keys()

    @property
    def why(self) -> str:
        """Which limits there are, as options of the command line."""
        cost = "" if self.max_cost is None else f"--max-cost {self.max_cost:g}"
        return " ".join(filter(None, ["" if self.max_calls is None else f"--max-calls {self.max_calls}", cost]))

    def account(self) -> dict[str, Any]:
        """How far the run came, for ``results.json``: JSON values that repeat."""
        asked, left = Counter(self._asked.values()), Counter(self._left.values())
        return {
            "max_calls": self.max_calls,
            "max_cost": self.max_cost,
            "calls": len(self._asked),
            "not_asked": len(self._left),
            "billed": None if self.max_cost is None else round(self._billed, 10),
            "purposes": {p: {"asked": asked[p], "not_asked": left[p]} for p in self._steps if asked[p] or left[p]},
        }


def limit_faults(max_calls: Any, max_cost: Any) -> Iterator[str]:
    """What is wrong with limits.

    Examples
    --------
    >>> list(limit_faults(0, None)), list(limit_faults(None, 0.5))
    (['max_calls is 0; expected a whole number from 1'], [])
    """
    if max_calls is not None and not (type(max_calls) is int and max_calls >= 1):
        yield f"max_calls is {max_calls!r}; expected a whole number from 1"
    is_number = isinstance(max_cost, int | float) and not isinstance(max_cost, bool)
    if max_cost is not None and not (is_number and 0 < max_cost < math.inf):
        yield f"max_cost is {max_cost!r}; expected a number above 0"


_given: Budget | None = None
_of_environment: Budget | None = None


def active() -> Budget | None:
    """The budget of this run: that of the block, or of the environment; None where nothing is limited."""
    global _of_environment
    if _given is not None:
        return _given
    calls, cost = os.environ.get(MAX_CALLS), os.environ.get(MAX_COST)
    if not (calls or cost):
        return None
    if _of_environment is None:
        try:
            limits = int(calls) if calls else None, float(cost) if cost else None
            _of_environment = Budget(*limits, int(os.environ.get(SEED) or 0))
        except ValueError as error:
            raise BadInput(f"{MAX_CALLS}, {MAX_COST} and {SEED} are numbers: {error}") from None
    return _of_environment


@contextmanager
def budget(max_calls: int | None = None, max_cost: float | None = None, *, seed: int = 0) -> Iterator[Budget]:
    """Limit what models are asked within the block, all studies in it together.

    Parameters
    ----------
    max_calls : int, optional
        Requests to models: distinct ones, those that the cache answers too; see :class:`Budget`.
    max_cost : float, optional
        What they were billed, in the currency of the prices in ``models.toml``; a model without a price is refused.
    seed : int
        Fixes the order in which items are asked.

    Yields
    ------
    Budget
        Its ``account()`` says how far the block came.

    Raises
    ------
    BadInput
        If a limit is out of range.

    Examples
    --------
    >>> with budget(max_calls=50) as spent:
    ...     pass  # result = needle.evaluate(data, model="openai/gpt-4o")
    >>> spent.account()["calls"]
    0
    """
    global _given
    outer, _given = _given, Budget(max_calls, max_cost, seed)
    try:
        yield _given
    finally:
        _given = outer


def environment(max_calls: int | None, max_cost: float | None, seed: int) -> dict[str, str]:
    """The variables by which a kernel knows its limits; empty without limits."""
    given = {MAX_CALLS: max_calls, MAX_COST: max_cost}
    found = {name: repr(value) for name, value in given.items() if value is not None}
    return {**found, SEED: str(seed)} if found else {}


def account() -> dict[str, Any]:
    """How far the active budget was used; empty where nothing is limited."""
    found = active()
    return {} if found is None or dry.is_dry() else found.account()


def in_words(spent: Mapping[str, Any], *, steps: bool = True) -> str:
    """How far a run came; empty where it was not stopped.  Later steps may need calls that nobody knows of yet: *at least*.

    Parameters
    ----------
    spent : mapping
        Of :meth:`Budget.account`.
    steps : bool
        Whether each of several steps is named.

    Examples
    --------
    >>> in_words({"max_calls": 50, "max_cost": None, "calls": 50, "not_asked": 70, "billed": None, "purposes":
    ...     {"answer": {"asked": 50, "not_asked": 70}}})
    'Stopped by its budget after 50 of at least 120 calls (--max-calls 50; each call counts once, cached or not, however often it was tried). What was not asked is unscored. A run with a higher limit continues from the cache.'
    """
    if not spent.get("not_asked"):
        return ""
    limits = [f"--max-calls {spent['max_calls']}"] if spent["max_calls"] is not None else []
    limits += [f"--max-cost {spent['max_cost']:g}, billed {spent['billed']:g}"] if spent["max_cost"] is not None else []
    each = {purpose or "other": counts for purpose, counts in spent["purposes"].items()}
    parts = [f"{purpose} {n['asked']} of {n['asked'] + n['not_asked']}" for purpose, n in each.items()]
    split = f": {', '.join(parts)}" if steps and len(parts) > 1 else ""
    return (
        f"Stopped by its budget after {spent['calls']} of at least {spent['calls'] + spent['not_asked']} calls{split} "
        f"({'; '.join(limits)}; each call counts once, cached or not, however often it was tried). What was "
        "not asked is unscored. A run with a higher limit continues from the cache."
    )
