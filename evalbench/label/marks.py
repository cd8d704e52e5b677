"""The marks that judges gave the items of a run, and the items' texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.arrays import Floats
from evalbench.errors import BadInput
from evalbench.label.items import PAIR
from evalbench.label.texts import IDS, MODELS, with_texts
from evalbench.readers import runs

if TYPE_CHECKING:
    import pandas as pd

_JUDGES = ("scorer", "judge", "sample")
_SCALED = {"0–1": (0.0, 1.0)}


@dataclass(frozen=True)
class Marks:
    """What judges said of each item of a run.

    - ``items``: One row per item in the order of their ids: ``id``, ``model`` where there are several, ids of pairs,
      and the texts.
    - ``marks`` ((n, k) array): Of k judges, scaled to 0–1; NaN where one gave none.
    - ``of``: What the marks are, in words.
    - ``low``, ``high``: The ends of the scale, before scaling.
    - ``threshold``: Scaled: near it a mark is worth least.
    """

    items: pd.DataFrame
    marks: Floats
    of: str
    low: float
    high: float
    threshold: float

    @property
    def mean(self) -> Floats:
        """The mean of the judges, NaN where none gave a mark."""
        return _mean(self.marks)

    @property
    def variance(self) -> Floats:
        """Of the judges' marks; 0 where fewer than two gave one."""
        known = ~np.isnan(self.marks)
        n = known.sum(axis=1)
        centred = np.where(known, self.marks - self.mean[:, None], 0.0)
        return np.where(n > 1, (centred**2).sum(axis=1) / np.maximum(n, 1), 0.0)


def _mean(marks: Floats) -> Floats:
    known = ~np.isnan(marks)
    n = known.sum(axis=1)
    total: Floats = np.where(known, marks, 0.0).sum(axis=1)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def read_marks(
    folder: Path,
    *,
    table: str = "",
    mark: str = "",
    criterion: str = "",
    judges: Sequence[str] = (),
    threshold: float | None = None,
    scale: tuple[float, float] | None = None,
    texts: Path | None = None,
) -> Marks:
    """The marks of a finished run.

    - ``table``: A table of the run in place of its items; of ``matching`` the pairs by default.
    - ``mark``: The column of the marks; by default the figure that decided the light, else the first that items have.
    - ``criterion``, ``judges``: Those to be taken, where a table has several in columns ``criterion`` and ``scorer``
      (or ``judge``).
    - ``threshold``: On the marks' own scale; by default that of matching's scores, else the middle of the scale.
    - ``scale`` ((float, float), optional): Ends of the marks' scale; by default 0–1 for figures of that unit, else the
      least and the greatest mark. Judges whose marks have other ends each are brought to 0–1 one by one.
    - ``texts``: A table with ``id`` (and ``model``) and the texts, where the run keeps none.

    Raises ``BadInput`` if the folder is no finished run, or what is named is missing; with what there is.
    """
    results = runs.read_results(folder)
    table = table or ("pairs" if _of_violations(_columns(folder, results, "pairs")) else "items")
    frame = _table(folder, results, table)
    if table == "calls":
        frame = _of_calls(frame)
    frame = frame[chosen(frame, "criterion", (criterion,) if criterion else (), folder)]
    judge = next((name for name in _JUDGES if name in frame.columns), "")
    column = mark or _decisive(results, frame, folder, table)
    if column not in frame or not _numeric(frame[column]):
        raise BadInput(
            f"{folder}: table {table} has no column of numbers {column!r}; there are {_numbers(frame)} (--mark)"
        )
    if judge and judge != "sample":
        frame = frame[chosen(frame, judge, judges, folder)]
    named, unit = _units(frame, results)
    wide = _by_judge(named, unit, column, judge, f"{folder}: table {table}")
    values = wide.to_numpy(dtype=float)
    if scale is None and _differ(values):
        values, scale = _each_on_its_own(values), (0.0, 1.0)
    low, high = scale or _scale(results, column, values)
    if not low < high:
        raise BadInput(
            f"{folder}: all marks in {column} are {low:g}: nothing says which items to prefer (--scale LOW HIGH)"
        )
    if (bad := values[(values < low) | (values > high)]).size:
        raise BadInput(f"{folder}: column {column} has marks off the scale {low:g}–{high:g}, first {bad[0]:g}")
    at = _threshold(results, table, threshold, low, high)
    items = with_texts(wide.index.to_frame(index=False), folder, results, table, texts)
    of = f"{column} in table {table}" + (f", {wide.shape[1]} judges" if wide.shape[1] > 1 else "")
    return Marks(items, (values - low) / (high - low), of, low, high, (at - low) / (high - low))


def _columns(folder: Path, results: Mapping[str, Any], table: str) -> list[str]:
    return list(runs.read_frame(folder / results["tables"][table]).columns) if table in results["tables"] else []


def _table(folder: Path, results: Mapping[str, Any], table: str) -> pd.DataFrame:
    if table == "items":
        return runs.read_items(folder)
    found = runs.read_table(folder, table)
    if found is None:
        raise BadInput(f"{folder}: the run has no table {table!r}; there are items, {', '.join(results['tables'])}")
    return found


def _of_calls(frame: pd.DataFrame) -> pd.DataFrame:
    """Calls as marks: ``mark`` out of each parsed reply, one judge for each model and sample."""

    def said(reply: Any) -> float:
        try:
            value = json.loads(reply).get("mark")
        except (ValueError, TypeError, AttributeError):
            return float("nan")
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else float("nan")

    judge = frame["model"].astype(str) + "#" + frame["sample"].astype(str)
    return frame[["item_id"]].astype(str).assign(judge=judge, mark=frame["parsed"].map(said).astype(float))


def chosen(frame: pd.DataFrame, column: str, wanted: Sequence[str], folder: Path) -> Any:
    """Which rows are of those that are wanted; without a wish the only criterion, and every judge of a few."""
    if column not in frame:
        if wanted:
            raise BadInput(f"{folder}: there is no column {column}, so no {', '.join(wanted)} can be chosen")
        return np.ones(len(frame), dtype=bool)
    there = sorted(frame[column].astype(str).unique())
    option = "--of" if column == "criterion" else "--judge"
    if missing := [name for name in wanted if name not in there]:
        raise BadInput(f"{folder}: no {column} {', '.join(missing)}; there are {', '.join(there)}")
    if not wanted and len(there) > 1 and column in ("criterion", "scorer"):
        raise BadInput(f"{folder}: choose with {option}: {', '.join(there)}")
    return frame[column].astype(str).isin(wanted or there).to_numpy()


def _decisive(results: Mapping[str, Any], frame: pd.DataFrame, folder: Path, table: str) -> str:
    if table == "pairs":
        return "std_score"
    decided = str((results.get("decided_by") or {}).get("metric", ""))
    names = [decided, *(row["metric"] for row in results["summary"]), "mark", "score"]
    found = next((name for name in names if name in frame and _numeric(frame[name])), "")
    if not found:
        raise BadInput(f"{folder}: which column of table {table} has the marks? --mark, one of {_numbers(frame)}")
    return str(found)


def _numeric(cells: pd.Series) -> bool:
    import pandas as pd

    return pd.api.types.is_numeric_dtype(cells.dtype) and bool(cells.notna().any())


def _numbers(frame: pd.DataFrame) -> str:
    return ", ".join(str(name) for name in frame if _numeric(frame[name])) or "none"


def _of_violations(columns: Iterable[str]) -> bool:
    """Whether a table is that of pairs of violations."""
    return {"id", "model", *PAIR} <= set(columns)


def _units(frame: pd.DataFrame, results: Mapping[str, Any]) -> tuple[pd.DataFrame, list[str]]:
    """The frame under our names of id and model, and which columns name an item."""
    if _of_violations(frame.columns):
        return frame, ["id", *PAIR, "model"]
    id_ = next((name for name in (results["id"], *IDS, "item_id") if name in frame), "")
    if not id_:
        raise BadInput(
            f"the table has no column {results['id']} that names its items; there are {', '.join(map(str, frame))}"
        )
    model = next((name for name in MODELS if name in frame and name != id_), "")
    names = {id_: "id", **({model: "model"} if model else {})}
    return frame.rename(columns=names), list(names.values())


def _by_judge(frame: pd.DataFrame, unit: list[str], column: str, judge: str, where: str) -> pd.DataFrame:
    """One row per item in the order of ids, one column per judge."""
    keys = [*unit, judge] if judge else unit
    doubled = frame[frame.duplicated(keys, keep=False)]
    if len(doubled):
        first = ", ".join(str(doubled.iloc[0][key]) for key in keys)
        raise BadInput(f"{where}: several marks for one {', '.join(keys)}, first {first}; choose with --of or --judge")
    texts = frame[unit].astype(str)
    if not judge:
        return texts.assign(mark=frame[column].astype(float)).set_index(unit).sort_index()
    long = texts.assign(judge=frame[judge].astype(str), mark=frame[column].astype(float))
    return long.pivot(index=unit, columns="judge", values="mark").sort_index()


def _scale(results: Mapping[str, Any], column: str, values: Floats) -> tuple[float, float]:
    units = {str(row.get("unit")) for row in results["summary"] if row["metric"] == column}
    known = _SCALED.get(next(iter(units), "")) if len(units) == 1 else None
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    if known or (least >= 0 and most <= 1):
        return known or (0.0, 1.0)
    return least, most


def _differ(values: Floats) -> bool:
    """Whether judges mark on scales of their own, as far as their least and greatest marks show."""
    known = values[:, ~np.isnan(values).all(axis=0)]
    ends = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
    within = bool((ends[0] >= 0).all() and (ends[1] <= 1).all())
    return not within and any(len(np.unique(end)) > 1 for end in ends)


def _each_on_its_own(values: Floats) -> Floats:
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    scaled: Floats = (values - low) / np.where(high > low, high - low, 1.0)
    return scaled


def _threshold(results: Mapping[str, Any], table: str, given: float | None, low: float, high: float) -> float:
    own = results["parameters"].get("score_threshold") if table == "pairs" else None
    at = given if given is not None else own if isinstance(own, (int, float)) else (low + high) / 2
    if not low < at < high:
        raise BadInput(f"--threshold {at:g} is not within the scale {low:g}–{high:g}")
    return float(at)
