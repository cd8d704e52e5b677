"""Labels and imported scores as the tables of the study: other names of columns, a score a row, trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import readers


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Tables with ``score`` under the name of the study, and a table of scores as columns of the items.

    Answers with several trials are systems of their own, ``MODEL, trial NAME``.
    """
    own = {name: _named(frame, marks=name == "ratings") for name, frame in frames.items()}
    if any(
        readers.schema.TRIAL in frame and frame[readers.schema.TRIAL].astype(str).nunique() > 1
        for frame in own.values()
    ):
        own = {name: _apart(frame) for name, frame in own.items()}
    if own.keys() == {"items"}:
        own = {"items": _one_criterion(own["items"])}
    scores, items = own.pop("scores", None), own.get("items")
    if scores is None or items is None or not {"id", "metric", "value"} <= set(scores) or "id" not in items:
        return own
    return {**own, "items": _with_scores(items, scores)}


def _named(frame: pd.DataFrame, *, marks: bool) -> pd.DataFrame:
    """Renamed; a column ``score`` is people's mark beside a criterion alone, elsewhere it may be a metric's.

    - ``marks``: Whether the table is one of marks.
    """
    names = {str(c).strip() for c in frame.columns}
    marks = "score" in names and (marks or "criterion" in names) and "metric" not in names
    return readers.former.under_new_names(frame, {"score": "mark"} if marks else {})


def _one_criterion(items: pd.DataFrame) -> pd.DataFrame:
    """Rows of several annotators' marks that name no criterion: the one column of marks is one; else as they are."""
    roles = {str(name): readers.role_names.roles_of(str(name)) for name in items}
    people = [name for name, own in roles.items() if "annotator" in own]
    marks = [name for name, own in roles.items() if own & {"mark", "score", "human"} and name not in people]
    keys = [name for name, own in roles.items() if own & {"id", "model"}]
    named = any(own & {"criterion", "metric"} for own in roles.values())
    if named or len(people) != 1 or len(marks) != 1 or not keys or not items.duplicated(keys).any():
        return items
    (mark,), (annotator,) = marks, people
    out = items.rename(columns={mark: "mark", annotator: "annotator"}).assign(criterion=mark)
    said = f"column {mark} was read as the marks of the annotators in column {annotator}, by one criterion"
    return readers.roles.noted(out, items, {mark: "mark", annotator: "annotator"}, [said])


def _apart(frame: pd.DataFrame) -> pd.DataFrame:
    """A table in which each trial of a system is a system."""
    if readers.schema.TRIAL not in frame:
        return frame
    trial = frame[readers.schema.TRIAL].map(lambda cell: "" if cell is None or cell != cell else str(cell))
    system = frame["model"].astype(str) if "model" in frame else ""
    named = [f"{s}, trial {t}".lstrip(", ") if t else s for s, t in zip(_cells(system, len(frame)), trial, strict=True)]
    return frame.drop(columns=readers.schema.TRIAL).assign(model=named)


def _cells(system: Any, n: int) -> Any:
    return [system] * n if isinstance(system, str) else system


def _with_scores(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The items with a column per metric; a score that is missing is an empty cell, and so is one that was never asked for."""
    keys = [c for c in ("id", "model") if c in items and c in scores]
    if scores.duplicated([*keys, "metric"]).any() or not len(scores):
        return items
    wide = scores.assign(**{k: scores[k].astype(str) for k in keys}).pivot(index=keys, columns="metric", values="value")
    wide = wide.drop(columns=[c for c in wide if c in items]).reset_index().rename_axis(columns=None)
    out = (
        items.assign(**{k: items[k].astype(str) for k in keys}).merge(wide, on=keys, how="left").set_index(items.index)
    )
    out.attrs.update(items.attrs)
    return out
