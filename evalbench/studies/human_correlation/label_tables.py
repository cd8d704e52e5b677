"""Labels and imported scores as the tables of the study: other names of columns, a score a row, trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import readers

_NAMES = {"id": "doc_id", "model": "system", "mark": "score"}


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Tables with ``id``, ``model``, ``mark`` under the names of the study, and a table of scores as columns of the items.

    Answers with several trials are systems of their own, ``MODEL, trial NAME``.
    """
    own = {name: _named(frame, marks=name != "scores") for name, frame in frames.items()}
    if any(
        readers.schema.TRIAL in frame and frame[readers.schema.TRIAL].astype(str).nunique() > 1
        for frame in own.values()
    ):
        own = {name: _apart(frame) for name, frame in own.items()}
    scores, items = own.pop("scores", None), own.get("items")
    if scores is None or items is None or not {"doc_id", "metric", "value"} <= set(scores) or "doc_id" not in items:
        return own
    return {**own, "items": _with_scores(items, scores)}


def _named(frame: pd.DataFrame, *, marks: bool) -> pd.DataFrame:
    """Renamed where the table is one of labels: it has ``mark`` beside ``id``, or beside an annotator or criterion."""
    names = {str(c).strip(): c for c in frame.columns}
    labels = "annotator" in names or "criterion" in names if "doc_id" in names else "id" in names
    if not labels or (marks and "mark" not in names):
        return frame
    renames = {names[old]: new for old, new in _NAMES.items() if old in names and new not in names}
    if not renames:
        return frame
    out = frame.rename(columns=renames)
    said = ", ".join(f"{old} as {new}" for old, new in renames.items())
    out.attrs["notes"] = [*frame.attrs.get("notes", ()), f"read {said}"]
    return out


def _apart(frame: pd.DataFrame) -> pd.DataFrame:
    """A table in which each trial of a system is a system."""
    if readers.schema.TRIAL not in frame:
        return frame
    trial = frame[readers.schema.TRIAL].map(lambda cell: "" if cell is None or cell != cell else str(cell))
    system = frame["system"].astype(str) if "system" in frame else ""
    named = [f"{s}, trial {t}".lstrip(", ") if t else s for s, t in zip(_cells(system, len(frame)), trial, strict=True)]
    return frame.drop(columns=readers.schema.TRIAL).assign(system=named)


def _cells(system: Any, n: int) -> Any:
    return [system] * n if isinstance(system, str) else system


def _with_scores(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The items with a column per metric; a score that is missing is an empty cell, and so is one that was never asked for."""
    keys = [c for c in ("doc_id", "system") if c in items and c in scores]
    if scores.duplicated([*keys, "metric"]).any() or not len(scores):
        return items
    wide = scores.assign(**{k: scores[k].astype(str) for k in keys}).pivot(index=keys, columns="metric", values="value")
    wide = wide.drop(columns=[c for c in wide if c in items]).reset_index().rename_axis(columns=None)
    out = (
        items.assign(**{k: items[k].astype(str) for k in keys}).merge(wide, on=keys, how="left").set_index(items.index)
    )
    out.attrs.update(items.attrs)
    return out
