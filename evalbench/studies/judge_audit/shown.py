"""What is shown of marks that are kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit


def confusion(result: core.Result) -> pd.DataFrame | None:
    """What people say of each kind that a judge named, differences first; None where marks are no kinds."""
    rows = result.tables.get("confusion")
    if rows is None or rows.empty:
        return None
    apart = rows.assign(apart=rows["judge says"] != rows["people say"])
    ordered = apart.sort_values(["judge", "apart", "answers"], ascending=[True, False, False], kind="stable")
    return ordered.drop(columns="apart")


def by_kind(result: core.Result) -> pd.DataFrame | None:
    """The share of each kind as a judge says and corrected by labels; None where marks are no kinds."""
    rows = result.tables.get("kinds")
    if rows is None:
        return None
    show: kit.cases.Show = {
        "judge": "judge",
        "kind": "kind",
        "says": lambda row: _text(row, "says"),
        "corrected by labels": lambda row: _text(row, "corrected"),
        "labels": "labels",
    }
    return kit.cases.shown(rows, show)


def _text(row: Mapping[Any, Any], name: str) -> str:
    ends = [None if row[c] != row[c] else float(row[c]) for c in (name, f"{name}_low", f"{name}_high")]
    return core.wording.estimate_text(core.Estimate(metric="", value=ends[0], ci_low=ends[1], ci_high=ends[2]))
