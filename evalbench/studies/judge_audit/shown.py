"""What is shown of marks that are kinds, and of a judge that looks things up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit
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
        "looks things up": "judge",
        "beside": "other",
        "answers": lambda row: f"{row['answers']:,}" + (f", {row['of']}: {row['kind']}" if row["of"] != "all" else ""),
        "made right": "better",
        "made wrong": "worse",
        "right, share": lambda row: f"{_figure(row['right_other'])} → {_figure(row['right'])}",
        "difference": lambda row: _more(row, "right_more"),
        "of Cohen's kappa": lambda row: _more(row, "kappa_more"),
        "seconds an answer": lambda row: _each(row, "seconds"),
        "cost an answer": lambda row: _each(row, "cost"),
    }
    unknown = [
        heading
        for heading, name in (("seconds an answer", "seconds"), ("cost an answer", "cost"))
        if rows[[name, f"{name}_other"]].isna().all(axis=None)
    ]
    return kit.cases.shown(rows, {heading: cell for heading, cell in show.items() if heading not in unknown})


def _more(row: Mapping[Any, Any], name: str) -> str:
    """A difference with its sign and interval; a dash where there is none."""
    value, low, high = (row[c] for c in (name, f"{name}_low", f"{name}_high"))
    if value != value:
        return "–"
    known = low == low and high == high
    return " ".join(filter(None, core.wording.difference_parts(value, *((low, high) if known else (None, None)))))


def _each(row: Mapping[Any, Any], name: str) -> str:
    """What the plain judge takes, then the one that looks things up."""
    return f"{_small(row[f'{name}_other'])} → {_small(row[name])}"


def _figure(value: float) -> str:
    return "–" if value != value else f"{value:.2f}"


def _small(value: float) -> str:
    return "–" if value != value else f"{value:.3g}"


def _text(row: Mapping[Any, Any], name: str) -> str:
    ends = [None if row[c] != row[c] else float(row[c]) for c in (name, f"{name}_low", f"{name}_high")]
    return core.wording.estimate_text(core.Estimate(metric="", value=ends[0], ci_low=ends[1], ci_high=ends[2]))
