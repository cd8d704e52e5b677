"""The figures of each value of a column, beside those of all other items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SLICE = "slice:"
"""What the items' column of a slice begins with, before the name of the column in the data."""
FEWEST = 20
"""Under so many items a value's figures are shown in grey, and not tested."""
EMPTY = "(no value)"
"""What an empty cell is called where it is shown."""


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One figure of one group over the items of one value of a column.

    - ``column``, ``name``: The column of the data and its value; the empty text for an empty cell.
    - ``n_items``, ``n``: Items of the value, and those that the figure rests on.
    - ``figure``, ``ci_low``, ``ci_high``: With its 95 % interval.
    - ``rest``: The figure over all other items of the group.
    - ``difference``: ``figure − rest``.
    - ``p``, ``p_holm``: Of a permutation test of the difference, and adjusted over all values, columns and groups; None
      where not tested.
    - ``few``: Under :data:`FEWEST` items have the figure.
    """

    column: str
    name: str
    group: Mapping[str, str]
    metric: str
    title: str
    unit: str
    higher_is_better: bool | None
    n_items: int
    n: int
    figure: float | None
    ci_low: float | None
    ci_high: float | None
    rest: float | None = None
    difference: float | None = None
    p: float | None = None
    p_holm: float | None = None
    few: bool = False

    @property
    def shown(self) -> str:
        """The value as a page names it."""
        return self.name or EMPTY

    @property
    def worse_by(self) -> float:
        """By how much it is worse than the rest, positive where worse; 0 where none of both is better."""
        if self.difference is None or self.higher_is_better is None:
            return 0.0
        return -self.difference if self.higher_is_better else self.difference

    def row(self) -> dict[str, Any]:
        """Flat and JSON-ready, group columns after the value."""
        fields = {k: v for k, v in asdict(self).items() if k != "group"}
        return {"column": fields.pop("column"), "name": fields.pop("name"), **dict(self.group), **fields}


@dataclass(frozen=True, kw_only=True)
class Slices:
    """The slices of a summary.

    - ``rows``: By column, figure and group, the values with most items first.
    - ``sentence``: The worst value, where it is shown to be worse than the rest; empty elsewhere.
    - ``notes``: What was left out or not tested.
    """

    rows: tuple[Slice, ...] = ()
    sentence: str = ""
    notes: tuple[str, ...] = field(default=())
