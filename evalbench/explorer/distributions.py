"""How many items have which value: of all, and of those that a filter leaves."""

from __future__ import annotations

from typing import Any

from evalbench.explorer.conditions import as_text, condition
from evalbench.explorer.database import quoted
from evalbench.explorer.rows import LONGEST, Rows, shortened

BINS = 30
MOST_VALUES = 20
LONGEST_WHOLE = 2000
"""Letters of a text that a filter may ask for, which is an address too."""


def distribution(rows: Rows, column: str, where: str = "", bins: int = BINS) -> dict[str, Any]:
    """The values of a column of the items: a histogram of numbers, else the most frequent values.

    Returns: ``kind`` (``number`` or ``values``), ``counts`` of the filter and ``all``, with their ``edges`` (and ``low`` and
    ``high``, the least and the greatest number) or ``values`` (``cut``: whether its end is left out; ``whole``: the text of one
    that is cut and not too long for a filter, else None);
    ``more`` and ``more_all``: items with rarer values; ``empty`` and ``empty_all``: without one.

    Raises ``BadInput`` where the items have no such column, or for a filter that cannot be read.
    """
    known = rows.own_column(column)
    sql, values = condition(rows, where)
    if known.kind == "number":
        return _histogram(rows, quoted(column), sql, values, bins)
    text = as_text(column, "i")
    counted = rows.database.fetch(
        f"SELECT {text} v, count(*) n, count(*) FILTER (WHERE {sql}) k FROM items i WHERE {text} <> '' GROUP BY v ORDER BY n DESC, v",
        values,
    )
    shown, rest = counted[:MOST_VALUES], counted[MOST_VALUES:]
    return {
        "kind": "values",
        "values": [shortened(str(row[0])) for row in shown],
        "cut": [len(str(row[0])) > LONGEST for row in shown],
        "whole": [str(row[0]) if LONGEST < len(str(row[0])) <= LONGEST_WHOLE else None for row in shown],
        "counts": [row[2] for row in shown],
        "all": [row[1] for row in shown],
        "more": sum(row[2] for row in rest),
        "more_all": sum(row[1] for row in rest),
        **_empty(rows, f"{text} IS NULL OR {text} = ''", sql, values),
    }


def _histogram(rows: Rows, name: str, sql: str, values: list[Any], bins: int) -> dict[str, Any]:
    number = f"CAST(i.{name} AS DOUBLE)"
    known = f"i.{name} IS NOT NULL AND isfinite({number})"
    spread = f"SELECT min({number}), max({number}), bool_and({number} = floor({number})) FROM items i WHERE {known}"
    low, high, whole = rows.database.fetch(spread)[0]
    found = {"kind": "number", **_empty(rows, f"NOT ({known})", sql, values)}
    if low is None:
        return {**found, "low": None, "high": None, "edges": [], "counts": [], "all": []}
    found |= {"low": low, "high": high}
    if whole and high - low < bins:  # a bar for each whole number
        low, half, bins = low - 0.5, 0.5, round(high - low) + 1
    else:  # by halves, since the span of the greatest numbers is none
        half = (high / 2 - low / 2) / bins or 0.5
    place = f"least(greatest(CAST(floor(({number} / 2 - ?) / ?) AS INTEGER), 0), ?)"
    counted = rows.database.fetch(
        f"SELECT {place} b, count(*) n, count(*) FILTER (WHERE {sql}) k FROM items i WHERE {known} GROUP BY b",
        [low / 2, half, bins - 1, *values],
    )
    by_bin = {int(b): (int(n), int(k)) for b, n, k in counted}
    return {
        **found,
        "edges": [2 * (low / 2 + half * i) for i in range(bins + 1)],
        "counts": [by_bin.get(i, (0, 0))[1] for i in range(bins)],
        "all": [by_bin.get(i, (0, 0))[0] for i in range(bins)],
    }


def _empty(rows: Rows, of: str, sql: str, values: list[Any]) -> dict[str, int]:
    row = rows.database.fetch(f"SELECT count(*) FILTER (WHERE {sql}), count(*) FROM items i WHERE {of}", values)[0]
    return {"empty": int(row[0]), "empty_all": int(row[1])}
