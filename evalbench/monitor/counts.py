"""What became of the rows that a log was given: written, waiting, or lost for a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FULL, LARGE, FAULT, REFUSED, LEFT, CLOSED = (
    "queue full",
    "too large",
    "hook error",
    "refused by the store",
    "not written at exit",
    "after the end",
)


@dataclass(frozen=True)
class Counts:
    """What became of everything that one log of this process was given.

    - ``given``: Rows of interactions and feedback; each of them is written, waiting or lost.
    - ``lost``: By reason.
    - ``faults``: Exceptions within the hook.
    - ``first_fault``: Kind and place of the first of them; never its message, which may quote a text or a key.
    - ``failures``: Attempts at which the store failed.
    - ``first_failure``: Kind of the first exception of the store.
    """

    given: int = 0
    written: int = 0
    waiting: int = 0
    lost: Mapping[str, int] = field(default_factory=dict)
    faults: int = 0
    first_fault: str = ""
    failures: int = 0
    first_failure: str = ""

    def __str__(self) -> str:
        """In words."""
        said = f"{self.written} of {self.given} written"
        said += f", {self.waiting} waiting" if self.waiting else ""
        for reason, n in sorted(self.lost.items()):
            said += f", {n} lost ({reason})"
        said += f"; exceptions within the hook: {self.faults}, the first: {self.first_fault}" if self.faults else ""
        said += f"; failures of the store: {self.failures}, the first: {self.first_failure}" if self.failures else ""
        return said


def kind_and_place(error: BaseException) -> str:
    """An exception without its message, which may quote a text or a key.

    Examples
    --------
    >>> kind_and_place(ValueError("the key is hunter2"))
    'ValueError'
    """
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" in {place.tb_frame.f_code.co_name}, line {place.tb_lineno}" if place is not None else ""
    return type(error).__name__ + where
