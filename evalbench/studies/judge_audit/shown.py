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
        "share that is right": lambda row: _lines(
            f"{_figure(row['right_other'])} → {_figure(row['right'])}", " ".join(_more(row, "right_more")).strip()
        ),
        "Cohen's kappa": lambda row: _lines(*_more(row, "kappa_more")),
        "an answer takes": lambda row: _lines(*_takes(row)),
    }
    return kit.cases.shown(rows, show)


def _takes(row: Mapping[Any, Any]) -> tuple[str, str]:
    """Seconds and cost of an answer, as far as they are known."""
    said = [
        before + f"{_small(row[f'{name}_other'])} → {_small(row[name])}" + after
        for name, before, after in (("seconds", "", " s"), ("cost", "cost ", ""))
        if row[name] == row[name] or row[f"{name}_other"] == row[f"{name}_other"]
    ]
    return (said[0], " ".join(said[1:])) if said else ("–", "")


def _more(row: Mapping[Any, Any], name: str) -> tuple[str, str]:
    """A difference with its sign, and its interval; a dash where there is none."""
    value, low, high = (row[c] for c in (name, f"{name}_low", f"{name}_high"))
    if value != value:
        return "–", ""
    known = low == low and high == high
    return core.wording.difference_parts(value, *((low, high) if known else (None, None)))


def _lines(line: str, more: str = "") -> draw.Html:
    """A line that is not broken, and a small one below it."""
    first = draw.escape(line.replace(" ", "\N{NO-BREAK SPACE}"))
    return draw.Html(f'{first}<br><span class="eb-small">{draw.escape(more)}</span>' if more else first)


def _figure(value: float) -> str:
    return "–" if value != value else f"{value:.2f}"


def _small(value: float) -> str:
    return "–" if value != value else f"{value:.3g}"


def _text(row: Mapping[Any, Any], name: str) -> str:
    return core.wording.interval_text(row[name], row[f"{name}_low"], row[f"{name}_high"])
