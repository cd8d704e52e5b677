"""Errors that a user can mend."""

from __future__ import annotations

from collections.abc import Iterable


class BadInput(Exception):
    """Usage or input that cannot be accepted: one message, all faults at once; the command line exits with 2.

    Attributes
    ----------
    faults : tuple of str
        Every fault of a listing, those beyond its cap too.
    head : str
        What the faults need in front of them, where they say nothing without it.
    """

    faults: tuple[str, ...] = ()
    head: str = ""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints: the fault is in the input, so no frame of ours helps to mend it."""
        return [f"{type(self).__name__}: {self}"]

    @classmethod
    def listing(
        cls, head: str, faults: Iterable[str], cap: int = 20, end: str = "", *, headed: bool = False
    ) -> BadInput:
        """One message with a head line and one line per fault, the first ``cap`` of them; ``end`` follows.

        Lines that say nothing without their head are ``headed``: among others' faults they carry it.
        """
        lines = list(dict.fromkeys(faults))
        shown = [f"  - {line}" for line in lines[:cap]]
        if len(lines) > cap:
            shown.append(f"  … and {len(lines) - cap} more faults")
        error = cls("\n".join([head, *shown]) + end)
        error.faults, error.head = tuple(lines), head if headed else ""
        return error


class ModelUnavailable(BadInput):
    """A model that is not installed, not downloaded or not the one that was expected.

    Attributes
    ----------
    unscored : str
        Why what needs it has no score, one of :data:`evalbench.core.unscored.REASONS`.
    """

    def __init__(self, message: str, unscored: str = "not-installed") -> None:
        super().__init__(message)
        self.unscored = unscored
