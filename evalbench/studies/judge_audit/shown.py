"""What is shown of marks that are kinds, and of a judge that looks things up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.judge_audit import inputs


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


def looked_up(result: core.Result) -> pd.DataFrame | None:
    """What looking things up changed, on all answers and kind by kind; None where no judge looks anything up."""
    rows = result.tables.get("beside")
    if rows is None:
        return None
    show: kit.cases.Show = {
        **({"criterion": inputs.CRITERION} if (rows[inputs.CRITERION] != "").any() else {}),
        "judges": lambda row: f"{row['other']} → {row['judge']}",
        "answers": lambda row: "all" if row["of"] == "all" else f"{row['of']}: {row['kind']}",
        "n": "answers",
        "made right": "better",
        "made wrong": "worse",
        "share that is right": lambda row: _both(
            _figure(row["right_other"]), _figure(row["right"]), _more(row, "right_more")
        ),
        "Cohen's kappa": lambda row: _more(row, "kappa_more"),
        "seconds": lambda row: _both(_small(row["seconds_other"]), _small(row["seconds"])),
        "cost": lambda row: _both(_small(row["cost_other"]), _small(row["cost"])),
    }
    unknown = [
        heading
        for heading, name in (("seconds", "seconds"), ("cost", "cost"))
        if rows[[name, f"{name}_other"]].isna().all(axis=None)
    ]
    return kit.cases.shown(rows, {heading: cell for heading, cell in show.items() if heading not in unknown})


def _more(row: Mapping[Any, Any], name: str) -> str:
    """A difference with its sign and interval; a dash where there is none."""
    value, low, high = (row[c] for c in (name, f"{name}_low", f"{name}_high"))
    if value != value:
        return "–"
    known = low == low and high == high
    said = " ".join(filter(None, core.wording.difference_parts(value, *((low, high) if known else (None, None)))))
    return said.replace(" ", "\N{NO-BREAK SPACE}")


def _both(other: str, own: str, more: str = "") -> draw.Html:
    """What the other judge has, then the one that looks things up, on one line; below it the difference."""
    line = draw.escape(f"{other} → {own}".replace(" ", "\N{NO-BREAK SPACE}"))
    return draw.Html(f'{line}<br><span class="eb-small">{draw.escape(more)}</span>' if more else line)


def _figure(value: float) -> str:
    return "–" if value != value else f"{value:.2f}"


def _small(value: float) -> str:
    return "–" if value != value else f"{value:.3g}"


def _text(row: Mapping[Any, Any], name: str) -> str:
    ends = [None if row[c] != row[c] else float(row[c]) for c in (name, f"{name}_low", f"{name}_high")]
    return core.wording.estimate_text(core.Estimate(metric="", value=ends[0], ci_low=ends[1], ci_high=ends[2]))
