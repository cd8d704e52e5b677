"""Two sides compared value by value of a column, and a warning where the whole and its parts point in opposite directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.compare.sides import Group, Side
from evalbench.core.clusters import CLUSTER
from evalbench.core.compared import Comparison
from evalbench.core.comparison import adjusted_together, compare_measures
from evalbench.core.measures import Measure
from evalbench.core.slices import EMPTY, SLICE
from evalbench.core.wording import counted, difference_parts

if TYPE_CHECKING:
    import pandas as pd

MOST_VALUES = 40
"""Of more values those with the most items are compared."""


class Value(NamedTuple):
    """The first figure of one group over the items of one value, the side against the reference."""

    column: str
    name: str
    group: Group
    comparison: Comparison

    def row(self) -> dict[str, Any]:
        """Flat and JSON-ready."""
        return {"column": self.column, "name": self.name, **self.group, **self.comparison.row()}


def with_grouping(reference: Side, side: Side, unit: str) -> tuple[Side, Side]:
    """Both sides of a paired comparison with the clusters and slices that one of them has.

    A column is carried from one to the other by unit; one that differs within a unit is not.
    """
    named = [c for c in dict.fromkeys([*reference.items, *side.items]) if c == CLUSTER or str(c).startswith(SLICE)]
    found = [reference, side]
    for column in named:
        has = [column in one.items for one in found]
        if all(has):
            continue
        to = has.index(False)
        known = found[1 - to].items[[unit, column]].astype(str).drop_duplicates()
        if known[unit].is_unique:
            of = dict(zip(known[unit].tolist(), known[column].tolist(), strict=True))
            value = [of.get(one, "") for one in found[to].items[unit].astype(str)]
            found[to] = replace(found[to], items=found[to].items.assign(**{column: value}))
    return found[0], found[1]


def by_value(
    reference: Side,
    side: Side,
    groups: Sequence[tuple[Group, tuple[Group, Group]]],
    measure: Measure | None,
    whole: Sequence[tuple[Group, Comparison]],
    *,
    unit: str,
    paired: bool,
    seed: int,
    n_resamples: int,
) -> tuple[tuple[Value, ...], list[str]]:
    """The figure compared within each value of each slice that both sides have, and what to beware of.

    - ``measure``: None where the first figure is not a function of sums: then nothing is compared by value.
    - ``whole`` (sequence of (group, Comparison)): The figure over all items.
    - ``unit``, ``paired``, ``seed``, ``n_resamples``: See :func:`evalbench.compare.runs.compare`.
    - Returns ``values``: Holm's adjustment covers all of them.
    - Returns ``notes``: Simpson's paradox, and what was left out.
    """
    columns = [str(c) for c in reference.items if str(c).startswith(SLICE) and c in side.items]
    if not columns:
        return (), []
    if measure is None:
        return (), ["Not compared by slice: the first figure is not a function of sums over items."]
    found: list[Value] = []
    notes: list[str] = []
    for column in columns:
        names, left = _names(reference.items[column], side.items[column])
        title = column.removeprefix(SLICE)
        if left:
            notes.append(f"{title}: {counted(left, 'more value')}, with fewer items, not compared apart.")
        for group, own in groups:
            a, b = side.rows(own[1]), reference.rows(own[0])
            for name in names:
                rows = [t[t[column].astype(str) == name] for t in (a, b)]
                if not all(map(len, rows)):
                    continue
                compared = compare_measures(
                    rows[0],
                    rows[1],
                    [measure],
                    units_a=rows[0][unit],
                    units_b=rows[1][unit],
                    seed=seed,
                    names=(side.name, reference.name),
                    paired=paired,
                    n_resamples=n_resamples,
                )
                found.append(Value(title, name, group, compared.comparisons[0]))
    adjusted = adjusted_together([v.comparison for v in found], [(side.name, reference.name)] * len(found))
    values = tuple(v._replace(comparison=c) for v, c in zip(found, adjusted, strict=True))
    return values, [*_paradoxes(values, whole, (side.name, reference.name)), *notes]


def _names(one: pd.Series, other: pd.Series) -> tuple[list[str], int]:
    """The values that both sides have, most items first, and how many more there are than are compared."""
    left, right = (column.astype(str).value_counts() for column in (one, other))
    both = left.add(right).dropna()
    order = np.lexsort((both.index.to_numpy(dtype=str), -both.to_numpy()))
    names = [str(n) for n in both.index[order]]
    return names[:MOST_VALUES], len(names[MOST_VALUES:])


def _paradoxes(values: Sequence[Value], whole: Sequence[tuple[Group, Comparison]], names: tuple[str, str]) -> list[str]:
    """Simpson: where the figure over all items differs in one direction, and in the other within every value."""
    said = []
    for group, over_all in whole:
        if not over_all.difference:
            continue
        for column in dict.fromkeys(v.column for v in values):
            parts = [
                v for v in values if v.column == column and v.group == group and v.comparison.difference is not None
            ]
            opposite = [v for v in parts if (v.comparison.difference or 0.0) * over_all.difference < 0]
            if len(parts) > 1 and len(opposite) == len(parts):
                up, down = ("higher", "lower") if over_all.difference > 0 else ("lower", "higher")
                where = f"{', '.join(group.values())}: " if group else ""
                each = "; ".join(f"{v.name or EMPTY} {_difference(v.comparison)}" for v in parts[:6])
                more = f"; {len(parts) - 6} more" if len(parts) > 6 else ""
                said.append(
                    f"Simpson's paradox by {column}: {where}{over_all.title} of {names[0]} is {up} than that of {names[1]} over "
                    f"all items ({_difference(over_all)}), and {down} within each of {len(parts)} values ({each}{more}). The two "
                    "have different shares of the values: compare within them."
                )
    return said


def _difference(c: Comparison) -> str:
    low, high = (c.difference if end is None else end for end in (c.ci_low, c.ci_high))
    assert c.difference is not None
    assert low is not None
    assert high is not None
    return difference_parts(c.difference, low, high)[0]
