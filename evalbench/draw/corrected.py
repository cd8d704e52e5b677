"""A judge's figure and its correction by labels as one row of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

FIXED = "\0corrected"  # a key that no column has


def as_one_row(rows: Sequence[Mapping[str, Any]], by: Sequence[str]) -> list[dict[str, Any]]:
    """The rows without those of corrections, which the rows of what they correct hold under :data:`FIXED`.

    Examples
    --------
    >>> rows = [{"metric": "right", "value": 0.8}, {"metric": "right_corrected", "value": 0.7, "corrects": "right"}]
    >>> [(row["metric"], row[FIXED]["value"]) for row in as_one_row(rows, [])]
    [('right', 0.7)]
    """
    fixed = {(row["corrects"], *(row.get(name) for name in by)): dict(row) for row in rows if row.get("corrects")}
    out = []
    for row in rows:
        place = (row["metric"], *(row.get(name) for name in by))
        if place in fixed:
            out.append({**row, FIXED: fixed.pop(place)})
        elif not row.get("corrects"):
            out.append(dict(row))
    return [*out, *fixed.values()]


def with_corrections(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Each row, and the correction that it holds."""
    return [one for row in rows for one in (row, row.get(FIXED)) if one]
