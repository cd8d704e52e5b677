"""The tool's own figures beside ours, and why they differ: each reason is tried on the rows, and named where it gives the tool's figure."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.imported import inputs, method

COLUMNS = ("metric", "model", "part", "tool_figure", "theirs", "ours", "n", "n_lost", "n_theirs", "agrees", "why")
ALL = "all models"
SAME = "the same"
UNKNOWN = (
    "not found out: neither failed scores as 0 or as the worst, nor other rows left out, nor pooled trials give it"
)
_CLOSE = 1e-9


def theirs_of(
    scores: pd.DataFrame, rows: pd.DataFrame | None, figures: pd.DataFrame | None, facts: method.Facts
) -> pd.DataFrame:
    """Every figure of the tool beside ours over the same rows.

    - ``scores``: One per row, see :class:`inputs.Given`.
    - ``rows``: The answers with the columns that figures are of a part of; None where all are of all rows.
    - ``figures``: The table ``figures``.

    Returns: ``metric, model, part, tool_figure, theirs, ours`` (a question counts once), ``n`` scores and ``n_lost``
    that are missing, ``n_theirs`` where the tool says so, ``agrees`` (but for rounding) and ``why``.
    """
    if figures is None:
        return pd.DataFrame({name: [] for name in COLUMNS})
    out = []
    records: Any = figures.to_dict("records")
    for row in records:
        part = part_of(row.get("slice"))
        model = row.get("model") or (
            kit.collecting.UNNAMED if set(scores["model"]) <= {kit.collecting.UNNAMED} else ALL
        )
        other = scores if model == ALL else scores[scores["model"] == model]
        own = other[other["metric"] == row["metric"]]
        inside = None if rows is None else _inside(rows, part)
        if rows is not None and inside is not None:
            part_rows = rows[inside]
            own, other = (f[inputs.among(f, part_rows, ["id", "model"])] for f in (own, other))
        out.append(_compared(row, model, part, own, other, facts))
    order = {name: i for i, name in enumerate(facts.directions)}
    out.sort(key=lambda row: (order.get(row[0], len(order)), row[1] == ALL, *map(str, row[:4])))
    return pd.DataFrame(out, columns=list(COLUMNS))


def parts_in(figures: pd.DataFrame | None) -> list[str]:
    """The columns that figures are of a part of."""
    if figures is None or "slice" not in figures:
        return []
    return sorted({name for text in figures["slice"] for name in part_of(text)})


def part_of(text: Any) -> dict[str, str]:
    """The part of the rows that a figure is of: column → value; empty for all.

    Examples
    --------
    >>> part_of('{"split": "test"}'), part_of("")
    ({'split': 'test'}, {})
    """
    if isinstance(text, str) and text.strip():
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            return {}
        if isinstance(read, dict):
            return {str(k): str(v) for k, v in read.items()}
    return {}


def _inside(rows: pd.DataFrame, part: Mapping[str, str]) -> Any:
    """Which answers are of a part; None of all, or where the table does not have its columns."""
    known = [name for name in part if name in rows]
    if not known:
        return None
    return np.logical_and.reduce([rows[name].fillna("").astype(str).to_numpy() == part[name] for name in known])


def _compared(
    row: Mapping[str, Any],
    model: str,
    part: Mapping[str, str],
    own: pd.DataFrame,
    other: pd.DataFrame,
    facts: method.Facts,
) -> tuple[Any, ...]:
    values = own["value"].to_numpy(float)
    n, lost = int(np.isfinite(values).sum()), int((~np.isfinite(values)).sum())
    ours = _by_question(own, values) if row["metric"] else _number(row.get("ours"))
    theirs, n_theirs = _number(row.get("tool_value")), _number(row.get("n"))
    agrees = same(theirs, ours) if math.isfinite(theirs) and math.isfinite(ours) else None
    said = row.get("words") or ""
    why = _why(row, theirs, ours, own, other, agrees, facts) if row["metric"] else said
    if agrees is False:
        why = why or said or UNKNOWN
    elif row["metric"] and math.isfinite(n_theirs) and n_theirs > max(n + lost, own[inputs.UNIT].nunique()):
        why = f"the tool's figure rests on {core.wording.count(round(n_theirs))} rows, of which the file has {core.wording.count(n + lost)}"
    of = ", ".join(f"{k} = {v}" if v else f"no {k}" for k, v in part.items())
    return (
        row["metric"], model, of, row.get("tool_figure") or "", theirs, ours, n, lost, n_theirs,
        "" if agrees is None else "yes" if agrees else "no", why or said,
    )  # fmt: skip


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def same(theirs: float, ours: float) -> bool:
    """Whether two figures are one but for the rounding of the first, if it has at least three decimals.

    Examples
    --------
    >>> same(0.667, 2 / 3), same(0.6667, 0.667), same(0.5, 0.5000000001), same(0.5, 0.46)
    (True, False, True, False)
    """
    decimals = _decimals(theirs)
    half = 0.5 * 10.0**-decimals if 3 <= decimals < 12 else 0.0
    return abs(theirs - ours) <= half + _CLOSE * max(1.0, abs(ours))


def _decimals(value: float) -> int:
    """As many as the shortest way to write the number has; more than any rounding of people where it has an exponent."""
    written = repr(value).partition(".")[2]
    return 99 if "e" in written or "e" in repr(value) else 0 if written == "0" else len(written)


def _why(
    row: Mapping[str, Any],
    theirs: float,
    ours: float,
    own: pd.DataFrame,
    other: pd.DataFrame,
    agrees: bool | None,
    facts: method.Facts,
) -> str:
    """What gives the tool's figure on these rows, in words; empty where nothing does, or nothing has to."""
    if own.empty:
        return "the file has no rows of it"
    if not math.isfinite(theirs):
        return "the tool has no figure"
    if not math.isfinite(ours):
        return "no answer has a score"
    if agrees:
        return ""
    ways = _ways(own, other, facts.fitting.get(str(row["metric"]), ()), facts.directions.get(str(row["metric"]), ""))
    found = next((words for value, words in ways if math.isfinite(value) and same(theirs, value)), "")
    if not found and 0 < (decimals := _decimals(theirs)) < 3 and round(ours, decimals) == theirs:
        return f"rounded there to {core.counted(decimals, 'decimal')}"
    return found


def _ways(own: pd.DataFrame, other: pd.DataFrame, ends: Sequence[float], direction: str) -> Iterator[tuple[float, str]]:
    """Other ways to a mean of these rows, each with its words; the likelier first."""
    values = own["value"].to_numpy(float)
    lost = ~np.isfinite(values)
    failed = _failed(int(lost.sum()))
    each: list[tuple[str, Callable[[pd.DataFrame, Any], float]]] = [("", _by_question)]
    if own.duplicated(["id", "model"]).any():
        each.append((", all trials pooled", _pooled))
    for pooled, mean in each:
        if pooled:
            yield mean(own, values), "there all trials are pooled; here each question counts once"
        if lost.any():
            yield mean(own, np.where(lost, 0.0, values)), f"{failed} as 0 there{pooled}"
            part = lost & inputs.among(own, other[other["unscored"] == ""], _keys(own))
            if part.any() and not (part == lost).all():
                none = core.counted(int((lost & ~part).sum()), "answer")
                words = f"{_failed(int(part.sum()))} as 0 there, {none} without any score left out{pooled}"
                yield mean(own, np.where(part, 0.0, values)), words
            if len(ends) == 2 and direction:
                worst = ends[0] if direction == "higher" else ends[1]
                yield mean(own, np.where(lost, worst, values)), f"{failed} as {worst:g} there{pooled}"
        gone = _failed_elsewhere(own, other) & ~lost
        verb = "is" if gone.sum() == 1 else "are"
        if gone.any():
            left = core.counted(int(gone.sum()), "score")
            yield (
                mean(own, np.where(gone, np.nan, values)),
                f"{left} of answers of which another score failed {verb} left out there{pooled}",
            )


def _failed(n: int) -> str:
    return f"{core.counted(n, 'score')} that failed {'counts' if n == 1 else 'count'}"


def _failed_elsewhere(own: pd.DataFrame, other: pd.DataFrame) -> Any:
    """Whether another score of the same answer is missing."""
    return inputs.among(own, other[other["unscored"] != ""], _keys(own))


def _keys(rows: pd.DataFrame) -> list[str]:
    """The columns that name an answer."""
    return [c for c in ("id", "model", "trial") if c in rows]


def _pooled(rows: pd.DataFrame, values: Any) -> float:
    """The mean of all scores."""
    return float(np.nanmean(values)) if np.isfinite(values).any() else math.nan


def _by_question(rows: pd.DataFrame, values: Any) -> float:
    """The mean over questions and models of the mean of their trials."""
    means = pd.Series(values).groupby([rows["id"].to_numpy(), rows["model"].to_numpy()]).mean().dropna()
    return float(means.mean()) if len(means) else math.nan
