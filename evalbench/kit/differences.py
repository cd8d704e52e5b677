"""A compared pair of groups, as it is put into words."""

from __future__ import annotations

from typing import NamedTuple

from evalbench.core.wording import p_text


class Difference(NamedTuple):
    """One compared pair of groups on one figure: A less B.

    - ``better``: The group that is shown to be better; empty where none is, or neither end is better.
    - ``shown``: Whether the difference is shown not to be chance.
    - ``low``, ``high``: Its 95 % interval, where one is known.
    - ``p``: The p-value that decides, adjusted for all comparisons of its table.
    """

    metric: str
    a: str
    b: str
    difference: float | None
    unit: str
    better: str
    shown: bool
    low: float | None = None
    high: float | None = None
    p: float | None = None

    @property
    def worse(self) -> str:
        return "" if not self.better else self.b if self.better == self.a else self.a


def why_not_shown(row: Difference) -> str:
    """The p-value, a clause, where no difference is shown although its interval has no 0 in it; else empty.

    Examples
    --------
    >>> why_not_shown(Difference("f1", "oak", "fern", 0.2, "0–1", "", False, 0.1, 0.3, 0.31))
    ', p 0.31 after adjustment'
    """
    if row.shown or row.p is None or row.low is None or row.high is None or row.low <= 0 <= row.high:
        return ""
    return f", p {p_text(row.p)} after adjustment"
